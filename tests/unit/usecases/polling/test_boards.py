"""Boards: how often queues are read for them, and how often they are edited."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from typing_extensions import override

from bot.boards.board import WhyUnread
from bot.boards.keeping import ManageBoards, NotPostable, ThereAlready, end_unmanaged_boards
from bot.kernel.actor import Caller, Origin
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.log.sources import Sources
from bot.merge_queue.errors import CredentialRefused, MergeQueueProtocolError, MergeQueueUnavailable
from bot.merge_queue.queue import QueueStatus
from bot.posts.outbox import Outbox
from bot.posts.posting import PostDeliveries
from bot.posts.refreshing import RefreshLiveMessages
from bot.runtime.renderers import RENDERERS
from bot.slack.errors import PostRefused, Refusal
from bot.slack.ports import ChannelAccess
from tests.support.acting import Acting
from tests.support.loops import Loop, fixed
from tests.support.make import ALICE, API, CHANNEL, SITE, make_batch, make_queued, make_status
from tests.support.poster import RecordingPoster
from tests.support.transactions import begin

INTERVAL = timedelta(seconds=15)
OTHER = "C0RELEASE"


@dataclass
class Boarding(Acting):
    """Boards in a world whose schedule is driven by the test."""

    repositories: Sequence[RepositoryName] = (SITE, API)
    poster: RecordingPoster = field(default_factory=RecordingPoster)

    @override
    def wire(self) -> None:
        super().wire()
        self.merge_queue.repositories = set(self.repositories)
        sources = Sources(self.merge_queue, self.store, self.clock)
        self.boards = ManageBoards(self.acts, sources)
        self.loop = Loop(
            self.store,
            self.merge_queue,
            self.clock,
            self.repositories,
            wake=self.wake,
            interval=fixed(INTERVAL),
        ).with_queues()
        self.posts = PostDeliveries(
            self.store, self.poster, self.clock, self.wake, "one", lambda: 0.5, RENDERERS
        )
        self.edits = RefreshLiveMessages(
            self.store, self.poster, self.clock, self.wake, "one", lambda: 0.5, RENDERERS
        )

    async def put_up(
        self, channel_id: str = CHANNEL, repository: RepositoryName = SITE
    ) -> ThereAlready | NotPostable | None:
        caller = Caller(ALICE, Origin.COMMAND, channel_id)
        return await self.boards.add(repository, caller)

    async def turn(self, seconds: float = 1) -> None:
        """The schedule's turns, one piece of work after the other."""
        await self.loop.run()
        await self.loop.drain()
        await self.posts.run()
        await self.edits.run()
        self.clock.advance(seconds)

    async def turns(self, times: int, seconds: float = 1) -> None:
        for _ in range(times):
            await self.turn(seconds)

    def reads(self, repository: RepositoryName = SITE) -> int:
        return sum(call.repository == repository for call in self.merge_queue.called("status"))

    def edited(self) -> int:
        return sum(call.method == "update" for call in self.poster.calls)

    def shown(self, channel_id: str = CHANNEL) -> str:
        return self.poster.shown(channel_id)[-1]


def queue(turn: int = 0) -> QueueStatus:
    return make_status(make_batch(checks=(turn, 1000)), waiting=[make_queued(50)])


async def test_a_stopping_process_leaves_waiting_edits_to_others() -> None:
    world = Boarding()
    await world.put_up()
    await world.turns(2)
    world.clock.advance(INTERVAL.total_seconds())
    world.merge_queue.statuses[SITE] = queue(turn=1)
    await world.loop.run()
    await world.loop.drain()
    world.clock.advance(INTERVAL.total_seconds())

    world.edits.begin_no_more()
    await world.edits.run()
    assert world.edited() == 0
    world.edits.ending.clear()
    await world.edits.run()
    assert world.edited() == 1


