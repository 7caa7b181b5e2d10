"""What the use cases need of the world: the time, the service, Slack, and who measures."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from bot.domain.channels import ChannelAccess
from bot.domain.event_log import LARGEST_PAGE, Window
from bot.domain.events import EventPage
from bot.domain.inspection import BotStanding, ChannelStanding
from bot.domain.message import Message, Thread
from bot.domain.permissions import Person, Unanswered
from bot.domain.queue import Application, Pause, QueueRule, QueueStatus
from bot.domain.repository import RepositoryName


class Clock(Protocol):
    """The time, and waiting."""

    def now(self) -> datetime:
        """The wall clock, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that go on whatever becomes of the wall clock, from any beginning."""
        ...

    async def sleep(self, seconds: float) -> None: ...


class Hear(Protocol):
    """Is told what the service answered to a change, for the record: "200"; in order if several.

    An answer that becomes an error is not told here: `bot.domain.errors` words it.
    """

    def __call__(self, answer: str, /) -> object: ...


class MergeQueue(Protocol):
    """The merge queue service. Every method raises only MergeQueueError, but for `may_send`."""

    async def status(
        self, repository: RepositoryName, branch: str | None = None
    ) -> QueueStatus: ...

    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        """The pause in force, or None when the queue is not paused."""
        ...

    async def pause(
        self, repository: RepositoryName, reason: str, *, hear: Hear | None = None
    ) -> Pause:
        """The pause now in force; `hear` is told what the service answered."""
        ...

    async def unpause(
        self,
        repository: RepositoryName,
        *,
        hear: Hear | None = None,
        may_send: Callable[[], bool] | None = None,
    ) -> bool:
        """Whether a pause was in force and is now lifted; `hear` is told the answer.

        `may_send` is asked just before each request is sent. When it says no, nothing is sent and
        LookedTooLongAgo is raised.
        """
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
        """One page in the service's own order; all event types when `types` is empty.

        `pull_request` and `base_ref` leave out the events of all others. Raises InvalidRequest
        for what the API document's limits do not allow (Limits, Event log query parameters).
        """
        ...

    async def branches(self, repository: RepositoryName, window: Window) -> Sequence[str]: ...

    async def application(self) -> Application: ...


class ChannelPoster(Protocol):
    """Posts to Slack channels. Every method raises only PostError.

    A person's id in place of a channel's means the bot's direct messages with that person.
    """

    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> str:
        """Send at most one request; return the message's `ts`.

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
        """The `ts` of the message that carries `delivery_id`, or None if it is nowhere.

        Looked for around `since` in the channel's history, and in the thread if one is given; with
        `until`, from `since` to then, and what was read once is not read again.
        PostPostponed: the same call, made later, continues where this one stopped.
        """
        ...

    def lacks_buttons(self, channel_id: str, message_ts: str) -> bool:
        """Whether a new post lacks its buttons: Slack has not said yet who reads the channel.

        To be asked once; an edit adds them.
        """
        ...

    async def update(self, channel_id: str, message_ts: str, message: Message) -> None:
        """Let a message of ours say something else; the same again changes nothing.

        PostRefused with Refusal.EDIT: that message can be edited no more. PostPostponed: also
        while Slack has not said who reads the channel, of a message with buttons.
        """
        ...


class ChannelDirectory(Protocol):
    """What Slack tells of its channels."""

    async def access(self, channel_id: str) -> ChannelAccess:
        """Whether the bot can post there; joins public channels, so that it can read back.

        Never raises: a failure to find out is `ChannelAccess.UNKNOWN`.
        """
        ...

    async def is_shared(self, channel_id: str) -> bool | None:
        """Whether people of other organisations are there, or may soon be.

        Never raises: what was said last when there is no answer now, None when nothing was ever
        said, and True of channels that Slack hides.
        """
        ...

    async def learn(self) -> None:
        """Read what Slack tells of all channels that the bot is in, in few requests."""
        ...

    def wait(self, channel_id: str) -> float:
        """Seconds until `access` is to ask Slack about a channel, by the rate that it grants.

        Zero when nothing has to be asked.
        """
        ...


class PeopleDirectory(Protocol):
    """What Slack tells of people and user groups, at most a minute old. Nothing here raises."""

    async def person(self, user_id: str) -> Person | Unanswered | None:
        """None when Slack knows nobody of that id."""
        ...

    async def members(self, group_id: str) -> Collection[str] | Unanswered:
        """The ids of a user group's members; a disabled or unknown group has none."""
        ...

    async def handle(self, group_id: str) -> str | None:
        """The name people use for a user group, without its `@`; None when it is not known."""
        ...


class Wake(Protocol):
    """Tells the schedule that there is something to post, now or `after` so many seconds."""

    def __call__(self, after: float = 0.0) -> None: ...


class InspectedMergeQueue(MergeQueue, Protocol):
    """What an inspection of the installation asks of the service besides."""

    async def clock_ahead(self) -> timedelta | None:
        """How far our clock is ahead of the service's; None when it does not tell the time."""
        ...


class SlackInspection(Protocol):
    """How the app stands in Slack. Every method raises only InspectionFailed, changes nothing."""

    async def bot(self) -> BotStanding: ...

    async def app_token(self) -> bool:
        """Return when the app-level token opens connections; False when none is used."""
        ...

    async def channels(self) -> Mapping[str, ChannelStanding]:
        """All that the bot is in, by their ids, in few calls."""
        ...

    async def channel(self, channel_id: str) -> ChannelStanding:
        """One channel; waits as long as Slack asks for because of its rate."""
        ...


class PollOutcome(StrEnum):
    """How a poll of an event log ended."""

    READ = "read"
    FAILED = "failed"
    LEASE_LOST = "lease_lost"


class LogProblem(StrEnum):
    """What is wrong with an event log as the service gives it."""

    CURSOR_REFUSED = "cursor_refused"
    ENDLESS = "endless_links"
    WRONG_TIME = "wrong_time"
    DUPLICATE_ID = "duplicate_id"


class Measures:
    """Counts and times, kept by nobody here. No method raises or waits, or takes text from outside.

    `slack_failed` alone takes what Slack said: whoever keeps it bounds it.
    """

    def acknowledged(self, seconds: float) -> None:
        """Slack was answered so long after its request was read."""

    def poll_started(self, late: timedelta) -> None:
        """A poll asked the service so long after it was due."""

    def poll_ended(self, outcome: PollOutcome) -> None:
        """A poll of an event log ended so."""

    def log_problem(self, problem: LogProblem) -> None:
        """An event log had this problem."""

    def posted(self, after: timedelta) -> None:
        """An event was posted so long after the service recorded it; clocks may disagree."""

    def not_rendered(self, count: int) -> None:
        """So many messages became plain text because a defect kept them from being rendered."""

    def slack_limited(self, seconds: float) -> None:
        """Slack has closed a method to us for so long, because of its rate."""

    def slack_failed(self, method: str, code: str) -> None:
        """A call of a Web API method failed; `code` is Slack's, or what our side calls it."""

    def job_known(self, job: str) -> None:
        """So that a job's first failure shows as a change."""

    def job_failed(self, job: str) -> None:
        """A job of the schedule raised."""


UNMEASURED = Measures()
