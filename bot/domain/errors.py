"""All errors that this program raises on purpose, as one tree.

`bot.messages.errors` makes the sentences that people read from them; nothing else does.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus

from typing_extensions import override

from bot.domain.permissions import Denied, Right, WhoCan
from bot.domain.queue import Pause


class BotError(Exception):
    """Anything this program raises on purpose; its first argument stands for it in logs."""

    @override
    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


@dataclass(eq=False)
class ConfigurationError(BotError):
    """Unusable settings: for each variable a sentence that says what it takes."""

    problems: Mapping[str, str]

    @override
    def __str__(self) -> str:
        return "; ".join(f"{name}: {text}" for name, text in self.problems.items())


class UserError(BotError):
    """Something the person who acts can fix: answered to them alone, logged at info."""


@dataclass(eq=False)
class CommandSyntaxError(UserError):
    """The typed text is no command. `problem` says what is wrong; `usage` shows the right form."""

    problem: str
    usage: str
    nearest: str | None = None


@dataclass(eq=False)
class RepositoryNotAllowed(UserError):
    """The repository is not one of those this bot is configured for."""

    repository: str
    configured: tuple[str, ...]


@dataclass(eq=False)
class RepositoryNotChosen(UserError):
    """The command needs a repository, none was typed and there is no single candidate."""

    candidates: tuple[str, ...]


@dataclass(eq=False)
class UnknownGroup(UserError):
    """A word that starts with `@` and is no group's name; `known` are the existing names."""

    word: str
    known: tuple[str, ...]
    nearest: str | None


@dataclass(eq=False)
class QueueBusy(UserError):
    """Another person's action on the repository's queue did not end in time; nothing was done."""

    repository: str


@dataclass(eq=False)
class PermissionDenied(UserError):
    """The actor may not do this; `who_can` says who may."""

    right: Right
    denied: Denied
    who_can: WhoCan

    @override
    def __str__(self) -> str:
        code = f" ({self.denied.code})" if self.denied.code is not None else ""
        return f"{self.right.value}: {self.denied.reason.value}{code}"


class ReasonProblem(StrEnum):
    """What is wrong with a pause reason."""

    BLANK = "blank"
    TOO_LONG = "too_long"


@dataclass(eq=False)
class InvalidReason(UserError):
    """A pause reason that is blank or longer than `limit` characters."""

    problem: ReasonProblem
    length: int
    limit: int


@dataclass(eq=False)
class InvalidDuration(UserError):
    """A pause cannot last that long: `problem` says why, `shown` is what the person wrote."""

    problem: str
    shown: str


class MergeQueueError(BotError):
    """The merge queue service did not do what was asked; `repository` is the one concerned."""

    repository: str | None = None


@contextmanager
def about(repository: str) -> Iterator[None]:
    """Note on a MergeQueueError that passes which repository it is about."""
    try:
        yield
    except MergeQueueError as error:
        error.repository = repository
        raise


@dataclass(eq=False)
class MergeQueueUnavailable(MergeQueueError):
    """No usable answer now: transport failure, timeout, 429 or 5xx. Try again later.

    `retry_after` is in seconds, as the service asked, or None. `status` is None when no answer
    came. `arrived` is False only when the request certainly did not reach the service.
    `last_answer_at` is the time of the service's last good answer to this process.
    """

    cause: str
    _: KW_ONLY
    status: int | None = None
    retry_after: float | None = None
    arrived: bool = True
    last_answer_at: datetime | None = None


@dataclass(eq=False)
class MergeQueueRefused(MergeQueueError):
    """The service said no; asking again the same way would not help."""

    status: int | None
    detail: str

    @override
    def __str__(self) -> str:
        return self.detail


class CredentialRefused(MergeQueueRefused):
    """401 or 403: the credential is unknown, or may not do this (API document, Errors)."""


class ResourceNotFound(MergeQueueRefused):
    """404: the resource does not exist, or this credential cannot see it."""


class NotOffered(MergeQueueRefused):
    """405, 410 or 501, or a 404 for an existing repository: no such endpoint (any more)."""


class PauseNotOffered(NotOffered):
    """The service has none of the endpoints that pause a queue and read its pause."""


class StateConflict(MergeQueueRefused):
    """409: the request conflicts with the state of the resource.

    `pause` is the one in force just after; None when there is none, or while not `is_state_known`.
    """

    pause: Pause | None = None
    is_state_known = False


@dataclass(eq=False)
class InvalidRequest(MergeQueueRefused):
    """422, or a limit of the API document that was checked before sending.

    `field` names the offending field when it is known; `status` is None when nothing was sent.
    """

    field: str | None = None


class InvalidConfiguration(InvalidRequest):
    """422 on the queue rules: the repository's own configuration file is invalid."""


@dataclass(eq=False)
class MergeQueueProtocolError(MergeQueueError):
    """An unreadable answer: not JSON, truncated, or without a required field."""

    detail: str


@dataclass(eq=False)
class ServiceMoved(MergeQueueProtocolError):
    """The service redirects to `address`; the credential stays with the configured one."""

    address: str


class LookedTooLongAgo(BotError):
    """Nothing was sent: what the request rests on may have changed since it was read."""


class PostError(BotError):
    """A message may not have been posted."""


class Refusal(StrEnum):
    """What a refusal is about.

    This message, any edit of it, the thread it is for, this channel, the recipient, or
    our credential.
    """

    MESSAGE = "message"
    THREAD = "thread"
    EDIT = "edit"
    PERSON = "person"
    CHANNEL = "channel"
    CREDENTIAL = "credential"


@dataclass(eq=False)
class PostRefused(PostError):
    """Certainly not posted, and posting the same again would be refused again.

    `code` is Slack's error code; `refusal` says what has to change first.
    """

    code: str
    refusal: Refusal


@dataclass(eq=False)
class PostPostponed(PostError):
    """Certainly not posted; may be posted later, after `retry_after` seconds when Slack says so.

    `workspace_wide` is True when the wait concerns every channel (a rate limit of the method).
    """

    code: str
    _: KW_ONLY
    retry_after: float | None = None
    workspace_wide: bool = False


@dataclass(eq=False)
class PostInDoubt(PostError):
    """The request may have been carried out: the answer was lost or cannot be read."""

    code: str


@dataclass(eq=False)
class SlackRefused(BotError):
    """Slack did not take a reply, a form or a tab, or did not answer; `code` says why."""

    code: str


class CutOff(BotError):
    """The bot is stopping, and what a person asked for took longer than that can wait."""


class StoreError(BotError):
    """The database could not do what was asked."""


@dataclass(eq=False)
class StoreUnavailable(StoreError):
    """The database cannot be read or written now: locked, full, read-only or gone."""

    cause: str


class StoreUnusable(StoreUnavailable):
    """Trying again does not help: not our database, or changed by a newer version."""


@dataclass(eq=False)
class LeaseLost(StoreError):
    """The lease expired or another process has taken it; nothing was written."""

    name: str


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
