"""What a reading of the service changes of what is known, row by row.

`tests/properties/test_pause_witness.py` holds what readings, acts and events add up to.
"""

from dataclasses import replace

import pytest

from bot.kernel.actor import Actor
from bot.pauses.known import (
    ActCertainty,
    Known,
    KnownEnd,
    KnownPause,
    LineTimer,
    PauseAct,
    PauseEvent,
    PauseEventKind,
    Reading,
    Shown,
    StatusSays,
    TimerState,
    ToldEnd,
)
from bot.pauses.observe import Observed, observe
from tests.support.known_pauses import (
    at,
    authors,
    created,
    done,
    event,
    line,
    pause,
    pausing,
    reasons,
    updated,
)
from tests.support.make import ALICE, BOB, CAROL

CI = line("CI", 0)
FLAKY = line("flaky", 5)
OPEN = pause(CI)
CHANGED = pause(CI, FLAKY)
OVER = replace(OPEN, end=KnownEnd(at(10), None, at(12)))
TOLD = replace(OPEN, told_end=ToldEnd(at(3), CAROL))
"""The log has told of its end."""


def paused(reason: str, since: float, read: float) -> Reading:
    return Reading(Shown(reason, at(since)), at(read))


def running(read: float, status: StatusSays = StatusSays.NOTHING) -> Reading:
    return Reading(None, at(read), status)


def outcome(before: Known, found: Observed) -> str:
    """What became of the pauses, in a word."""
    known = found.known
    last = known.last
    was = before.last
    if found.reads_again:
        assert known.pauses == before.pauses
        return "read again"
    if known.pauses == before.pauses:
        return "nothing"
    assert known.revision == before.revision + 1
    if last is None or was is None or len(known.pauses) > len(before.pauses):
        return "another pause"
    if was.is_open and not last.is_open:
        return "it ends"
    if not was.is_open:
        return "it never ended"
    return "another line" if len(last.lines) > len(was.lines) else "that line again"


@pytest.mark.parametrize(
    ("known", "reading", "meaning"),
    [
        (None, paused("CI", 0, 1), "another pause"),
        (None, running(1), "nothing"),
        (OPEN, paused("CI", 0, 1), "nothing"),
        (OPEN, paused(" CI ", 0, 1), "nothing"),
        (OPEN, paused("CI", 1, 1), "another line"),
        (OPEN, paused("flaky", 0, 1), "another line"),
        (OPEN, paused("flaky", 1, 1), "another line"),
        # Before the last line's: a stale answer for 30 s.
        (OPEN, paused("older", -1, 29.9), "read again"),
        (OPEN, paused("older", -1, 30), "another line"),
        (CHANGED, paused("CI", 0, 34.9), "read again"),
        (CHANGED, paused("CI", 0, 35), "that line again"),
        # After an end.
        (OVER, paused("CI", 10.1, 11), "another pause"),
        (OVER, paused("CI", 10, 41.9), "read again"),
        (OVER, paused("CI", 10, 42), "it never ended"),
        (OVER, paused("CI", 0, 42), "it never ended"),
        (OVER, paused("flaky", 9, 42), "it never ended"),
        (OVER, running(42), "nothing"),
        # An end.
        (OPEN, running(60), "read again"),
        (OPEN, running(60, StatusSays.PAUSED), "nothing"),
        (OPEN, running(29.9, StatusSays.RUNNING), "read again"),
        (OPEN, running(30, StatusSays.RUNNING), "it ends"),
        (TOLD, running(1), "it ends"),
        (TOLD, running(1, StatusSays.PAUSED), "it ends"),
        (TOLD, paused("flaky", 2, 4), "another line"),
    ],
)
def test_a_reading_changes_what_it_contradicts(
    known: KnownPause | None, reading: Reading, meaning: str
) -> None:
    before = Known((known,) if known is not None else (), revision=3)

    assert outcome(before, observe(before, reading, 3)) == meaning


@pytest.mark.parametrize(
    ("known", "reading", "meaning"),
    [
        # For whom a stale answer can't be: the service has just carried the act out.
        (OVER, paused("CI", 10, 11), "it never ended"),
        (OPEN, running(1), "it ends"),
        (OPEN, paused("CI", 0, 1), "nothing"),
    ],
)
def test_the_answer_to_an_act_is_never_stale(
    known: KnownPause, reading: Reading, meaning: str
) -> None:
    before = Known((known,), (pausing(1, ALICE),), revision=3, acting=1)

    assert outcome(before, observe(before, reading, 3, answer_to=1)) == meaning


