"""The names that buttons, menus and forms carry to Slack and back."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TypeVar

from pydantic import TypeAdapter

from bot.domain.asked import Asked
from bot.domain.audit import AuditPlace, AuditSelection
from bot.domain.durations import For, written
from bot.domain.groups import Groups, Repositories, Target, repositories_of
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import LogPlace, LogSelection

HELD_LIMIT = 140
"""Characters for the pause, of the 150 in an option's value; the rest are for the extension."""

FROM_NOW = "in:"
"""Prefix of options that set the first end of a pause."""

SHORTENED = "#"
"""No repository name begins like this."""

PREFIX = "mq:"
PAUSE = "mq:pause"
RESUME = "mq:resume"
RESUME_OTHER = "mq:resume_other"
"""The answer to the question whether to resume a queue other than the channel's own."""

EXTEND = "mq:extend"
KEEP = "mq:keep"
SNOOZE = "mq:snooze"
REPLACE = "mq:replace"
PAUSE_CONFIRMED = "mq:pause_confirmed"
PAUSE_FOR = "mq:pause_for"
PAUSE_WITHOUT_END = "mq:pause_without_end"
"""The two answers to whether a duration in a reason is the end of the pause."""

DISMISS = "mq:dismiss"
REMOVE = "mq:remove"
SKIP = "mq:skip"
CHOOSE = "mq:choose"
WATCH = "mq:watch"
PAUSE_TARGET = "mq:pause_target"
"""The menu of the form: a repository, a group or `all`."""

AGAIN = "mq:again"
"""Its value is a group, and the id of the act on it whose rest to try again."""

AUDIT_OLDER = "mq:audit_older"
AUDIT_NEWER = "mq:audit_newer"
LOG_OLDER = "mq:log_older"
LOG_NEWER = "mq:log_newer"
HOME_ON = "mq:home_on"
HOME_BACK = "mq:home_back"
NOTICE = "mq:notice"
NOTICE_STOP = "mq:notice_stop"
OFF = " off"
"""Ends its value, after the notice."""

STOP_WAITING = "mq:stop_waiting"

LEVELS = "mq:levels"

INSTEAD = ("mq:instead_1", "mq:instead_2", "mq:instead_3")
"""The verbs offered in place of an unknown one, in a row: each carries the whole command."""

RETRY = "mq:retry"
LOG_OF = "mq:log_of"
WHY = "mq:why"
LEVEL_QUIET = "mq:level_quiet"
LEVEL_NORMAL = "mq:level_normal"
LEVEL_EVERYTHING = "mq:level_everything"
TYPED = (RETRY, LOG_OF, WHY, LEVEL_QUIET, LEVEL_NORMAL, LEVEL_EVERYTHING, *INSTEAD)
"""Their value is a command, which runs as if it were typed."""

REFRESH = "mq:refresh"
BACK = "mq:back"
NEXT = "mq:next"
IN_PLACE = (REFRESH, BACK, NEXT)
"""Like these, and the answer replaces the message with the button."""

SHARE = "mq:share"
"""Like these, and the whole channel sees the answer."""

CARRY_COMMAND = {*TYPED, *IN_PLACE, SHARE}
"""A failed one can be retried by repeating its command."""

FREEZE_CONFIRMED = "mq:freeze_confirmed"
FREEZE_FOR = "mq:freeze_for"
"""Their value is a command, too; the question goes once it is answered."""

FREEZE_END = "mq:freeze_end"
UNFREEZE = "mq:unfreeze"
HOLD = "mq:hold"
"""The choice in the form between a freeze and a pause."""

FREEZE_VIEW = "mq:freeze_view"
FREEZE_END_VIEW = "mq:freeze_end_view"
UNFREEZE_VIEW = "mq:unfreeze_view"

PAUSE_SHORTCUT = "pause_queue"
PAUSE_BECAUSE_SHORTCUT = "pause_because"
"""Callback of the global shortcut, as manifest.yml declares it."""

PAUSE_VIEW = "mq:pause_view"
EXTEND_VIEW = "mq:extend_view"
"""Callbacks of the forms that pause, and that change the end of a pause or of a group's pauses."""

