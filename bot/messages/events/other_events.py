"""Words for rare events: for the event log, and for subscriptions to their type."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from bot.domain.event_records import EventDetails, EventRecord
from bot.messages.text import NAME_LIMIT, code, plural, quote

TEXT_LIMIT = 120
LISTED = 5


def other_event(record: EventRecord) -> tuple[str, str]:
    """The word and, if the event has details, the verdict; an unknown type by its own name."""
    writer = _WRITERS.get(record.type)
    if writer is not None:
        return writer(record.details)
    if record.type.endswith("_actions"):
        return "Workflow started", _text(record.details.workflow)
    return "Event", code(record.type, NAME_LIMIT)


Writer = Callable[[EventDetails], tuple[str, str]]


def _text(value: str | None, limit: int = TEXT_LIMIT) -> str:
    return quote(value, limit) if value else ""


def _names(names: Sequence[str]) -> str:
    return ", ".join(quote(one, NAME_LIMIT) for one in names)


def _plainly(word: str) -> Writer:
    return lambda _details: (word, "")


def _with_text(word: str, name: Literal["message", "branch", "job_name", "new_name"]) -> Writer:
    return lambda details: (word, _text(getattr(details, name)))


def _added_and_removed(word: str) -> Writer:
    def write(details: EventDetails) -> tuple[str, str]:
        added, removed = _names(details.added), _names(details.removed)
        changes = [f"added {added}" if added else "", f"removed {removed}" if removed else ""]
        return word, "; ".join(change for change in changes if change)

    return write


def _carried(word: str) -> Writer:
    def write(details: EventDetails) -> tuple[str, str]:
        branch, number = _text(details.to, NAME_LIMIT), details.pull_request_number
        verdict = f"to {branch}" if branch else ""
        verdict += f" as #{number}" if number is not None else ""
        if details.conflicts is True:
            verdict += " with conflicts — resolve them there"
        return word, verdict.strip()

    return write


def _product(word: str) -> Writer:
    return lambda details: (word, _text(details.product, NAME_LIMIT).replace("_", " "))


def _edited(details: EventDetails) -> tuple[str, str]:
    words = {True: "it is a draft now", False: "it is ready for review now"}
    return "Edited", words[details.draft] if details.draft is not None else ""


def _checked(details: EventDetails) -> tuple[str, str]:
    parts = [_text(details.title), _text(details.conclusion, NAME_LIMIT).replace("_", " ")]
    return "Check posted", ": ".join(part for part in parts if part)


def _asked_for_review(details: EventDetails) -> tuple[str, str]:
    asked = [_names(details.reviewers), _names(details.team_reviewers)]
    names = ", ".join(part for part in asked if part)
    return "Review requested", f"of {names}" if names else ""


def _reviewed(details: EventDetails) -> tuple[str, str]:
    words = {
        "APPROVE": "approved",
        "REQUEST_CHANGES": "changes are asked for",
        "COMMENT": "a comment",
    }
    said, by = words.get(details.review_type or "", ""), _text(details.reviewer, NAME_LIMIT)
    return "Reviewed", f"{said} by {by}".strip() if by else said


def _held(details: EventDetails) -> tuple[str, str]:
    numbers = [f"#{number}" for number in details.blocking[:LISTED]]
    ahead = ", ".join(numbers) or "a pull request ahead"
    return "Held back", f"it conflicts with {ahead} — it keeps its place, no action needed"


def _length(details: EventDetails) -> tuple[str, str]:
    size = details.size
    if size is None:
        return "Queue changed", ""
    return "In the queue now", plural(size, "pull request")


def _running(details: EventDetails) -> tuple[str, str]:
    running = details.running_checks
    if running is None:
        return "Running checks changed", ""
    return "Running now", plural(running, "check")


def _retried(details: EventDetails) -> tuple[str, str]:
    attempt, most = details.retry_attempt, details.max_retry
    verdict = _text(details.rule_name, NAME_LIMIT)
    if attempt is not None and most is not None:
        verdict = f"{verdict}, try {attempt} of {most}".lstrip(", ")
    if details.outcome == "skipped_quota_exceeded":
        return "CI job not retried", f"{verdict}: the quota is used up".lstrip(": ")
    return "CI job retried", verdict


_WRITERS: Mapping[str, Writer] = {
    "action.assign": _added_and_removed("Assignees changed"),
    "action.backport": _carried("Backported"),
    "action.close": _with_text("Closed", "message"),
    "action.comment": _with_text("Commented", "message"),
    "action.copy": _carried("Copied"),
    "action.delete_head_branch": _with_text("Branch deleted", "branch"),
    "action.dequeue": _plainly("Removed from the queue by a rule"),
    "action.dismiss_reviews": lambda details: ("Reviews dismissed", _names(details.users)),
    "action.edit": _edited,
    "action.label": _added_and_removed("Labels changed"),
    "action.merge": _with_text("Merged by a rule, outside the queue", "branch"),
    "action.post_check": _checked,
    "action.queue.change": _length,
    "action.queue.checks.change": _running,
    "action.queue.conflict_deferred": _held,
    "action.rebase": _plainly("Rebased"),
    "action.refresh": _plainly("Refreshed"),
    "action.request_reviews": _asked_for_review,
    "action.requeue": _plainly("Queued again by a rule"),
    "action.review": _reviewed,
    "action.squash": _plainly("Squashed"),
    "action.unqueue": _plainly("Removed from the queue by a rule"),
    "action.update": _plainly("Updated with its base branch"),
    "ci_insights.auto_quarantine.disabled": _plainly("Automatic test quarantine switched off"),
    "ci_insights.auto_quarantine.enabled": _plainly("Automatic test quarantine switched on"),
    "ci_insights.auto_quarantine.modified": _plainly("Automatic test quarantine changed"),
    "ci_insights.job_retried": _retried,
    "ci_issue.created": _with_text("CI issue found", "job_name"),
    "ci_issue.linked": _with_text("CI issue seen again", "job_name"),
    "ci_issue.merged": _plainly("CI issues merged into one"),
    "ci_issue.renamed": _with_text("CI issue renamed", "new_name"),
    "ci_issue.reopened": _with_text("CI issue reopened", "job_name"),
    "ci_issue.resolved": _plainly("CI issue resolved"),
    "ci_issue.unresolved": _plainly("CI issue unresolved"),
    "product.disabled": _product("Service feature switched off"),
    "product.enabled": _product("Service feature switched on"),
    "test.dequarantined": _plainly("Test removed from quarantine"),
    "test.quarantined": _plainly("Test quarantined"),
}
