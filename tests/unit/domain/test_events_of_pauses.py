"""Where an event of the log belongs among what is known, and the steps of an act.

`tests/properties/test_pause_witness.py` holds what they add up to.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.acts.record import SOMEBODY
from bot.kernel.actor import Actor
from bot.pauses.act_steps import answered, begun, not_done, unanswered
from bot.pauses.known import (
    ActCertainty,
    Known,
    KnownEnd,
    KnownPause,
    Line,
    LineTimer,
    PauseEventKind,
    Reading,
    Shown,
    TimerState,
)
from bot.pauses.observe import observe
from bot.pauses.place import cause, place
from tests.support.clock import NOON
from tests.support.known_pauses import (
    at,
    authors,
    created,
    done,
    end_of,
    event,
    line,
    pause,
    pausing,
    reasons,
    removed,
    resuming,
    updated,
)
from tests.support.make import ALICE, BOB, CAROL

NOW = NOON + timedelta(hours=1)


def test_a_late_create_names_the_line_that_begins_the_pause() -> None:
    known = Known((pause(line("CI", 0), line("flaky", 1), line("CI", 2)),))

    assert authors(place(known, created(2, "CI"), NOW)) == [[CAROL, None, None]]
    named = place(known, updated(2, "CI"), NOW)
    assert authors(named) == [[None, None, CAROL]]
    assert [shown.event_id for shown in named.pauses[0].lines] == [None, None, 1002]


@pytest.mark.parametrize(("seconds", "named"), [(20, 1), (0.1, 0)])
def test_an_event_names_the_line_nearest_in_time(seconds: float, named: int) -> None:
    second = 20 if named else 0.9
    known = Known((pause(line("CI", 0), end=0.5), pause(line("CI", second))))

    found = authors(place(known, created(seconds, "CI"), NOW))

    assert found[named] == [CAROL]
    assert found[1 - named] == [None]


def test_an_event_names_no_line_that_has_its_event() -> None:
    known = Known((pause(line("CI", 0, ALICE, event_id=1), line("flaky", 1), line("CI", 2)),))

    assert authors(place(known, created(2, "CI"), NOW)) == [[ALICE, None, CAROL]]


def test_an_event_without_a_person_takes_no_name_away() -> None:
    known = Known((pause(line("CI", 0, ALICE)),))

    nameless = event(PauseEventKind.CREATED, 0, "CI", by=None)

    assert authors(place(known, nameless, NOW)) == [[ALICE]]
    assert authors(place(known, created(0, "CI"), NOW)) == [[CAROL]]


CREDENTIAL = Actor("", "mqbot")
"""Whom an own event names whose act isn't found."""


@pytest.mark.parametrize("by", [CREDENTIAL, SOMEBODY])
def test_our_event_without_its_act_takes_no_person_away(by: Actor) -> None:
    timer = LineTimer(ALICE, Shown("CI", NOON))
    known = Known((replace(pause(line("CI", 0, ALICE)), timer=timer),))
    ours = event(PauseEventKind.CREATED, 0, "CI", by, is_ours=True)

    found = place(known, ours, NOW)

    assert authors(found) == [[ALICE]]
    assert found.pauses[0].timer == timer
    assert found.pauses[0].last_line.is_named
    assert authors(place(Known((pause(line("CI", 0)),)), ours, NOW)) == [[by]]
    theirs = replace(ours, is_ours=False)
    assert authors(place(known, theirs, NOW)) == [[by]]


@pytest.mark.parametrize("by", [CREDENTIAL, SOMEBODY])
def test_our_end_without_its_act_takes_no_person_away(by: Actor) -> None:
    over = replace(pause(line("CI", 0)), end=KnownEnd(at(10), ALICE, at(10)))
    ours = event(PauseEventKind.REMOVED, 10, "", by, is_ours=True)

    assert end_of(place(Known((over,)), ours, NOW).pauses[0]).by == ALICE
    theirs = replace(ours, is_ours=False)
    assert end_of(place(Known((over,)), theirs, NOW).pauses[0]).by == by


