"""The common base of values read from the merge queue service."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    WrapValidator,
)
from pydantic_core import PydanticOmit, PydanticUseDefault

from bot.kernel.wrong_values import why_refused

LARGEST_NUMBER = 2**63 - 1
"""The document's 9223372036854776000 is this number, rounded by a float; it fits a database."""


LATEST_YEAR = 9000
"""Times beyond it are nonsense, and adding a window to them would overflow."""


class Resource(BaseModel):
    """A value as the service sent it: frozen, and tolerant of unknown fields.

    A missing required field is an error, whose text never quotes the data.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="ignore",
        hide_input_in_errors=True,
        coerce_numbers_to_str=True,
        # Build each model when the first one is read, instead of all at start-up.
        defer_build=True,
    )


def _in_utc(moment: datetime) -> datetime:
    """A time without an offset is UTC: the service writes all its times that way."""
    if moment.year > LATEST_YEAR:
        raise ValueError("a time beyond all reason")
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("a time before all reason") from error


def _absent_as_empty(value: Any) -> Any:  # noqa: ANN401 - anything the service may send
    return () if value is None else value


Item = TypeVar("Item")


Moment = Annotated[datetime, AfterValidator(_in_utc)]
"""RFC 3339 date-time, aware, in UTC."""


def _default_when_unreadable(value: Any, read: Callable[[Any], Item]) -> Item:  # noqa: ANN401 - anything the service may send
    try:
        return read(value)
    except ValidationError:
        raise PydanticUseDefault from None


MOST_UNREADABLE = 1000
"""Elements left out of one answer; each takes a while, and meanwhile nothing else happens."""


class TooManyUnreadable(Exception):
    """So many elements of an answer can't be read that the rest isn't tried."""


def _left_out_when_unreadable(
    value: Any,  # noqa: ANN401 - anything the service may send
    read: Callable[[Any], Item],
    info: ValidationInfo,
) -> Item:
    try:
        return read(value)
    except ValidationError as error:
        if isinstance(info.context, list):
            info.context.append(error)
            if len(info.context) >= MOST_UNREADABLE:
                raise TooManyUnreadable from None
        raise PydanticOmit from None


Several = Annotated[tuple[Item, ...], BeforeValidator(_absent_as_empty)]
"""An array; null reads as empty."""


Readable = Annotated[Item, WrapValidator(_left_out_when_unreadable)]
"""An element of an array that is left out when it cannot be read.

Its error is added to the context of the validation when that is a list.
"""


Later = Annotated[Item, WrapValidator(_default_when_unreadable)]
"""An undocumented value; an unreadable one counts as missing."""


Foretold = Later[Moment | None]
"""A time that may be missing, such as an estimate; an absurdly late one means "never"."""


Number = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
"""A number of a pull request, or an id of an event."""


def flatten_platform_field(sent: Mapping[str, Any], suffix: str, into: str) -> Mapping[str, Any]:
    """Rename the field `<host><suffix>` of any hosting platform to `into`.

    The document writes `<host>` for the platform's name (its section on Application). The first
    such field wins; `sent` is returned unchanged without one, or if it has `into` already.
    """
    if into in sent:
        return sent
    for name in sent:
        if name.endswith(suffix) and len(name) > len(suffix):
            return {**sent, into: sent[name]}
    return sent


def problems(error: ValidationError) -> str:
    """The first three problems as "field.field: problem", without quoting the body."""
    found = error.errors(include_url=False, include_input=False)
    lines = [
        ": ".join(filter(None, (".".join(str(part) for part in error["loc"]), why_refused(error))))
        for error in found[:3]
    ]
    return "; ".join(lines)[:300]
