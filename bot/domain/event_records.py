"""What is kept of an event: what routing and wording need, never the raw body."""

from collections.abc import Mapping
from datetime import datetime

from pydantic import JsonValue

from bot.domain.repository import RepositoryName
from bot.domain.values import value


@value(frozen=True, slots=True)
class EventRecord:
    """One event as stored.

    `event_id` is the service's own id, unique within the repository. `type` is the service's
    string as sent, known or not. `details` holds the few facts of the metadata that messages
    are made from, as JSON values.
    """

    repository: RepositoryName
    event_id: int
    received_at: datetime
    type: str
    pull_request: int | None
    base_ref: str | None
    session_id: str | None
    details: Mapping[str, JsonValue]


@value(frozen=True, slots=True)
class PullRequestRecord:
    """What the status endpoint told of a queued pull request; events carry only its number."""

    repository: RepositoryName
    number: int
    title: str
    url: str
    author: str
    seen_at: datetime
