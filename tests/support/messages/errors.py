"""Errors, as cases."""

from functools import partial

from bot.domain import errors as domain
from bot.domain.durations import DurationProblem
from bot.domain.permissions import DenialReason, Denied, Right, WhoCan
from bot.messages import errors
from tests.support.make import API, SITE
from tests.support.messages.rendering import Case, Cases


def explain(error: Exception) -> Case:
    if isinstance(error, domain.MergeQueueError):
        error.repository = SITE
    return partial(errors.explain, error, command="/mq", reference="0a1b2c3d", retry="status")


EVERYBODY = WhoCan()


def refused(reason: DenialReason, who: WhoCan = EVERYBODY, code: str | None = None) -> Case:
    return explain(domain.PermissionDenied(Right.PAUSE, Denied(reason, code), who))


CASES: Cases = {
    "defect": explain(RuntimeError("a defect")),
    "error-second-person": explain(domain.SecondPersonNeeded(SITE, "bob", is_asked=True)),
    "error-second-person-never": explain(domain.SecondPersonNeeded(SITE, None, is_asked=False)),
    "error-group": explain(domain.UnknownGroup("@relase", ("release", "all"), "release")),
    "error-form-in-a-message": explain(domain.NeedsClick()),
    "error-condition": explain(domain.InvalidCondition("except:x", "a label")),
    "error-moved": explain(domain.ServiceMoved("it redirects", "https://new.example")),
    "error-not-offered": explain(domain.NotOffered(410, "gone")),
    "error-pauses-not-offered": explain(domain.PauseNotOffered(404, "no")),
    "error-freezes-not-offered": explain(domain.FreezesNotOffered(404, "no")),
    "error-no-repository": explain(domain.RepositoryNotAllowed("acme/other", ())),
    "error-configuration": explain(
        domain.InvalidConfiguration(422, "queue_rules: 'batch_size' must be at least 1")
    ),
    "error-duration": explain(domain.InvalidDuration(DurationProblem.UNREADABLE, "1.5h")),
    "error-unknown-verb": explain(
        domain.CommandSyntaxError(
            "There is no command “pasue”.", "pause [reason]", ("pause",), ("pause CI is down",)
        )
    ),
    "error-repository": explain(domain.RepositoryNotAllowed("acme/other", (SITE, API))),
    "error-which-repository": explain(domain.RepositoryNotChosen((SITE, API))),
    "error-busy": explain(domain.QueueBusy(SITE)),
    "error-blank-reason": explain(domain.InvalidReason(0)),
    "error-long-reason": explain(domain.InvalidReason(256)),
    "error-unavailable": explain(domain.MergeQueueUnavailable("timeout")),
    "error-unreadable": explain(domain.MergeQueueProtocolError("not JSON")),
    "error-credential": explain(domain.CredentialRefused(403, "no")),
    "error-not-found": explain(domain.ResourceNotFound(404, "no")),
    "error-conflict": explain(domain.StateConflict(409, "changed")),
    "error-invalid": explain(domain.InvalidRequest(422, "branch: the file is <invalid>")),
    "error-store": explain(domain.StoreUnavailable("locked")),
    "error-cut-off": explain(domain.CutOff()),
    "error-defect": explain(ZeroDivisionError("secret of ours")),
    **{
        f"refused-{reason.replace('_', '-')}": refused(reason)
        for reason in DenialReason
        if reason is not DenialReason.UNVERIFIABLE
    },
    **{
        f"refused-{code.replace('_', '-')}": refused(DenialReason.UNVERIFIABLE, code=code)
        for code in ("ratelimited", "missing_scope", "plan_upgrade_required")
    },
    "refused-of-a-group": refused(DenialReason.NOT_LISTED, WhoCan(("@releasers",), ("alice",))),
    "refused-of-groups": refused(DenialReason.NOT_LISTED, WhoCan(("@a", "@b"), ("alice",))),
    "refused-of-people": refused(DenialReason.NOT_LISTED, WhoCan((), ("alice", "bob"), 3)),
}

DENIALS: Cases = {
    f"denied {right} {reason}": explain(
        domain.PermissionDenied(
            right, Denied(reason, "a code"), WhoCan(("@a",) * 5, ("bob",) * 5, more=7)
        )
    )
    for right in Right
    for reason in (DenialReason.NOT_LISTED, DenialReason.UNVERIFIABLE)
}
"""Every right, refused with as many names as fit."""