HOLD_BLOCK = "hold"
BRANCH_BLOCK = "branch"
EXCEPT_BLOCK = "except"
TARGET_BLOCK = "target"
REASON_BLOCK = "reason"
REASON_ACTION = "reason"
LASTING_BLOCK = "lasting"
LASTING_ACTION = "lasting"
END_BLOCK = "end"
END_ACTION = "end"
"""The fields of these forms."""


def held_value(repository: RepositoryName, drawn_for: datetime | str) -> str:
    """A pause, by its time, a freeze, by its id, or an occurrence of a window, by its key.

    Of pauses and freezes short enough for the option of a menu.
    """
    if isinstance(drawn_for, datetime):
        drawn_for = drawn_for.isoformat()
    whole = f"{repository} {drawn_for}"
    if len(whole) <= HELD_LIMIT:
        return whole
    return f"{_shortened(repository)} {drawn_for}"


def _shortened(repository: RepositoryName) -> str:
    return SHORTENED + sha256(repository.casefold().encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Held:
    """The queue or group of a button, a menu or a form.

    `drawn_for`: the time of the pause, the id of the freeze or of the act on the group, or the key
    of the window's occurrence, that it was drawn for, if any.
    """

    target: Target
    drawn_for: str = ""

    @property
    def repository(self) -> RepositoryName:
        """The one queue, where there is no group."""
        (repository,) = repositories_of(self.target)
        return repository

    @property
    def paused_at(self) -> datetime | None:
        return datetime.fromisoformat(self.drawn_for) if self.drawn_for else None


def read_held(value: str, groups: Groups) -> Held:
    """Read `held_value` or `target_value` back.

    Raises RepositoryNotAllowed and UnknownGroup for what is no longer configured.
    """
    name, _, drawn_for = value.partition(" ")
    if name.startswith(SHORTENED):
        known = groups.repositories.names
        name = next((one for one in known if _shortened(one) == name), name)
    return Held(groups.target(name), drawn_for)


@dataclass(frozen=True, slots=True)
class PauseChoice:
    """The value of an answer to a question about a pause. Without a reason, a form asks for one.

    `target`: as `target_value` writes it.
    `replacing`: the time of the pause that it may replace.
    """

    target: str
    asked: Asked
    replacing: datetime | None = None


@dataclass(frozen=True, slots=True)
class QueuedTarget:
    """The value of *Remove*: a pull request, and since when it is queued."""

    repository: RepositoryName
    number: int
    queued_at: datetime


def extend_value(by: timedelta, target: str) -> str:
    """The value of an option of *Extend…*: the extension, and the pause it was drawn for."""
    return f"{written(For(by))} {target}"


def read_extend_value(value: str) -> tuple[str, str, bool]:
    """The extension, its pause or group, and whether that had an end when the menu was drawn."""
    length, _, target = value.partition(" ")
    return length.removeprefix(FROM_NOW), target, not length.startswith(FROM_NOW)


@dataclass(frozen=True, slots=True)
class AuditTarget:
    """The value of *Older* and *Newer*: the selection, and the record at the page's edge."""

    selection: AuditSelection
    place: AuditPlace


Value = TypeVar(
    "Value",
    PauseChoice,
    QueuedTarget,
    AuditTarget,
    LogPlace,
    AuditSelection,
    LogSelection,
)
"""What the value of a button holds; a page of the event log is the value of its own button."""


def value_of(held: Value) -> str:
    """The value of a button, as JSON."""
    return TypeAdapter(type(held)).dump_json(held, exclude_defaults=True).decode()


def read_value(kind: type[Value], value: str, repositories: Repositories) -> Value:
    """Read `value_of` back; raises RepositoryNotAllowed for a repository no longer configured."""
    return _managed(TypeAdapter(kind).validate_json(value), repositories)


def _managed(held: Value, repositories: Repositories) -> Value:
    """The value with the repository's name as it is configured now."""
    if isinstance(held, PauseChoice):
        return held
    if isinstance(held, AuditTarget | LogPlace):
        return replace(held, selection=_managed(held.selection, repositories))
    if held.repository is None:
        return held
    return replace(held, repository=repositories.allowed(held.repository))
