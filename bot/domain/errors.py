"""The one exception tree.

BotError
├── UserError                    the person can fix it; answered to the caller alone, logged at info
│   ├── CommandSyntaxError
│   ├── RepositoryNotAllowed
│   ├── RepositoryNotChosen
│   ├── UnknownGroup
│   ├── PermissionDenied
│   ├── QueueBusy
│   ├── InvalidReason
│   └── InvalidDuration
├── MergeQueueError
│   ├── MergeQueueUnavailable    no usable answer now: try again later
│   ├── MergeQueueRefused        the service said no
│   │   ├── CredentialRefused    401, 403
│   │   ├── ResourceNotFound     404
│   │   ├── NotOffered           405, 410, 501: no such endpoint (PauseNotOffered: for pauses)
│   │   ├── StateConflict        409
│   │   └── InvalidRequest       422, or a limit of the API document checked before sending
│   │       └── InvalidConfiguration  422 on the queue rules: the repository's own file
│   └── MergeQueueProtocolError  an answer we cannot read
├── PostError
│   ├── PostRefused              permanent
│   ├── PostPostponed            certainly not posted
│   └── PostInDoubt              may have been posted
├── ConfigurationError           settings that cannot be used
├── SlackRefused                 Slack did not take a reply, a form or a tab
├── LookedTooLongAgo             not sent: what the request rests on may have changed
├── CutOff                       stopped in the middle of what a person asked for
└── StoreError
    ├── StoreUnavailable         the database cannot be read or written now
    │   └── StoreUnusable        nor later: it is none of ours, or a newer version's
    └── LeaseLost                another process holds what we were about to change

Sentences for people are made from these in `bot.messages.errors`, nowhere else.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus

from bot.domain.denials import Denied, Right, WhoCan
from bot.domain.queue import Pause


class BotError(Exception):
    """Anything this program raises on purpose."""


class ConfigurationError(BotError):
    """Settings that cannot be used: for each variable a sentence that says what it takes."""

    def __init__(self, problems: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in problems.items()))
        self.problems = problems


class UserError(BotError):
    """Something the person who acts can mend."""


class CommandSyntaxError(UserError):
    """The typed text is no command. `problem` says what is wrong; `usage` shows the right form."""

    def __init__(self, problem: str, *, usage: str, nearest: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.usage = usage
        self.nearest = nearest


class RepositoryNotAllowed(UserError):
    """The repository is not one of those this bot is configured for."""

    def __init__(self, repository: str, configured: tuple[str, ...]) -> None:
        super().__init__(repository)
        self.repository = repository
        self.configured = configured


class RepositoryNotChosen(UserError):
    """The command needs a repository, none was typed and there is no single candidate."""

    def __init__(self, candidates: tuple[str, ...]) -> None:
        super().__init__("repository")
        self.candidates = candidates


class UnknownGroup(UserError):
    """A word that starts with `@` and is no group's name; `known` are the names there are."""

    def __init__(self, word: str, known: tuple[str, ...], nearest: str | None) -> None:
        super().__init__(word)
        self.word = word
        self.known = known
        self.nearest = nearest


class QueueBusy(UserError):
    """Somebody else's act on the repository's queue did not end in time; nothing was done."""

    def __init__(self, repository: str) -> None:
        super().__init__(f"somebody else acts on {repository}")
        self.repository = repository


class PermissionDenied(UserError):
    """The actor may not do this; `who_can` are those who may."""

    def __init__(self, right: Right, denied: Denied, who_can: WhoCan) -> None:
        code = f" ({denied.code})" if denied.code is not None else ""
        super().__init__(f"{right.value}: {denied.reason.value}{code}")
        self.right = right
        self.denied = denied
        self.who_can = who_can


class ReasonProblem(StrEnum):
    """What is wrong with a pause reason."""

    BLANK = "blank"
    TOO_LONG = "too_long"


class InvalidReason(UserError):
    """A pause reason that is blank or longer than `limit` characters."""

    def __init__(self, problem: ReasonProblem, *, length: int, limit: int) -> None:
        super().__init__(problem.value)
        self.problem = problem
        self.length = length
        self.limit = limit


class InvalidDuration(UserError):
    """A pause cannot last so: `problem` says why, `shown` is what the person wrote."""

    def __init__(self, problem: str, shown: str) -> None:
        super().__init__(problem, shown)
        self.problem = problem
        self.shown = shown


