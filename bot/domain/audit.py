"""The audit: what people did to a queue, or to a channel's subscriptions, through this bot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.domain.permissions import Right
from bot.domain.repository import RepositoryName

FROM_LOG = "known from the event log"
"""The detail of an act reconstructed from the event log, whose times may be the event's."""


SECOND_PERSON = "waits for a second person"
"""The detail of an act that another person has to repeat before it changes anything."""


class Action(StrEnum):
    """What the person, or a rule of the settings, asked for.

    `KEEP`: that a timed pause stays without an end.
    `PLAN`, `SKIP`: a pause of a recurring window ahead, and that it doesn't happen.
    """

    PAUSE = "pause"
    RESUME = "resume"
    EXTEND = "extend"
    KEEP = "keep"
    SNOOZE = "snooze"
    FREEZE = "freeze"
    UNFREEZE = "unfreeze"
    CHANGE_FREEZE = "change_freeze"
    ALLOW = "allow"
    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    DEFAULT = "default"
    BOARD = "board"
    END_BOARD = "end_board"
    REMOVE = "remove"
    PLAN = "plan"
    SKIP = "skip"


RIGHTS: Mapping[Action, Right] = {
    Action.PAUSE: Right.PAUSE,
    Action.RESUME: Right.RESUME,
    Action.EXTEND: Right.PAUSE,
    Action.KEEP: Right.PAUSE,
    Action.SNOOZE: Right.PAUSE,
    Action.FREEZE: Right.FREEZE,
    Action.UNFREEZE: Right.FREEZE,
    Action.CHANGE_FREEZE: Right.FREEZE,
    Action.ALLOW: Right.FREEZE,
    Action.SUBSCRIBE: Right.SUBSCRIBE,
    Action.UNSUBSCRIBE: Right.SUBSCRIBE,
    Action.DEFAULT: Right.SUBSCRIBE,
    Action.BOARD: Right.SUBSCRIBE,
    Action.END_BOARD: Right.SUBSCRIBE,
    Action.REMOVE: Right.REMOVE,
    Action.PLAN: Right.PAUSE,
    Action.SKIP: Right.PAUSE,
}
"""The right that each action needs."""


class Origin(StrEnum):
    """Where the actor acted: in Slack, or through the HTTP API. `RULE`: a rule of the settings."""

    COMMAND = "command"
    BUTTON = "button"
    MODAL = "modal"
    SHORTCUT = "shortcut"
    HOME = "home"
    TIMER = "timer"
    MACHINE = "machine"
    RULE = "rule"


class ActResult(StrEnum):
    """How an act ended.

    `STARTED`: stored before calling the service, so that an act cut short by a crash is known.
    The record of its end follows, with the started record's id as `act_id`.
    `DONE`: it changed the queue.
    `UNCHANGED`: the queue was already as asked.
    `REFUSED`: the bot or the service refused it; nothing changed.
    `FAILED`: it may have changed the queue.
    """

    STARTED = "started"
    DONE = "done"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Actor:
    """A Slack user, a machine or a rule. `name` appears in the service's reason and the audit.

    `user_id`: empty for people who act outside this bot, of whom only the name is known.
    """

    user_id: str
    name: str
    team_id: str | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who acts, from where in Slack, and in which channel (None if there is none)."""

    actor: Actor
    origin: Origin
    channel_id: str | None = None

    @property
    def place(self) -> str:
        """The channel, or the person if there is no channel."""
        return self.channel_id or self.actor.user_id


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a rule acted on: pull requests, oldest first, that failed on one check in a row.

    `branch`: their base branch, if known.
    `mention`: the user group to mention, if any.
    """

    check: str
    branch: str | None
    pull_requests: tuple[int, ...]
    mention: str | None = None


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """The beginning or the end of an act. Records are only ever added.

    `record_id`: assigned by the store, 0 before.
    `act_id`: the `record_id` of the STARTED record that this one ends, 0 if there is none.
    `channel_id`: where the person acted, None if there is no channel.
    `reason`: the person's own text.
    `stored_reason`: the reason sent to the service; once it has answered, or after an extension,
    the reason it stores.
    `paused_at`: the service's own time of the pause that was made or resumed; when a planned one
    begins.
    `previous_reason`, `previous_paused_at`: those of the pause in force before.
    `resumes_at`: when a timed pause resumes, or a freeze ends, by itself.
    `pull_request`: the number of the pull request that the act is about, if it is about one.
    `setting_before`, `setting_after`: a channel's subscribed topics, or its default repository,
    before and after a change; empty for none. After: what a freeze holds, or lets through, and the
    occurrence of a recurring window.
    `answer`: the service's answer, such as "200" or "409 conflict: …"; None without one.
    `detail`: why an act failed, or how much is known of its end.
    `group`: the name of the group that the act was part of.
    `group_act_id`: the id of the act on the group, 0 for none.
    `evidence`: what a rule acted on; None for acts of people.
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
    setting_before: str | None = None
    setting_after: str | None = None
    group: str | None = None
    group_act_id: int = 0
    resumes_at: datetime | None = None
    pull_request: int | None = None
    evidence: Evidence | None = None
    act_id: int = 0
    record_id: int = 0

    @property
    def identity(self) -> str:
        """A key that, unlike `record_id`, a restored database never gives to another act."""
        return f"{self.at.isoformat()} {self.actor.user_id} {self.action}"

    @property
    def waits_for_second(self) -> bool:
        """Whether another person has to do the same before it changes anything."""
        return self.action is Action.RESUME and self.detail == SECOND_PERSON

    @property
    def place(self) -> "AuditPlace":
        return AuditPlace(self.at, self.record_id)


@dataclass(frozen=True, slots=True)
class AuditPlace:
    """A record's position in the audit, which is ordered by time, then by id."""

    at: datetime
    record_id: int


@dataclass(frozen=True, slots=True)
class AuditSelection:
    """Filters: one repository or all of them, and records from `since` on.

    `ends_only`: leave out the beginning of an act whose end is known.
    """

    repository: RepositoryName | None = None
    since: datetime | None = None
    ends_only: bool = False


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of a selection, newest first, and whether there are newer and older pages."""

    selection: AuditSelection
    records: Sequence[AuditRecord]
    has_newer: bool
    has_older: bool