def test_each_of_our_events_proves_another_act() -> None:
    acts = (
        done(pausing(1, ALICE)),
        done(pausing(2, BOB)),
    )
    known = Known((pause(line("CI", 0), end=10), pause(line("CI", 20))), acts)

    known = place(known, event(PauseEventKind.CREATED, 0, "CI", is_ours=True), NOW)
    known = place(known, event(PauseEventKind.CREATED, 20, "CI", is_ours=True), NOW)

    assert authors(known) == [[ALICE], [BOB]]


def test_our_event_proves_an_answered_act_before_an_open_one() -> None:
    acts = (pausing(1, ALICE), done(pausing(2, BOB)))
    ours = event(PauseEventKind.CREATED, 0, "CI", is_ours=True)

    assert authors(place(Known((pause(line("CI", 0)),), acts), ours, NOW)) == [[BOB]]


def test_only_our_own_event_proves_an_open_act() -> None:
    known = Known((pause(line("CI", 0)),), (pausing(1, ALICE),))

    ours = place(known, event(PauseEventKind.CREATED, 0, "CI", is_ours=True), NOW)
    foreign = place(known, created(0, "CI"), NOW)

    assert (ours.act(1).state, authors(ours)) == (ActCertainty.DONE, [[ALICE]])
    assert (foreign.act(1).state, authors(foreign)) == (ActCertainty.OPEN, [[CAROL]])


def test_our_event_proves_no_act_that_began_after_it_or_says_something_else() -> None:
    acts = (pausing(1, ALICE, seconds=5), pausing(2, BOB, reason="flaky"))
    ours = event(PauseEventKind.CREATED, 0, "CI", is_ours=True)

    known = place(Known((pause(line("CI", 0)),), acts), ours, NOW)

    assert authors(known) == [[CAROL]]
    assert [act.state for act in known.acts] == [ActCertainty.OPEN, ActCertainty.OPEN]


@pytest.mark.parametrize(("began", "author"), [(1, ALICE), (1.5, CAROL)])
def test_our_event_may_be_stamped_a_little_earlier_than_its_act_began(
    began: float, author: Actor
) -> None:
    """The log has a clock of its own."""
    known = Known(pauses=(pause(line("CI", 0)),), acts=(pausing(1, ALICE, began),))
    named = place(known, event(PauseEventKind.CREATED, 0, "CI", is_ours=True), NOW)
    assert authors(named) == [[author]]


def test_our_event_proves_the_act_whose_reason_the_service_shortened() -> None:
    shortened = replace(done(pausing(1, ALICE, reason="CI is")), answered=Shown("CI", NOON))
    known = Known((pause(line("CI", 0)),), (shortened,))

    assert authors(place(known, event(PauseEventKind.CREATED, 0, "CI", is_ours=True), NOW)) == [
        [ALICE]
    ]


def test_an_update_of_a_first_line_brings_what_waits_since_the_end_before() -> None:
    of_before = (created(5, "old"), updated(10, "at its end"))
    begins = (created(12, "older"), updated(20, "at once"))
    later = created(30, "later")
    before = pause(line("first", 0, ALICE, event_id=1), end=10)
    known = Known((before, pause(line("CI", 20))), waiting=(*of_before, *begins, later))

    found = place(known, updated(20, "CI"), NOW)

    assert reasons(found) == [["first"], ["older", "at once", "CI"]]
    assert found.waiting == (*of_before, later)


def test_an_update_of_the_first_line_of_all_brings_what_waits_before_it() -> None:
    known = Known((pause(line("CI", 20), end=30),), waiting=(created(12, "older"),))

    assert reasons(place(known, updated(20, "CI"), NOW)) == [["older", "CI"]]


def test_a_create_of_a_first_line_brings_nothing_that_waits() -> None:
    waiting = (created(12, "older"),)
    known = Known((pause(line("CI", 20)),), waiting=waiting)

    assert place(known, created(20, "CI"), NOW).waiting == waiting


