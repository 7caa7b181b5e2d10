"""Interfaces of the use cases: time, the service, and Slack."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Protocol

from bot.domain.event_log import LARGEST_PAGE, Window
from bot.domain.event_records import EventPage
from bot.domain.freezing import FreezeChange, FreezeTerms, ScheduledFreeze
from bot.domain.message import Message, Thread
from bot.domain.permissions import Person, Unanswered
from bot.domain.queue import (
    Application,
    Pause,
    Queue,
    QueuedDetails,
    QueueRule,
    QueueStatus,
    Removal,
    RemovalImpact,
)
from bot.domain.repository import RepositoryName


class Clock(Protocol):
    """The time, and waiting."""

    def now(self) -> datetime:
        """The wall clock, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that pass independently of the wall clock, from an arbitrary start."""
        ...

    async def sleep(self, seconds: float) -> None: ...


OnAnswer = Callable[[str], object]
"""Receives the service's answers to a change, in order, for the record: "200".

Answers that raise an error are left out: `bot.domain.errors` words them.
"""


def ignore(_answer: str) -> None:
    """Nobody puts it on record."""


class MergeQueue(Protocol):
    """The merge queue service.

    Every method raises only MergeQueueError, with its repository, except for `may_send`.

    `offers_freezes`: None until the first answer about freezes.
    """

    offers_freezes: bool | None

    async def status(
        self, repository: RepositoryName, branch: str | None = None
    ) -> QueueStatus: ...

    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        """The pause in force, or None when the queue is not paused."""
        ...

    async def pause(
        self, repository: RepositoryName, reason: str, *, on_answer: OnAnswer = ignore
    ) -> Pause:
        """The pause now in force; `on_answer` receives the service's answer."""
        ...

    async def resume(
        self,
        repository: RepositoryName,
        *,
        on_answer: OnAnswer = ignore,
        may_send: Callable[[], bool] | None = None,
    ) -> bool:
        """Whether a pause was in force and the queue is now resumed.

        `may_send` is called just before each request. If it returns False, nothing is sent and
        StaleReading is raised.
        """
        ...

    async def freezes(self, repository: RepositoryName) -> Sequence[ScheduledFreeze]:
        """The freezes in force or to come. Raises FreezesNotOffered, as the next three do."""
        ...

    async def create_freeze(
        self,
        repository: RepositoryName,
        wanted: FreezeTerms,
        *,
        on_answer: OnAnswer = ignore,
    ) -> ScheduledFreeze: ...

    async def change_freeze(
        self,
        repository: RepositoryName,
        freeze: ScheduledFreeze,
        change: FreezeChange,
        *,
        on_answer: OnAnswer = ignore,
    ) -> ScheduledFreeze:
        """The freeze as changed; raises ResourceNotFound if it has ended."""
        ...

    async def delete_freeze(
        self,
        repository: RepositoryName,
        freeze: ScheduledFreeze,
        reason: str,
        *,
        on_answer: OnAnswer = ignore,
    ) -> bool:
        """Whether it was still there; `reason` says why it ends."""
        ...

    async def rules(self, repository: RepositoryName) -> Sequence[QueueRule]:
        """The queue rules in processing order."""
        ...

    async def event_page(  # noqa: PLR0913 - the filters of endpoint 6, each by its name
        self,
        repository: RepositoryName,
        window: Window,
        *,
        types: Collection[str] = (),
        cursor: str | None = None,
        pull_request: int | None = None,
        base_ref: str | None = None,
        per_page: int = LARGEST_PAGE,
    ) -> EventPage:
        """One page in the service's own order; empty `types` selects all event types.

        `pull_request` and `base_ref` leave out all other events. Raises InvalidRequest for values
        beyond the API document's limits (Limits, Event log query parameters).
        """
        ...

    async def branches(self, repository: RepositoryName, window: Window) -> Sequence[str]: ...

    async def queues(self, repository: RepositoryName) -> Sequence[Queue]:
        """The deprecated listing, the only one that names checks; it may be gone."""
        ...

    async def application(self, credential_of: RepositoryName | None = None) -> Application:
        """Whose key a repository's credential is; without one, the key of MQBOT_API_TOKEN."""
        ...

    async def clock_ahead(self) -> timedelta | None:
        """How far our clock is ahead of the service's; None if it doesn't send its time."""
        ...

    async def queued_branches(self, repository: RepositoryName) -> Sequence[str]:
        """The base branches with a queue now; raises NotOffered where there is no such endpoint.

        So do the following, about one pull request.
        """
        ...

    async def queued_details(self, repository: RepositoryName, number: int) -> QueuedDetails:
        """Raises ResourceNotFound if it isn't queued."""
        ...

    async def removal_impact(self, repository: RepositoryName, number: int) -> RemovalImpact | None:
        """What its removal would do; None if it isn't queued."""
        ...

    async def remove(
        self, repository: RepositoryName, number: int, *, on_answer: OnAnswer
    ) -> Removal: ...