def test_the_person_of_an_end_is_that_of_the_act_that_was_answered() -> None:
    known = Known((OVER, pause(line("CI", 20))), (pausing(1, ALICE), pausing(2, BOB)))

    found = observe(known, running(21), 0, answer_to=2).known

    assert found.pauses[0] == OVER
    assert found.pauses[1].end == KnownEnd(at(21), BOB, at(21))


@pytest.mark.parametrize("reading", [paused("flaky", 60, 60), running(60, StatusSays.RUNNING)])
def test_a_reading_from_before_a_change_or_beside_an_act_proves_nothing(reading: Reading) -> None:
    known = Known((OPEN,), revision=3)
    acting = replace(known, acting=1)

    assert observe(known, reading, 2) == Observed(known, reads_again=True)
    assert observe(acting, reading, 3) == Observed(acting, reads_again=True)
    assert not observe(acting, reading, 3, is_own=True).reads_again


def test_where_the_status_shows_no_pauses_two_readings_end_one() -> None:
    known = Known((OPEN,), revision=3)

    first = observe(known, running(40), 3).known
    soon = observe(first, running(69.9), 3)
    late = observe(soon.known, running(70), 3)

    assert first.missing_since == soon.known.missing_since == at(40)
    assert outcome(known, soon) == "read again"
    assert outcome(known, late) == "it ends"
    assert late.known.missing_since is None


@pytest.mark.parametrize("shows", [paused("CI", 0, 50), running(50, StatusSays.PAUSED)])
def test_a_reading_or_a_status_that_shows_the_pause_begins_the_wait_again(shows: Reading) -> None:
    known = observe(Known((OPEN,)), running(40), 0).known

    shown = observe(known, shows, 0).known

    assert shown.missing_since is None
    assert observe(shown, running(70), 0).reads_again


def test_a_change_begins_the_wait_again() -> None:
    known = observe(Known((OPEN,)), running(40), 0).known

    assert observe(known, paused("flaky", 50, 50), 0).known.missing_since is None


def test_a_pause_ends_when_the_log_told_by_whom_it_told() -> None:
    found = observe(Known((TOLD,)), running(5), 0).known.pauses[0]

    assert found.end == KnownEnd(at(3), CAROL, at(5), is_named=True)
    assert found.told_end is None


def test_without_the_log_nobody_is_named_for_an_end() -> None:
    found = observe(Known((OPEN,)), running(40, StatusSays.RUNNING), 0).known.pauses[0]

    assert found.end == KnownEnd(at(40), None, at(40))


def test_an_end_that_was_false_leaves_nothing() -> None:
    end = KnownEnd(at(10), BOB, at(12), is_named=True)
    over = replace(OVER, end=end, told_end=ToldEnd(at(10), BOB))

    assert observe(Known((over,)), paused("CI", 0, 60), 0).known.pauses == (
        replace(OPEN, seen_at=at(60)),
    )


@pytest.mark.parametrize(("since", "told_end"), [(2.9, TOLD.told_end), (3, None), (4, None)])
def test_a_line_after_an_end_that_the_log_told_shows_that_another_pause_followed(
    since: float, told_end: ToldEnd | None
) -> None:
    found = observe(Known((TOLD,)), paused("flaky", since, 5), 0).known.pauses[0]

    assert found.told_end == told_end
    assert found.seen_at == at(5)


def test_an_earlier_line_that_is_shown_again_is_the_last_with_its_name() -> None:
    known = Known((pause(line("CI", 0, ALICE, event_id=1), FLAKY),))

    found = observe(known, paused("CI", 0, 40), 0).known.pauses[0]

    assert found.lines == (FLAKY, known.pauses[0].first_line)
    assert found.seen_at == at(40)


TOLD_LATER = replace(pause(CI, line("flaky", 5, CAROL, event_id=7)), seen_at=at(1))
"""Only the log has told of its last line."""


@pytest.mark.parametrize(
    ("shown", "lines"),
    [
        (Shown("flaky", at(4)), [0, 4]),
        (Shown(" flaky", at(6)), [0, 6]),
        (Shown("flaky", at(6.1)), [0, 5, 6.1]),
        (Shown("another", at(5)), [0, 5, 5]),
    ],
    ids=["the service's time", "in the log's second", "later", "another reason"],
)
def test_a_line_that_only_the_log_told_gets_the_time_of_the_service(
    shown: Shown, lines: list[float]
) -> None:
    reading = Reading(shown, at(40))

    found = observe(Known((TOLD_LATER,)), reading, 0).known.pauses[0]

    assert [known.paused_at for known in found.lines] == [at(seconds) for seconds in lines]
    assert authors(Known((found,)))[0][:2] == [None, CAROL]
    assert not found.is_told_only


