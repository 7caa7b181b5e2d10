"""The tables `[MQBOT_POLICY."acme/site"]` of the file: settings for some of the repositories."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)

from bot.config import values
from bot.config.secret_files import read_secret_file
from bot.domain.groups import Group
from bot.domain.permissions import WhoMayPause
from bot.domain.repository import RepositoryName

_Table = TypeVar("_Table", bound=BaseModel)

Who = Annotated[WhoMayPause, BeforeValidator(values.who_may_pause)]


class PolicyTable(BaseModel):
    """One table; what it leaves out is as for all repositories.

    The names are those of the settings, without `MQBOT_` and in small letters.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True
    )

    api_token: Annotated[SecretStr, values.token("")] | None = None
    api_token_file: str | None = None
    who_may_pause: Who | None = None
    who_may_resume: Who | None = None
    who_may_remove: Who | None = None
    who_may_freeze: Who | None = None
    reminder_minutes: float | None = Field(default=None, ge=0, le=1440)
    health_head_minutes: float | None = Field(default=None, ge=0, le=10_080)
    health_batch_minutes: float | None = Field(default=None, ge=0, le=10_080)
    health_depth: int | None = Field(default=None, ge=0, le=100_000)
    health_failures: int | None = Field(default=None, ge=0, le=1000)
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
            return {**given, "api_token": read_secret_file(str(file))}
        except ValueError as error:
            raise ValueError(f"api_token_file {error}") from None

    @property
    def given(self) -> Mapping[str, Any]:
        """What it doesn't leave out."""
        return {name: value for name, value in dict(self).items() if value is not None}


PolicyTables = tuple[tuple[str, PolicyTable], ...]
"""The tables in the order of the file, with their names."""


def read_policy_tables(value: object) -> PolicyTables:
    """Raises ValueError, which never repeats a value."""
    return read_tables(value, PolicyTable)


def read_tables(value: object, kind: type[_Table]) -> tuple[tuple[str, _Table], ...]:
    """Tables with their names, as a setting; raises ValueError, which never repeats a value."""
    if isinstance(value, tuple):
        return value
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
        raise ValueError("not tables of the file")
    return tuple((name, _table(name, table, kind)) for name, table in value.items())


def _table(name: str, table: dict[str, Any], kind: type[_Table]) -> _Table:
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        where = " ".join(str(one) for one in ("in", f"“{name}”:", *first["loc"][:1]))
        problem = first.get("ctx", {}).get("error") or first["msg"]
        raise ValueError(f"{where}: {problem}") from None


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
