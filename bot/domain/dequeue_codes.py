"""What the service's dequeue and abort codes mean.

The API document does not show them; they are those the service is known to send, `abort_code`
of `action.queue.checks_end` and `dequeue_code` of `action.queue.leave` alike. A code tells why;
whether a pull request left, and whether it was merged, is told by the leave event alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class CodeClass(StrEnum):
    """What a code says about the pull request."""

    MERGED = "M"
    FAILED = "F"
    """CI gave a verdict against it."""
    TECHNICAL = "T"
    """It left for a technical reason, its configuration or a conflict."""
    UNPROVEN = "U"
    """It left without a verdict."""
    REQUEUED = "R"
    """It stays in the queue: no failure."""
    HUMAN = "H"
    """A person asked for it or caused it."""


class Turn(StrEnum):
    """Who has to do something now."""

    NOBODY = "nobody"
    AUTHOR = "author"
    """Of the pull request, or whoever queued it."""
    ADMINISTRATOR = "administrator"
    """Who looks after the settings of the queue or of the repository."""


@dataclass(frozen=True, slots=True)
class DequeueCode:
    """One code. `live_only`: sent by later services only. `leave_only`: never on `checks_end`.

    `other_turn`: where it is somebody else's turn than with the other codes of its class.
    """

    code: str
    code_class: CodeClass
    live_only: bool = False
    leave_only: bool = False
    other_turn: Turn | None = None

    @property
    def turn(self) -> Turn:
        """Whose turn it is when a pull request left with this code."""
        return self.other_turn or _TURN_BY_CLASS[self.code_class]


_M, _F, _T = CodeClass.MERGED, CodeClass.FAILED, CodeClass.TECHNICAL
_U, _R, _H = CodeClass.UNPROVEN, CodeClass.REQUEUED, CodeClass.HUMAN

_TURN_BY_CLASS = {
    CodeClass.MERGED: Turn.NOBODY,
    CodeClass.FAILED: Turn.AUTHOR,
    CodeClass.TECHNICAL: Turn.AUTHOR,
    CodeClass.UNPROVEN: Turn.AUTHOR,
    CodeClass.REQUEUED: Turn.NOBODY,
    CodeClass.HUMAN: Turn.AUTHOR,
}

_TABLE = (
    DequeueCode("PR_MERGED", _M, leave_only=True),
    DequeueCode("PR_MERGED_INTERMEDIATE_RESULTS_SKIPPED", _M, live_only=True, leave_only=True),
    DequeueCode("PR_MANUALLY_MERGED", _M),
    DequeueCode("CHECKS_FAILED", _F),
    DequeueCode("CHECKS_TIMEOUT", _F),
    DequeueCode("BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS", _F),
    DequeueCode("CHECKS_INTERRUPTED", _U, live_only=True),
    DequeueCode("DROPPED_BY_BISECTION_ELIMINATION", _U, live_only=True),
    DequeueCode("STACK_PREDECESSOR_DEQUEUED", _T),
    DequeueCode("PR_DEQUEUED", _T),
    DequeueCode("PR_DEQUEUED_FROM_PARTITION", _T),
    DequeueCode("CONFLICT_WITH_BASE_BRANCH", _T),
    DequeueCode("CONFLICT_WITH_PULL_AHEAD", _T),
    DequeueCode("BRANCH_UPDATE_FAILED", _T),
    DequeueCode("PR_UNEXPECTEDLY_FAILED_TO_MERGE", _T),
    DequeueCode("DRAFT_PULL_REQUEST_CREATION_FAILED", _T),
    DequeueCode("DRAFT_PULL_REQUEST_CREATION_BRANCH_NOT_INDEXED", _T),
    DequeueCode("INCOMPATIBILITY_WITH_BRANCH_PROTECTIONS", _T, other_turn=Turn.ADMINISTRATOR),
    DequeueCode("UNPROCESSABLE_PULL_REQUEST", _T),
    DequeueCode("BASE_BRANCH_MISSING", _T),
    DequeueCode("BASE_BRANCH_CHANGED", _T),
    DequeueCode("QUEUE_RULE_MISSING", _T, other_turn=Turn.ADMINISTRATOR),
    DequeueCode("CONFIGURATION_CHANGED", _T),
    DequeueCode("BASE_REF_ALIGNMENT_TIMEOUT", _T, live_only=True),
    DequeueCode("GITHUB_STACKED_PULL_REQUEST_MERGE_UNSUPPORTED", _T, live_only=True),
    DequeueCode("PR_MANUALLY_DEQUEUED", _H, other_turn=Turn.NOBODY),
    DequeueCode("PULL_REQUEST_UPDATED", _H),
    DequeueCode("DRAFT_PULL_REQUEST_CHANGED", _H),
    DequeueCode("BATCH_PULL_REQUEST_CLOSED", _H, live_only=True),
    DequeueCode("PR_CHECKS_STOPPED_BECAUSE_MERGE_QUEUE_PAUSE", _R),
    DequeueCode("PR_AHEAD_DEQUEUED", _R),
    DequeueCode("BATCH_AHEAD_FAILED", _R),
    DequeueCode("PR_WITH_HIGHER_PRIORITY_QUEUED", _R),
    DequeueCode("SCHEDULED_FREEZE_STATUS_CHANGED", _R),
    DequeueCode("SPECULATIVE_CHECK_NUMBER_REDUCED", _R),
    DequeueCode("MERGE_QUEUE_RESET", _R),
    DequeueCode("INTERMEDIATE_RESULTS_SKIPPED", _R),
    DequeueCode("CHECKS_RETRIED", _R),
    DequeueCode("SCHEDULE_BLOCKED_AHEAD_YIELDED", _R, live_only=True),
    DequeueCode("BATCH_SCOPES_CHANGED", _R, live_only=True),
    DequeueCode("BATCH_AHEAD_BRANCH_EDITED", _R, live_only=True),
)

DEQUEUE_CODES: Mapping[str, DequeueCode] = {row.code: row for row in _TABLE}


def class_of(code: str | None) -> CodeClass | None:
    """None for a code we do not know, and for no code."""
    row = DEQUEUE_CODES.get(code or "")
    return row.code_class if row is not None else None


def turn_of(code: str | None) -> Turn:
    """The author's for a code we do not know, and for none: better one look than none."""
    row = DEQUEUE_CODES.get(code or "")
    return row.turn if row is not None else Turn.AUTHOR
