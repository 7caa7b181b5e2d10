"""Why a pull request left the queue or was put back, and the next step, by the service's code.

An unknown code is shown in its own words.
"""

from dataclasses import dataclass

from bot.messages.text import quote

FIX = "fix it and requeue"
REQUEUE = "requeue it"
NOTHING = "no action needed"


@dataclass(frozen=True, slots=True)
class Leaving:
    """Why the pull request left, and the next step."""

    verdict: str
    next_step: str


LEAVINGS = {
    "PR_MERGED": Leaving("merged by the queue", NOTHING),
    "PR_MERGED_INTERMEDIATE_RESULTS_SKIPPED": Leaving(
        "merged: a later batch that contains it passed", NOTHING
    ),
    "PR_MANUALLY_MERGED": Leaving("merged by hand, outside the queue", NOTHING),
    "CHECKS_FAILED": Leaving("its checks failed", FIX),
    "CHECKS_TIMEOUT": Leaving("its checks took too long", "find the hanging check, then requeue"),
    "BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS": Leaving(
        "its batch failed and the culprit was not found in the allowed number of splits", FIX
    ),
    "CHECKS_INTERRUPTED": Leaving("a required check was cancelled before it finished", REQUEUE),
    "DROPPED_BY_BISECTION_ELIMINATION": Leaving(
        "blamed by elimination while bisecting, never tested alone", REQUEUE
    ),
    "STACK_PREDECESSOR_DEQUEUED": Leaving(
        "a pull request it is stacked on left the queue", "requeue that one first"
    ),
    "PR_DEQUEUED": Leaving("the queue conditions no longer match", "see its conditions"),
    "PR_DEQUEUED_FROM_PARTITION": Leaving(
        "it no longer matches the rules of one partition", "see its conditions"
    ),
    "CONFLICT_WITH_BASE_BRANCH": Leaving(
        "it conflicts with its base branch", "resolve the conflict and requeue"
    ),
    "CONFLICT_WITH_PULL_AHEAD": Leaving(
        "it conflicts with a pull request ahead", "update it once that one merges, then requeue"
    ),
    "BRANCH_UPDATE_FAILED": Leaving(
        "its branch could not be updated", "update the branch and requeue"
    ),
    "PR_UNEXPECTEDLY_FAILED_TO_MERGE": Leaving("the merge itself failed", REQUEUE),
    "DRAFT_PULL_REQUEST_CREATION_FAILED": Leaving(
        "the pull request for its checks could not be created", REQUEUE
    ),
    "DRAFT_PULL_REQUEST_CREATION_BRANCH_NOT_INDEXED": Leaving(
        "the host had not yet indexed the branch for its checks", REQUEUE
    ),
    "INCOMPATIBILITY_WITH_BRANCH_PROTECTIONS": Leaving(
        "the queue's settings clash with the branch protection",
        "an administrator has to fix the settings",
    ),
    "UNPROCESSABLE_PULL_REQUEST": Leaving(
        "it has too many checks, comments or files", "make it smaller and requeue"
    ),
    "BASE_BRANCH_MISSING": Leaving("its base branch is gone", "choose another base branch"),
    "BASE_BRANCH_CHANGED": Leaving("its base branch was changed", REQUEUE),
    "QUEUE_RULE_MISSING": Leaving(
        "its queue rule is gone", "an administrator has to fix the configuration"
    ),
    "CONFIGURATION_CHANGED": Leaving("the configuration changed under it", REQUEUE),
    "BASE_REF_ALIGNMENT_TIMEOUT": Leaving(
        "it was never moved onto its base branch", "change its base and requeue"
    ),
    "GITHUB_STACKED_PULL_REQUEST_MERGE_UNSUPPORTED": Leaving(
        "the host cannot merge this stacked pull request", "merge it by hand"
    ),
    "PR_MANUALLY_DEQUEUED": Leaving("removed on request", NOTHING),
    "PULL_REQUEST_UPDATED": Leaving("new commits were pushed to it", "requeue it when ready"),
    "DRAFT_PULL_REQUEST_CHANGED": Leaving(
        "someone pushed to the branch of its batch", "requeue it when ready"
    ),
    "BATCH_PULL_REQUEST_CLOSED": Leaving(
        "the pull request of its batch was closed", "requeue it when ready"
    ),
    "PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE": Leaving(
        "stopped by the pause", "it keeps its place, no action needed"
    ),
    "PR_AHEAD_DEQUEUED": Leaving("a pull request ahead left", NOTHING),
    "BATCH_AHEAD_FAILED": Leaving("a batch ahead failed", NOTHING),
    "PR_WITH_HIGHER_PRIORITY_QUEUED": Leaving(
        "a pull request with a higher priority came first", NOTHING
    ),
    "SCHEDULED_FREEZE_STATUS_CHANGED": Leaving("a freeze now affects part of its batch", NOTHING),
    "SPECULATIVE_CHECK_NUMBER_REDUCED": Leaving(
        "fewer batches are checked in parallel now", NOTHING
    ),
    "MERGE_QUEUE_RESET": Leaving("the queue was reset", NOTHING),
    "INTERMEDIATE_RESULTS_SKIPPED": Leaving("its own result is no longer needed", NOTHING),
    "CHECKS_RETRIED": Leaving("its failed checks run again", NOTHING),
    "SCHEDULE_BLOCKED_AHEAD_YIELDED": Leaving(
        "a pull request waiting for its schedule let it pass", NOTHING
    ),
    "BATCH_SCOPES_CHANGED": Leaving("its batch was rebuilt: scopes changed", NOTHING),
    "BATCH_AHEAD_BRANCH_EDITED": Leaving("a batch ahead was edited", NOTHING),
}


def leaving(code: str | None, reason: str | None) -> Leaving:
    """The sentence for a code; for an unknown one, the service's own reason, if any."""
    known = LEAVINGS.get(code) if code is not None else None
    if known is not None:
        return known
    if code is not None:
        return Leaving(quote(code.replace("_", " ").lower(), 80), "see the pull request")
    if reason:
        return Leaving(quote(reason.strip().rstrip("."), 120), "see the pull request")
    return Leaving("the service gave no reason", "see the pull request")
