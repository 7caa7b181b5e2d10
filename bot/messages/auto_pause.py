"""What a pause by rule says: the check, and the pull requests that failed on it."""

from collections.abc import Mapping

from bot.domain.audit import Evidence
from bot.domain.event_records import PullRequestRecord
from bot.messages.text import clean, listed, pull_request

CHECK_LIMIT = 60
BRANCH_LIMIT = 40
NAMED = 5


def reason_of(found: Evidence) -> str:
    """The reason that the service stores, plain text of at most 200 characters."""
    numbers = listed([f"#{one}" for one in found.pull_requests], most=NAMED)
    branch = f" on {clean(found.branch, BRANCH_LIMIT)}" if found.branch else ""
    return f"{clean(found.check, CHECK_LIMIT)} failed in a row for {numbers}{branch}"


def linked(found: Evidence, seen: Mapping[int, PullRequestRecord]) -> str:
    """The pull requests with their titles and pages, as far as they are known."""
    return listed([_one(number, seen.get(number)) for number in found.pull_requests], most=NAMED)


def _one(number: int, seen: PullRequestRecord | None) -> str:
    return f"#{number}" if seen is None else pull_request(number, seen.title, seen.url)
