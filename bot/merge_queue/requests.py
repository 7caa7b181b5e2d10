"""What requests to the service carry, within the API document's limits."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from bot.domain.errors import InvalidRequest
from bot.domain.event_log import LARGEST_PAGE, PULL_REQUEST_END
from bot.domain.pauses import REASON_LIMIT

Text = Annotated[str, Field(min_length=1)]
"""Text with a length limit must be encodable, too: pydantic checks both."""


class Sent(BaseModel):
    """What requests carry, within the document's limits (endpoints 1, 2, 6, 9, and freezes)."""

    reason: str | None = Field(None, max_length=REASON_LIMIT)
    branch: Text | None = None
    per_page: int | None = Field(None, ge=1, le=LARGEST_PAGE)
    pull_request: int | None = Field(None, ge=1, lt=PULL_REQUEST_END)
    base_ref: str | None = Field(None, min_length=1, max_length=255)
    cursor: Text | None = None
    event_type: list[Text] | None = None


def checked(**values: Any) -> Mapping[str, Any]:  # noqa: ANN401 - checked by the model
    """The values; raises InvalidRequest, which names the field, beyond the document's limits."""
    try:
        return Sent(**values).model_dump(exclude_none=True)
    except ValidationError as error:
        (problem, *_) = error.errors(include_url=False)
        raise InvalidRequest(None, problem["msg"], field=str(problem["loc"][0])) from None


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC with microseconds, as the service writes its own times."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
