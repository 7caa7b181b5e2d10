"""The event types that are known: the service's own strings."""

import re

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
REMOVED_HERE = "mqbot.removed"
"""Not the service's: a removal through this bot, among the events before a leave."""

EVENT_TYPES = frozenset(
    {
        "action.assign",
        "action.backport",
        "action.close",
        "action.comment",
        "action.copy",
        "action.delete_head_branch",
        "action.dismiss_reviews",
        "action.edit",
        "action.label",
        "action.merge",
        "action.post_check",
        "action.queue.batch_bisection_end",
        "action.queue.batch_bisection_start",
        "action.queue.change",
        "action.queue.checks.change",
        "action.queue.checks_end",
        "action.queue.checks_not_started",
        "action.queue.checks_start",
        "action.queue.enter",
        "action.queue.leave",
        "action.queue.merged",
        "action.rebase",
        "action.refresh",
        "action.request_reviews",
        "action.requeue",
        "action.review",
        "action.squash",
        "action.unqueue",
        "action.update",
        "ci_insights.job_retried",
        "ci_issue.created",
        "ci_issue.linked",
        "ci_issue.merged",
        "ci_issue.renamed",
        "ci_issue.reopened",
        "ci_issue.resolved",
        "ci_issue.unresolved",
        "command.dequeue",
        "command.queue",
        "command.requeue",
        "queue.pause.create",
        "queue.pause.delete",
        "queue.pause.update",
        "scheduled_freeze.create",
        "scheduled_freeze.delete",
        "scheduled_freeze.update",
    }
)
"""The API document's list (Events), without `action.<host>_actions`: see `HOST_ACTIONS`."""

HOST_ACTIONS = re.compile(r"action\.\w+_actions", re.ASCII)
"""The document's `action.<host>_actions`, for a hosting platform of any name."""

LIVE_EVENT_TYPES = frozenset(
    {
        "action.dequeue",
        "action.queue.conflict_deferred",
        "ci_insights.auto_quarantine.disabled",
        "ci_insights.auto_quarantine.enabled",
        "ci_insights.auto_quarantine.modified",
        "product.disabled",
        "product.enabled",
        "test.dequarantined",
        "test.quarantined",
    }
)
"""Types that later services send and the document does not list."""


def is_known_event_type(event_type: str) -> bool:
    """Whether the document, or a later version of the service, lists this type."""
    return (
        event_type in EVENT_TYPES
        or event_type in LIVE_EVENT_TYPES
        or HOST_ACTIONS.fullmatch(event_type) is not None
    )
