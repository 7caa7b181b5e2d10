"""Errors, as cases."""

from functools import partial

from bot.acts import errors as act_errors
from bot.acts.permission import Right, WhoCan
from bot.acts.request_state import RequestState
from bot.blocks import addressed, controls
from bot.desk import explain as desk_explain
from bot.kernel import errors as kernel_errors
from bot.kernel.durations import DurationProblem
from bot.merge_queue import errors as merge_queue_errors
from bot.slack import errors as slack_errors
from bot.slack.person import DenialReason, Denied
from bot.store import errors as store_errors
from tests.support.make import API, SITE
from tests.support.messages.rendering import Case, Cases

RETRIED = controls.repeat_typed("status")


def explain(error: Exception) -> Case:
    if isinstance(error, kernel_errors.MergeQueueError):
        error.repository = SITE
    return partial(desk_explain.explain, error, command="/mq", reference="0a1b2c3d", repeat=RETRIED)


EVERYBODY = WhoCan()


def refused(reason: DenialReason, who: WhoCan = EVERYBODY, code: str | None = None) -> Case:
    return explain(act_errors.PermissionDenied(Right.PAUSE, Denied(reason, code), who))


def renamed(new_name: str | None) -> merge_queue_errors.RepositoryMoved:
    moved = merge_queue_errors.RepositoryMoved(301, "301 Moved Permanently")
    moved.new_name = new_name
    return moved


def offering(error: kernel_errors.UserError, *instead: str) -> kernel_errors.UserError:
    error.instead = instead
    return error


CASES: Cases = {
    **{
        f"not-read-{why.name.lower()}": partial(addressed.not_read, why, "/mq")
        for why in addressed.WHY_UNREAD
    },
    "defect": explain(RuntimeError("a defect")),
    "error-second-person": explain(act_errors.SecondPersonNeeded(SITE, "bob", is_asked=True)),
    "error-second-person-frozen": explain(
        act_errors.SecondPersonNeeded(SITE, "bob", is_asked=True, is_frozen=True)
    ),
    **{
        f"error-proposal-{state.replace('_', '-')}": explain(
            act_errors.ProposalClosed("ci", state, None if state is RequestState.OVER else "bob")
        )
        for state in RequestState
        if state is not RequestState.OPEN
    },
    "error-own-proposal": explain(act_errors.OwnProposal("ci")),
    "error-too-many-proposals": explain(act_errors.TooManyProposals("ci", 3)),
    "error-nobody-to-approve": explain(act_errors.NobodyToApprove(SITE, is_about_freezes=False)),
    "error-nobody-to-approve-freezes": explain(
        act_errors.NobodyToApprove(SITE, is_about_freezes=True)
    ),
    "error-second-person-approves": explain(
        act_errors.SecondPersonNeeded(SITE, "bob", is_asked=True, is_approval=True)
    ),
    "error-second-person-never": explain(act_errors.SecondPersonNeeded(SITE, None, is_asked=False)),
    "error-group": explain(kernel_errors.UnknownGroup("@relase", ("release", "all"), "release")),
    "error-form-in-a-message": explain(slack_errors.NeedsClick()),
    "error-group-with-an-offer": explain(
        offering(kernel_errors.UnknownGroup("@relase", ("release",), "release"), "status @release")
    ),
    "error-repository-with-an-offer": explain(
        offering(kernel_errors.RepositoryNotAllowed("acme/siet", (SITE, API)), "resume acme/site")
    ),
    "error-malformed": explain(kernel_errors.CommandSyntaxError("branch: needs a name.", "log")),
    "error-which-of-mine": explain(
        kernel_errors.CommandSyntaxError(
            "Which of your pull requests?", "why", ("why 41 acme/site", "why 42 acme/site")
        )
    ),
    "error-condition": explain(act_errors.InvalidCondition("except:x", "a label")),
    "error-moved": explain(merge_queue_errors.ServiceMoved("it redirects", "https://new.example")),
    "error-renamed": explain(renamed("acme/website")),
    "error-renamed-somewhere": explain(renamed(None)),
    "error-types": explain(
        merge_queue_errors.EventTypesRefused(422, "event_type: Input should be 'x'")
    ),
    "error-key": explain(merge_queue_errors.CredentialRefused(401, "401 Unauthorized")),
    "error-not-offered": explain(merge_queue_errors.NotOffered(410, "gone")),
    "error-pauses-not-offered": explain(merge_queue_errors.PauseNotOffered(404, "no")),
    "error-freezes-not-offered": explain(merge_queue_errors.FreezesNotOffered(404, "no")),
    "error-no-repository": explain(kernel_errors.RepositoryNotAllowed("acme/other", ())),
    "error-configuration": explain(
        merge_queue_errors.InvalidConfiguration(422, "queue_rules: 'batch_size' must be at least 1")
    ),
    "error-duration": explain(kernel_errors.InvalidDuration(DurationProblem.UNREADABLE, "1.5h")),
    "error-unknown-verb": explain(
        kernel_errors.CommandSyntaxError(
            "There is no command “pasue”.", instead=("pause CI is down",)
        )
    ),
    "error-repository": explain(kernel_errors.RepositoryNotAllowed("acme/other", (SITE, API))),
    "error-which-repository": explain(kernel_errors.RepositoryNotChosen((SITE, API))),
    "error-looks-like-a-repository": explain(
        kernel_errors.RepositoryNotAllowed("acme/s\u0456te", (SITE, API), SITE)
    ),
    "error-target-not-clear": explain(
        kernel_errors.TargetNotClear(
            "pause", "api", (kernel_errors.TypedMeaning(API, "is down", "pause acme/api is down"),)
        )
    ),
    "error-busy": explain(act_errors.QueueBusy(SITE)),
    "error-blank-reason": explain(act_errors.InvalidReason(0)),
    "error-long-reason": explain(act_errors.InvalidReason(256)),
    "error-unavailable": explain(merge_queue_errors.MergeQueueUnavailable("timeout")),
    "error-unreadable": explain(merge_queue_errors.MergeQueueProtocolError("not JSON")),
    "error-credential": explain(merge_queue_errors.CredentialRefused(403, "no")),
    "error-not-found": explain(merge_queue_errors.ResourceNotFound(404, "no")),
    "error-conflict": explain(merge_queue_errors.StateConflict(409, "changed")),
    "error-invalid": explain(kernel_errors.InvalidRequest(422, "branch: the file is <invalid>")),
    "error-store": explain(store_errors.StoreUnavailable("locked")),
    "error-cut-off": explain(slack_errors.CutOff()),
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
    "refused-with-a-claimed-login": explain(
        act_errors.PermissionDenied(
            Right.REMOVE, Denied(DenialReason.NOT_LISTED), WhoCan((), ("carol",)), "erin-k"
        )
    ),
}

DENIALS: Cases = {
    f"denied {right} {reason}": explain(
        act_errors.PermissionDenied(
            right, Denied(reason, "a code"), WhoCan(("@a",) * 5, ("bob",) * 5, more=7)
        )
    )
    for right in Right
    for reason in (DenialReason.NOT_LISTED, DenialReason.UNVERIFIABLE)
}
"""Every right, refused with as many names as fit."""
