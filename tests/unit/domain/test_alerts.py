"""When an alert about a queue begins and ends."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from hypothesis import given, strategies as st

from bot.domain.queue_health import Alert, AlertKind, Reading, changes
from tests.support.clock import NOON
from tests.support.make import SITE

LIMITS = {AlertKind.HEAD: 100, AlertKind.FAILURES: 4}


def observe(
    head: int, failures: int = 0, *, active: tuple[Alert, ...] = (), is_paused: bool = False
) -> Sequence[Alert]:
    read = {AlertKind.HEAD: Reading(head, 41), AlertKind.FAILURES: Reading(failures, 42)}
    return changes(read, active, LIMITS, SITE, NOON, is_paused=is_paused)


ACTIVE = Alert(SITE, AlertKind.HEAD, 101, 100, NOON, 41, alert_id=7)


def test_an_alert_starts_above_the_threshold_and_for_the_failure_after_the_last_allowed() -> None:
    assert not observe(100, 3)
    assert observe(101, 4) == [
        Alert(SITE, AlertKind.HEAD, 101, 100, NOON, 41),
        Alert(SITE, AlertKind.FAILURES, 4, 4, NOON, 42),
    ]


def test_an_alert_lasts_until_three_quarters_of_the_threshold() -> None:
    assert not observe(500, active=(ACTIVE,))
    assert not observe(76, active=(ACTIVE,))
    assert observe(75, active=(ACTIVE,)) == [replace(ACTIVE, ended_at=NOON)]


def test_disabled_alerts_end_silently_and_unreadable_queues_raise_none() -> None:
    change = changes({AlertKind.HEAD: Reading(500)}, (ACTIVE,), {}, SITE, NOON)
    assert change == [replace(ACTIVE, ended_at=NOON)]
    assert not changes({}, (ACTIVE,), LIMITS, SITE, NOON)
    assert not changes({}, (), LIMITS, SITE, NOON)


Steps = st.lists(st.tuples(st.integers(0, 60), st.booleans()), max_size=60)


@given(st.sampled_from(AlertKind), st.integers(1, 40), Steps)
def test_two_alerts_of_one_kind_have_a_recovery_between_them(
    kind: AlertKind, threshold: int, steps: list[tuple[int, bool]]
) -> None:
    active: tuple[Alert, ...] = ()
    for minute, (value, is_paused) in enumerate(steps):
        now = NOON + timedelta(minutes=minute)
        change = changes(
            {kind: Reading(value)}, active, {kind: threshold}, SITE, now, is_paused=is_paused
        )
        assert not (is_paused and change)
        assert len(change) <= 1
        for one in change:
            assert bool(active) == (one.ended_at is not None)
            assert 4 * value <= 3 * threshold if active else one.value >= threshold
            active = () if active else (one,)


@given(st.integers(4, 1000), st.lists(st.integers(-24, 200), min_size=1))
def test_flapping_around_the_threshold_is_reported_once(
    threshold: int, percents: list[int]
) -> None:
    """From a quarter below the threshold to any height: one report only."""
    active: tuple[Alert, ...] = ()
    reported = 0
    for percent in percents:
        value = threshold + -(-threshold * percent // 100)
        read = {AlertKind.DEPTH: Reading(value)}
        change = changes(read, active, {AlertKind.DEPTH: threshold}, SITE, NOON)
        reported += len(change)
        active = (*active, *change)
    assert reported == (max(percents) > 0)
