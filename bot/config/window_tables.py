"""The tables `[MQBOT_WINDOW."weekend"]` of the file: recurring windows without merges."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from bot.config.policy_tables import read_tables, repositories_of
from bot.domain.durations import For, read_whole
from bot.domain.errors import InvalidDuration
from bot.domain.groups import ALL, Group
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.domain.windows import RecurringWindow
from bot.scheduler import check_cron


def _zone(given: object) -> ZoneInfo:
    try:
        return ZoneInfo(str(given))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("not a time zone such as Europe/Paris") from None


def _length(given: object) -> timedelta:
    with suppress(InvalidDuration):
        lasting = read_whole(str(given))
        if isinstance(lasting, For):
            return lasting.length
    raise ValueError("not a length such as 2d14h, from a minute to 30 days")


def _cron(given: str) -> str:
    check_cron(given)
    return given


NAME_LIMIT = 50

Length = Annotated[timedelta, BeforeValidator(_length)]


class WindowTable(BaseModel):
    """One table; `applies_to` is `owner/name`, `owner/*`, `@group` or `all`."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True
    )

    applies_to: str
    starts: Annotated[str, AfterValidator(_cron)]
    lasts: Length
    zone: Annotated[ZoneInfo, BeforeValidator(_zone)]
    reason: str = Field(min_length=1, max_length=REASON_LIMIT)
    announced: Length = timedelta(hours=1)


WindowTables = tuple[tuple[str, WindowTable], ...]
"""The tables in the order of the file, with their names."""


def read_window_tables(value: object) -> WindowTables:
    """Raises ValueError, which never repeats a value."""
    return read_tables(value, WindowTable)


def windows(
    tables: WindowTables, repositories: Sequence[RepositoryName], groups: Iterable[Group]
) -> Sequence[RecurringWindow]:
    """Raises ValueError if one of them applies to no repository."""
    return [_window(name, one, repositories, list(groups)) for name, one in tables]


def _window(
    name: str, table: WindowTable, repositories: Sequence[RepositoryName], groups: Sequence[Group]
) -> RecurringWindow:
    if len(name) > NAME_LIMIT:
        raise ValueError(f"“{name[:NAME_LIMIT]}…” is longer than {NAME_LIMIT} characters")
    of = table.applies_to
    found = repositories if of == ALL else repositories_of(of, repositories, groups)
    if not found:
        raise ValueError(f"in “{name}”: “{of}” is no repository or group of the settings")
    return RecurringWindow(
        name, found, table.starts, table.lasts, table.zone, table.reason, table.announced
    )
