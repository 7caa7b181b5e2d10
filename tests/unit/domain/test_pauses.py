"""A pause's signed reason, and events recognised as our own acts."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.acts.causes import act_of_event
from bot.acts.errors import InvalidReason
from bot.acts.reason import REASON_LIMIT, check_reason, signed_reason
from bot.acts.record import Action, ActResult
from bot.merge_queue.event_records import EventRecord
from tests.support.clock import NOON
from tests.support.make import ALICE, BOB, make_act, make_event_record

SIGNED = "CI runners are down (by alice via Slack)"
SECOND = timedelta(seconds=1)
TEN_MINUTES = 600
MINUTE = 60


def paused(seconds: float = 0, reason: str = SIGNED, type_: str = "create") -> EventRecord:
    at = NOON + timedelta(seconds=seconds)
    return make_event_record(
        f"queue.pause.{type_}", received_at=at, pull_request=None, reason=reason
    )


def resumed(seconds: float = 0) -> EventRecord:
    at = NOON + timedelta(seconds=seconds)
    return make_event_record("queue.pause.delete", received_at=at, pull_request=None)


def test_a_reason_of_255_characters_is_accepted_and_one_of_256_refused() -> None:
    assert check_reason("  " + "é" * 255 + "\n") == "é" * 255
    with pytest.raises(InvalidReason) as refused:
        check_reason("🚀" * 256)
    assert refused.value.length == 256


@pytest.mark.parametrize(
    "reason", ["", "   ", "\n\t", "\u00a0\u2003", "\u200b", "\u202e", "\x00\x07", "\u2060 \ufeff"]
)
def test_a_blank_reason_is_refused(reason: str) -> None:
    with pytest.raises(InvalidReason) as refused:
        check_reason(reason)
    assert refused.value.length == 0


def test_a_reason_that_just_fits_is_not_shortened() -> None:
    room = REASON_LIMIT - len(" (by alice via Slack)")

    assert signed_reason("x" * room, ALICE) == "x" * room + " (by alice via Slack)"
    assert signed_reason("x" * (room + 1), ALICE) == "x" * (room - 1) + "… (by alice via Slack)"


def test_another_persons_pause_does_not_match_our_action() -> None:
    act = make_act(record_id=2, act_id=1)

    assert act_of_event(paused(3, reason="CI runners are down"), [act]) is None


@pytest.mark.parametrize("side", [1, -1])
def test_an_action_too_far_away_in_time_does_not_match(side: int) -> None:
    near = side * TEN_MINUTES
    far = side * (TEN_MINUTES + 1)

    assert act_of_event(paused(near), [make_act(record_id=1)]) is not None
    assert act_of_event(paused(far), [make_act(record_id=1)]) is None


def test_a_resume_matches_the_nearest_action() -> None:
    first = make_act(Action.RESUME, record_id=2, act_id=1)
    second = make_act(
        Action.RESUME, at=NOON + timedelta(seconds=40), actor=BOB, record_id=4, act_id=3
    )

    assert act_of_event(resumed(5), [first, second]) is first
    assert act_of_event(resumed(35), [first, second]) is second
    assert act_of_event(resumed(MINUTE), [first]) is first
    assert act_of_event(resumed(MINUTE + 1), [first]) is None


@pytest.mark.parametrize(
    ("queued", "left", "is_ours"),
    [
        (-60, 90, True),
        (-60, 60 * MINUTE, True),
        (-60, 61 * MINUTE, False),
        (30, 90, False),
        (None, MINUTE, True),
        (None, 90, False),
    ],
)
@pytest.mark.parametrize("result", [ActResult.DONE, ActResult.STARTED])
def test_a_removal_may_take_the_service_a_while_but_is_no_cause_of_a_later_stays_end(
    result: ActResult, queued: int | None, left: int, *, is_ours: bool
) -> None:
    act = replace(make_act(Action.REMOVE, result, record_id=1), pull_request=41)
    leave = make_event_record(
        "action.queue.leave",
        received_at=NOON + timedelta(seconds=left),
        code="PR_MANUALLY_DEQUEUED",
        merged=False,
        queued_at=None if queued is None else NOON + timedelta(seconds=queued),
    )

    # Whether one was carried out that was interrupted is not known.
    is_soon = left <= MINUTE
    found = act_of_event(leave, [act])
    assert (found is act) is (is_ours and (is_soon or result is ActResult.DONE))


@pytest.mark.parametrize("end", [ActResult.UNCHANGED, ActResult.REFUSED])
def test_an_action_that_changed_nothing_matches_no_event(end: ActResult) -> None:
    """Another person's resume must not be reported under a later person's name."""
    started = make_act(Action.RESUME, ActResult.STARTED, record_id=1)
    ended = make_act(Action.RESUME, end, record_id=2, act_id=1)

    assert act_of_event(resumed(1), [started, ended]) is None
