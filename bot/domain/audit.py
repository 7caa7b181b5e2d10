"""The record of what people did to a queue, and to what channels hear, through this bot."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.domain.permissions import Right
from bot.domain.repository import RepositoryName

FROM_LOG = "known from the event log"
"""The detail of an act that the event log told of; its time of a pause may be that of the event."""


class Action(StrEnum):
    """What was asked."""

    PAUSE = "pause"
    UNPAUSE = "unpause"
    EXTEND = "extend"
    SNOOZE = "snooze"
    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    DEFAULT = "default"
    BOARD = "board"
    END_BOARD = "end_board"

    @property
    def right(self) -> Right:
        """The right a person needs for it."""
        if self is Action.UNPAUSE:
            return Right.UNPAUSE
        changes_pause = self in {Action.PAUSE, Action.EXTEND, Action.SNOOZE}
        return Right.PAUSE if changes_pause else Right.SUBSCRIBE


class Origin(StrEnum):
    """Where in Slack the actor acted."""

    COMMAND = "command"
    BUTTON = "button"
    MODAL = "modal"
    SHORTCUT = "shortcut"
    HOME = "home"
    TIMER = "timer"


class ActResult(StrEnum):
    """How it ended: `DONE` changed the queue, `UNCHANGED` found it so already.

    `REFUSED`, by us or by the service, certainly changed nothing; `FAILED` may have changed it.

    `STARTED` is written before the service is asked, so that an act cut short by a crash is
    known; the record of its end follows with the started record's id as `act_id`.
    """

    STARTED = "started"
    DONE = "done"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Actor:
    """The Slack user who acts. `name` is what the service's reason and the audit show."""

    user_id: str
    name: str
    team_id: str | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who acts, from where in Slack, and in which channel, None where there is none."""

    actor: Actor
    origin: Origin
    channel_id: str | None = None

    @property
    def place(self) -> str:
        """The channel, or the person alone where there is none."""
        return self.channel_id or self.actor.user_id


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """One act's beginning or end. Records are only ever added.

    `record_id` is given by the store, 0 before. `act_id` is the `record_id` of the STARTED record
    that this one ends, 0 for a record that stands alone. `channel_id` is where the person acted,
    None where there is no channel.

    `reason` is the person's own text. `stored_reason` is what the service was given and, once it
    has answered or when a pause is extended, what it holds. `paused_at` is the service's own time
    of the pause made or lifted; `previous_reason` and `previous_paused_at` are those of the pause
    that was in force before. `lifts_at` is when a timed pause is to lift itself. `heard_before` and
    `heard_after` are the topics of a channel's subscription around a change of it, or the
    repository it means by default, empty for none.

    `answer` is what the service answered: "200", "409 conflict: …"; None when it was not asked, or
    had not answered yet. `detail` says why an act came to nothing, or what is known of its end.
    `group` is the name of the group that the act was a part of, `group_act_id` the id of the act on
    the group, 0 for none.
    """

    at: datetime
    actor: Actor
    action: Action
    origin: Origin
    repository: RepositoryName
    result: ActResult
    channel_id: str | None = None
    reason: str | None = None
    stored_reason: str | None = None
    paused_at: datetime | None = None
    previous_reason: str | None = None
    previous_paused_at: datetime | None = None
    detail: str | None = None
    answer: str | None = None
    heard_before: str | None = None
    heard_after: str | None = None
    group: str | None = None
    group_act_id: int = 0
    lifts_at: datetime | None = None
    act_id: int = 0
    record_id: int = 0

    @property
    def identity(self) -> str:
        """What a restored database does not give to another act, as it does `record_id`."""
        return f"{self.at.isoformat()} {self.actor.user_id} {self.action}"

    @property
    def place(self) -> "AuditPlace":
        return AuditPlace(self.at, self.record_id)


@dataclass(frozen=True, slots=True)
class AuditPlace:
    """Where a record stands in the order of the audit: by time, then by id."""

    at: datetime
    record_id: int


@dataclass(frozen=True, slots=True)
class AuditSelection:
    """Which records: of one repository, or of all; from `since` on, or from the first.

    `ends_only`: without the beginnings of acts whose end is known.
    """

    repository: RepositoryName | None = None
    since: datetime | None = None
    ends_only: bool = False


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of a selection, newest first, and whether there are pages on either side of it."""

    selection: AuditSelection
    records: Sequence[AuditRecord]
    has_newer: bool
    has_older: bool
