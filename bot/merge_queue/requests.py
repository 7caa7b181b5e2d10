"""What is sent, held to the limits of the API document; no I/O.

Every function raises InvalidRequest, naming the field, when a limit (Limits, and Event log query
parameters) is not kept; nothing is sent then.
"""

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from bot.domain.errors import InvalidRequest
from bot.domain.event_log import LARGEST_PAGE, PULL_REQUEST_END
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName

READS = frozenset({"GET", "OPTIONS"})

SUCCESS = frozenset({HTTPStatus.OK})
REMOVED = frozenset({HTTPStatus.OK, HTTPStatus.NO_CONTENT})
ANY = range(1000)
NOT_BROKEN = frozenset(range(HTTPStatus.INTERNAL_SERVER_ERROR)) - {HTTPStatus.TOO_MANY_REQUESTS}


@dataclass(frozen=True, slots=True)
class Call:
    """One request, without the credential.

    `endpoint` is a short fixed name for logs and counters, `path` is below the service's address.
    Answers of the `expected` statuses are read, all others are errors. `may_send` is asked just
    before each attempt.
    """

    endpoint: str
    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    json: Mapping[str, Any] | None = None
    expected: Container[int] = SUCCESS
    may_send: Callable[[], bool] | None = None

    @property
    def is_read(self) -> bool:
        return self.method in READS


Text = Annotated[str, Field(min_length=1)]
"""Nothing but what can be sent: the length of other text cannot be told."""


class PauseBody(BaseModel):
    """Of endpoints 2 and 9."""

    reason: str = Field(max_length=REASON_LIMIT)


class StatusQuery(BaseModel):
    """Of endpoint 1."""

    branch: Text | None


class EventQuery(BaseModel):
    """Of endpoint 6. Both ends of the window are always sent, and the filters with every cursor."""

    received_from: str
    received_to: str
    per_page: int = Field(ge=1, le=LARGEST_PAGE)
    pull_request: int | None = Field(ge=1, lt=PULL_REQUEST_END)
    base_ref: str | None = Field(min_length=1, max_length=255)
    cursor: Text | None
    event_type: list[Text]


M = TypeVar("M", bound=BaseModel)


def checked(model: type[M], **values: Any) -> Mapping[str, Any]:  # noqa: ANN401 - checked by the model
    try:
        return model(**values).model_dump(exclude_none=True)
    except ValidationError as error:
        (problem, *_) = error.errors(include_url=False)
        raise InvalidRequest(None, problem["msg"], field=str(problem["loc"][0])) from None


def path(repository: RepositoryName, rest: str) -> str:
    # Parsed again: a RepositoryName can be made without `parse`, and it decides the path.
    name = RepositoryName.parse(repository)
    return f"/repos/{name.owner}/{name.name}/{rest}"


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC with microseconds, as the service writes its own times."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
