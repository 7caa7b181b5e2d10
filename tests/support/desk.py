"""A world on fakes: people, a dashboard, a service with a log, and processes that die."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from typing_extensions import override

from bot.acts.check_permission import CheckPermission
from bot.acts.recording import RecordActs
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Style
from bot.feed.pause_by_rule import PauseByRule
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.configured import Policy
from bot.kernel.durations import Lasting
from bot.kernel.errors import BotError
from bot.kernel.repository import RepositoryName
from bot.merge_queue.freezes import FreezeChange, FreezeTerms, ListedFreeze
from bot.merge_queue.port import OnAnswer, UnclearChange, ignore
from bot.merge_queue.queue import Pause, QueueStatus
from bot.pauses.outcomes import PauseOutcome, ResumeOutcome
from bot.pauses.pause import PauseRecord, drawn_line
from bot.pauses.pausing import PauseQueue
from bot.pauses.resuming import ResumeQueue
from bot.pauses.rows import is_paused
from bot.posts.posting import PostDeliveries
from bot.posts.refreshing import RefreshLiveMessages
from bot.runtime.renderers import RENDERERS
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

FIRST_TURNS = 15
LONG_TURN_SECONDS = 5
"""Of a time that passes until all is settled."""


@dataclass
class World:
    """State that outlives processes. The service's log may be silent, or keep a pause's time.

    `hides_pause`: the service says that nothing is paused, whatever is true: its 404 means "not
    paused", "no such repository" and "not found just now" alike
    (row "not paused" of the API document).
    `policy`: what the settings rule.
    """

    clock: FakeClock = field(default_factory=FakeClock)
    database: InMemoryDatabase = field(default_factory=InMemoryDatabase)
    poster: RecordingPoster = field(default_factory=RecordingPoster)
    is_silent: bool = False
    keeps_time: bool = False
    hides_pause: bool = False
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
        if before is not None:
            act = "update"
            by = "updated_by"
        else:
            act = "create"
            by = "created_by"
        self._world.log(f"queue.pause.{act}", None, reason=reason, **{by: {"name": name}})
        return self.pauses[SITE]

    def resumed_by(self, name: str) -> bool:
        was_paused = self.pauses.pop(SITE, None) is not None
        if was_paused:
            self._world.log("queue.pause.delete", deleted_by={"name": name})
        return was_paused

    @override
    async def create_freeze(
        self, repository: RepositoryName, wanted: FreezeTerms, *, on_answer: OnAnswer = ignore
    ) -> ListedFreeze:
        """Logged before the answer, which may be lost (API document, scheduled_freeze.create)."""
        before = len(self.all_freezes[repository])
        try:
            return await super().create_freeze(repository, wanted, on_answer=on_answer)
        finally:
            for made in self.all_freezes[repository][before:]:
                self._world.log(
                    "scheduled_freeze.create",
                    None,
                    scheduled_freeze_attributes=_attributes(made),
                    created_by={"name": "mqbot"},
                )

    @override
    async def change_freeze(
        self,
        repository: RepositoryName,
        freeze_id: str,
        change: FreezeChange,
        *,
        on_answer: OnAnswer = ignore,
    ) -> ListedFreeze:
        before = {one.id: one for one in self.all_freezes[repository]}
        try:
            return await super().change_freeze(repository, freeze_id, change, on_answer=on_answer)
        finally:
            for now in self.all_freezes[repository]:
                if now != before.get(now.id, now):
                    self._world.log(
                        "scheduled_freeze.update",
                        None,
                        scheduled_freeze_attributes_before=_attributes(before[now.id]),
                        scheduled_freeze_attributes_after=_attributes(now),
                        updated_by={"name": "mqbot"},
                    )

    @override
    async def delete_freeze(
        self,
        repository: RepositoryName,
        freeze_id: str,
        reason: str,
        *,
        on_answer: OnAnswer = ignore,
    ) -> bool:
        before = list(self.all_freezes[repository])
        try:
            return await super().delete_freeze(repository, freeze_id, reason, on_answer=on_answer)
        finally:
            for gone in before:
                if gone not in self.all_freezes[repository]:
                    self._world.log(
                        "scheduled_freeze.delete",
                        None,
                        scheduled_freeze_attributes=_attributes(gone),
                        reason=reason,
                        deleted_by={"name": "mqbot"},
                    )

    @override
    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        found = await super().current_pause(repository)
        return None if self._world.hides_pause else found

    @override
    async def status(self, repository: RepositoryName, branch: str | None = None) -> QueueStatus:
        found = await super().status(repository, branch)
        return found.model_copy(update={"paused": False}) if self._world.hides_pause else found

    @override
    async def pause(
        self, repository: RepositoryName, reason: str, *, on_answer: OnAnswer = ignore
    ) -> Pause | UnclearChange:
        before = self.pauses.get(repository)
        try:
            answer = await super().pause(repository, reason, on_answer=on_answer)
        finally:
            # Its log tells of what was done also where the answer is lost.
            if self.pauses.get(repository) is not before:
                self._restore(repository, before)
                self.paused_by("mqbot", reason)
        return answer if isinstance(answer, UnclearChange) else self.pauses[repository]

    def _restore(self, repository: RepositoryName, before: Pause | None) -> None:
        if before is not None:
            self.pauses[repository] = before
        else:
            del self.pauses[repository]

    @override
    async def resume(
        self,
        repository: RepositoryName,
        *,
        on_answer: OnAnswer = ignore,
        may_send: Callable[[], bool] | None = None,
    ) -> bool | UnclearChange:
        if repository not in self.pauses:
            return await super().resume(repository, on_answer=on_answer, may_send=may_send)
        before = self.pauses[repository]
        try:
            return await super().resume(repository, on_answer=on_answer, may_send=may_send)
        finally:
            if repository not in self.pauses:
                self.pauses[repository] = before
                self.resumed_by("mqbot")


def _attributes(freeze: ListedFreeze) -> dict[str, object]:
    kept = freeze.model_dump(mode="json", exclude={"id", "excluded"})
    return {**kept, "exclude_conditions": list(freeze.excluded)}


@dataclass
class Desk:
    """One process; another takes over where it dies."""

    world: World = field(default_factory=World)
    name: str = "one"
    steps: Steps = field(default_factory=Steps)

    def __post_init__(self) -> None:
        world = self.world
        steps = self.steps
        acting, polling, posting = (
            DisturbedStore(InMemoryStore(world.database), steps, name)
            for name in ("acting", "polling", "posting")
        )
        service = disturbed_merge_queue(world.service, steps)
        poster = disturbed_poster(world.poster, steps)
        check = CheckPermission(world.people, make_configured(policy=world.policy))
        self.acts = RecordActs(acting, world.clock, FakeChannels(), check, unsubscribed, is_paused)
        self.pausing = PauseQueue(service, self.acts)
        self.resuming = ResumeQueue(service, self.acts)
        self.posts = PostDeliveries(
            store=posting,
            poster=poster,
            clock=world.clock,
            wake=unsubscribed,
            holder=self.name,
            jitter=lambda: 0.5,
            renderers=RENDERERS,
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
            renderers=RENDERERS,
        )

    async def subscribe(
        self, *channels: str, topics: Sequence[str] = ("pause",), style: Style = Style.FEED
    ) -> None:
        with begin(InMemoryStore(self.world.database)) as transaction:
            for channel_id in channels:
                Subscriptions(transaction).save(
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
        over = None
        if replacing is not None:
            over = drawn_line(replacing.paused_at, replacing.reason)
        caller = Caller(actor, Origin.COMMAND, CHANNEL)
        return await self.pausing.run(caller, SITE, reason, replacing=over, lasting=lasting)

    async def resume(self, actor: Actor = ALICE) -> ResumeOutcome:
        return await self.resuming.run(Caller(actor, Origin.BUTTON, CHANNEL), SITE)

    async def ask_for_notification(self, actor: Actor = ALICE) -> None:
        await self.resuming.watch(SITE, actor)

    async def poll(self) -> None:
        await self.polls.run()
        await self.polls.drain()

    async def watch(self) -> None:
        """A poll while the event log is late: only the queue shows what happened."""
        service = self.world.service
        logs = service.logs
        service.logs = defaultdict(list)
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
