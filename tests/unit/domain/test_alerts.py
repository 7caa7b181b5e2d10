"""When an alert about a queue begins and when it is over."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given, strategies as st

from bot.domain.queue_health import Alert, AlertChange, AlertKind, Reading, changes
from tests.support.clock import NOON
from tests.support.make import SITE

LIMITS = {AlertKind.HEAD: 100, AlertKind.FAILURES: 4}


def look(
    head: int, failures: int = 0, *, active: tuple[Alert, ...] = (), is_paused: bool = False
) -> AlertChange:
    read = {AlertKind.HEAD: Reading(head, 41), AlertKind.FAILURES: Reading(failures, 42)}
    return changes(read, active, LIMITS, SITE, NOON, is_paused=is_paused)


ACTIVE = Alert(SITE, AlertKind.HEAD, 101, 100, NOON, 41, alert_id=7)


def test_more_than_the_threshold_is_told_and_the_last_allowed_failure_is_one_too_many() -> None:
    assert look(100, 3).is_none
    begun = look(101, 4).begun
    assert begun == (
        Alert(SITE, AlertKind.HEAD, 101, 100, NOON, 41),
        Alert(SITE, AlertKind.FAILURES, 4, 4, NOON, 42),
    )


def test_it_lasts_until_three_quarters_are_left() -> None:
    assert look(500, active=(ACTIVE,)).is_none
    assert look(76, active=(ACTIVE,)).is_none
    assert look(75, active=(ACTIVE,)).ended == (replace(ACTIVE, ended_at=NOON),)


def test_of_a_paused_queue_nothing_is_said() -> None:
    assert look(500, 9, is_paused=True).is_none
    assert look(0, active=(ACTIVE,), is_paused=True).is_none


def test_a_threshold_of_one_can_be_crossed_and_left() -> None:
    limits = {AlertKind.FAILURES: 1}
    begun = changes({AlertKind.FAILURES: Reading(1)}, (), limits, SITE, NOON).begun
    assert len(begun) == 1
    assert changes({AlertKind.FAILURES: Reading(0)}, begun, limits, SITE, NOON).ended


def test_what_was_switched_off_ends_unsaid_and_what_cannot_be_read_says_nothing() -> None:
    change = changes({AlertKind.HEAD: Reading(500)}, (ACTIVE,), {}, SITE, NOON)
    assert change == AlertChange(dropped=(replace(ACTIVE, ended_at=NOON),))
    assert changes({}, (ACTIVE,), LIMITS, SITE, NOON).is_none
    assert changes({}, (), LIMITS, SITE, NOON).is_none


Steps = st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=60)


@given(st.sampled_from(AlertKind), st.integers(1, 40), Steps)
def test_two_alerts_of_a_kind_have_a_recovery_between_them(
    kind: AlertKind, threshold: int, steps: list[tuple[int, bool]]
) -> None:
    active: tuple[Alert, ...] = ()
    for minute, (value, is_paused) in enumerate(steps):
        now = NOON + timedelta(minutes=minute)
        change = changes(
            {kind: Reading(value)}, active, {kind: threshold}, SITE, now, is_paused=is_paused
        )
        assert not (is_paused and not change.is_none)
        assert len(change.begun) + len(change.ended) <= 1
        assert not (active and change.begun)
        assert active or not change.ended
        assert all(one.value >= threshold for one in change.begun)
        if change.ended:
            assert 4 * value <= 3 * threshold
        active = (*change.begun, *(() if change.ended else active))


@given(st.integers(4, 1000), st.lists(st.integers(-24, 200), min_size=1))
def test_flapping_around_the_threshold_is_told_once(threshold: int, percents: list[int]) -> None:
    """From a quarter below to any height: once told, nothing more."""
    active: tuple[Alert, ...] = ()
    told = 0
    for percent in percents:
        value = threshold + -(-threshold * percent // 100)
        read = {AlertKind.DEPTH: Reading(value)}
        change = changes(read, active, {AlertKind.DEPTH: threshold}, SITE, NOON)
        told += len(change.begun) + len(change.ended)
        active = (*active, *change.begun)
    assert told == (max(percents) > 0)
