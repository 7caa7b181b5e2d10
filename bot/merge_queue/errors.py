"""What the service's client raises."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from http import HTTPStatus

from bot.kernel.errors import BotError, InvalidRequest, MergeQueueError, MergeQueueRefused
from bot.merge_queue.queue import Pause


@contextmanager
def naming_repository(repository: str) -> Iterator[None]:
    """Add the repository to any MergeQueueError raised inside."""
    try:
        yield
    except MergeQueueError as error:
        error.repository = repository
        raise


@dataclass(eq=False)
class MergeQueueUnavailable(MergeQueueError):
    """No usable answer now: transport failure, timeout, 429 or 5xx. Try again later."""

    cause: str
    _: KW_ONLY
    status: int | None = None  #: None when there was no answer
    retry_after: float | None = None  #: the wait in seconds that the service asked for, or None
    arrived: bool = True  #: False only when the request certainly did not reach the service
    #: the time of the service's last good answer to this process
    last_answer_at: datetime | None = None
    is_logged: bool = False  #: the log has said so for all requests


class CredentialRefused(MergeQueueRefused):
    """401 or 403: the credential is unknown or lacks permission (API document, Errors)."""

    setting = "MQBOT_API_TOKEN"  #: the one that holds the credential


class ResourceNotFound(MergeQueueRefused):
    """404: the resource does not exist, or this credential can't see it."""


class RepositoryMoved(MergeQueueRefused):
    """A redirect to another repository of the same service: renamed, or moved to another owner."""

    new_name: str | None = None  #: None if the service doesn't say. The redirect isn't followed.


class NotOffered(MergeQueueRefused):
    """405, 410 or 501, or 404 for an existing repository: no such endpoint, or no longer."""


class PauseNotOffered(NotOffered):
    """The service has no endpoints to pause a queue and read its pause."""


class FreezesNotOffered(NotOffered):
    """The service has no endpoints to list and change scheduled freezes."""


class StateConflict(MergeQueueRefused):
    """409: the request conflicts with the state of the resource."""

    #: the one in force just after; None for no pause, or when `is_state_known` is False
    pause: Pause | None = None
    is_state_known = False


class EventTypesRefused(InvalidRequest):
    """422 for some of the event types that the log was asked for: `types`."""

    types: frozenset[str] = frozenset()


class InvalidConfiguration(InvalidRequest):
    """422 on the queue rules: the repository's own configuration file is invalid."""


@dataclass(eq=False)
class MergeQueueProtocolError(MergeQueueError):
    """An unreadable answer: not JSON, truncated, or lacking a required field."""

    detail: str


@dataclass(eq=False)
class ServiceMoved(MergeQueueProtocolError):
    """The service redirects to `address`; the bot sends its credential only to the old one."""

    address: str


class StaleReading(BotError):
    """Nothing was sent: the state it depends on was read too long ago."""


ANSWER_LIMIT = 500


def is_undone(error: MergeQueueError) -> bool:
    """Whether the request that failed so has certainly changed nothing."""
    if isinstance(error, MergeQueueUnavailable):
        # A service that asks for fewer requests has done nothing.
        return not error.arrived or error.status in _NOT_CARRIED_OUT
    return isinstance(error, MergeQueueRefused)


_NOT_CARRIED_OUT = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS})


def answer_of(error: MergeQueueError) -> str:
    """An unsuccessful answer: "409 conflict: …", "no answer: …", "not sent: …"."""
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


def join_answers(answers: Sequence[str]) -> str | None:
    """All answers to one change, in order; after a lost one the bot checked the state."""
    return "; ".join(answers)[:ANSWER_LIMIT] or None


def _with_status(status: int, detail: str) -> str:
    try:
        phrase = f" {HTTPStatus(status).phrase.lower()}"
    except ValueError:
        phrase = ""
    return f"{status}{phrase}: {detail}" if detail else f"{status}{phrase}"
