"""The audit: what people did to a queue, or to a channel's subscriptions, through this bot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Self

from bot.acts.asked import Asked
from bot.acts.permission import UNKNOWN_PERSON, Right
from bot.kernel.actor import Actor, Origin
from bot.kernel.groups import Repositories
from bot.kernel.repository import RepositoryName

FROM_LOG = "known from the event log"
"""The detail of an act reconstructed from the event log, whose times may be the event's."""


class Action(StrEnum):
    """What the person, or a rule of the settings, asked for."""

    PAUSE = "pause"
    RESUME = "resume"
    EXTEND = "extend"
    KEEP = "keep"  #: that a timed pause stays without an end
    TAKE_OVER = "take_over"  #: of a pause: being responsible for it
    SNOOZE = "snooze"
    FREEZE = "freeze"
    UNFREEZE = "unfreeze"
    CHANGE_FREEZE = "change_freeze"  #: to another end
    MOVE_FREEZE = "move_freeze"  #: of one that hasn't begun
    ALLOW = "allow"
    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    DEFAULT = "default"
    BOARD = "board"
    END_BOARD = "end_board"
    REMOVE = "remove"
    #: `PLAN` and `SKIP`: a pause of a recurring window ahead, and that it doesn't happen
    PLAN = "plan"
    SKIP = "skip"
    LINK = "link"
    UNLINK = "unlink"
    FORGET = "forget"
    RENAME = "rename"
    FORGET_REPOSITORY = "forget_repo"


RIGHT_OF_ACTION: Mapping[Action, Right] = {
    Action.PAUSE: Right.PAUSE,
    Action.RESUME: Right.RESUME,
    Action.EXTEND: Right.PAUSE,
    Action.KEEP: Right.PAUSE,
    Action.TAKE_OVER: Right.PAUSE,
    Action.SNOOZE: Right.PAUSE,
    Action.FREEZE: Right.FREEZE,
    Action.UNFREEZE: Right.FREEZE,
    Action.CHANGE_FREEZE: Right.FREEZE,
    Action.MOVE_FREEZE: Right.FREEZE,
    Action.ALLOW: Right.FREEZE,
    Action.SUBSCRIBE: Right.SUBSCRIBE,
    Action.UNSUBSCRIBE: Right.SUBSCRIBE,
    Action.DEFAULT: Right.SUBSCRIBE,
    Action.BOARD: Right.SUBSCRIBE,
    Action.END_BOARD: Right.SUBSCRIBE,
    Action.REMOVE: Right.REMOVE,
    Action.PLAN: Right.PAUSE,
    Action.SKIP: Right.PAUSE,
    Action.LINK: Right.READ,
    Action.UNLINK: Right.READ,
    Action.FORGET: Right.READ,
    Action.RENAME: Right.READ,
    Action.FORGET_REPOSITORY: Right.READ,
}
"""The right that each action needs."""


class ActResult(StrEnum):
    """How an act ended."""

    #: stored before calling the service, so that an act cut short by a crash is known. The record
    #: of its end follows, with the started record's id as `act_id`.
    STARTED = "started"
    DONE = "done"  #: it changed the queue
    ASKED = "asked"  #: it changes something once a second person asks for the same
    UNCHANGED = "unchanged"  #: the queue was already as asked
    REFUSED = "refused"  #: the bot or the service refused it; nothing changed
    FAILED = "failed"  #: it may have changed the queue


class Circumstance(StrEnum):
    """What decisions have to know of an act beside its result."""

    AS_AUTHOR = "as_author"
    LEFT_UNSEEN = "left_unseen"
    MERGED_FIRST = "merged_first"
    REMOVED_LATER = "removed_later"
    NOT_CARRIED_OUT = "not_carried_out"
    FOUND_RUNNING = "found_running"
    NOT_SENT = "not_sent"
    DECLINED = "declined"

    @property
    def sentence(self) -> str:
        return _CIRCUMSTANCES[self]


_CIRCUMSTANCES = {
    # It needed no right, because an operator assigned the author's login.
    Circumstance.AS_AUTHOR: "allowed as the author",
    # The service may or may not have carried out the removal.
    Circumstance.LEFT_UNSEEN: "its answer was lost; the pull request had left when looked up",
    # The service had taken its removal.
    Circumstance.MERGED_FIRST: "the pull request merged before it left the queue",
    # Its pull request was still queued when somebody asked again.
    Circumstance.REMOVED_LATER: "its answer was lost; a later request removed the pull request",
    # It may still prove to be carried out.
    Circumstance.NOT_CARRIED_OUT: "not carried out when looked up",
    # Nothing says who resumed it; the event log may still.
    Circumstance.FOUND_RUNNING: "its answer was lost; the queue ran when looked up",
    # So it has certainly changed nothing.
    Circumstance.NOT_SENT: "its request didn't reach the service",
    # A person refused what a machine proposed.
    Circumstance.DECLINED: "refused by a person",
}


