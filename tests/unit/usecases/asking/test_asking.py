"""Explaining a pull request; reading the log, the rules and the branches."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.freezes.freeze import Freeze, Stage, Told
from bot.freezes.rows import Freezes
from bot.kernel.errors import InvalidRequest
from bot.log.position import first_position
from bot.log.rows import Events, Positions, PullRequests
from bot.log.sources import Sources
from bot.merge_queue.errors import CredentialRefused, MergeQueueUnavailable
from bot.merge_queue.event_records import FreezeAttributes
from bot.merge_queue.freezes import ListedFreeze
from bot.merge_queue.position import InBatch, NotQueued
from bot.merge_queue.window import CLOCK_ALLOWANCE, LONGEST_LOOKBACK
from bot.pauses.rows import Pauses
from bot.questions import explaining
from bot.questions.reading_log import newest_page, page_at
from bot.questions.rules_and_branches import active_branches
from bot.questions.snapshots import BranchPage, LogPage, LogPlace
from bot.questions.texts.why import why
from bot.queues.position import Explanation
from bot.storms.judging import verdict_on
from bot.storms.rows import Storms
from bot.storms.storm import FailureStorm
from bot.verdicts.texts.verdict import said
from bot.verdicts.verdict import Cause, CheckRecord, Hold
from tests.support.clock import NOON, FakeClock
from tests.support.make import (
    SITE,
    make_batch,
    make_event,
    make_event_record,
    make_known_pause,
    make_pull_request_record,
    make_queued,
    make_status,
)
from tests.support.merge_queue import FakeMergeQueue
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

ENTER = "action.queue.enter"
LEAVE = "action.queue.leave"
MERGED = "action.queue.merged"


class World:
    """A service with a log, and the questions one can ask about it."""

    def __init__(self) -> None:
        self.service = FakeMergeQueue()
        self.store = InMemoryStore()
        self.clock = FakeClock()
        self.sources = Sources(self.service, self.store, self.clock)

    async def explain(self) -> Explanation:
        return await explaining.explain_pull_request(SITE, 41, self.sources)

    async def newest(
        self, since: timedelta = LONGEST_LOOKBACK, until: timedelta | None = None
    ) -> LogPage:
        return await newest_page(SITE, self.sources, since, until, per_page=2)

    async def branches(self, first: int = 0) -> BranchPage:
        return await active_branches(SITE, timedelta(days=7), first, self.sources)

    def tell(self, *types: str) -> None:
        for number, type_ in enumerate(types, 1):
            at = NOON + timedelta(seconds=number)
            self.service.log(SITE, make_event(number, type_, received_at=at))


@pytest.fixture
def world() -> World:
    return World()


async def test_a_refused_filter_is_not_treated_as_an_expired_cursor(world: World) -> None:
    world.service.fail_next(InvalidRequest(422, "base_ref: no"))

    with pytest.raises(InvalidRequest) as refused:
        await world.newest()

    assert refused.value.repository == SITE


async def test_without_a_link_back_the_button_leads_to_the_newest_page(world: World) -> None:
    world.tell(ENTER, LEAVE, MERGED)
    newest = await world.newest()
    assert newest.older is not None
    page = await world.service.event_page(SITE, newest.place.selection.window)
    world.service.script(SITE, replace(page, previous_cursor=None))

    older = await page_at(newest.older, world.sources)

    assert older.newer == LogPlace(newest.place.selection)


async def test_the_window_includes_the_newest_event_of_a_fast_service_clock(world: World) -> None:
    ahead = NOON + timedelta(hours=5)
    with begin(world.store) as transaction:
        Positions(transaction).save(first_position(SITE, ahead))

    page = await world.newest(timedelta(hours=2))
    until = await world.newest(timedelta(hours=2), timedelta(hours=1))

    window = page.place.selection.window
    assert window.received_from == NOON - timedelta(hours=2)
    assert window.received_to == ahead + CLOCK_ALLOWANCE
    assert until.place.selection.window.received_to == NOON - timedelta(hours=1)


async def test_titles_known_from_the_queue_are_shown_after_it_left(world: World) -> None:
    world.tell(ENTER, LEAVE)
    known = make_pull_request_record(41, title="Add search")
    with begin(world.store) as transaction:
        PullRequests(transaction).save([known])

    page = await world.newest()
    found = await world.explain()

    assert page.seen[41] == known
    assert isinstance(found.position, NotQueued)
    assert found.position.end is not None
    assert not found.position.has_merged
    assert found.seen == known


async def test_an_unreadable_log_hides_no_queue_and_makes_nothing_unknown(world: World) -> None:
    # The log is read twice: for the pull request, and for freezes.
    world.service.script(SITE, *[MergeQueueUnavailable("down")] * 2)
    with pytest.raises(MergeQueueUnavailable) as raised:
        await world.explain()
    assert raised.value.repository == SITE

    world.service.statuses[SITE] = make_status(make_batch(make_queued(41)))
    world.service.script(SITE, *[CredentialRefused(403, "no")] * 2)
    found = await world.explain()
    assert isinstance(found.position, InBatch)
    assert not found.is_log_read


async def test_only_branches_on_the_page_are_read_and_those_of_the_window(world: World) -> None:
    world.service.all_branches[SITE] = tuple(f"release/{n}" for n in range(25))

    found = await world.branches(20)

    assert (found.first, found.total) == (20, 25)
    on_page = [f"release/{n}" for n in range(20, 25)]
    assert [branch.name for branch in found.branches] == on_page
    assert [call.branch for call in world.service.called("status")] == on_page
    window = world.service.called("branches")[0].window
    assert window is not None
    assert window.received_from == NOON - timedelta(days=7)


async def test_unreadable_queues_and_logs_keep_stored_data(world: World) -> None:
    world.service.all_branches[SITE] = ("main",)
    world.service.fail_next(MergeQueueUnavailable("timeout"), method="status")
    world.service.fail_next(CredentialRefused(403, "no"), method="event_page")
    merge = make_event_record(MERGED, received_at=NOON)
    await world.store.run(lambda transaction: Events(transaction).add_new([merge]))

    (main,) = (await world.branches()).branches

    assert (main.queued, main.merge) == (None, merge)


async def test_the_verdict_counts_others_as_they_are_stored_and_needs_no_log(world: World) -> None:
    """The same facts as for a post, which is rendered without asking the service."""
    failed = {
        "merged": False,
        "dequeue_code": "CHECKS_FAILED",
        "unsuccessful_checks": [{"name": "lint", "state": "failure"}],
    }
    leaves = [
        make_event(number, LEAVE, pull_request=40 + number, metadata=failed) for number in (1, 2, 3)
    ]
    other_branch = make_event(4, LEAVE, pull_request=44, base_ref="next", metadata=failed)
    await world.store.run(lambda transaction: Events(transaction).add_new([*leaves, other_branch]))
    world.service.script(SITE, *[CredentialRefused(403, "no")] * 2)

    verdict = (await world.explain()).verdict

    assert verdict is not None
    assert verdict.cause is Cause.FAILS_FOR_OTHERS
    assert verdict.found.checks.record == CheckRecord("lint", failed=2, total=2)
    stored = await world.store.read(verdict_on, leaves[0])
    assert said(stored) == said(verdict)


async def test_what_happened_before_an_earlier_leave_explains_no_later_one(world: World) -> None:
    """Its enter need not be stored."""
    not_started = make_event(1, "action.queue.checks_not_started", metadata={"reason": "no"})
    leaves = [make_event(number, LEAVE, metadata={"merged": False}) for number in (2, 3)]
    await world.store.run(lambda transaction: Events(transaction).add_new([not_started, *leaves]))

    first, second = [await world.store.read(verdict_on, leave) for leave in leaves]

    assert (first.cause, second.cause) == (Cause.NOT_STARTED, Cause.UNKNOWN)


async def test_the_verdict_knows_a_pause_that_nobody_has_stored_yet(world: World) -> None:
    await world.service.pause(SITE, "CI is down")
    world.tell(ENTER, LEAVE)

    verdict = (await world.explain()).verdict

    assert verdict is not None
    assert verdict.next.hold is Hold.PAUSE


async def test_a_pause_that_the_service_doesnt_know_any_more_delays_nothing(world: World) -> None:
    await world.store.run(lambda transaction: Pauses(transaction).save(make_known_pause()))
    world.tell(ENTER, LEAVE)

    verdict = (await world.explain()).verdict

    assert verdict is not None
    assert verdict.next.hold is None


FREEZE = {"id": "f1", "start": "2026-07-20T08:00:00", "timezone": "UTC"}


def stored_freeze(freeze_id: str) -> Freeze:
    terms = FreezeAttributes(start=FREEZE["start"], timezone="UTC")
    told = Told(77, 77, NOON - timedelta(hours=4))
    return Freeze(SITE, freeze_id, terms, "alice", told, Stage.IN_FORCE)


async def test_the_verdict_knows_a_freeze_that_nobody_has_stored_yet(world: World) -> None:
    world.service.all_freezes[SITE].append(ListedFreeze.model_validate(FREEZE))
    world.tell(ENTER, LEAVE)

    verdict = (await world.explain()).verdict

    assert verdict is not None
    assert verdict.next.hold is Hold.FREEZE


@pytest.mark.parametrize(
    ("is_listed", "hold"), [(True, None), (False, Hold.FREEZE)], ids=["listed", "unreadable"]
)
async def test_a_freeze_that_the_service_doesnt_list_any_more_delays_nothing(
    world: World, hold: Hold | None, *, is_listed: bool
) -> None:
    await world.store.run(lambda transaction: Freezes(transaction).save(stored_freeze("f1")))
    if not is_listed:
        world.service.fail_next(MergeQueueUnavailable("down"), method="freezes")
    world.tell(ENTER, LEAVE)

    verdict = (await world.explain()).verdict

    assert verdict is not None
    assert verdict.next.hold is hold


async def test_nobody_is_asked_to_wait_for_a_storm_that_is_over(world: World) -> None:
    world.tell(ENTER, LEAVE)
    storm = FailureStorm(SITE, "500", NOON - timedelta(minutes=20), NOON, branch="main")
    await world.store.run(lambda transaction: Storms(transaction).save(storm))
    during = (await world.explain()).verdict
    over = storm.after_merge(NOON + timedelta(minutes=15))
    await world.store.run(lambda transaction: Storms(transaction).save(over))
    after = (await world.explain()).verdict

    assert during is not None
    assert after is not None
    assert (during.next.hold, after.next.hold) == (Hold.STORM, None)


async def test_why_doesnt_deny_a_pull_request_that_may_be_in_an_unreadable_entry(
    world: World,
) -> None:
    world.service.statuses[SITE] = make_status(unreadable=2)
    unknown = why(await world.explain()).text
    assert "Maybe in the queue" in unknown
    assert "2 entries of the queue could not be read" in unknown
    assert "is not in the merge queue" not in unknown

    world.tell(ENTER)
    assert "Maybe in the queue" in why(await world.explain()).text
    world.tell(LEAVE)
    left = why(await world.explain()).text
    assert "Left the queue" in left
    assert "2 entries of the queue could not be read" in left