def test_an_update_of_a_later_line_brings_nothing_that_waits() -> None:
    waiting = (created(5, "older"),)
    known = Known((pause(line("first", 0), line("CI", 20)),), waiting=waiting)

    assert place(known, updated(20, "CI"), NOW).waiting == waiting


@pytest.mark.parametrize(
    ("by", "timed", "state"),
    [
        (CAROL, line("CI", 0), TimerState.VOID),
        (ALICE, line("CI", 0), TimerState.SET),
        (CAROL, line("flaky", 5), TimerState.SET),
    ],
)
def test_only_another_persons_name_on_its_own_line_voids_a_timer(
    by: Actor, timed: Line, state: TimerState
) -> None:
    timer = LineTimer(ALICE, timed.shown)
    known = Known((replace(pause(line("CI", 0), line("flaky", 5)), timer=timer),))

    found = place(known, created(0, "CI", by), NOW).pauses[0].timer

    assert found is not None
    assert found.state is state


def test_a_line_that_no_reading_saw_goes_between_those_around_it() -> None:
    known = Known((pause(line("CI", 0), line("flaky", 20)),))

    assert reasons(place(known, updated(10, "unseen"), NOW)) == [["CI", "unseen", "flaky"]]
    known = replace(known, waiting=(created(40, "later"),))
    for seconds in (-5, 0, 20, 30):
        unseen = updated(seconds, "unseen")
        assert place(known, unseen, NOW).waiting == (*known.waiting, unseen)


def test_a_line_that_no_reading_saw_goes_behind_one_of_its_moment() -> None:
    known = Known((pause(line("CI", 0), line("seen", 10), line("flaky", 20)),))

    found = place(known, updated(10, "unseen"), NOW)

    assert reasons(found) == [["CI", "seen", "unseen", "flaky"]]


def test_only_an_update_before_its_end_is_a_line_of_a_pause_that_is_over() -> None:
    known = Known((pause(line("CI", 0), end=10),))

    assert reasons(place(known, updated(10, "unseen"), NOW)) == [["CI", "unseen"]]
    assert place(known, updated(11, "unseen"), NOW).waiting
    assert place(known, created(5, "unseen"), NOW).waiting


def test_an_end_is_that_of_the_last_pause_that_began_before() -> None:
    known = Known((pause(line("CI", 0), end=10), pause(line("CI", 20), end=30)))

    ends = [end_of(found).by for found in place(known, removed(30), NOW).pauses]
    assert ends == [None, CAROL]
    ends = [end_of(found).by for found in place(known, removed(10), NOW).pauses]
    assert ends == [CAROL, None]
    # It made room for the one that begins at its moment.
    ends = [end_of(found).by for found in place(known, removed(20), NOW).pauses]
    assert ends == [CAROL, None]
    assert place(known, removed(0), NOW) == known


IN_ITS_SECOND = (10.9, 10.9)
"""The `Date` of an answer is rounded down, so the log's time in that second is the better one."""


@pytest.mark.parametrize(("told", "end"), [(8, 8), (12, 10), (11, 10), IN_ITS_SECOND])
def test_the_earlier_time_of_an_end_counts(told: float, end: float) -> None:
    found = place(Known((pause(line("CI", 0), end=10),)), removed(told), NOW).pauses[0]

    assert (end_of(found).at, end_of(found).is_named) == (at(end), True)


@pytest.mark.parametrize(("told", "end"), [(8, 8), IN_ITS_SECOND])
def test_a_reading_ends_a_pause_when_the_log_told(told: float, end: float) -> None:
    known = place(Known((pause(line("CI", 0)),)), removed(told), NOW)

    found = observe(known, Reading(None, at(10)), known.revision).known.pauses[0]

    assert end_of(found) == KnownEnd(at(end), CAROL, at(10), is_named=True)


