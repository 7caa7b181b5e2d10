"""What the merge queue service answered to a change, in the words of the record."""

from collections.abc import Sequence
from http import HTTPStatus

from bot.domain.errors import (
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueRefused,
    MergeQueueUnavailable,
)

ANSWER_LIMIT = 500


def answer_of(error: MergeQueueError) -> str:
    """An answer that was no success: "409 conflict: …", "no answer: …", "not sent: …"."""
    match error:
        case MergeQueueRefused(status=None, detail=detail):
            said = f"not sent: {detail}"
        case MergeQueueRefused(status=int(status), detail=detail):
            said = _with_status(status, detail)
        case MergeQueueUnavailable(status=int(status), cause=cause):
            said = _with_status(status, cause)
        case MergeQueueUnavailable(cause=cause):
            said = f"no answer: {cause}"
        case MergeQueueProtocolError(detail=detail):
            said = f"unreadable answer: {detail}"
        case _:
            said = str(error)
    return said[:ANSWER_LIMIT]


def heard(answers: Sequence[str]) -> str | None:
    """The answers to one change, as they came; a lost one was followed by a look."""
    return "; ".join(answers)[:ANSWER_LIMIT] or None


def _with_status(status: int, detail: str) -> str:
    try:
        phrase = f" {HTTPStatus(status).phrase.lower()}"
    except ValueError:
        phrase = ""
    return f"{status}{phrase}: {detail}" if detail else f"{status}{phrase}"
