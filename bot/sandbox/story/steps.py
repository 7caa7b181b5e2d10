"""What people do in a story, as plain values; times are minutes from its end, so below zero."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.sandbox.merge_queue.controls import Controls, NewPullRequest

SITE = "acme/site"
API = "acme/api"

MERGE_QUEUE = "C0MERGEQ"
RELEASES = "C0RELEASE"
GENERAL = "C0GENERAL"
INCIDENTS = "C0INCIDENT"

ALICE = "U0ALICE"
BOB = "U0BOB"
CAROL = "U0CAROL"
DAVE = "U0DAVE"


@dataclass(frozen=True, slots=True)
class Enter:
    """A pull request enters a queue."""

    minute: float
    repository: str
    pull: NewPullRequest


@dataclass(frozen=True, slots=True)
class Say:
    """A person writes a message, or a reply to the newest message that contains `below`."""

    minute: float
    person: str
    channel: str
    text: str
    below: str | None = None
    is_broadcast: bool = False
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Type:
    """A person types a slash command; `answer` is in what the app then posts in the channel."""

    minute: float
    person: str
    channel: str
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Choose:
    """A person chooses an option of a menu in the newest message that contains `below`."""

    minute: float
    person: str
    channel: str
    option: str
    below: str


@dataclass(frozen=True, slots=True)
class React:
    """People put an emoji below the newest message that contains `below`."""

    minute: float
    people: tuple[str, ...]
    channel: str
    emoji: str
    below: str


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing happens, so that the app reads titles after a long time without events."""

    minute: float


@dataclass(frozen=True, slots=True)
class Happen:
    """Something happens to a repository in the service."""

    minute: float
    repository: str
    act: Callable[[Controls, str], object]


Step = Enter | Say | Type | Choose | React | Rest | Happen
