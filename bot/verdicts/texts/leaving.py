"""What the service's codes mean: why a pull request left or was put back, and what to do.

An unknown code is shown in its own words.
"""

from dataclasses import dataclass

from bot.blocks.text import quote

QUEUE_AGAIN = "comment `@mergifyio queue`"
"""The service's own words; its command `requeue` has been deprecated since February 2026."""

NO_STEP = "no action needed"
SEE = "see the pull request"
OWN_WORDS_LIMIT = 120
CODE_LIMIT = 80


@dataclass(frozen=True, slots=True)
class Leaving:
    """Why the pull request left or was put back, and the next step."""

    cause: str
    first: str = NO_STEP  #: what to do before it is queued again, or instead
    is_queued_again: bool = False

    @property
    def next_step(self) -> str:
        if not self.is_queued_again:
            return self.first
        return then_queue(self.first)


def then_queue(first: str) -> str:
    """`first`: what to do before; empty for nothing."""
    return f"{first}, then {QUEUE_AGAIN}" if first else QUEUE_AGAIN


_WITHOUT_STEP = {
    "PR_MERGED": "merged by the queue",
    "PR_MERGED_INTERMEDIATE_RESULTS_SKIPPED": "merged: a later batch that contains it passed",
    "PR_MANUALLY_MERGED": "merged by hand, outside the queue",
    "PR_MANUALLY_DEQUEUED": "removed on request",
    "PR_AHEAD_DEQUEUED": "a pull request ahead left",
    "BATCH_AHEAD_FAILED": "a batch ahead failed",
    "PR_WITH_HIGHER_PRIORITY_QUEUED": "a pull request with a higher priority came first",
    "SCHEDULED_FREEZE_STATUS_CHANGED": "a freeze now affects part of its batch",
    "SPECULATIVE_CHECK_NUMBER_REDUCED": "fewer batches are checked in parallel now",
    "MERGE_QUEUE_RESET": "the queue was reset",
    "INTERMEDIATE_RESULTS_SKIPPED": "its own result is no longer needed",
    "CHECKS_RETRIED": "its failed checks run again",
    "SCHEDULE_BLOCKED_AHEAD_YIELDED": "a pull request waiting for its schedule let it pass",
    "BATCH_SCOPES_CHANGED": "its batch was rebuilt: scopes changed",
    "BATCH_AHEAD_BRANCH_EDITED": "a batch ahead was edited",
}
_TO_QUEUE_AGAIN = {
    "CHECKS_INTERRUPTED": "a required check was cancelled before it finished",
    "DROPPED_BY_BISECTION_ELIMINATION": (
        "the bisection blamed it by elimination, without testing it alone"
    ),
    "PR_UNEXPECTEDLY_FAILED_TO_MERGE": "the merge itself failed",
    "DRAFT_PULL_REQUEST_CREATION_FAILED": "the pull request for its checks couldn't be created",
    "DRAFT_PULL_REQUEST_CREATION_BRANCH_NOT_INDEXED": (
        "the branch for its checks wasn't ready in time"
    ),
    "BASE_BRANCH_CHANGED": "its base branch was changed",
    "CONFIGURATION_CHANGED": "the queue's configuration changed",
}
_TO_QUEUE_WHEN_READY = {
    "PULL_REQUEST_UPDATED": "new commits were pushed to it",
    "DRAFT_PULL_REQUEST_CHANGED": "someone pushed to the branch of its batch",
    "BATCH_PULL_REQUEST_CLOSED": "the pull request of its batch was closed",
}
FIX = "fix it"
WHEN_READY = "make sure it's ready"
FIND_HANGING = "find the hanging check"
LEAVINGS = {
    **{code: Leaving(cause) for code, cause in _WITHOUT_STEP.items()},
    **{code: Leaving(cause, "", is_queued_again=True) for code, cause in _TO_QUEUE_AGAIN.items()},
    **{
        code: Leaving(cause, WHEN_READY, is_queued_again=True)
        for code, cause in _TO_QUEUE_WHEN_READY.items()
    },
    "CHECKS_FAILED": Leaving("its checks failed", FIX, is_queued_again=True),
    "CHECKS_TIMEOUT": Leaving("its checks took too long", FIND_HANGING, is_queued_again=True),
    "BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS": Leaving(
        "its batch failed, and splitting it didn't find the culprit",
        FIX,
        is_queued_again=True,
    ),
    "STACK_PREDECESSOR_DEQUEUED": Leaving(
        "a pull request it is stacked on left the queue",
        "queue that one again",
        is_queued_again=True,
    ),
    "PR_DEQUEUED": Leaving("the queue conditions no longer match", "check its queue conditions"),
    "PR_DEQUEUED_FROM_PARTITION": Leaving(
        "it no longer matches the rules of one partition", "check its queue conditions"
    ),
    "CONFLICT_WITH_BASE_BRANCH": Leaving(
        "it conflicts with its base branch", "resolve the conflict", is_queued_again=True
    ),
    "CONFLICT_WITH_PULL_AHEAD": Leaving(
        "it conflicts with a pull request ahead",
        "update it once that one merges",
        is_queued_again=True,
    ),
    "BRANCH_UPDATE_FAILED": Leaving(
        "its branch couldn't be updated", "update the branch", is_queued_again=True
    ),
    "INCOMPATIBILITY_WITH_BRANCH_PROTECTIONS": Leaving(
        "the queue's settings clash with the branch protection",
        "an administrator has to fix the settings",
    ),
    "UNPROCESSABLE_PULL_REQUEST": Leaving(
        "it has too many checks, comments or files", "make it smaller", is_queued_again=True
    ),
    "BASE_BRANCH_MISSING": Leaving(
        "its base branch no longer exists", "choose another base branch"
    ),
    "QUEUE_RULE_MISSING": Leaving(
        "its queue rule no longer exists", "an administrator has to fix the configuration"
    ),
    "BASE_REF_ALIGNMENT_TIMEOUT": Leaving(
        "it wasn't moved onto its base branch in time", "change its base", is_queued_again=True
    ),
    "GITHUB_STACKED_PULL_REQUEST_MERGE_UNSUPPORTED": Leaving(
        "the code host can't merge this stacked pull request", "merge it by hand"
    ),
    "PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE": Leaving(
        "stopped by the pause", "it keeps its place, no action needed"
    ),
}


_VAGUE = frozenset(
    {
        "PR_UNEXPECTEDLY_FAILED_TO_MERGE",
        "BRANCH_UPDATE_FAILED",
        "INCOMPATIBILITY_WITH_BRANCH_PROTECTIONS",
        "UNPROCESSABLE_PULL_REQUEST",
    }
)


def is_vague(code: str | None) -> bool:
    """Whether only the service's own reason, such as a missing permission, says what to do."""
    return code is not None and (code in _VAGUE or code not in LEAVINGS)


def leaving(code: str | None, reason: str | None) -> Leaving:
    """What a code means; for an unknown one, the service's own reason, if any."""
    known = LEAVINGS.get(code) if code is not None else None
    if known is not None:
        return known
    if code is not None:
        return Leaving(quote(code.replace("_", " ").lower(), CODE_LIMIT), SEE)
    # Without control characters, of which alone a reason might be.
    said = quote((reason or "").strip().rstrip("."), OWN_WORDS_LIMIT)
    return Leaving(said or "the service gave no reason", SEE)
