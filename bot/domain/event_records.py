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
    """What the status endpoint told of a queued pull request; events carry only its number.

    `title` and `author` are blank where only the address is known.
    """

    repository: RepositoryName
    number: int
    title: str
    url: str
    author: str
    seen_at: datetime


def alike(
    known: PullRequestRecord, repository: RepositoryName, number: int
) -> PullRequestRecord | None:
    """One that was never seen in the queue: its address is like that of a known one."""
    end = f"/{known.number}"
    start, found, rest = known.url.removesuffix(end).rpartition(f"/{known.repository}/")
    if not known.url.endswith(end) or not found:
        return None
    url = f"{start}/{repository}/{rest}/{number}"
    return PullRequestRecord(repository, number, "", url, "", known.seen_at)
