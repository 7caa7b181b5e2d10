"""The names that buttons, menus and forms carry to Slack and back."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol, Self, TypeVar

from pydantic import TypeAdapter

from bot.kernel.groups import Groups, Repositories, Target, repositories_of
from bot.kernel.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class Repeat:
    """A button that asks for the same again."""

    action_id: str
    value: str


CONTROL_LIMIT = 140
"""Characters for the pause, of the 150 in an option's value; the rest are for the extension."""


FROM_NOW = "in:"
"""Prefix of options that set the first end of a pause."""


SHORTENED = "#"
"""No repository name begins like this."""


ACTION_PREFIX = "mq:"


DISMISS = "mq:dismiss"


CHOOSE = "mq:choose"


MEANT = ("mq:meant_1", "mq:meant_2", "mq:meant_3", "mq:meant_4")
"""The answers to which queue is meant, in a row: each carries the command that says it."""


PAUSE_TARGET = "mq:pause_target"
"""The menu of the form: a repository, a group or `all`."""


END_CHANNEL = "mq:end_channel"
"""Ends all subscriptions of a channel to which Slack takes no posts."""


LEVELS = "mq:levels"


INSTEAD = ("mq:instead_1", "mq:instead_2", "mq:instead_3")
"""The verbs offered in place of an unknown one, in a row: each carries the whole command."""


RETRY = "mq:retry"


LOG_OF = "mq:log_of"


WHY_BUTTON = "mq:why"


LEVEL_QUIET = "mq:level_quiet"


LEVEL_NORMAL = "mq:level_normal"


LEVEL_EVERYTHING = "mq:level_everything"


LEAVE_OUT = ("mq:leave_out_1", "mq:leave_out_2", "mq:leave_out_3")


TYPED = (
    RETRY,
    LOG_OF,
    WHY_BUTTON,
    LEVEL_QUIET,
    LEVEL_NORMAL,
    LEVEL_EVERYTHING,
    *INSTEAD,
    *LEAVE_OUT,
)
"""Their value is a command, which runs as if it were typed."""


REFRESH = "mq:refresh"


BACK = "mq:back"


NEXT_PAGE = "mq:next"


IN_PLACE = (REFRESH, BACK, NEXT_PAGE)
"""Like these, and the answer replaces the message with the button."""


SHARE = "mq:share"
"""Like these, and the whole channel sees the answer."""


CARRY_COMMAND = {*TYPED, *IN_PLACE, SHARE, *MEANT}
"""A failed one can be retried by repeating its command."""


PAUSE_VIEW = "mq:pause_view"


TARGET_BLOCK = "target"


REASON_BLOCK = "reason"


REASON_ACTION = "reason"


END_BLOCK = "end"


END_ACTION = "end"


END_AT_BLOCK = "end_at"


END_AT_ACTION = "end_at"
"""The fields of these forms."""


END_LABEL = "Until when"


TIMES_LABEL = "From when, until when"


END_AT_LABEL = "Or pick a day and a time"
"""The names of the fields for an end, which their errors repeat."""


END_MEANT_BLOCK = "end_meant"


END_MEANT_ACTION = "end_meant"
"""The question in a form about what may be an end in the reason."""


NO_END_OPTION = "none"
"""The answer that it is none; any other is the end."""


def control_value(repository: RepositoryName, drawn_for: str) -> str:
    """A pause, by its line, a freeze, by its id, or an occurrence of a window, by its key.

    Of pauses and freezes short enough for the option of a menu.
    """
    whole = f"{repository} {drawn_for}"
    if len(whole) <= CONTROL_LIMIT:
        return whole
    return f"{_shortened(repository)} {drawn_for}"


def _shortened(repository: RepositoryName) -> str:
    return SHORTENED + sha256(repository.casefold().encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Control:
    """The queue or group that a button, a menu or a form is for."""

    target: Target
    #: the line of the pause, the id of the freeze or of the act on the group, or the key of the
    #: window's occurrence, that it was drawn for, if any
    drawn_for: str = ""

    @property
    def repository(self) -> RepositoryName:
        """The one queue, where there is no group."""
        (repository,) = repositories_of(self.target)
        return repository


def read_control(value: str, groups: Groups) -> Control:
    """Read `control_value` or `target_value` back.

    Raises RepositoryNotAllowed and UnknownGroup for what is no longer configured.
    """
    name, _, drawn_for = value.partition(" ")
    if name.startswith(SHORTENED):
        known = groups.repositories.names
        name = next((known_name for known_name in known if _shortened(known_name) == name), name)
    return Control(groups.target(name), drawn_for)


SPACE = "~"
"""Stands for a space in a written end, which no zone's name has."""


def repeat_typed(command: str) -> Repeat:
    return Repeat(RETRY, command)


class ButtonValue(Protocol):
    """What the value of a button says, beside its queue."""

    def known_in(self, repositories: Repositories) -> Self:
        """With the repository's name as it is configured now.

        Raises RepositoryNotAllowed for a repository no longer configured.
        """


_Value = TypeVar("_Value", bound=ButtonValue)


def value_of(said: ButtonValue) -> str:
    """The value of a button, as JSON."""
    return _adapter(type(said)).dump_json(said, exclude_defaults=True).decode()


def read_value(kind: type[_Value], value: str, repositories: Repositories) -> _Value:
    """Read `value_of` back; raises RepositoryNotAllowed for a repository no longer configured."""
    read: _Value = _adapter(kind).validate_json(value)
    return read.known_in(repositories)


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}
"""One for each kind of value: building one takes a hundred times as long as using it."""


def _adapter(kind: type[_Value]) -> TypeAdapter[_Value]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]
