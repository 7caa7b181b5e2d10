"""Failed acts, and what became of requests that were cut off, as cases."""

from dataclasses import replace
from functools import partial

from bot.acts.record import Action, ActResult, AuditRecord, Circumstance, SettingChange, Where
from bot.acts.unanswered import Unanswered
from bot.blocks import controls, modal
from bot.desk import explain as desk_explain
from bot.kernel import errors as kernel_errors
from bot.kernel.actor import Origin
from bot.kernel.errors import ActState, FailedAct, Follows
from bot.merge_queue import errors as merge_queue_errors
from bot.pauses.outcomes import ActOutcome
from bot.pauses.pause import PauseLine, PauseRecord
from bot.pauses.texts import outcomes as pause_outcomes
from bot.slack import errors as slack_errors
from bot.store import errors as store_errors
from tests.support.clock import NOON
from tests.support.make import ALICE, BOB, CHANNEL, SITE
from tests.support.messages.rendering import Case, Cases, later

ACTIONS = (
    Action.PAUSE,
    Action.RESUME,
    Action.EXTEND,
    Action.FREEZE,
    Action.UNFREEZE,
    Action.CHANGE_FREEZE,
    Action.MOVE_FREEZE,
    Action.ALLOW,
    Action.REMOVE,
)
OF_PULL_REQUESTS = {Action.ALLOW, Action.REMOVE}


def explain(error: Exception, act: FailedAct) -> Case:
    if isinstance(error, kernel_errors.BotError):
        error.act = act
    again = controls.repeat_typed("again")
    return partial(desk_explain.explain, error, command="/mq", reference="0a1b2c3d", repeat=again)


def failed(
    action: Action,
    state: ActState,
    *,
    was_seen: bool = False,
    is_known_paused: bool = False,
) -> Case:
    number = 41 if action in OF_PULL_REQUESTS else None
    act = FailedAct(action, SITE, state, number, was_seen, is_known_paused, Follows.HERE)
    return explain(merge_queue_errors.MergeQueueUnavailable("timeout"), act)


def told(
    action: Action | None,
    result: ActResult = ActResult.DONE,
    *,
    was_left: bool = False,
    in_force: PauseRecord | None = None,
    typed: str | None = "pause now CI is down",
) -> Case:
    found = outcome_of(action, result, was_left=was_left, in_force=in_force, typed=typed)
    return partial(pause_outcomes.outcome, found)


def follows(action: Action | None) -> Case:
    return partial(pause_outcomes.outcome_follows, outcome_of(action, ActResult.STARTED))


def outcome_of(
    action: Action | None,
    result: ActResult,
    *,
    was_left: bool = False,
    in_force: PauseRecord | None = None,
    typed: str | None = "pause now CI is down",
) -> ActOutcome:
    request = Unanswered("r1", ALICE.user_id, CHANNEL, typed, NOON, None, was_left)
    act = None
    if action is not None:
        act = AuditRecord(NOON, ALICE, action, Where(Origin.COMMAND), SITE, result)
        if result is ActResult.FAILED:
            act = act.under(Circumstance.NOT_CARRIED_OUT)
        if action is Action.ALLOW:
            act = replace(act, setting=SettingChange(after="#41"))
        elif action is Action.REMOVE:
            act = replace(act, pull_request=41)
    return ActOutcome(request, act, in_force)


RESUMED = ActOutcome(
    Unanswered("r1", ALICE.user_id, CHANNEL, "resume", NOON, None),
    AuditRecord(NOON, ALICE, Action.RESUME, Where(Origin.COMMAND), SITE, ActResult.FAILED).under(
        Circumstance.FOUND_RUNNING
    ),
)
MERGED_FIRST = ActOutcome(
    Unanswered("r1", ALICE.user_id, CHANNEL, "remove 41", NOON, None, was_left=True),
    replace(
        AuditRecord(NOON, ALICE, Action.REMOVE, Where(Origin.BUTTON), SITE, ActResult.FAILED),
        pull_request=41,
    ).under(Circumstance.MERGED_FIRST),
)
THEIRS = PauseRecord(SITE, PauseLine(NOON, "Database migration", "Database migration", by=BOB))
UNKNOWN = FailedAct(Action.PAUSE, SITE, ActState.UNCERTAIN, was_seen=True, follows=Follows.DIRECTLY)
MADE = FailedAct(Action.PAUSE, SITE, ActState.DONE)

CASES: Cases = {
    "modal-failed": partial(
        modal.result_modal, later(failed(Action.PAUSE, ActState.UNCERTAIN)), "C1"
    ),
    **{f"act-uncertain-{one}": failed(one, ActState.UNCERTAIN) for one in ACTIONS},
    **{f"act-undone-{one}": failed(one, ActState.NOT_DONE, was_seen=True) for one in ACTIONS},
    **{f"act-not-tried-{one}": failed(one, ActState.NOT_DONE) for one in ACTIONS},
    "act-not-tried-still-paused": failed(Action.RESUME, ActState.NOT_DONE, is_known_paused=True),
    "act-done-but-not-stored": explain(store_errors.StoreUnavailable("locked"), MADE),
    "act-defect": explain(kernel_errors.ActDefect(UNKNOWN), UNKNOWN),
    "error-cut-off-told-later": explain(slack_errors.CutOff(is_told_later=True), MADE),
    **{f"outcome-done-{one}": told(one) for one in ACTIONS},
    **{f"outcome-undone-{one}": told(one, ActResult.FAILED) for one in ACTIONS},
    "outcome-here": told(Action.PAUSE, ActResult.FAILED, was_left=True),
    "outcome-none": told(None),
    "outcome-none-of-a-click": told(None, typed=None),
    "outcome-none-after-the-last-word": told(None, was_left=True),
    "outcome-somebody-elses-pause": told(Action.PAUSE, ActResult.FAILED, in_force=THEIRS),
    "outcome-still-paused": told(Action.RESUME, ActResult.FAILED, in_force=THEIRS),
    "outcome-merged-before-it-was-removed": later(pause_outcomes.outcome, MERGED_FIRST),
    "outcome-subscribed": told(Action.SUBSCRIBE, typed="subscribe everything"),
    **{f"outcome-not-found-out-{one}": told(one, ActResult.STARTED) for one in ACTIONS},
    **{f"outcome-follows-{one}": follows(one) for one in ACTIONS},
    "outcome-follows-of-a-click": follows(None),
    "outcome-waits-for-second": told(Action.RESUME, ActResult.ASKED, in_force=THEIRS),
    "outcome-found-running": told(Action.RESUME, ActResult.UNCHANGED),
    "outcome-resumed-by-somebody": later(pause_outcomes.outcome, RESUMED),
}