class Sent(NamedTuple):
    """A post that Slack took, by its `ts`.

    It is not whole if it lacks its buttons, because Slack hasn't said who reads the channel. An
    edit adds them.
    """

    ts: str
    is_whole: bool = True


class ChannelPoster(Protocol):
    """Posts to Slack channels. Every method raises only PostError.

    A person's id instead of a channel's means the bot's direct messages with that person.
    """

    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> Sent:
        """Send at most one request.

        PostRefused with Refusal.THREAD: that thread takes no replies.
        """
        ...

    async def find(
        self,
        channel_id: str,
        delivery_id: str,
        since: datetime,
        thread_ts: str | None = None,
        until: datetime | None = None,
    ) -> str | None:
        """The `ts` of the message that carries `delivery_id`, or None if there is none.

        Searches around `since` in the channel's history, and in the thread if one is given; with
        `until`, from `since` to then, without reading anything twice.
        PostPostponed: the same call continues later where this one stopped.
        """
        ...

    async def update(self, channel_id: str, message_ts: str, message: Message) -> None:
        """Edit a message of ours; repeating the edit changes nothing.

        PostRefused with Refusal.EDIT: that message can't be edited any more. PostPostponed: also
        for a message with buttons while Slack hasn't said who reads the channel.
        """
        ...


class ChannelAccess(StrEnum):
    """Whether the bot can post in a channel, or why not.

    `OPEN`: it can post and read back.
    `INVITE`: somebody has to invite it first.
    `DIRECT`: a conversation between people, which it can't join.
    `CLOSED`: archived or deleted.
    `UNKNOWN`: Slack did not say.
    """

    OPEN = "open"
    INVITE = "invite"
    DIRECT = "direct"
    CLOSED = "closed"
    UNKNOWN = "unknown"


class ChannelDirectory(Protocol):
    """Slack's data on channels."""

    async def access(self, channel_id: str) -> ChannelAccess:
        """Whether the bot can post there; joins public channels, so that it can read back.

        Never raises: `ChannelAccess.UNKNOWN` if Slack doesn't answer.
        """
        ...

    async def is_shared(self, channel_id: str) -> bool | None:
        """Whether people of other organisations are there, or may be soon.

        Never raises: without an answer, the last known one, or None if there never was one. True
        for channels that Slack hides.
        """
        ...

    async def learn(self) -> None:
        """Read all channels that the bot is in, in few requests."""
        ...

    def wait(self, channel_id: str) -> float:
        """Seconds until `access` may ask Slack about a channel, given its rate limit.

        Zero when it doesn't have to ask.
        """
        ...


class PeopleDirectory(Protocol):
    """Slack's data on people and user groups, at most a minute old. Nothing here raises."""

    async def person(self, user_id: str) -> Person | Unanswered | None:
        """The person; None when Slack has nobody with that id."""
        ...

    async def members(self, group_id: str) -> Collection[str] | Unanswered:
        """The ids of a user group's members; a disabled or unknown group has none."""
        ...

    async def handle(self, group_id: str) -> str | None:
        """The name of a user group, without its `@`; None when unknown."""
        ...


class Wake(Protocol):
    """Wakes the schedule because there is something to post, now or `after` some seconds."""

    def __call__(self, after: float = 0.0) -> None: ...
