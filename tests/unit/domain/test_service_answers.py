"""What the service answered, in the words of the record."""

import pytest

from bot.kernel.errors import InvalidRequest, MergeQueueError
from bot.merge_queue.errors import (
    ANSWER_LIMIT,
    CredentialRefused,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    StateConflict,
    answer_of,
    join_answers,
)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (StateConflict(409, "the queue changed"), "409 conflict: the queue changed"),
        (CredentialRefused(403, ""), "403 forbidden"),
        (InvalidRequest(None, "too long"), "not sent: too long"),
        (MergeQueueUnavailable("gateway", status=502), "502 bad gateway: gateway"),
        (MergeQueueUnavailable("odd", status=599), "599: odd"),
        (MergeQueueUnavailable("no answer in time"), "no answer: no answer in time"),
        (MergeQueueProtocolError("no JSON"), "unreadable answer: no JSON"),
        (MergeQueueError("something else"), "something else"),
    ],
)
def test_a_failed_response_is_reported_with_its_status(error: MergeQueueError, words: str) -> None:
    assert answer_of(error) == words


def test_long_responses_are_truncated() -> None:
    assert len(answer_of(StateConflict(409, "x" * 1000))) == ANSWER_LIMIT
    assert join_answers([]) is None
    assert join_answers(["no answer: lost", "seen done when looked up"]) == (
        "no answer: lost; seen done when looked up"
    )