class MergeQueueError(BotError):
    """The merge queue service did not do what was asked; `repository` is the one it was about."""

    repository: str | None = None


@contextmanager
def about(repository: str) -> Iterator[None]:
    """Note on a MergeQueueError that passes which repository it is about."""
    try:
        yield
    except MergeQueueError as error:
        error.repository = repository
        raise


class MergeQueueUnavailable(MergeQueueError):
    """No usable answer now: transport failure, timeout, 429 or 5xx.

    `retry_after` is in seconds, as the service asked, or None. `status` is None when no answer
    came. `arrived` is False only when the request certainly did not reach the service.
    `last_answer_at` is the time of the service's last good answer to this process.
    """

    last_answer_at: datetime | None = None

    def __init__(
        self,
        cause: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        arrived: bool = True,
    ) -> None:
        super().__init__(cause)
        self.cause = cause
        self.status = status
        self.retry_after = retry_after
        self.arrived = arrived


class MergeQueueRefused(MergeQueueError):
    """The service said no; asking again the same way would not help."""

    def __init__(self, status: int | None, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


class CredentialRefused(MergeQueueRefused):
    """401 or 403: the credential is unknown, or may not do this (API document, Errors)."""


class ResourceNotFound(MergeQueueRefused):
    """404: the resource does not exist, or this credential cannot see it."""


class NotOffered(MergeQueueRefused):
    """405, 410 or 501, or a 404 for a repository that is there: no such endpoint (any more)."""


class PauseNotOffered(NotOffered):
    """The service has none of the endpoints that pause a queue and read its pause."""


class StateConflict(MergeQueueRefused):
    """409: the request conflicts with the state of the resource.

    `pause` is the one in force just after; None when there is none, or while not `is_state_known`.
    """

    pause: Pause | None = None
    is_state_known = False


class InvalidRequest(MergeQueueRefused):
    """422, or a limit of the API document that was checked before sending.

    `field` names the offending field when it is known; `status` is None when nothing was sent.
    """

    def __init__(self, status: int | None, detail: str, *, field: str | None = None) -> None:
        super().__init__(status, detail)
        self.field = field


class InvalidConfiguration(InvalidRequest):
    """422 on the queue rules: the repository's configuration file is invalid."""


class LookedTooLongAgo(BotError):
    """Nothing was sent: what the request rests on may have changed since it was read."""


class MergeQueueProtocolError(MergeQueueError):
    """An answer that cannot be read: not JSON, truncated, or without a required field."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class PostError(BotError):
    """A message was not certainly posted."""


class Refusal(StrEnum):
    """What a refusal is about.

    This message, any edit of it, the thread it is for, this channel, the person written to, or
    our credential.
    """

    MESSAGE = "message"
    THREAD = "thread"
    EDIT = "edit"
    PERSON = "person"
    CHANNEL = "channel"
    CREDENTIAL = "credential"


class PostRefused(PostError):
    """Certainly not posted, and posting the same again would be refused again.

    `code` is Slack's error code; `refusal` tells what has to change first.
    """

    def __init__(self, code: str, refusal: Refusal) -> None:
        super().__init__(code)
        self.code = code
        self.refusal = refusal


class PostPostponed(PostError):
    """Certainly not posted; may be posted later, after `retry_after` seconds when Slack says so.

    `workspace_wide` is True when the wait concerns every channel (a rate limit of the method).
    """

    def __init__(
        self, code: str, *, retry_after: float | None = None, workspace_wide: bool = False
    ) -> None:
        super().__init__(code)
        self.code = code
        self.retry_after = retry_after
        self.workspace_wide = workspace_wide


class PostInDoubt(PostError):
    """The request may have been carried out: the answer was lost or cannot be read."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class SlackRefused(BotError):
    """Slack did not take a reply, a form or a tab, or did not answer; `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class CutOff(BotError):
    """The bot is being stopped, and what a person asked for took longer than that can wait."""


class StoreError(BotError):
    """The database could not do what was asked."""


class StoreUnavailable(StoreError):
    """The database cannot be read or written now: locked, full, read-only or gone."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class StoreUnusable(StoreUnavailable):
    """Trying again does not help: no database of ours, or one that a newer version has changed."""


class LeaseLost(StoreError):
    """The lease expired or another process has taken it; nothing was written."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


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
