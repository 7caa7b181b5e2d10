"""Errors, as cases."""

from functools import partial

from bot.domain.durations import DurationProblem
from bot.domain.errors import (
    CommandSyntaxError,
    CredentialRefused,
    CutOff,
    FreezesNotOffered,
    InvalidCondition,
    InvalidConfiguration,
    InvalidDuration,
    InvalidReason,
    InvalidRequest,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    NeedsClick,
    NotOffered,
    PauseNotOffered,
    PermissionDenied,
    QueueBusy,
    RepositoryNotAllowed,
    RepositoryNotChosen,
    ResourceNotFound,
    SecondPersonNeeded,
    ServiceMoved,
    StateConflict,
    StoreUnavailable,
    UnknownGroup,
)
from bot.domain.permissions import DenialReason, Denied, Right, WhoCan
from bot.messages import errors
from tests.support.make import API, SITE
from tests.support.messages.rendering import Case, Cases


def explain(error: Exception) -> Case:
    return partial(
        errors.explain,
        error,
        command="/mq",
        reference="0a1b2c3d",
        repository=SITE,
        retry="status",
    )


CASES: Cases = {
    "defect": partial(errors.defect, "0a1b2c3d", "/mq"),
    "error-second-person": explain(SecondPersonNeeded(SITE, "bob", is_asked=True)),
    "error-second-person-never": explain(SecondPersonNeeded(SITE, None, is_asked=False)),
    "error-group": explain(UnknownGroup("@relase", ("release", "all"), "release")),
    "error-form-in-a-message": explain(NeedsClick()),
    "error-condition": explain(InvalidCondition("except:x", "a label")),
    "error-moved": explain(ServiceMoved("it redirects", "https://new.example")),
    "error-not-offered": explain(NotOffered(410, "gone")),
    "error-pauses-not-offered": explain(PauseNotOffered(404, "no")),
    "error-freezes-not-offered": explain(FreezesNotOffered(404, "no")),
    "error-no-repository": explain(RepositoryNotAllowed("acme/other", ())),
    "error-configuration": explain(
        InvalidConfiguration(422, "queue_rules: 'batch_size' must be at least 1")
    ),
    "error-duration": explain(InvalidDuration(DurationProblem.UNREADABLE, "1.5h")),
    "error-unknown-verb": explain(
        CommandSyntaxError(
            "There is no command “pasue”.", "pause [reason]", ("pause",), ("pause CI is down",)
        )
    ),
    "error-repository": explain(RepositoryNotAllowed("acme/other", (SITE, API))),
    "error-which-repository": explain(RepositoryNotChosen((SITE, API))),
    "error-busy": explain(QueueBusy(SITE)),
    "error-blank-reason": explain(InvalidReason(0)),
    "error-long-reason": explain(InvalidReason(256)),
    "error-unavailable": explain(MergeQueueUnavailable("timeout")),
    "error-unreadable": explain(MergeQueueProtocolError("not JSON")),
    "error-credential": explain(CredentialRefused(403, "no")),
    "error-not-found": explain(ResourceNotFound(404, "no")),
    "error-conflict": explain(StateConflict(409, "changed")),
    "error-invalid": explain(InvalidRequest(422, "the file is <invalid>", field="branch")),
    "error-store": explain(StoreUnavailable("locked")),
    "error-cut-off": explain(CutOff()),
    "error-defect": explain(ZeroDivisionError("secret of ours")),
}

DENIALS: Cases = {
    f"denied {right} {reason}": explain(
        PermissionDenied(right, Denied(reason, "a code"), WhoCan(("@a",) * 5, ("bob",) * 5, more=7))
    )
    for right in Right
    for reason in DenialReason
}
"""`test_permissions` holds what they say."""