_LOOKED_UP = frozenset(
    {
        Circumstance.NOT_CARRIED_OUT,
        Circumstance.FOUND_RUNNING,
        Circumstance.MERGED_FIRST,
        Circumstance.REMOVED_LATER,
    }
)
"""What a look at the service shows later than its answer, or without one.

The event log may still tell that the act was carried out.
"""

_RETRYING = frozenset({Origin.TIMER, Origin.RULE})
"""They repeat an act that failed, without another record before it succeeds."""

SOMEBODY = Actor(UNKNOWN_PERSON, "somebody in Slack")
"""Acted through the bot, which has no record of it: a backup was restored since."""


UNNAMED = Actor("", "somebody")
"""Acted outside this bot, and the event log doesn't say who it was."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the audit records about an act that takes two: two people, or a machine and a person."""

    subject: str  #: the freezes, and the pull request, that it is about; empty for a pause
    may_confirm: tuple[str, ...] = ()  #: whom a request mentions: Slack ids of people and groups
    asked_by: Actor | None = None  #: the first of the two, in the record of the second
    proposed: Asked | None = None  #: what a machine proposes; None for people
    ends_at: datetime | None = None  #: until when a proposal is open
    excludes_runners: bool = False  #: those who run the machine don't approve it
    answers: int = 0  #: the record of the proposal that is carried out or refused; 0 for none


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a rule acted on: pull requests, oldest first, that failed on one check in a row."""

    check: str
    branch: str | None  #: their base branch, if known
    pull_requests: tuple[int, ...]
    mention: str | None = None  #: the user group to mention, if any


@dataclass(frozen=True, slots=True)
class Where:
    """Where the actor asked for an act, and with which request."""

    origin: Origin
    channel_id: str | None = None  #: None if there is no channel
    #: the request's key, as in the log; None for timers and rules
    request: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of an act's end beside its result."""

    #: the service's answer, such as "200" or "409 conflict: …"; None without one
    answer: str | None = None
    #: why an act failed, or how much is known of its end; no decision reads it
    detail: str | None = None
    circumstance: Circumstance | None = None  #: what decisions read instead

    @property
    def explanation(self) -> str:
        """The detail for people; what decisions read has a sentence, too."""
        if self.detail is not None or self.circumstance is None:
            return self.detail or ""
        return self.circumstance.sentence


@dataclass(frozen=True, slots=True)
class SettingChange:
    """What an act changed that isn't the queue's state; empty for none.

    A channel's subscribed topics, its default repository, or a person's login. Of a freeze, `after`
    says what it holds or lets through, and of an act of a recurring window, which occurrence.
    """

    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Previous:
    """The pause or the freeze that the act changed or ended, as it was before; empty for none."""

    reason: str | None = None
    paused_at: datetime | None = None  #: the service's time of a pause that was replaced or ended