def test_a_line_that_a_reading_saw_keeps_its_time() -> None:
    seen = replace(TOLD_LATER, seen_at=at(5))

    found = observe(Known((seen,)), paused("flaky", 6, 40), 0).known.pauses[0]

    assert [known.paused_at for known in found.lines] == [at(0), at(5), at(6)]


def made(*acts: PauseAct, waiting: tuple[PauseEvent, ...] = ()) -> Known:
    """What is known once a reading shows a pause for CI, set at 2."""
    return observe(Known(acts=acts, waiting=waiting), paused("CI", 2, 3), 0).known


ANSWERED = replace(done(pausing(1, ALICE)), answered=Shown("CI", at(2)))
ANSWERED_EARLIER = replace(ANSWERED, answered=Shown("CI", at(1)))


@pytest.mark.parametrize(
    ("acts", "by"),
    [
        ((pausing(1, ALICE),), ALICE),
        ((pausing(1, ALICE, reason=" CI"),), ALICE),
        ((pausing(1, ALICE), pausing(2, BOB)), BOB),
        ((ANSWERED, pausing(2, BOB, reason="flaky")), ALICE),
        ((replace(ANSWERED, reason="CI is down, which was too long"),), ALICE),
        ((ANSWERED_EARLIER,), None),
        ((pausing(1, ALICE, reason="CI is down"),), None),
        ((pausing(1, ALICE, reason="C"),), None),
        ((replace(pausing(1, ALICE), state=ActCertainty.NOT_DONE),), None),
        ((done(pausing(1, ALICE)),), None),
        ((), None),
    ],
    ids=[
        "its whole reason",
        "white space",
        "of two the later",
        "the answer",
        "a reason that the service shortened",
        "the answer was another pause",
        "a part of its reason",
        "more than its reason",
        "refused",
        "already done, and not told",
        "no act",
    ],
)
def test_a_line_is_of_the_act_that_it_proves(acts: tuple[PauseAct, ...], by: Actor | None) -> None:
    found = made(*acts)

    assert authors(found) == [[by]]
    states = {act.act_id: act.state for act in acts}
    for act in found.acts:
        is_theirs = by is not None and act.actor == by
        assert act.state is (ActCertainty.DONE if is_theirs else states[act.act_id])


OURS = event(PauseEventKind.CREATED, 2, "CI", ALICE, is_ours=True)


@pytest.mark.parametrize(
    ("act", "waiting", "by"),
    [
        (done(pausing(1, ALICE)), OURS, ALICE),
        (pausing(1, ALICE), created(2, "CI", BOB), BOB),
        (pausing(1, ALICE), created(2, "flaky", BOB), ALICE),
        (pausing(1, ALICE), created(0.9, "CI", BOB), ALICE),
        (pausing(1, ALICE), created(1, "CI", BOB), BOB),
    ],
    ids=[
        "the log told of the act before",
        "the log names somebody else",
        "another reason",
        "too early for the line",
        "a second early, by the log's own clock",
    ],
)
def test_the_log_names_who_set_a_line(act: PauseAct, waiting: PauseEvent, by: Actor) -> None:
    found = made(act, waiting=(waiting,))

    assert authors(found) == [[by]]
    assert found.act(1).state is (ActCertainty.DONE if by == ALICE else ActCertainty.OPEN)
    is_told = waiting.by == by
    assert found.waiting == (() if is_told else (waiting,))
    assert found.pauses[0].last_line.is_named is is_told


def test_our_event_whose_act_is_not_found_leaves_the_line_to_the_act_answered_with_it() -> None:
    ours = replace(OURS, by=Actor("", "mqbot"))
    answered = replace(pausing(1, ALICE), sets_end=True, answered=Shown("CI", at(2)))

    found = made(answered, waiting=(ours,))

    assert authors(found) == [[ALICE]]
    assert found.pauses[0].last_line.is_named
    assert found.pauses[0].timer is not None
    assert authors(made(replace(answered, answered=None), waiting=(ours,))) == [[ours.by]]
    theirs = replace(ours, is_ours=False)
    assert authors(made(answered, waiting=(theirs,))) == [[theirs.by]]


TOLD_ACT = replace(done(pausing(1, ALICE)), sets_end=True)
"""An act that is done because the log told of it."""