async def test_a_queue_is_read_once_an_interval_however_many_boards_show_it() -> None:
    world = Boarding()
    for number in range(5):
        await world.put_up(f"C{number}")
    before = world.reads()
    await world.turns(60)
    assert world.reads() - before == 60 / INTERVAL.total_seconds()
    assert world.reads(API) <= 1


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MergeQueueUnavailable("timeout"), "hasn't responded since"),
        (CredentialRefused(403, "no"), "hasn't let the bot read this queue since"),
        (MergeQueueProtocolError("no JSON"), "couldn't be read since"),
    ],
    ids=[*WhyUnread],
)
async def test_an_outage_of_a_queue_and_its_end_are_shown_once(
    error: MergeQueueError, words: str
) -> None:
    world = Boarding()
    world.merge_queue.statuses[SITE] = queue()
    await world.put_up()
    await world.turns(40)
    for _ in range(100):
        world.merge_queue.fail_next(error, method="status")
    await world.turns(70)
    assert world.edited() == 0
    await world.turns(40, seconds=5)
    assert world.edited() == 1
    assert words in world.shown()
    # The last answer came half a minute after the board was put up, the first failure after it.
    assert "since 2026-07-20 12:00 UTC" in world.shown()
    world.merge_queue.forget_failures()
    edits = world.edited()
    await world.turns(60, seconds=5)
    assert world.edited() == edits + 1
    assert "is running" in world.shown()


async def test_many_boards_of_busy_queues_leave_half_of_the_edits_to_others() -> None:
    names = [RepositoryName(f"acme/r{number}") for number in range(40)]
    world = Boarding(repositories=names)
    for name in names:
        await world.put_up(repository=name)
    await world.turns(40, seconds=5)
    before = world.edited()
    for minute in range(2):
        for name in names:
            world.merge_queue.statuses[name] = queue(minute)
        await world.turns(20, seconds=3)
    assert 20 <= world.edited() - before <= 2 * 25


async def test_a_board_edited_just_now_still_shows_a_pause_at_once() -> None:
    world = Boarding()
    for number in range(20):
        await world.put_up(f"C{number}")
    await world.turns(60)
    world.merge_queue.statuses[SITE] = queue(1)
    await world.turns(16)
    assert "1 of 1,000 checks" in world.shown("C0")
    world.paused_elsewhere("Database migration", at=world.clock.now())
    await world.turns(16)
    assert "is paused" in world.shown("C0")


async def test_two_simultaneous_requests_create_one_board() -> None:
    world = Boarding()
    answers = await asyncio.gather(world.put_up(), world.put_up())
    assert sorted(type(answer).__name__ for answer in answers) == ["NoneType", "ThereAlready"]
    await world.turns(3)
    assert len(world.poster.shown(CHANNEL)) == 1


@pytest.mark.parametrize(
    "access", [ChannelAccess.INVITE, ChannelAccess.DIRECT, ChannelAccess.CLOSED]
)
async def test_without_posting_rights_there_is_no_board(access: ChannelAccess) -> None:
    world = Boarding()
    world.channels.others[CHANNEL] = access
    assert await world.put_up() == NotPostable(access)
    await world.turns(30)
    assert world.poster.calls == []


async def test_a_board_that_was_never_posted_can_be_created_again() -> None:
    world = Boarding()
    world.poster.closed[CHANNEL] = "not_in_channel"
    await world.put_up()
    await world.turns(3)
    with begin(world.store) as transaction:
        # As when somebody unsubscribes the channel while Slack refuses it.
        Outbox(transaction).drop_unsubscribed(CHANNEL, SITE, world.clock.now())
    world.poster.closed.clear()
    assert await world.put_up() is None
    await world.turns(130)
    assert "is running" in world.shown()
    assert isinstance(await world.put_up(), ThereAlready)


async def test_a_board_of_a_removed_repository_says_so() -> None:
    world = Boarding()
    await world.put_up()
    await world.put_up(OTHER, API)
    await world.turns(3)
    await world.store.run(end_unmanaged_boards, world.clock.now(), [API])
    await world.turns(3)
    assert "no longer follows this repository" in world.shown()
    assert "is running" in world.shown(OTHER)


async def test_a_channel_that_refused_edits_then_shows_the_latest_state() -> None:
    world = Boarding()
    await world.put_up()
    await world.turns(3)
    world.poster.fail_next(PostRefused("restricted_action", Refusal.CHANNEL), method="update")
    world.merge_queue.statuses[SITE] = queue(1)
    await world.turns(30)
    world.merge_queue.statuses[SITE] = queue(2)
    await world.turns(200)
    assert "2 of 1,000 checks" in world.shown()
