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
    """Any error this program raises on purpose; its first argument goes into logs."""

    @override
    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


@dataclass(eq=False)
class ConfigurationError(BotError):
    """Unusable settings, with a sentence for each variable about what it accepts."""

    problems: Mapping[str, str]

    @override
    def __str__(self) -> str:
        return "; ".join(f"{name}: {text}" for name, text in self.problems.items())


class UserError(BotError):
    """Something the person can fix; shown to them alone, logged at info."""


@dataclass(eq=False)
class CommandSyntaxError(UserError):
    """The typed text is not a command. `problem` says why; `usage` shows the right form.

    `nearest`: the verbs that may have been meant, likeliest first.
    `instead`: the whole command with each of them.
    """

    problem: str
    usage: str
    nearest: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()


@dataclass(eq=False)
class RepositoryNotAllowed(UserError):
    """This bot is not configured for the repository."""

    repository: str
    configured: tuple[str, ...]


@dataclass(eq=False)
class RepositoryNotChosen(UserError):
    """The command needs a repository, but none was typed and more than one is possible."""

    candidates: tuple[str, ...]


@dataclass(eq=False)
class UnknownGroup(UserError):
    """A word with `@` that is not a group's name; `known` are the existing names."""

    word: str
    known: tuple[str, ...]
    nearest: str | None


class NeedsClick(UserError):
    """A form was asked for in a message: Slack opens forms only after a command or a click."""


@dataclass(eq=False)
class QueueBusy(UserError):
    """Another action on this queue did not finish in time; this one was not carried out."""

    repository: str


@dataclass(eq=False)
class SecondPersonNeeded(UserError):
    """The policy keeps one person alone from changing somebody else's pause.

    `by`: who paused, if known.
    `is_asked`: a second person may now do the same; otherwise nobody else can change it so.
    """

    repository: str
    by: str | None
    is_asked: bool

    @override
    def __str__(self) -> str:
        return "needs a second person"


@dataclass(eq=False)
class PermissionDenied(UserError):
    """The person may not do this; `who_can` says who may."""

    right: Right
    denied: Denied
    who_can: WhoCan

    @override
    def __str__(self) -> str:
        code = f" ({self.denied.code})" if self.denied.code is not None else ""
        return f"{self.right.value}: {self.denied.reason.value}{code}"


@dataclass(eq=False)
class InvalidReason(UserError):
    """A pause reason of `length` characters: blank, or over the limit."""

    length: int


@dataclass(eq=False)
class InvalidDuration(UserError):
    """A pause can't last that long: `problem` says why, `shown` is the typed text."""

    problem: str
    shown: str


@dataclass(eq=False)
class InvalidCondition(UserError):
    """A freeze can't be limited to that branch, or have that exception; `needs` says what can."""

    word: str
    needs: str


class MergeQueueError(BotError):
    """The merge queue service did not carry out a request about `repository`, if it is known."""

    repository: str | None = None


@contextmanager
def about(repository: str) -> Iterator[None]:
    """Add the repository to any MergeQueueError raised inside."""
    try:
        yield
    except MergeQueueError as error:
        error.repository = repository
        raise


@dataclass(eq=False)
class MergeQueueUnavailable(MergeQueueError):
    """No usable answer now: transport failure, timeout, 429 or 5xx. Try again later.

    `retry_after`: the wait in seconds that the service asked for, or None.
    `status`: None when there was no answer.
    `arrived`: False only when the request certainly did not reach the service.
    `last_answer_at`: the time of the service's last good answer to this process.
    """

    cause: str
    _: KW_ONLY
    status: int | None = None
    retry_after: float | None = None
    arrived: bool = True
    last_answer_at: datetime | None = None


@dataclass(eq=False)
class MergeQueueRefused(MergeQueueError):
    """The service refused; the same request would be refused again."""

    status: int | None
    detail: str

    @override
    def __str__(self) -> str:
        return self.detail


class CredentialRefused(MergeQueueRefused):
    """401 or 403: the credential is unknown or lacks permission (API document, Errors).

    `setting`: the one that holds the credential.
    """

    setting = "MQBOT_API_TOKEN"


class ResourceNotFound(MergeQueueRefused):
    """404: the resource does not exist, or this credential can't see it."""


class NotOffered(MergeQueueRefused):
    """405, 410 or 501, or 404 for an existing repository: no such endpoint, or no longer."""


class PauseNotOffered(NotOffered):
    """The service has no endpoints to pause a queue and read its pause."""


class FreezesNotOffered(NotOffered):
    """The service has no endpoints to list and change scheduled freezes."""


class StateConflict(MergeQueueRefused):
    """409: the request conflicts with the state of the resource.

    `pause`: the one in force just after; None for no pause, or when `is_state_known` is False.
    """

    pause: Pause | None = None
    is_state_known = False


class InvalidRequest(MergeQueueRefused):
    """422, or not sent because it can't be right; then `status` is None."""


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


class Refusal(StrEnum):
    """What Slack refuses: the message, edits, the thread, channel, recipient or token."""

    MESSAGE = "message"
    THREAD = "thread"
    EDIT = "edit"
    PERSON = "person"
    CHANNEL = "channel"
    CREDENTIAL = "credential"


@dataclass(eq=False)
class PostError(BotError):
    """A message may not have been posted; `code` says why, in Slack's words or ours.

    `refusal`: what Slack refuses, if it does.
    `retry_after`: the seconds to wait, if Slack says so.
    `workspace_wide`: the wait concerns every channel (a rate limit of the method).
    """

    code: str
    refusal: Refusal | None = None
    _: KW_ONLY
    retry_after: float | None = None
    workspace_wide: bool = False


class PostRefused(PostError):
    """Certainly not posted; the same post would be refused again until `refusal` changes."""


class PostPostponed(PostError):
    """Certainly not posted; retry later."""


class PostInDoubt(PostError):
    """The request may have been carried out: the answer was lost or unreadable."""


@dataclass(eq=False)
class SlackRefused(BotError):
    """Slack refused a reply, a form or a tab, or did not answer; `code` says why."""

    code: str


class CutOff(BotError):
    """The bot is stopping and can't wait for the person's request to finish."""


class StoreError(BotError):
    """The database failed to carry out an operation."""


@dataclass(eq=False)
class StoreUnavailable(StoreError):
    """The database can't be read or written now: locked, full, read-only or gone."""

    cause: str


class StoreUnusable(StoreUnavailable):
    """Retrying doesn't help: not our database, or changed by a newer version."""


@dataclass(eq=False)
class LeaseLost(StoreError):
    """The lease expired or another process took it; nothing was written."""

    name: str


ANSWER_LIMIT = 500


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
