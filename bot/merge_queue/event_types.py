"""The service's own strings: the known event types, and what its dequeue and abort codes mean."""

import re
from enum import StrEnum

ENTER = "action.queue.enter"
LEAVE = "action.queue.leave"
MERGED = "action.queue.merged"
CHECKS_START = "action.queue.checks_start"
CHECKS_END = "action.queue.checks_end"
CHECKS_NOT_STARTED = "action.queue.checks_not_started"
BISECTION_START = "action.queue.batch_bisection_start"
BISECTION_END = "action.queue.batch_bisection_end"
CONFLICT_DEFERRED = "action.queue.conflict_deferred"
PAUSE_CREATE = "queue.pause.create"
PAUSE_UPDATE = "queue.pause.update"
PAUSE_DELETE = "queue.pause.delete"
QUEUE_COMMAND = "command.queue"
DEQUEUE_COMMAND = "command.dequeue"
REQUEUE_COMMAND = "command.requeue"
MERGED_BY_RULE = "action.merge"
"""Outside the queue; not the `MERGED` of the queue."""

REMOVED_HERE = "mqbot.removed"
"""Not the service's: a removal through this bot, among the events before a leave."""

RULE_TRIGGER = "Rule: "
"""Begins the trigger of what an automation rule did; the rule's name follows."""

_DOCUMENTED = """
    action.assign action.backport action.close action.comment action.copy
    action.delete_head_branch action.dismiss_reviews action.edit action.label action.merge
    action.post_check action.queue.batch_bisection_end action.queue.batch_bisection_start
    action.queue.change action.queue.checks.change action.queue.checks_end
    action.queue.checks_not_started action.queue.checks_start action.queue.enter
    action.queue.leave action.queue.merged action.rebase action.refresh action.request_reviews
    action.requeue action.review action.squash action.unqueue action.update
    ci_insights.job_retried ci_issue.created ci_issue.linked ci_issue.merged ci_issue.renamed
    ci_issue.reopened ci_issue.resolved ci_issue.unresolved command.dequeue command.queue
    command.requeue queue.pause.create queue.pause.delete queue.pause.update
    scheduled_freeze.create scheduled_freeze.delete scheduled_freeze.update
"""
EVENT_TYPES = frozenset(_DOCUMENTED.split())
"""The API document's list (Events), without `action.<host>_actions`: see `HOST_ACTIONS`."""

HOST_ACTIONS = re.compile(r"action\.\w+_actions", re.ASCII)
"""The document's `action.<host>_actions`, for a hosting platform of any name."""

_LIVE = """
    action.dequeue action.queue.conflict_deferred ci_insights.auto_quarantine.disabled
    ci_insights.auto_quarantine.enabled ci_insights.auto_quarantine.modified product.disabled
    product.enabled test.dequarantined test.quarantined
"""
LIVE_EVENT_TYPES = frozenset(_LIVE.split())
"""Types that later services send and the document does not list."""


def is_known_event_type(event_type: str) -> bool:
    """Whether the document, or a later version of the service, lists this type."""
    return (
        event_type in EVENT_TYPES
        or event_type in LIVE_EVENT_TYPES
        or HOST_ACTIONS.fullmatch(event_type) is not None
    )


class CodeClass(StrEnum):
    """What a code says about the pull request."""

    MERGED = "merged"
    FAILED = "failed"
    """CI gave a verdict against it."""
    TECHNICAL = "technical"
    """It left for a technical reason, its configuration or a conflict."""
    UNPROVEN = "unproven"
    """It left without a verdict."""
    REQUEUED = "requeued"
    """It stays in the queue: no failure."""
    HUMAN = "human"
    """A person requested or caused it."""


class Turn(StrEnum):
    """Who has to act now."""

    NOBODY = "nobody"
    AUTHOR = "author"
    """Of the pull request, or the person who queued it."""
    ADMINISTRATOR = "administrator"
    """Of the queue's settings or of the repository."""


# The API document does not list them. The service sends them as `abort_code` of
# `action.queue.checks_end` and as `dequeue_code` of `action.queue.leave`. A code gives the reason.
# Only the leave event says whether a pull request left, and whether it merged.
_CODES = {
    CodeClass.MERGED: """
        PR_MERGED PR_MERGED_INTERMEDIATE_RESULTS_SKIPPED PR_MANUALLY_MERGED
    """,
    CodeClass.FAILED: "CHECKS_FAILED CHECKS_TIMEOUT BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS",
    CodeClass.UNPROVEN: "CHECKS_INTERRUPTED DROPPED_BY_BISECTION_ELIMINATION",
    CodeClass.TECHNICAL: """
        STACK_PREDECESSOR_DEQUEUED PR_DEQUEUED PR_DEQUEUED_FROM_PARTITION
        CONFLICT_WITH_BASE_BRANCH CONFLICT_WITH_PULL_AHEAD BRANCH_UPDATE_FAILED
        PR_UNEXPECTEDLY_FAILED_TO_MERGE DRAFT_PULL_REQUEST_CREATION_FAILED
        DRAFT_PULL_REQUEST_CREATION_BRANCH_NOT_INDEXED INCOMPATIBILITY_WITH_BRANCH_PROTECTIONS
        UNPROCESSABLE_PULL_REQUEST BASE_BRANCH_MISSING BASE_BRANCH_CHANGED QUEUE_RULE_MISSING
        CONFIGURATION_CHANGED BASE_REF_ALIGNMENT_TIMEOUT
        GITHUB_STACKED_PULL_REQUEST_MERGE_UNSUPPORTED
    """,
    CodeClass.HUMAN: """
        PR_MANUALLY_DEQUEUED PULL_REQUEST_UPDATED DRAFT_PULL_REQUEST_CHANGED
        BATCH_PULL_REQUEST_CLOSED
    """,
    CodeClass.REQUEUED: """
        PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE PR_AHEAD_DEQUEUED BATCH_AHEAD_FAILED
        PR_WITH_HIGHER_PRIORITY_QUEUED SCHEDULED_FREEZE_STATUS_CHANGED
        SPECULATIVE_CHECK_NUMBER_REDUCED MERGE_QUEUE_RESET INTERMEDIATE_RESULTS_SKIPPED
        CHECKS_RETRIED SCHEDULE_BLOCKED_AHEAD_YIELDED BATCH_SCOPES_CHANGED
        BATCH_AHEAD_BRANCH_EDITED
    """,
}
DEQUEUE_CODES = {code: meaning for meaning, codes in _CODES.items() for code in codes.split()}

_TURNS = {
    "INCOMPATIBILITY_WITH_BRANCH_PROTECTIONS": Turn.ADMINISTRATOR,
    "QUEUE_RULE_MISSING": Turn.ADMINISTRATOR,
    "PR_MANUALLY_DEQUEUED": Turn.NOBODY,
}
"""Codes for which the next actor differs from the rest of their class."""


def class_of(code: str | None) -> CodeClass | None:
    """The class of a code; None for an unknown code or none."""
    return DEQUEUE_CODES.get(code or "")


def turn_of(code: str | None) -> Turn:
    """Who has to act after a pull request left with this code; the author if it is unknown."""
    nobody = {CodeClass.MERGED, CodeClass.REQUEUED}
    usual = Turn.NOBODY if class_of(code) in nobody else Turn.AUTHOR
    return _TURNS.get(code or "", usual)
