"""All errors that this program raises on purpose, as one tree.

`bot.desk.explain` makes the sentences that people read from them; nothing else does.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum

from typing_extensions import override


class ActState(Enum):
    """How a failed act left what it was about."""

    NOT_DONE = "not done"
    UNCERTAIN = "uncertain"
    DONE = "done"


class Follows(Enum):
    """Where the bot tells the outcome of an act that is uncertain."""

    HERE = "here"
    DIRECTLY = "directly"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class FailedAct:
    """An act that ended in an error, and how it left the queue."""

    action: str  #: an `Action`
    target: str  #: the repository, or the group with its `@`
    state: ActState
    pull_request: int | None = None
    was_seen: bool = False  #: the service said how things were just before
    is_known_paused: bool = False  #: the bot itself knows of a pause in force
    follows: Follows = Follows.NOWHERE


class BotError(Exception):
    """Any error this program raises on purpose; its first argument goes into logs."""

    act: FailedAct | None = None  #: the act that it ended, if it did

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


class AddressInUse(ConfigurationError):
    """Another program listens where this one was to; it may be the one that is ending."""


class UserError(BotError):
    """Something the person can fix; shown to them alone, logged at info."""

    instead: tuple[str, ...] = ()  #: commands that may have been meant, likeliest first


@dataclass(eq=False)
class CommandSyntaxError(UserError):
    """The typed text is not a command; `problem` says why."""

    problem: str
    verb: str = ""  #: the command that it was read as, whose help says more
    instead: tuple[str, ...] = ()


@dataclass(eq=False)
class RepositoryNotAllowed(UserError):
    """This bot is not configured for the repository."""

    repository: str
    configured: tuple[str, ...]
    #: the repository or group that the word only looks like, with letters of another alphabet
    alike: str | None = None


@dataclass(frozen=True, slots=True)
class TypedMeaning:
    """One of several meanings of what somebody typed."""

    target: str | None
    """A repository, or a group with its `@`; None for the queue meant where none is named."""

    reason: str
    """Empty for a command that takes none, or where a form asks for it."""

    typed: str
    """The command that has this meaning, once the person was asked."""


@dataclass(eq=False)
class TargetNotClear(UserError):
    """What was typed may mean more than one queue; `word` is the name that does."""

    action: str  #: the command's verb
    word: str
    readings: tuple[TypedMeaning, ...]


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


@dataclass(eq=False)
class InvalidDuration(UserError):
    """A pause can't last that long: `problem` says why, `shown` is the typed text."""

    problem: str
    shown: str


class MergeQueueError(BotError):
    """The merge queue service did not carry out a request about `repository`, if it is known."""

    repository: str | None = None
    #: whether a page for people came, as from another server at the same address
    is_web_page: bool = False


@dataclass(eq=False)
class MergeQueueRefused(MergeQueueError):
    """The service refused; the same request would be refused again."""

    status: int | None
    detail: str

    @override
    def __str__(self) -> str:
        return self.detail


class InvalidRequest(MergeQueueRefused):
    """400 or 422, or not sent because it can't be right; then `status` is None."""

    #: the parameters that the service names, each with the indexes of its refused values
    wrong: Mapping[str, Collection[int]] = {}


class ActDefect(Exception):
    """An unforeseen error, its cause, in the middle of an act."""

    def __init__(self, act: FailedAct) -> None:
        super().__init__(act)
        self.act = act

    @override
    def __str__(self) -> str:
        return f"{self.act.action} of {self.act.target}"


def act_of(error: Exception) -> FailedAct | None:
    """The act that the error ended, if it did."""
    return error.act if isinstance(error, BotError | ActDefect) else None


def is_uncertain(error: Exception) -> bool:
    """Whether the act may have been carried out all the same."""
    act = act_of(error)
    return act is not None and act.state is ActState.UNCERTAIN


def may_have_changed(error: Exception) -> bool:
    """Whether the act was carried out, or may have been, although it ended in the error."""
    act = act_of(error)
    return act is not None and act.state is not ActState.NOT_DONE


@contextmanager
def failing(act: FailedAct) -> Iterator[None]:
    """Any error raised inside ends this act, unless it says more of it already."""
    try:
        yield
    except BotError as error:
        error.act = error.act or act
        raise
    except ActDefect:
        raise
    except Exception as error:
        raise ActDefect(act) from error
