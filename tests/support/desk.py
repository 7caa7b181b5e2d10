"""A world on fakes: people, a dashboard, a service with a log, and processes that die."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from typing_extensions import override

from bot.domain.audit import Actor, Caller, Origin
from bot.domain.configured import Policy
from bot.domain.durations import Lasting
from bot.domain.errors import BotError
from bot.domain.pause_records import PauseRecord
from bot.domain.pauses import PauseOutcome, ResumeOutcome
from bot.domain.queue import Pause
from bot.domain.repository import RepositoryName
from bot.domain.subscriptions import Style
from bot.ports import OnAnswer, ignore
from bot.usecases.check_permission import CheckPermission
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.pause_queue import PauseQueue
from bot.usecases.pausing.resume_queue import ResumeQueue
from bot.usecases.polling.pause_by_rule import PauseByRule
from bot.usecases.posting.post_deliveries import PostDeliveries
from bot.usecases.posting.refresh_live_messages import RefreshLiveMessages
from tests.support.clock import FakeClock
from tests.support.directories import FakeChannels, FakePeople
from tests.support.disturbances import (
    Crash,
    DisturbedStore,
    Steps,
    disturbed_merge_queue,
    disturbed_poster,
)
from tests.support.loops import Loop, unsubscribed
from tests.support.make import (
    ALICE,
    CHANNEL,
    SITE,
    make_configured,
    make_event,
    make_queued,
    make_status,
    make_subscription,
)
from tests.support.merge_queue import FakeMergeQueue
from tests.support.poster import RecordingPoster
from tests.support.store import InMemoryDatabase, InMemoryStore
from tests.support.transactions import begin

FIRST_TURNS, LONG_TURN_SECONDS = 15, 5
"""Of a time that passes until all is settled."""


@dataclass
class World:
    """State that outlives processes. The service's log may be silent, or keep a pause's time.

    `policy`: what the settings rule.
    """

    clock: FakeClock = field(default_factory=FakeClock)
    database: InMemoryDatabase = field(default_factory=InMemoryDatabase)
    poster: RecordingPoster = field(default_factory=RecordingPoster)
    is_silent: bool = False
    keeps_time: bool = False
    policy: Policy = field(default_factory=Policy)

    def __post_init__(self) -> None:
        self.service = _LoggingService(self)
        self.people = FakePeople()
        self._last_id = 0

    def log(self, type_: str, pull_request: int | None = None, **metadata: object) -> None:
        self._last_id += 1
        if not self.is_silent:
            # The service writes its log a little after what it tells of.
            at = self.clock.now() + timedelta(microseconds=321)
            event = make_event(
                self._last_id, type_, received_at=at, pull_request=pull_request, metadata=metadata
            )
            self.service.log(SITE, event)

    def fails(self, *numbers: int) -> None:
        """These leave the queue because they failed on one check."""
        failed = {"dequeue_code": "CHECKS_FAILED", "unsuccessful_checks": [{"name": "unit tests"}]}
        for number in numbers:
            self.log("action.queue.leave", number, merged=False, **failed)

    def enqueue(self, *numbers: int) -> None:
        status = self.service.statuses.get(SITE, make_status())
        came = [make_queued(number, queued_at=self.clock.now()) for number in numbers]
        self.service.statuses[SITE] = make_status(waiting=[*status.waiting_pull_requests, *came])

    def pauses(self) -> list[PauseRecord]:
        return list(self.database.contents.pauses.values())

    def shown(self, channel_id: str = CHANNEL) -> list[str]:
        return self.poster.shown(channel_id)


class _LoggingService(FakeMergeQueue):
    """Writes what it does into its log, with the name of whoever did it."""

    def __init__(self, world: World) -> None:
        super().__init__((SITE,), clock=world.clock)
        self._world = world

    def paused_by(self, name: str, reason: str) -> Pause:
        before = self.pauses.get(SITE)
        at = self._world.clock.now()
        if before is not None and self._world.keeps_time:
            at = before.paused_at
        self.pauses[SITE] = Pause(reason=reason, paused_at=at)
        act, by = ("update", "updated_by") if before is not None else ("create", "created_by")
        self._world.log(f"queue.pause.{act}", None, reason=reason, **{by: {"name": name}})
        return self.pauses[SITE]

    def resumed_by(self, name: str) -> bool:
        was_paused = self.pauses.pop(SITE, None) is not None
        if was_paused:
            self._world.log("queue.pause.delete", deleted_by={"name": name})
        return was_paused

    @override
    async def pause(
        self, repository: RepositoryName, reason: str, *, on_answer: OnAnswer = ignore
    ) -> Pause:
        before = self.pauses.get(repository)
        await super().pause(repository, reason, on_answer=on_answer)
        if before is not None:
            self.pauses[repository] = before
        else:
            del self.pauses[repository]
        return self.paused_by("mqbot", reason)

    @override
    async def resume(
        self,
        repository: RepositoryName,
        *,
        on_answer: OnAnswer = ignore,
        may_send: Callable[[], bool] | None = None,
    ) -> bool:
        if repository not in self.pauses:
            return await super().resume(repository, on_answer=on_answer, may_send=may_send)
        before = self.pauses[repository]
        resumed = await super().resume(repository, on_answer=on_answer, may_send=may_send)
        self.pauses[repository] = before
        self.resumed_by("mqbot")
        return resumed


@dataclass
class Desk:
    """One process; another takes over where it dies."""

    world: World = field(default_factory=World)
    name: str = "one"
    steps: Steps = field(default_factory=Steps)

    def __post_init__(self) -> None:
        world, steps = self.world, self.steps
        acting, polling, posting = (
            DisturbedStore(InMemoryStore(world.database), steps, name)
            for name in ("acting", "polling", "posting")
        )
        service = disturbed_merge_queue(world.service, steps)
        poster = disturbed_poster(world.poster, steps)
        check = CheckPermission(world.people, make_configured(policy=world.policy))
        self.acts = ActLog(acting, world.clock, FakeChannels(), check, unsubscribed)
        self.pausing = PauseQueue(service, self.acts)
        self.resuming = ResumeQueue(service, self.acts)
        self.posts = PostDeliveries(
            store=posting,
            poster=poster,
            clock=world.clock,
            wake=unsubscribed,
            holder=self.name,
            jitter=lambda: 0.5,
        )
        self.polls = Loop(polling, service, world.clock, (SITE,), self.name).with_queues()
        self.polls.rule = PauseByRule(self.pausing)
        self.edits = RefreshLiveMessages(
            store=posting,
            poster=poster,
            clock=world.clock,
            wake=unsubscribed,
            holder=self.name,
            jitter=lambda: 0.5,
        )

    async def subscribe(
        self, *channels: str, topics: Sequence[str] = ("pause",), style: Style = Style.FEED
    ) -> None:
        with begin(InMemoryStore(self.world.database)) as transaction:
            for channel_id in channels:
                transaction.subscriptions.save(
                    make_subscription(*topics, channel_id=channel_id, style=style)
                )

    async def pause(
        self,
        reason: str = "CI runners are down",
        actor: Actor = ALICE,
        *,
        replacing: Pause | None = None,
        lasting: Lasting | None = None,
    ) -> PauseOutcome:
        over = replacing.paused_at if replacing is not None else None
        caller = Caller(actor, Origin.COMMAND, CHANNEL)
        return await self.pausing.run(caller, SITE, reason, replacing=over, lasting=lasting)

    async def resume(self, actor: Actor = ALICE) -> ResumeOutcome:
        return await self.resuming.run(Caller(actor, Origin.BUTTON, CHANNEL), SITE)

    async def ask_for_notification(self, actor: Actor = ALICE) -> bool | None:
        return await self.resuming.watch(SITE, actor)

    async def poll(self) -> None:
        await self.polls.run()
        await self.polls.drain()

    async def watch(self) -> None:
        """A poll while the event log is late: only the queue shows what happened."""
        service = self.world.service
        logs, service.logs = service.logs, defaultdict(list)
        await self.poll()
        service.logs = logs

    async def post(self) -> None:
        await self.posts.run()

    async def edit(self) -> None:
        await self.edits.run()

    async def turns(self, times: int = 1, *, seconds: float = 1) -> None:
        """The schedule's turns, one piece of work after the other."""
        for _ in range(times):
            for work in (self.poll, self.post, self.edit):
                await work()
            self.world.clock.advance(seconds)

    async def turns_unless_struck(self, times: int, *, seconds: float = 1) -> None:
        """The same; a process that dies does nothing more, one that fails goes on."""
        for _ in range(times):
            for work in (self.poll, self.post, self.edit):
                with suppress(BotError, Crash):
                    await work()
            await _let_others_end()
            self.world.clock.advance(seconds)

    async def settles(self, seconds: int) -> None:
        """So much time passes: the first of it as ever, the rest, mostly waiting, in long turns."""
        await self.turns_unless_struck(FIRST_TURNS)
        await self.turns_unless_struck(
            (seconds - FIRST_TURNS) // LONG_TURN_SECONDS, seconds=LONG_TURN_SECONDS
        )


async def _let_others_end() -> None:
    """Tasks of a dead process end with their next step."""
    mine = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*mine, return_exceptions=True)