@pytest.mark.parametrize(
    ("act", "waiting", "is_set"),
    [
        (TOLD_ACT, OURS, True),
        (TOLD_ACT, replace(OURS, is_ours=False), False),
        (TOLD_ACT, replace(OURS, reason="flaky"), False),
        (TOLD_ACT, replace(OURS, by=BOB), False),
        (replace(TOLD_ACT, reason="flaky"), OURS, False),
        (replace(TOLD_ACT, state=ActCertainty.NOT_DONE), OURS, False),
        (replace(TOLD_ACT, answered=Shown("CI", at(1))), OURS, False),
    ],
    ids=[
        "its own event",
        "somebody pasted its reason",
        "its event is of another reason",
        "its event is somebody else's",
        "another reason",
        "refused",
        "the answer was another pause",
    ],
)
def test_a_line_has_the_timer_of_the_act_that_the_log_told_before(
    act: PauseAct, waiting: PauseEvent, *, is_set: bool
) -> None:
    timer = made(act, waiting=(waiting,)).pauses[0].timer

    assert timer == (LineTimer(ALICE, Shown("CI", at(2))) if is_set else None)


TIMED = replace(pausing(1, ALICE, reason="flaky"), sets_end=True)
SET = LineTimer(BOB, CI.shown)


@pytest.mark.parametrize(
    ("act", "timer", "after"),
    [
        (TIMED, SET, LineTimer(ALICE, Shown("flaky", at(6)))),
        (TIMED, None, LineTimer(ALICE, Shown("flaky", at(6)))),
        (replace(TIMED, sets_end=False), SET, replace(SET, state=TimerState.VOID)),
        (replace(TIMED, sets_end=False), None, None),
        (
            replace(TIMED, sets_end=False),
            replace(SET, state=TimerState.FIRED),
            replace(SET, state=TimerState.FIRED),
        ),
    ],
)
def test_another_line_voids_the_timer_unless_it_sets_one(
    act: PauseAct, timer: LineTimer | None, after: LineTimer | None
) -> None:
    known = Known((replace(OPEN, timer=timer),), (act,))

    assert observe(known, paused("flaky", 6, 7), 0).known.pauses[0].timer == after


def test_another_pause_has_the_timer_of_its_act() -> None:
    found = observe(Known((OVER,), (TIMED,)), paused("flaky", 20, 21), 0).known

    assert found.pauses == (OVER, found.pauses[1])
    assert found.pauses[1].timer == LineTimer(ALICE, Shown("flaky", at(20)))
    assert found.pauses[1].seen_at == at(21)


WAITING = (updated(5, "five"), updated(10, "ten"), updated(15, "fifteen"), created(25, "later"))


@pytest.mark.parametrize(
    ("name", "lines", "waits"),
    [
        (updated(20, "CI"), ["fifteen", "CI"], ["five", "ten", "later"]),
        (created(20, "CI"), ["CI"], ["five", "ten", "fifteen", "later"]),
    ],
)
def test_an_update_that_names_a_new_pause_brings_what_waits_since_the_end_before(
    name: PauseEvent, lines: list[str], waits: list[str]
) -> None:
    known = Known((OVER,), waiting=(*WAITING, name))

    found = observe(known, paused("CI", 20, 21), 0).known

    assert reasons(found) == [["CI"], lines]
    assert [event.reason for event in found.waiting] == waits


def test_an_update_that_names_the_first_pause_of_all_brings_what_waits_before_it() -> None:
    known = Known(waiting=(*WAITING, updated(20, "CI")))

    found = observe(known, paused("CI", 20, 21), 0).known

    assert reasons(found) == [["five", "ten", "fifteen", "CI"]]


@pytest.mark.parametrize(
    ("paused_at", "name", "lines"),
    [
        (15, None, ["CI", "five", "ten", "flaky"]),
        (15, updated(14.5, "flaky"), ["CI", "five", "ten", "flaky"]),
        (14.5, updated(15.5, "flaky"), ["CI", "five", "ten", "fifteen", "flaky"]),
    ],
)
def test_another_line_brings_what_waits_before_it(
    paused_at: float, name: PauseEvent | None, lines: list[str]
) -> None:
    told = (name,) if name is not None else ()
    waiting = (updated(0, "zero"), *WAITING, *told)

    found = observe(Known((OPEN,), waiting=waiting), paused("flaky", paused_at, 40), 0).known

    assert reasons(found) == [lines]
    kept = [event for event in waiting if event.reason not in lines]
    assert list(found.waiting) == kept


def test_an_end_brings_the_updates_before_it() -> None:
    waiting = (updated(0, "zero"), *WAITING, created(7, "created"))

    found = observe(Known((OPEN,), waiting=waiting), running(40, StatusSays.RUNNING), 0).known

    assert reasons(found) == [["CI", "five", "ten", "fifteen"]]
    assert [event.reason for event in found.waiting] == ["zero", "later", "created"]


def test_an_end_brings_an_update_of_its_own_moment() -> None:
    told = replace(OPEN, told_end=ToldEnd(at(10), CAROL))

    found = observe(Known((told,), waiting=WAITING), running(40), 0).known

    assert reasons(found) == [["CI", "five", "ten"]]
