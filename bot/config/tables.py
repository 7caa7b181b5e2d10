"""The tables of the file: policies for some of the repositories, and recurring windows."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)

from bot.config import values
from bot.domain.durations import For, read_whole, zone_named
from bot.domain.errors import InvalidDuration
from bot.domain.groups import ALL, Group
from bot.domain.pauses import REASON_LIMIT
from bot.domain.permissions import WhoMayPause
from bot.domain.repository import RepositoryName
from bot.domain.windows import RecurringWindow
from bot.scheduler import check_cron

NAME_LIMIT = 50

Who = Annotated[WhoMayPause, BeforeValidator(values.who_may_pause)]

ReminderMinutes = Annotated[float, Field(ge=0, le=1440)]
AlertMinutes = Annotated[float, Field(ge=0, le=10_080)]
Depth = Annotated[int, Field(ge=0, le=100_000)]
Failures = Annotated[int, Field(ge=0, le=1000)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class PolicyTable(_Table):
    """One table; what it leaves out is as for all repositories.

    The names are those of the settings, without `MQBOT_` and in small letters.
    """

    api_token: Annotated[SecretStr, values.token("")] | None = None
    api_token_file: str | None = None
    who_may_pause: Who | None = None
    who_may_resume: Who | None = None
    who_may_remove: Who | None = None
    who_may_freeze: Who | None = None
    reminder_minutes: ReminderMinutes | None = None
    health_head_minutes: AlertMinutes | None = None
    health_batch_minutes: AlertMinutes | None = None
    health_depth: Depth | None = None
    health_failures: Failures | None = None
    second_person: bool | None = None
    auto_pause_failures: int | None = Field(default=None, ge=0, le=100)
    auto_pause_minutes: float | None = Field(default=None, ge=1, le=1440)
    alert_mention: str | None = Field(default=None, pattern="^S[A-Z0-9]{2,30}$")

    @model_validator(mode="before")
    @classmethod
    def _read_token(cls, given: dict[str, Any]) -> dict[str, Any]:
        file = given.get("api_token_file")
        if file is None:
            return given
        if "api_token" in given:
            raise ValueError("api_token_file is set together with api_token; remove one of the two")
        try:
            return {**given, "api_token": values.read_secret_file(str(file))}
        except ValueError as error:
            raise ValueError(f"api_token_file {error}") from None

    @property
    def given(self) -> Mapping[str, Any]:
        """What it doesn't leave out."""
        return {name: value for name, value in dict(self).items() if value is not None}


def _zone(given: object) -> ZoneInfo:
    zone = zone_named(str(given))
    if zone is None:
        raise ValueError("not a time zone such as Europe/Paris")
    return zone


def _length(given: object) -> timedelta:
    with suppress(InvalidDuration):
        lasting = read_whole(str(given))
        if isinstance(lasting, For):
            return lasting.length
    raise ValueError("not a length such as 2d14h, from a minute to 30 days")


Length = Annotated[timedelta, BeforeValidator(_length)]


class WindowTable(_Table):
    """One table; `applies_to` is `owner/name`, `owner/*`, `@group` or `all`."""

    applies_to: str
    starts: Annotated[str, AfterValidator(check_cron)]
    lasts: Length
    zone: Annotated[ZoneInfo, BeforeValidator(_zone)]
    reason: str = Field(min_length=1, max_length=REASON_LIMIT)
    announced: Length = timedelta(hours=1)


def repositories_of(
    name: str, repositories: Sequence[RepositoryName], groups: Iterable[Group]
) -> Sequence[RepositoryName]:
    """Those that a table is about: `owner/name`, `owner/*` or `@group`; none if there are none."""
    if name.startswith("@"):
        found = (one.repositories for one in groups if one.mention == name.lower())
        wanted = {one.casefold() for one in next(found, ())}
        return [one for one in repositories if one.casefold() in wanted]
    folded = name.casefold()
    return [one for one in repositories if folded in {one.casefold(), f"{one.owner}/*".casefold()}]


def check_policies(
    tables: Iterable[str], repositories: Sequence[RepositoryName], groups: Iterable[Group]
) -> None:
    for name in tables:
        if not repositories_of(name, repositories, groups):
            raise ValueError(f"“{name}” is no repository or group of the settings")


def windows(
    tables: Mapping[str, WindowTable],
    repositories: Sequence[RepositoryName],
    groups: Sequence[Group],
) -> Sequence[RecurringWindow]:
    """Raises ValueError if one of them applies to no repository."""
    found = []
    for name, table in tables.items():
        if len(name) > NAME_LIMIT:
            raise ValueError(f"“{name[:NAME_LIMIT]}…” is longer than {NAME_LIMIT} characters")
        of = table.applies_to
        named = repositories if of == ALL else repositories_of(of, repositories, groups)
        if not named:
            raise ValueError(f"in “{name}”: “{of}” is no repository or group of the settings")
        times = (table.starts, table.lasts, table.zone, table.reason, table.announced)
        found.append(RecurringWindow(name, named, *times))
    return found