def test_an_end_is_named_once_and_never_before_a_later_line() -> None:
    named = replace(pause(line("CI", 0)), end=KnownEnd(at(10), ALICE, at(10), is_named=True))
    changed = pause(line("CI", 0), line("flaky", 9), end=10)

    assert place(Known((named,)), removed(8), NOW).pauses == (named,)
    assert place(Known((changed,)), removed(8), NOW).pauses == (changed,)
    assert end_of(place(Known((changed,)), removed(9), NOW).pauses[0]).by == CAROL


def test_an_end_told_of_an_open_pause_waits_for_a_reading_with_what_came_before_it() -> None:
    waiting = (updated(5, "unseen"), updated(10, "at its end"), created(30, "later"))
    known = Known((pause(line("CI", 0)),), waiting=waiting)

    found = place(known, removed(10), NOW)

    assert found.pauses[0].is_open
    assert found.pauses[0].told_end is not None
    assert reasons(found) == [["CI", "unseen", "at its end"]]
    assert found.waiting == waiting[2:]


def test_an_end_before_the_last_line_of_an_open_pause_is_none() -> None:
    known = Known((pause(line("CI", 0), line("flaky", 20)),))

    assert place(known, removed(20), NOW) == known


def test_a_pause_that_no_reading_saw_stands_before_the_open_one() -> None:
    waiting = (
        updated(1, "stray"),
        created(2, "unseen"),
        updated(3, "changed"),
        created(5, "again"),
        created(30, "later"),
    )
    known = Known((pause(line("old", -20), end=-10), pause(line("CI", 20))), waiting=waiting)

    found = place(known, removed(5, ALICE), NOW)

    assert reasons(found) == [["old"], ["unseen", "changed", "again"], ["CI"]]
    over = found.pauses[1]
    assert over.end == KnownEnd(at(5), ALICE, NOW, is_named=True)
    assert found.waiting == (waiting[0], waiting[4])
    assert found.revision == known.revision + 1


def test_a_pause_that_no_reading_saw_stands_by_its_beginning_and_the_open_one_last() -> None:
    over = pause(line("over", 40), end=50)
    known = Known((over, pause(line("CI", 3))), waiting=(created(5, "unseen"),))
    started = replace(known, pauses=(over,))

    assert reasons(place(started, removed(7), NOW)) == [["unseen"], ["over"]]
    assert reasons(place(known, removed(7), NOW)) == [["unseen"], ["over"], ["CI"]]


@pytest.mark.parametrize(
    ("seconds", "known"), [(4.9, ["unseen"]), (5, ["CI"]), (9.9, ["CI"]), (10, ["unseen"])]
)
def test_a_pause_that_a_reading_saw_since_the_create_has_the_end(
    seconds: float, known: list[str]
) -> None:
    before = Known((pause(line("CI", seconds)),), waiting=(created(5, "unseen"),))

    found = place(before, removed(10), NOW)

    told = [pause.lines[0].reason for pause in found.pauses if pause.told_end or pause.end]
    assert told == known


def test_an_end_is_caused_by_the_answered_act_whose_request_it_lies_in() -> None:
    first = done(resuming(1, ALICE), 10)
    second = done(resuming(2, BOB, seconds=3), 12)
    waits = resuming(3, CAROL)
    known = Known(acts=(waits, first, second))

    assert cause(known, removed(5)) is second
    assert cause(known, removed(3)) is second
    assert cause(known, removed(2)) is first
    assert cause(known, removed(13)) is second
    assert cause(known, removed(13.5)) is waits


def test_an_end_that_the_log_stamps_a_moment_early_is_caused_by_the_act_that_began_then() -> None:
    acts = (resuming(1, ALICE, seconds=3),)

    assert cause(Known(acts=acts), removed(2)) is acts[0]
    assert cause(Known(acts=acts), removed(1.9)) is None


def test_an_end_is_not_caused_by_an_act_that_was_named_or_refused_or_began_later() -> None:
    acts = (
        replace(resuming(1, ALICE), is_named=True),
        replace(resuming(2, ALICE), state=ActCertainty.NOT_DONE),
        resuming(3, ALICE, seconds=8),
        replace(resuming(4, ALICE), read=None),
        replace(pausing(5, ALICE), read=Shown("CI", NOON)),
        replace(resuming(6, ALICE), state=ActCertainty.NOT_DONE, answered_at=at(9)),
    )

    assert cause(Known(acts=acts), removed(5)) is None