@dataclass(frozen=True, slots=True)
class PartOfGroup:
    """The act on a group that an act on one of its queues was part of."""

    name: str | None = None  #: the group's; None for an act on a single queue
    act_id: int = 0  #: the id of the act on the group, 0 for none


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """The beginning or the end of an act. Records are only ever added."""

    # Who asked for what, where and when, and how it ended.
    at: datetime
    actor: Actor
    action: Action
    where: Where
    repository: RepositoryName  #: empty for an act that concerns none, such as linking a login
    result: ActResult
    outcome: Outcome = Outcome()
    #: about an act that takes two people; None for others
    confirmation: Confirmation | None = None
    times: int = 1  #: how often a person tried the same within a minute and was refused

    # What it did at the service.
    reason: str | None = None  #: the person's own text
    #: the reason sent to the service; once it has answered, or after an extension, the reason it
    #: stores
    stored_reason: str | None = None
    #: the service's time of its answer: in the record of the beginning, to the reading before the
    #: request; in that of the end, to the request
    service_at: datetime | None = None
    #: the service's own time of the pause that was made or resumed; when a planned one begins
    paused_at: datetime | None = None
    previous: Previous = Previous()
    resumes_at: datetime | None = None  #: when a timed pause resumes, or a freeze ends, by itself
    #: the service's ids of the freezes that it makes, changes or ends; None before it is known
    freezes: frozenset[str] | None = None
    #: the number of the pull request that the act is about, if it is about one
    pull_request: int | None = None
    evidence: Evidence | None = None  #: what a rule acted on; None for acts of people

    # What it did here.
    setting: SettingChange = SettingChange()

    # Other records that belong to it.
    group: PartOfGroup = PartOfGroup()
    act_id: int = 0  #: the `record_id` of the STARTED record that this one ends, 0 if there is none
    record_id: int = 0  #: assigned by the store, 0 before

    def answered(self, answer: str | None) -> Self:
        """With the service's answer."""
        return replace(self, outcome=replace(self.outcome, answer=answer))

    def explained(self, detail: str | None) -> Self:
        """With why it failed, or how much is known of its end."""
        return replace(self, outcome=replace(self.outcome, detail=detail))

    def under(self, circumstance: Circumstance) -> Self:
        return replace(self, outcome=replace(self.outcome, circumstance=circumstance))

    @property
    def identity(self) -> str:
        """A key that, unlike `record_id`, a restored database never gives to another act."""
        return f"{self.at.isoformat()} {self.actor.user_id} {self.action}"

    @property
    def about(self) -> int | None:
        """The number of the pull request that it removes, or lets through a freeze."""
        number = (self.setting.after or "").removeprefix("#")
        if self.action is Action.ALLOW and number.isdecimal():
            return int(number)
        return self.pull_request

    @property
    def waits_for_second(self) -> bool:
        """Whether another person has to do the same before it changes anything."""
        return self.result is ActResult.ASKED

    @property
    def is_proposal(self) -> bool:
        """Whether a machine asks people to approve it."""
        is_proposed = self.confirmation is not None and self.confirmation.proposed is not None
        return self.waits_for_second and is_proposed

    @property
    def answers(self) -> int:
        """The record of the proposal that it carries out or refuses; 0 for none."""
        return self.confirmation.answers if self.confirmation is not None else 0

    @property
    def is_declined(self) -> bool:
        """Whether a person refused what a machine proposed."""
        return self.outcome.circumstance is Circumstance.DECLINED

    @property
    def is_undone(self) -> bool:
        """Whether the act, which this record ends, has certainly changed nothing."""
        is_unsent = self.outcome.circumstance is Circumstance.NOT_SENT
        if is_unsent and self.where.origin not in _RETRYING:
            return True
        return self.result in {ActResult.UNCHANGED, ActResult.REFUSED}

    @property
    def is_end_known(self) -> bool:
        """Whether this record tells what became of its act.

        A beginning doesn't, nor does a failure, whose answer may have been lost; see `ends.py`.
        """
        is_open = self.result in {ActResult.STARTED, ActResult.FAILED}
        return not is_open or self.is_undone or self.is_looked_up

    @property
    def is_looked_up(self) -> bool:
        """Whether a look at the service showed, after its answer or without one, what became."""
        return self.outcome.circumstance in _LOOKED_UP

    @property
    def position(self) -> "AuditPosition":
        return AuditPosition(self.at, self.record_id)


@dataclass(frozen=True, slots=True)
class AuditPosition:
    """A record's position in the audit, which is ordered by time, then by id."""

    at: datetime
    record_id: int


@dataclass(frozen=True, slots=True)
class AuditSelection:
    """Filters: one repository, those of a group or all of them, and records from `since` on."""

    repository: RepositoryName | None = None
    since: datetime | None = None
    until: datetime | None = None  #: only records before then
    actor: str | None = None  #: the name or the Slack id of who acted, in either case of letters
    actions: tuple[Action, ...] = ()  #: empty for all of them
    ends_only: bool = False  #: leave out the beginning of an act whose end is known
    group: str | None = None  #: the name of a group
    #: those of the group as it is now, which a button doesn't carry
    repositories: tuple[RepositoryName, ...] = ()

    def known_in(self, repositories: Repositories) -> Self:
        if self.repository is None:
            return self
        return replace(self, repository=repositories.allowed(self.repository))


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A page of a selection, newest first, and whether there are newer and older pages."""

    selection: AuditSelection
    records: Sequence[AuditRecord]
    has_newer: bool
    has_older: bool
