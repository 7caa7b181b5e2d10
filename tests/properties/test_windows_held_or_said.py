"""What a recurring window announced is held, or its channels read why not; changes are followed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from bot.freezes.applying_windows import ApplyWindows
from bot.freezes.freezing import FreezeQueue
from bot.freezes.occurrences import lasting
from bot.freezes.tables import window_occurrences
from bot.freezes.texts.cards import skip_reply
from bot.freezes.windows import OccurrenceKey, RecurringWindow, WindowRules
from bot.kernel.actor import Caller, Origin
from bot.kernel.configured import Configured, Policy
from bot.kernel.cron import next_start
from bot.kernel.errors import InvalidRequest, MergeQueueError, MergeQueueRefused
from bot.merge_queue.errors import CredentialRefused, FreezesNotOffered, MergeQueueUnavailable
from bot.merge_queue.freezes import moment
from bot.merge_queue.port import FreezeSupport
from bot.pauses.ending import ExpirePauses, due_lease
from bot.pauses.group_work import GroupWork
from tests.support.desk import Desk, World
from tests.support.make import API, BOB, CHANNEL, SITE, make_configured
from tests.support.store import InMemoryStore

MINUTE = 60
HOUR = 60 * MINUTE
ERRORS = [
    MergeQueueUnavailable("slow down", status=429, retry_after=1),
    MergeQueueUnavailable("down", status=500),
    MergeQueueUnavailable("down", status=503),
    MergeQueueUnavailable("no answer"),
    CredentialRefused(403, "not allowed"),
    MergeQueueRefused(409, "conflict"),
    InvalidRequest(422, "not now"),
]


@dataclass
class Installation:
    """A process with windows and timers, whose settings can change."""

    desk: Desk
    has_freezes: bool
    windows: Sequence[RecurringWindow]
    error: MergeQueueError | None = None
    configured: Configured = field(init=False)
    running_seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began = self.desk.world.clock.now()
        self.configured = make_configured(policy=Policy([WindowRules(self.windows)]))
        service = self.desk.pausing.merge_queue
        self.applying = ApplyWindows(
            self.desk.pausing,
            FreezeQueue(service, self.desk.acts),
            self.configured,
            next_start,
        )
        self.expiry = ExpirePauses(
            self.desk.resuming, GroupWork(self.desk.acts), due_lease("one"), lambda: 0.5
        )

    def reload(self, *windows: RecurringWindow) -> None:
        self.configured.replace(make_configured(policy=Policy([WindowRules(windows)])))

    async def passes(self, seconds: float, *, turn: float = 2) -> None:
        """Each turn does what the schedule does, and notes whether the queue ran."""
        service = self.desk.world.service
        for _ in range(round(seconds / turn)):
            service.forget_failures()
            if not self.has_freezes:
                service.fail_next(FreezesNotOffered(404, "no such endpoint"), method="freezes")
            if self.error is not None:
                for method in ("create_freeze", "pause"):
                    service.fail_next(self.error, method=method)
            await self.applying.run()
            await self.expiry.run()
            await self.expiry.drain()
            if SITE not in service.pauses:
                passed = self.desk.world.clock.now() - self.began
                self.running_seconds.append(passed.total_seconds())
            self.desk.world.clock.advance(turn)
        service.forget_failures()
        await self.desk.turns(2)

    async def skips(self, seconds: float) -> None:
        """Long turns in which nothing is expected."""
        await self.passes(seconds, turn=10 * MINUTE)

    @property
    def frozen(self) -> list[str]:
        return [
            f"{freeze.start} {freeze.end}" for freeze in self.desk.world.service.all_freezes[SITE]
        ]


def window_from(
    desk: Desk, minutes: int, *, lasts: float = 120, name: str = "night"
) -> RecurringWindow:
    """One a day, that begins so many minutes from now and lasts so many minutes."""
    at = desk.world.clock.now() + timedelta(minutes=minutes)
    return RecurringWindow(
        name=name,
        repositories=[SITE],
        starts=f"{at.minute} {at.hour} * * *",
        lasts=timedelta(minutes=lasts),
        zone=ZoneInfo("UTC"),
        reason="No merges at night",
        announced=timedelta(minutes=5),
    )


async def installation(*, has_freezes: bool, minutes: int = 10, lasts: float = 120) -> Installation:
    desk = Desk(World())
    await desk.subscribe(CHANNEL, topics=("pause", "freeze"))
    await desk.turns(2)
    return Installation(desk, has_freezes, [window_from(desk, minutes, lasts=lasts)])


async def post_minutes(one: Installation, minutes: float) -> None:
    """Half a minute a turn, and the last one as often as the schedule."""
    last = min(minutes, 1)
    await one.passes((minutes - last) * MINUTE, turn=30)
    await one.passes(last * MINUTE, turn=6)


@pytest.mark.parametrize("has_freezes", [True, False])
@pytest.mark.parametrize("error", ERRORS, ids=lambda one: str(getattr(one, "status", "lost")))
async def test_one_failed_request_delays_it_by_seconds(
    error: MergeQueueError, *, has_freezes: bool
) -> None:
    """Also a window of less than five minutes."""
    one = await installation(has_freezes=has_freezes, lasts=4)
    service = one.desk.world.service
    begins = 5 if has_freezes else 10
    await post_minutes(one, begins - 1)
    assert one.frozen == []
    one.error = error
    await one.passes(1 * MINUTE + 2)
    one.error = None
    await one.passes(6)
    assert len(one.frozen) == (1 if has_freezes else 0)
    assert (SITE in service.pauses) is not has_freezes
    told = [text for text in one.desk.world.shown() if "keep trying" in text]
    assert told == []


@pytest.mark.parametrize("has_freezes", [True, False])
@pytest.mark.parametrize("error", ERRORS, ids=lambda one: str(getattr(one, "status", "lost")))
async def test_after_a_minute_its_channels_read_why_and_then_that_it_holds(
    error: MergeQueueError, *, has_freezes: bool
) -> None:
    one = await installation(has_freezes=has_freezes)
    await post_minutes(one, 4.5 if has_freezes else 9.5)
    one.error = error
    before = len(one.desk.world.service.calls)
    await one.passes(4 * MINUTE)
    (told,) = [text for text in one.desk.world.shown() if "keep trying" in text]
    assert "acme/site isn't" in told
    assert "window night" in told
    asked = one.desk.world.service.calls[before:]
    tries = [call for call in asked if call.method in {"create_freeze", "pause"}]
    assert 6 <= len(tries) <= 12
    one.error = None
    await one.passes(1.5 * MINUTE)
    assert len(one.frozen) == (1 if has_freezes else 0)
    if not has_freezes:
        assert any("acme/site is paused" in text for text in one.desk.world.shown())
    audit = [act for act in one.desk.world.database.contents.audit.values() if act.setting.after]
    assert len(audit) <= 6, audit


@pytest.mark.parametrize("has_freezes", [True, False])
async def test_what_a_person_ended_stays_ended_whatever_was_cut_off(*, has_freezes: bool) -> None:
    """The answer was lost, and somebody ended it on the dashboard before the bot looked again."""
    one = await installation(has_freezes=has_freezes)
    service = one.desk.world.service
    await post_minutes(one, 4.9 if has_freezes else 9.9)
    lost = MergeQueueUnavailable("the connection broke")
    method = "create_freeze" if has_freezes else "pause"
    if not has_freezes:
        service.fail_next(FreezesNotOffered(404, "no such endpoint"), method="freezes")
    service.fail_next(lost, method=method, after=True)
    one.desk.world.clock.advance(10)
    await one.applying.run()
    made = len(service.called(method))
    assert made == 1
    service.all_freezes[SITE].clear()
    service.resumed_by("carol")
    await one.passes(1 * MINUTE, turn=5)
    await one.passes(6 * MINUTE, turn=15)
    assert len(service.called(method)) == made
    assert one.frozen == []
    assert SITE not in service.pauses


@pytest.mark.parametrize("lasts", [24 * 60, 23.5 * 60, 30 * 60])
async def test_between_back_to_back_occurrences_merging_never_runs(lasts: float) -> None:
    """As pauses; overlapping ones too. One that is on most of the time has a gap, as asked."""
    one = await installation(has_freezes=False, minutes=10, lasts=lasts)
    await post_minutes(one, 11)
    assert SITE in one.desk.world.service.pauses
    await one.skips(23 * HOUR)
    one.running_seconds.clear()
    await one.passes(2 * HOUR, turn=20)
    # With 23.5 hours it is off for half an hour of each day.
    ran = len(one.running_seconds) * 20
    expected = max(0, 24 * 60 - lasts) * MINUTE
    assert expected - 20 <= ran <= expected + 20
    plans = [text for text in one.desk.world.shown() if "Pause planned" in text]
    assert len(plans) == 2


async def test_a_window_that_is_on_most_of_the_time_is_frozen_ahead_each_time() -> None:
    one = await installation(has_freezes=True, minutes=10, lasts=24 * 60)
    await post_minutes(one, 6)
    await one.skips(23.5 * HOUR)
    await one.passes(30 * MINUTE, turn=20)
    # Yesterday's, today's and tomorrow's: each begins when the one before ends.
    assert len(one.frozen) == 3
    for before, after in pairwise(one.frozen):
        assert before.split()[1] == after.split()[0]


async def test_two_windows_that_overlap_leave_no_gap() -> None:
    desk = Desk(World())
    await desk.subscribe(CHANNEL)
    await desk.turns(2)
    windows = [window_from(desk, 10, lasts=60), window_from(desk, 40, lasts=90, name="release")]
    one = Installation(desk, has_freezes=False, windows=windows)
    await post_minutes(one, 11)
    one.running_seconds.clear()
    await one.passes(58 * MINUTE, turn=30)
    # The first one ends.
    await one.passes(2 * MINUTE)
    await one.passes(58 * MINUTE, turn=30)
    assert one.running_seconds == []
    await one.passes(3 * MINUTE)
    assert SITE not in desk.world.service.pauses


CHANGES = ["deleted", "shortened", "moved", "other repository"]


def changed(window: RecurringWindow, how: str) -> list[RecurringWindow]:
    minute, hour, *days = window.starts.split()
    later = f"{minute} {(int(hour) + 3) % 24} {' '.join(days)}"
    return {
        "deleted": [],
        "shortened": [replace(window, lasts=timedelta(minutes=30))],
        "moved": [replace(window, starts=later)],
        "other repository": [replace(window, repositories=[API])],
    }[how]


@pytest.mark.parametrize("how", CHANGES)
@pytest.mark.parametrize("is_in_force", [True, False])
@pytest.mark.parametrize("has_freezes", [True, False])
async def test_a_reload_withdraws_or_changes_what_was_planned_and_says_so(
    how: str, *, has_freezes: bool, is_in_force: bool
) -> None:
    one = await installation(has_freezes=has_freezes)
    shown = one.desk.world.shown
    await post_minutes(one, 15 if is_in_force else 7)
    before = one.frozen
    assert len(before) == (1 if has_freezes else 0)
    posts = len(shown())
    one.reload(*changed(one.windows[0], how))
    await one.passes(10)
    if has_freezes:
        assert one.frozen != before
        assert len(one.frozen) == (1 if how == "shortened" else 0)
    elif not is_in_force:
        assert any("Planned pause withdrawn" in text for text in shown()[posts:])
        assert (how == "shortened") is any("Pause planned" in text for text in shown()[posts:])
    elif how == "shortened":
        assert SITE in one.desk.world.service.pauses
    else:
        assert SITE not in one.desk.world.service.pauses
    await one.passes(40 * MINUTE, turn=30)
    # Whatever it was, the old time is not held any more.
    assert SITE not in one.desk.world.service.pauses
    if not has_freezes and (is_in_force or how == "shortened"):
        assert any("has resumed" in text for text in shown())


@pytest.mark.parametrize("has_freezes", [True, False])
async def test_a_window_that_comes_back_into_the_settings_holds_again(*, has_freezes: bool) -> None:
    one = await installation(has_freezes=has_freezes)
    await post_minutes(one, 7)
    one.reload()
    await one.passes(10)
    assert one.frozen == []
    one.reload(*one.windows)
    await post_minutes(one, 5)
    assert len(one.frozen) == (1 if has_freezes else 0)
    assert (SITE in one.desk.world.service.pauses) is not has_freezes


async def test_an_end_that_a_person_moved_is_left_alone_by_a_reload() -> None:
    one = await installation(has_freezes=True)
    await post_minutes(one, 15)
    (freeze,) = one.desk.world.service.all_freezes[SITE]
    moved = freeze.model_copy(update={"end": "2026-07-21T09:00:00"})
    one.desk.world.service.all_freezes[SITE] = [moved]
    one.reload()
    await one.passes(10)
    assert one.desk.world.service.all_freezes[SITE] == [moved]


@pytest.mark.parametrize("has_freezes", [True, False])
async def test_what_a_reload_could_not_end_at_first_is_ended_soon(*, has_freezes: bool) -> None:
    one = await installation(has_freezes=has_freezes)
    service = one.desk.world.service
    await post_minutes(one, 15)
    one.reload()
    for _ in range(3):
        failure = MergeQueueUnavailable("down", status=503)
        method = "delete_freeze" if has_freezes else "resume"
        if not has_freezes:
            service.fail_next(FreezesNotOffered(404, "no such endpoint"), method="freezes")
        service.fail_next(failure, method=method)
        await one.applying.run()
        await one.expiry.run()
        await one.expiry.drain()
        one.desk.world.clock.advance(2)
    await one.passes(2 * MINUTE)
    assert one.frozen == []
    assert SITE not in service.pauses


@pytest.mark.parametrize("has_freezes", [True, False])
async def test_a_window_shortened_to_what_has_passed_ends_at_once(*, has_freezes: bool) -> None:
    one = await installation(has_freezes=has_freezes)
    await post_minutes(one, 40)
    one.reload(replace(one.windows[0], lasts=timedelta(minutes=10)))
    await one.passes(20)
    assert one.frozen == []
    assert SITE not in one.desk.world.service.pauses
    if not has_freezes:
        (resumed,) = [text for text in one.desk.world.shown() if "has resumed" in text]
        assert "window night" in resumed
    await one.passes(10 * MINUTE, turn=10)
    assert one.frozen == []
    assert SITE not in one.desk.world.service.pauses


@pytest.mark.parametrize("has_freezes", [True, False])
async def test_a_window_that_is_made_longer_while_it_holds_ends_later(*, has_freezes: bool) -> None:
    one = await installation(has_freezes=has_freezes)
    await post_minutes(one, 15)
    one.reload(replace(one.windows[0], lasts=timedelta(hours=4)))
    await one.passes(10)
    if has_freezes:
        (freeze,) = one.desk.world.service.all_freezes[SITE]
        begins_at = moment(freeze.start, freeze)
        assert begins_at is not None
        assert moment(freeze.end, freeze) == begins_at + timedelta(hours=4)
        return
    one.running_seconds.clear()
    await one.passes(3.8 * HOUR, turn=60)
    assert one.running_seconds == []
    await one.passes(10 * MINUTE, turn=60)
    assert SITE not in one.desk.world.service.pauses


async def test_a_persons_pause_in_place_of_the_windows_outlives_the_window() -> None:
    """Bob replaced the reason, and the end stayed: the pause is his now."""
    one = await installation(has_freezes=False)
    service = one.desk.world.service
    await post_minutes(one, 15)
    in_force = service.pauses[SITE]
    await one.desk.pause("an incident", BOB, replacing=in_force)
    await one.desk.turns(2)
    one.reload()
    await one.passes(1 * MINUTE)
    assert SITE in service.pauses
    assert service.pauses[SITE].reason.startswith("an incident")


@pytest.mark.parametrize("seconds", [20, 100])
async def test_a_window_of_three_minutes_survives_a_failing_service(seconds: int) -> None:
    one = await installation(has_freezes=False, lasts=3)
    service = one.desk.world.service
    await post_minutes(one, 9.9)
    one.error = MergeQueueUnavailable("down", status=500)
    await one.passes(seconds)
    one.error = None
    # The wait between two tries is half a minute by then.
    await one.passes(40)
    assert SITE in service.pauses
    told = [text for text in one.desk.world.shown() if "keep trying" in text]
    assert len(told) == (1 if seconds > MINUTE else 0)
    await one.passes(3 * MINUTE)
    assert SITE not in service.pauses


@pytest.mark.parametrize(
    ("at", "starts", "hours"),
    [
        # 2:30 doesn't exist on 29 March in Berlin, and comes twice on 25 October.
        (datetime(2026, 3, 28, 23, 0, tzinfo=UTC), "30 2 * * *", 1.0),
        (datetime(2026, 10, 24, 22, 0, tzinfo=UTC), "30 2 * * *", 2.0),
        # From Saturday 18:00 to Sunday 18:00 by the clock on the wall.
        (datetime(2026, 3, 28, 16, 50, tzinfo=UTC), "0 18 * * sat", 23.0),
        (datetime(2026, 10, 24, 15, 50, tzinfo=UTC), "0 18 * * sat", 25.0),
    ],
)
async def test_a_window_over_a_change_of_the_clocks_is_held_once(
    at: datetime, starts: str, hours: float
) -> None:
    world = World()
    world.clock.advance((at - world.clock.now()).total_seconds())
    desk = Desk(world)
    window = RecurringWindow(
        name="night",
        repositories=[SITE],
        starts=starts,
        lasts=timedelta(hours=24 if hours > 3 else 1),
        zone=ZoneInfo("Europe/Berlin"),
        reason="No merges at night",
        announced=timedelta(minutes=5),
    )
    one = Installation(desk, has_freezes=True, windows=[window])
    await one.passes(6 * HOUR, turn=2 * MINUTE)
    (freeze,) = one.desk.world.service.all_freezes[SITE]
    begins_at = moment(freeze.start, freeze)
    ends_at = moment(freeze.end, freeze)
    assert begins_at is not None
    assert ends_at is not None
    assert (ends_at - begins_at) / timedelta(hours=1) == hours


async def test_a_renamed_window_in_force_leaves_its_freeze_no_gap() -> None:
    one = await installation(has_freezes=True)
    await post_minutes(one, 15)
    one.reload(replace(one.windows[0], name="evening"))
    held = set[bool]()
    for _ in range(20):
        await one.passes(2)
        held.add(bool(one.frozen))
    assert held == {True}
    assert len(one.frozen) == 1


async def test_a_renamed_window_in_force_keeps_its_pause() -> None:
    one = await installation(has_freezes=False)
    shown = one.desk.world.shown
    await post_minutes(one, 15)
    one.reload(replace(one.windows[0], name="evening"))
    one.running_seconds.clear()
    await one.passes(20)
    await one.passes(113 * MINUTE, turn=MINUTE)
    assert one.running_seconds == []
    assert not any("has resumed" in text for text in shown())
    await one.passes(3 * MINUTE)
    assert SITE not in one.desk.world.service.pauses
    (resumed,) = [text for text in shown() if "has resumed" in text]
    assert "window evening" in resumed


async def test_a_skipped_window_does_not_keep_the_pause_of_a_deleted_one() -> None:
    desk = Desk(World())
    await desk.subscribe(CHANNEL)
    await desk.turns(2)
    windows = [window_from(desk, 10, lasts=60), window_from(desk, 10, lasts=90, name="release")]
    one = Installation(desk, has_freezes=False, windows=windows)
    await post_minutes(one, 6)
    (key,) = [key for key in await keys(one) if key.window == "release"]
    await one.applying.skip(Caller(BOB, Origin.BUTTON, CHANNEL), key)
    await post_minutes(one, 9)
    assert SITE in desk.world.service.pauses
    one.reload(windows[1])
    await one.passes(10)
    assert SITE not in desk.world.service.pauses


@pytest.mark.parametrize("has_freezes", [True, False])
async def test_a_window_deleted_during_another_one_leaves_no_gap(*, has_freezes: bool) -> None:
    desk = Desk(World())
    await desk.subscribe(CHANNEL, topics=("pause", "freeze"))
    await desk.turns(2)
    windows = [window_from(desk, 10, lasts=60), window_from(desk, 20, lasts=90, name="release")]
    one = Installation(desk, has_freezes=has_freezes, windows=windows)
    await post_minutes(one, 30)
    one.reload(windows[1])
    one.running_seconds.clear()
    await one.passes(2 * MINUTE)
    await one.passes(28 * MINUTE, turn=30)
    if has_freezes:
        assert len(one.frozen) == 1
    else:
        assert SITE in desk.world.service.pauses
        assert one.running_seconds == []


async def test_a_plan_that_a_person_skipped_stays_skipped_when_the_settings_change() -> None:
    one = await installation(has_freezes=False)
    await post_minutes(one, 6)
    (key,) = await keys(one)
    caller = Caller(BOB, Origin.BUTTON, CHANNEL)
    _, is_new = await one.applying.skip(caller, key)
    assert is_new
    one.reload()
    await one.passes(10)
    one.reload(*one.windows)
    await post_minutes(one, 6)
    assert SITE not in one.desk.world.service.pauses
    assert not any("withdrawn" in text for text in one.desk.world.shown())


async def keys(one: Installation) -> list[OccurrenceKey]:
    """The occurrences that are known."""
    now = one.desk.world.clock.now()
    return list(await one.desk.acts.store.read(lasting, now))


async def test_an_equal_freeze_of_somebody_else_stays_when_a_window_is_withdrawn() -> None:
    one = await installation(has_freezes=True)
    await post_minutes(one, 7)
    (ours,) = one.desk.world.service.all_freezes[SITE]
    theirs = ours.model_copy(update={"id": "of-somebody-else"})
    one.desk.world.service.all_freezes[SITE] = [theirs, ours]
    one.reload()
    await one.passes(10)
    assert one.desk.world.service.all_freezes[SITE] == [theirs]


async def test_what_a_person_changed_is_not_asked_for_again() -> None:
    one = await installation(has_freezes=True)
    service = one.desk.world.service
    await post_minutes(one, 15)
    service.all_freezes[SITE].clear()
    one.reload()
    await one.passes(10)
    asked = len(service.called("freezes"))
    for _ in range(30):
        await one.applying.run()
        one.desk.world.clock.advance(2)
    assert len(service.called("freezes")) == asked


async def test_a_request_that_was_cut_off_before_a_reload_is_withdrawn_too() -> None:
    one = await installation(has_freezes=True)
    service = one.desk.world.service
    await post_minutes(one, 4.9)
    lost = MergeQueueUnavailable("the connection broke")
    service.fail_next(lost, method="create_freeze", after=True)
    one.desk.world.clock.advance(10)
    await one.applying.run()
    assert len(one.frozen) == 1
    one.reload()
    await one.passes(20)
    assert one.frozen == []


async def transactions_of_a_run(one: Installation) -> int:
    store = InMemoryStore(one.desk.world.database)
    acts = replace(one.desk.acts, store=store)
    applying = replace(
        one.applying,
        pause_queue=replace(one.applying.pause_queue, acts=acts),
        freeze_queue=replace(one.applying.freeze_queue, acts=acts),
    )
    await applying.run()
    return store.transactions


async def test_an_announced_pause_costs_no_more_than_no_window_until_it_begins() -> None:
    one = await installation(has_freezes=False)
    one.desk.world.service.freeze_support = FreezeSupport.NOT_OFFERED
    without = await transactions_of_a_run(one)
    await post_minutes(one, 6)
    assert any("Pause planned" in text for text in one.desk.world.shown())
    assert await transactions_of_a_run(one) == without
    await post_minutes(one, 5)
    assert SITE in one.desk.world.service.pauses


@pytest.mark.parametrize("has_freezes", [True, False])
async def test_what_a_reload_cannot_end_is_tried_more_and_more_rarely(
    caplog: pytest.LogCaptureFixture, *, has_freezes: bool
) -> None:
    one = await installation(has_freezes=has_freezes)
    service = one.desk.world.service
    await post_minutes(one, 15)
    one.reload()
    before = len(service.calls)
    for _ in range(4 * MINUTE // 2):
        service.fail_next(MergeQueueUnavailable("down", status=503))
        await one.applying.run()
        service.forget_failures()
        one.desk.world.clock.advance(2)
    tries = service.calls[before:]
    assert 6 <= len(tries) <= 12
    assert len(caplog.records) == len(tries)
    await one.passes(1 * MINUTE + 2)
    assert one.frozen == []
    assert SITE not in service.pauses


async def test_a_pause_that_never_began_is_not_skipped_once_its_time_is_over() -> None:
    """A person's pause was in force throughout."""
    one = await installation(has_freezes=False)
    await post_minutes(one, 6)
    (key,) = await keys(one)
    await one.desk.pause("an incident", BOB)
    await one.passes(130 * MINUTE, turn=MINUTE)
    await expect_nothing_skipped(one, key)


async def test_a_plan_that_the_settings_dropped_is_not_skipped() -> None:
    one = await installation(has_freezes=False)
    await post_minutes(one, 6)
    (key,) = await keys(one)
    one.reload()
    await expect_nothing_skipped(one, key)


async def test_a_freeze_that_a_restored_backup_found_is_not_skipped() -> None:
    """The backup knows of no act that made it."""
    one = await installation(has_freezes=True)
    await post_minutes(one, 6)
    one.desk.world.database.execute(window_occurrences.delete())
    await one.passes(2)
    (key,) = await keys(one)
    await expect_nothing_skipped(one, key)
    one.reload()
    await one.passes(10)
    assert one.frozen == []


async def expect_nothing_skipped(one: Installation, key: OccurrenceKey) -> None:
    skipped, is_new = await one.applying.skip(Caller(BOB, Origin.BUTTON, CHANNEL), key)
    assert not is_new
    assert "nothing left to skip" in skip_reply(skipped, is_new=is_new).text
    await one.desk.turns(2)
    assert not any("Skipped this time" in text for text in one.desk.world.shown())