def test_an_act_is_under_way_from_its_beginning_to_its_end() -> None:
    known = begun(Known(), pausing(1, ALICE))
    assert (known.acting, known.revision) == (1, 1)

    ends = (unanswered(known, 1, None, 1), not_done(known, 1))

    assert [(end.acting, end.revision) for end in ends] == [(None, 2), (None, 2)]
    assert [end.act(1).state for end in ends] == [ActCertainty.OPEN, ActCertainty.NOT_DONE]


def test_the_end_of_an_act_leaves_another_one_under_way() -> None:
    known = begun(begun(Known(), pausing(1, ALICE)), pausing(2, BOB))

    assert not_done(known, 1).acting == 2


def test_an_answered_pause_keeps_the_answer_and_its_time() -> None:
    known = begun(Known(), pausing(1, ALICE))
    shown = Shown("CI", at(2))

    found = answered(known, 1, Reading(shown, at(3)), known.revision)

    act = found.act(1)
    assert (act.state, act.answered, act.answered_at) == (ActCertainty.DONE, shown, at(3))
    assert authors(found) == [[ALICE]]


def test_an_answered_resume_ends_the_pause_at_once() -> None:
    known = begun(Known((pause(line("CI", 0)),)), resuming(1, ALICE))

    found = answered(known, 1, Reading(None, at(1)), known.revision)

    assert found.pauses[0].end == KnownEnd(at(1), ALICE, at(1))


def test_an_answered_pause_ends_none() -> None:
    over = pause(line("CI", 0), end=10)
    act = replace(pausing(1, ALICE), read=Shown("CI", NOON))
    known = Known((over,), (act,), revision=7)

    found = answered(known, 1, Reading(Shown("CI", at(11)), at(11)), revision=6)

    assert found.pauses == (over,)


def test_what_the_log_told_of_an_act_under_way_stays() -> None:
    known = begun(Known((pause(line("CI", 0)),)), resuming(1, ALICE))
    known = place(known, event(PauseEventKind.REMOVED, 2, is_ours=True), NOW)

    found = answered(known, 1, Reading(None, at(3)), known.revision)

    assert found.act(1).is_named
    assert end_of(found.pauses[0]).by == ALICE


def ended(by: Actor | None, *, is_named: bool = False) -> KnownPause:
    return replace(pause(line("CI", 0)), end=KnownEnd(at(10), by, at(10), is_named=is_named))


def after_another_reading(over: KnownPause, read: Shown | None) -> KnownPause:
    """The pause that another reading ended first, once the resume of `read` is answered."""
    known = Known((over,), (replace(resuming(1, ALICE), read=read),), revision=7)
    return answered(known, 1, Reading(None, at(11)), revision=6).pauses[0]


def test_an_end_that_another_reading_showed_first_gets_its_person() -> None:
    over = pause(line("CI", 0), end=10)

    assert end_of(after_another_reading(over, Shown("CI", NOON))).by == ALICE


@pytest.mark.parametrize(
    ("over", "read"),
    [
        (pause(line("CI", 0)), Shown("CI", NOON)),
        (ended(None, is_named=True), Shown("CI", NOON)),
        (ended(BOB), Shown("CI", NOON)),
        (pause(line("CI", 0), end=10), None),
        (pause(line("CI", 0), end=10), Shown("flaky", NOON)),
    ],
    ids=["it is open", "the log names it", "a person ended it", "nothing was read", "another"],
)
def test_no_other_end_gets_the_person_of_an_act(over: KnownPause, read: Shown | None) -> None:
    assert after_another_reading(over, read) == over


def test_a_resume_that_finds_no_pause_is_answered_all_the_same() -> None:
    known = begun(Known(), resuming(1, ALICE))

    found = answered(known, 1, Reading(None, at(1)), known.revision)

    assert found.act(1).state is ActCertainty.DONE
