"""The tables of the file: policies for some of the repositories, and recurring windows."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from difflib import get_close_matches
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from bot.acts.errors import InvalidReason
from bot.acts.permission import WhoMayPause
from bot.acts.reason import check_reason
from bot.config import values
from bot.freezes.windows import RecurringWindow
from bot.kernel.cron import check_cron
from bot.kernel.durations import read_length, zone_named
from bot.kernel.errors import InvalidDuration
from bot.kernel.groups import ALL, Group
from bot.kernel.repository import RepositoryName

ENTRY_NAME_LIMIT = 50

Who = Annotated[WhoMayPause, BeforeValidator(values.who_may_pause)]

ReminderMinutes = Annotated[float, Field(ge=0, le=1440)]
AlertMinutes = Annotated[float, Field(ge=0, le=10_080)]
Depth = Annotated[int, Field(ge=0, le=100_000)]
Failures = Annotated[int, Field(ge=0, le=1000)]


class _Table(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _only_a_switch_is_true_or_false(cls, value: object, info: ValidationInfo) -> object:
        return values.no_switch(value, cls.model_fields[str(info.field_name)].annotation)


class ApprovalTable(_Table):
    """One table under `approval`: the acts that one machine only proposes."""

    acts: tuple[Literal["pause", "resume", "freeze", "unfreeze", "allow"], ...] = Field(
        default=("pause", "resume", "freeze", "unfreeze", "allow"), min_length=1
    )
    """what it only proposes: some of `pause`, `resume`, `freeze`, `unfreeze`, `allow`"""
    minutes: float = Field(default=60, ge=1, le=1440)
    """minutes until a proposal expires; 1 to 1440"""
    most_open: int = Field(default=3, ge=1, le=20)
    """how many of its proposals may be open at a time; 1 to 20"""
    run_by: Annotated[frozenset[str], BeforeValidator(values.people)] = frozenset()
    """the Slack ids (`U…`) of the people who run it; with `second_person`, someone else approves"""


class PolicyTable(_Table):
    """One table; what it leaves out is as for all repositories.

    The names are those of the settings, without `MQBOT_` and in small letters.
    """

    api_token: Annotated[SecretStr, values.token("")] | None = None
    api_token_file: str | None = None
    """the path of a file that holds the service's key"""
    who_may_pause: Who | None = None
    who_may_resume: Who | None = None
    """who may resume, in the form of `MQBOT_WHO_MAY_PAUSE`"""
    who_may_remove: Who | None = None
    """who may remove other people's pull requests, in the form of `MQBOT_WHO_MAY_PAUSE`"""
    who_may_freeze: Who | None = None
    reminder_minutes: ReminderMinutes | None = None
    health_head_minutes: AlertMinutes | None = None
    health_batch_minutes: AlertMinutes | None = None
    health_depth: Depth | None = None
    health_failures: Failures | None = None
    health_cause_minutes: AlertMinutes | None = None
    second_person: bool | None = None
    """`true` or `false`: whether it takes two people to resume somebody else's pause"""
    auto_pause_failures: int | None = Field(default=None, ge=0, le=100)
    """failures in a row after which the bot pauses; 0 to 100, 0 turns it off"""
    auto_pause_minutes: float | None = Field(default=None, ge=1, le=1440)
    """minutes until such a pause ends; 1 to 1440"""
    alert_mention: Annotated[str, AfterValidator(values.group_id)] | None = None
    """the Slack id of a user group (`S…`)"""
    approval: Mapping[str, ApprovalTable] | None = None
    """a table for each machine that only proposes, such as
    `[MQBOT_POLICY."owner/name".approval.ai-agent]`"""

    @model_validator(mode="before")
    @classmethod
    def _read_token(cls, given: Any) -> Any:  # noqa: ANN401 - whatever stands in the file
        if not isinstance(given, dict):
            return given
        file = given.get("api_token_file")
        if file is None:
            return given
        if "api_token" in given:
            raise ValueError("api_token_file is set together with api_token; remove one of the two")
        try:
            return {**given, "api_token": values.read_secret_file(str(file), may_be_pipe=False)}
        except ValueError as error:
            raise ValueError(f"api_token_file {error}") from None

    @property
    def given(self) -> Mapping[str, Any]:
        """What it doesn't leave out."""
        return {name: value for name, value in dict(self).items() if value is not None}


