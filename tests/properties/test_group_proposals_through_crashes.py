"""A crash while a person approves a machine's proposal for a group: each queue is paused once."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from bot.acts.approval import Approval, ApprovalRules
from bot.acts.asked import Asked
from bot.acts.check_permission import CheckPermission
from bot.acts.confirmation import ConfirmationRequest
from bot.acts.errors import ProposalClosed
from bot.acts.group_act import GroupAct
from bot.acts.open_requests import OpenRequests
from bot.acts.permission import MACHINE
from bot.acts.record import Action
from bot.acts.recording import RecordActs
from bot.acts.request_state import RequestState
from bot.acts.unanswered_rows import UnansweredRequests
from bot.channels.rows import Subscriptions
from bot.freezes.freezing import FreezeQueue
from bot.groups.acting import ActOnGroups
from bot.groups.closing_requests import CloseRequests
from bot.groups.proposing import ProposeActs, Proposed, as_approver
from bot.groups.telling_outcomes import TellOutcomes
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.configured import Policy
from bot.kernel.errors import BotError
from bot.kernel.groups import Group
from bot.pauses.group_work import EndCutShort, GroupWork, ignore_progress
from bot.pauses.pausing import PauseQueue
from bot.pauses.resuming import ResumeQueue
from bot.pauses.rows import Pauses, is_paused
from bot.posts.posting import PostDeliveries
from bot.posts.refreshing import RefreshLiveMessages
from bot.runtime.renderers import RENDERERS
from tests.support.clock import FakeClock
from tests.support.directories import FakeChannels, FakePeople
from tests.support.disturbances import (
    Crash,
    Disturbance,
    DisturbedStore,
    Steps,
    disturbed_merge_queue,
    disturbed_poster,
)
from tests.support.loops import Loop, unsubscribed
from tests.support.make import (
    API,
    BOB,
    CAROL,
    CHANNEL,
    SITE,
    make_configured,
    make_subscription,
)
from tests.support.merge_queue import FakeMergeQueue
from tests.support.poster import RecordingPoster
from tests.support.store import InMemoryDatabase, InMemoryStore
from tests.support.transactions import begin

BOTH = (SITE, API)
STEPS = range(1, 200)
TURNS = 30
TURN_SECONDS = 5
CI = Actor(f"{MACHINE}ci", "ci")
BY_CI = Caller(CI, Origin.MACHINE, request="of the machine")
ASKED = Asked("main is red")
APPROVAL = Approval(frozenset({Action.PAUSE}), timedelta(hours=1), most_open=1)


@dataclass
class World:
    """What outlives a process."""

    clock: FakeClock = field(default_factory=FakeClock)
    database: InMemoryDatabase = field(default_factory=InMemoryDatabase)
    poster: RecordingPoster = field(default_factory=RecordingPoster)

    def __post_init__(self) -> None:
        self.service = FakeMergeQueue(BOTH, clock=self.clock)
        with begin(InMemoryStore(self.database)) as transaction:
            for repository in BOTH:
                Subscriptions(transaction).save(make_subscription("pause", repository=repository))


class Process:
    """What approves, ends what was cut off, polls and posts."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.steps = Steps()
        self.store = DisturbedStore(InMemoryStore(world.database), self.steps, "acting")
        service = disturbed_merge_queue(world.service, self.steps)
        policy = Policy([ApprovalRules({CI.user_id: APPROVAL})])
        check = CheckPermission(FakePeople(), make_configured(*BOTH, policy=policy))
        self.acts = RecordActs(
            self.store, world.clock, FakeChannels(), check, unsubscribed, is_paused
        )
        pausing = PauseQueue(service, self.acts)
        resuming = ResumeQueue(service, self.acts)
        work = GroupWork(self.acts)
        self.groups = ActOnGroups(pausing, resuming, FreezeQueue(service, self.acts), work)
        self.proposals = ProposeActs(self.acts)
        self.cut_short = EndCutShort(work)
        self.telling = TellOutcomes(service, self.acts, self.cut_short)
        self.closing = CloseRequests(self.store, world.clock, unsubscribed)
        self.polls = Loop(self.store, service, world.clock, BOTH, name).with_queues()
        poster = disturbed_poster(world.poster, self.steps)
        self.posts = PostDeliveries(
            store=self.store,
            poster=poster,
            clock=world.clock,
            wake=unsubscribed,
            holder=name,
            jitter=lambda: 0.5,
            renderers=RENDERERS,
        )
        self.edits = RefreshLiveMessages(
            store=self.store,
            poster=poster,
            clock=world.clock,
            wake=unsubscribed,
            holder=name,
            jitter=lambda: 0.5,
            renderers=RENDERERS,
        )

    async def propose(self) -> int:
        wanted = [Proposed(Action.PAUSE, name, ASKED) for name in BOTH]
        first, _ = await self.proposals.propose(BY_CI, wanted, APPROVAL, "release")
        return first.record_id

    async def approve(self, proposal_id: int, person: Actor) -> None:
        """As the button does."""
        request = f"of {person.name}"
        row = OpenRequests(self.store, self.world.clock).row(request, person.user_id, CHANNEL)
        await self.store.run(lambda transaction: UnansweredRequests(transaction).add(row))
        caller = Caller(person, Origin.BUTTON, CHANNEL, request)
        async with self.proposals.approved(caller, proposal_id) as parts:
            group = Group("release", tuple(part.repository for part in parts))
            now = self.world.clock.now()
            act = GroupAct.by(as_approver(caller, parts), now, Action.PAUSE, group, ASKED)
            await self.groups.act(act, ignore_progress)
        await self.store.run(
            lambda transaction: UnansweredRequests(transaction).answered({request})
        )

    async def settles(self) -> None:
        for _ in range(TURNS):
            for work in (self.cut_short, self.telling, self.polls, self.posts, self.edits):
                await work.run()
            await self.telling.drain()
            await self.polls.drain()
            await self.closing.run()
            self.world.clock.advance(TURN_SECONDS)

    async def outcome(self) -> ConfirmationRequest:
        found = await self.proposals.find(CI.user_id, "of the machine")
        assert found is not None
        return found


async def live(struck: Disturbance) -> tuple[Process, bool]:
    """Bob approves in a process that dies, Carol what is left; whether it died."""
    world = World()
    first = Process(world, "one")
    proposal_id = await first.propose()
    await first.settles()
    first.steps.arm(struck)
    with suppress(Crash, BaseExceptionGroup, BotError):
        await first.approve(proposal_id, BOB)
    another = Process(world, "another")
    await another.settles()
    with suppress(ProposalClosed):
        await another.approve(proposal_id, CAROL)
    await another.settles()
    return another, first.steps.is_dead


@pytest.mark.steps(STEPS, 12)
async def test_each_queue_of_a_proposal_is_paused_once_after_any_crash(at: int) -> None:
    process, _ = await live(Disturbance("crash", at))
    world = process.world
    paused = [call.repository for call in world.service.called("pause")]
    assert sorted(map(str, paused)) == sorted(BOTH)
    outcome = await process.outcome()
    assert {part.state for part in outcome.outcomes} == {RequestState.CONFIRMED}
    with begin(InMemoryStore(world.database)) as transaction:
        assert len(Pauses(transaction).open(BOTH)) == len(BOTH)
    (request,) = [shown for shown in world.poster.shown(CHANNEL) if "ci proposed to" in shown]
    assert "approved it." in request


async def test_crash_steps_cover_the_whole_approval() -> None:
    _, was_struck = await live(Disturbance("crash", STEPS[-1]))
    assert not was_struck