def _zone(given: object) -> ZoneInfo:
    zone = zone_named(str(given))
    if zone is None:
        raise ValueError("not a time zone")
    return zone


def _checked_length(given: object) -> timedelta:
    with suppress(InvalidDuration):
        return read_length(str(given)).length
    raise ValueError("not a length from a minute to 30 days")


Length = Annotated[timedelta, BeforeValidator(_checked_length)]


def _checked_reason(given: str) -> str:
    try:
        return check_reason(given)
    except InvalidReason as error:
        raise ValueError("too long" if error.length else "empty") from None


class WindowTable(_Table):
    """One table; `applies_to` is `owner/name`, `owner/*`, `@group` or `all`."""

    applies_to: str
    """`owner/name`, `owner/*`, `@group` or `all`"""
    starts: Annotated[str, AfterValidator(check_cron)]
    """a cron expression whose weekdays are names, such as `0 18 * * fri`"""
    lasts: Length
    """a length such as `2d14h`"""
    zone: Annotated[ZoneInfo, BeforeValidator(_zone)]
    """a time zone such as `Europe/Paris`"""
    reason: Annotated[str, AfterValidator(_checked_reason)]
    """why nothing merges then, in at most 255 characters"""
    announced: Length = timedelta(hours=1)
    """how long before its start a window is planned, such as `1d`"""


def repositories_named(
    name: str, repositories: Sequence[RepositoryName], groups: Iterable[Group]
) -> Sequence[RepositoryName]:
    """Those that `owner/name`, `owner/*`, `@group` or `all` is about; none if there are none."""
    if name.lower().removeprefix("@") == ALL:
        return repositories
    if name.startswith("@"):
        found = (group.repositories for group in groups if group.mention == name.lower())
        wanted = {name.casefold() for name in next(found, ())}
        return [repository for repository in repositories if repository.casefold() in wanted]
    folded = name.casefold()
    return [
        repository
        for repository in repositories
        if folded in {repository.casefold(), f"{repository.owner}/*".casefold()}
    ]


def check_policies(
    tables: Iterable[str], repositories: Sequence[RepositoryName], groups: Iterable[Group]
) -> None:
    for name in tables:
        if not repositories_named(name, repositories, groups):
            raise ValueError(_unknown(name, repositories, groups))


def _unknown(name: str, repositories: Sequence[RepositoryName], groups: Iterable[Group]) -> str:
    near = get_close_matches(name, [*repositories, *(group.mention for group in groups)], 1)
    guess = f"; did you mean {near[0]}?" if near else ""
    return f"“{name}” isn't a repository or group of the settings{guess}"


def windows(
    tables: Mapping[str, WindowTable],
    repositories: Sequence[RepositoryName],
    groups: Sequence[Group],
) -> Sequence[RecurringWindow]:
    """Raises ValueError if one of them applies to no repository."""
    found = []
    for name, table in tables.items():
        if len(name) > ENTRY_NAME_LIMIT:
            raise ValueError(
                f"“{name[:ENTRY_NAME_LIMIT]}…” is longer than {ENTRY_NAME_LIMIT} characters"
            )
        of = table.applies_to
        named = repositories_named(of, repositories, groups)
        if not named:
            raise ValueError(f"in “{name}”: {_unknown(of, repositories, groups)}")
        times = (table.starts, table.lasts, table.zone, table.reason, table.announced)
        found.append(RecurringWindow(name, named, *times))
    return found
