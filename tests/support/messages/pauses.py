"""Pauses of one queue, as cases."""

from dataclasses import replace
from datetime import datetime, time, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from bot.acts.asked import Asked, typed_ends
from bot.acts.errors import PermissionDenied
from bot.acts.permission import Right, WhoCan
from bot.acts.record import (
    SOMEBODY,
    Action,
    ActResult,
    Circumstance,
    Outcome,
    PartOfGroup,
    Previous,
)
from bot.acts.texts.permissions import denied
from bot.blocks import modal
from bot.desk import end_questions
from bot.desk.readers.acts import read_asked
from bot.kernel.actor import Actor, Origin
from bot.kernel.durations import For, Until, at_instant
from bot.kernel.repository import RepositoryName
from bot.merge_queue.queue import RemovalImpact
from bot.pauses.actions import EndSeen
from bot.pauses.outcomes import NotPaused, OtherEnd, OtherPause
from bot.pauses.pause import MergedSince, PausedQueue, PauseEnd, PauseEnding, Takeover, line_of
from bot.pauses.taken_over import AlreadyTheirs, NothingToTakeOver, TakenOver
from bot.pauses.texts import (
    card as pause_card,
    ends as pause_ends,
    form as pause_form,
    group_acts,
    reminders,
    replies as pause_replies,
)
from bot.queues.texts import notes as queue_notes, parts as queue_parts
from bot.removals import texts as removal_texts
from bot.removals.removal import NotRemoved, Removed, Unremovable, WouldRemove
from bot.slack.person import DenialReason, Denied
from tests.support.clock import NOON
from tests.support.make import (
    API,
    BOB,
    SITE,
    make_act,
    make_batch,
    make_bisected,
    make_known_pause,
    make_pull_request_record,
    make_queued,
    make_snapshot,
    make_status,
    make_timer,
    saying,
)
from tests.support.messages.rendering import Case, Cases, cases_of, later
from tests.support.messages.values import (
    BUSY,
    BY_RULE,
    CARD,
    IMPACT,
    OUTLOOK,
    PAUSE_ENDED,
    REMOVAL,
    REPLACED,
    RESUMED,
    RULE,
    TIMED,
)

SEEN = make_pull_request_record()
ADOPTED = replace(saying(CARD, by=Actor("", "alice")), timer=None)
IN_DOUBT = replace(REMOVAL, outcome=Outcome(circumstance=Circumstance.LEFT_UNSEEN))


def ended_by(by: Actor | None, how: PauseEnding = PauseEnding.RESUMED) -> PauseEnd:
    return PauseEnd(NOON + timedelta(minutes=102), by, how)


ENDED_BY_NOBODY = replace(
    PAUSE_ENDED,
    end=ended_by(None),
    queue=replace(PAUSE_ENDED.queue, waited=frozenset({41, 42})),
)
MERGED_AT = NOON + timedelta(minutes=131)
ENDED_BY_TIMER = replace(PAUSE_ENDED, end=ended_by(BOB, PauseEnding.TIMER))
BY_HAND = make_known_pause()
LENGTH = For(timedelta(minutes=45))
AT_THREE = Until(time(15))

posted = cases_of(pause_replies.act_post)
already = cases_of(pause_replies.already_paused)
ended = cases_of(pause_card.ended)
left_alone = cases_of(pause_replies.left_alone)
not_paused = cases_of(pause_replies.not_paused)
changes = cases_of(pause_replies.changes_post)
taken_over = cases_of(pause_replies.taken_over)
changed_by_other = cases_of(pause_replies.changed_by_other)
resumed_for_you = cases_of(pause_card.resumed_for_you)
not_removed = cases_of(removal_texts.not_removed)


def in_doubt(typed: str, facts: Any = ()) -> Case:
    asked = Asked(typed)
    meant = typed_ends(asked, NOON, ZoneInfo("Europe/Berlin"))
    return partial(end_questions.which_end, SITE, asked, meant, facts)


def far(at: datetime) -> pause_ends.EndQuestion:
    return end_questions.far_in_form(at, NOON)


def doubted(typed: str) -> pause_ends.EndQuestion:
    return end_questions.doubt_in_form(
        Asked(typed), typed_ends(Asked(typed), NOON, ZoneInfo("Europe/Berlin"))
    )


def card(**changed: Any) -> Case:
    return partial(pause_card.card, replace(CARD, **changed))


def record_with(merged: MergedSince) -> Case:
    record = replace(
        PAUSE_ENDED, queue=replace(PAUSE_ENDED.queue, waited=frozenset(range(merged.waited)))
    )
    return partial(pause_card.card, record, pause_card.Around(merged=merged))


def question(impact: RemovalImpact) -> Case:
    return partial(removal_texts.question, WouldRemove(SITE, make_queued(41), impact))


def form(notes: Any, *targets: RepositoryName, channel_id: str | None = "C1", **how: Any) -> Case:
    how.setdefault("chosen", targets[-1])
    return partial(pause_form.pause_form, [*targets], channel_id=channel_id, notes=notes, **how)


CASES: Cases = {
    "pause-paused": posted(make_act()),
    "pause-replaced": posted(REPLACED),
    "pause-timed": posted(make_act(resumes_at=NOON + timedelta(minutes=45))),
    "pause-extended": posted(make_act(Action.EXTEND, resumes_at=NOON + timedelta(hours=2))),
    "pause-kept": posted(make_act(Action.KEEP)),
    "timer-did-nothing": posted(
        replace(
            RESUMED, where=replace(RESUMED.where, origin=Origin.TIMER), result=ActResult.UNCHANGED
        )
    ),
    "pause-left-as-paused": partial(pause_replies.left_as_paused, BY_HAND),
    "pause-not-yours": partial(pause_replies.not_your_pause, BY_HAND),
    "pause-replaced-reply": partial(pause_replies.replaced, REPLACED),
    "pause-replaced-after-its-end": partial(
        pause_replies.replaced, replace(REPLACED, previous=Previous(paused_at=NOON))
    ),
    "pause-reply": partial(pause_replies.paused_reply, make_act()),
    "pause-reply-overdue": partial(
        pause_replies.paused_reply, make_act(resumes_at=NOON - timedelta(minutes=5))
    ),
    "pause-resumed-reply": partial(pause_replies.resumed_reply, SITE),
    "pause-unchanged": partial(modal.nothing_changed),
    "pause-over": partial(pause_replies.pause_is_over, SITE),
    "pause-resume-other": partial(pause_replies.resume_other, API, TIMED),
    "pause-other": left_alone(SITE, OtherPause(make_known_pause(actor=None))),
    "pause-other-timed": left_alone(SITE, OtherPause(TIMED)),
    "pause-already": already(SITE, BY_HAND, Asked("deploying")),
    "pause-already-timed": already(SITE, TIMED, Asked("deploying")),
    "pause-already-timed-both": already(SITE, TIMED, Asked("deploying", AT_THREE)),
    "pause-already-timed-same-reason": already(SITE, TIMED, Asked(TIMED.line.reason, AT_THREE)),
    "pause-already-same": already(SITE, TIMED, Asked(TIMED.line.reason), is_same=True),
    "pause-not-paused": not_paused(SITE),
    "pause-already-running": not_paused(SITE, PAUSE_ENDED),
    "pause-already-running-by-nobody": not_paused(SITE, replace(PAUSE_ENDED, end=ended_by(None))),
    "pause-already-running-by-timer": not_paused(SITE, ENDED_BY_TIMER),
    "pause-confirm": partial(
        pause_replies.confirm_pause,
        SITE,
        Asked("CI runners are down", LENGTH),
        make_status(
            *(make_batch(checks=(0, 8)) for _ in range(3)),
            waiting=[make_queued(number) for number in range(12)],
        ),
        "/mq",
        merge_expected_at=NOON,
    ),
    "pause-confirm-how-long": partial(
        pause_replies.confirm_pause,
        SITE,
        Asked("CI runners are down"),
        make_status(make_batch(checks=(0, 8))),
        "/mq",
        merge_expected_at=NOON,
        by_past=later(queue_parts.by_past, OUTLOOK, NOON),
    ),
    "pause-confirm-one": partial(
        pause_replies.confirm_pause,
        SITE,
        Asked("CI runners are down"),
        make_status(make_batch(checks=(0, 1))),
        "/mq",
        merge_expected_at=None,
    ),
    "still-working": partial(modal.still_working),
    "pause-confirm-bisection": partial(
        pause_replies.confirm_pause,
        SITE,
        Asked("CI runners are down"),
        make_status(
            make_batch(checks=(0, 8)),
            make_bisected(make_batch(checks=(2, 5)), make_batch(checks=(0, 5))),
        ),
        "/mq",
        merge_expected_at=None,
    ),
    "pause-in-doubt": in_doubt("CI down 45m"),
    "pause-in-doubt-running": in_doubt(
        "CI down until 15.00", later(lambda: [pause_replies.stops(BUSY)])
    ),
    "pause-in-doubt-lone-number": in_doubt("5"),
    "pause-in-doubt-without-reading": in_doubt("until we know more"),
    "pause-in-doubt-end-of-day": in_doubt("EOD release"),
    "pause-until-a-far-day": partial(
        end_questions.which_end,
        SITE,
        read_asked("until monday 9:00 release"),
        typed_ends(read_asked("until monday 9:00 release"), NOON, ZoneInfo("Europe/Berlin")),
    ),
    "pause-form-far-end": form([], SITE, question=later(lambda: far(NOON + timedelta(days=3)))),
    "pause-form-in-doubt": form([], SITE, question=later(lambda: doubted("CI down until 15.00"))),
    "pause-form-in-doubt-without-reading": form(
        [], SITE, question=later(lambda: doubted("until we know more"))
    ),
    "extend-modal-far-end": partial(
        pause_ends.end_form,
        SITE,
        "acme/site x",
        "C0MERGEQ",
        again=later(lambda: far(NOON + timedelta(days=3))),
    ),
    "pause-card": card(),
    "pause-card-timed": card(queue=PausedQueue(2, 7), timer=make_timer()),
    "pause-card-of-nobody": card(line=replace(CARD.line, by=None), queue=PausedQueue()),
    "pause-card-changed": partial(
        pause_card.card,
        replace(saying(CARD, by=Actor("U0BOB", "bob")), previous_reason="night"),
        pause_card.Around(line_of(saying(CARD, reason="night"))),
    ),
    "pause-card-taken-over": card(
        taken_over=Takeover(Actor("U0CAROL", "carol"), NOON + timedelta(minutes=54))
    ),
    "pause-taken-over": posted(make_act(Action.TAKE_OVER)),
    "pause-changed-twice": changes(
        [
            replace(REPLACED, previous=Previous("night", NOON)),
            make_act(Action.EXTEND, resumes_at=NOON + timedelta(hours=2)),
            make_act(Action.TAKE_OVER),
        ]
    ),
    "pause-reason-changed-twice": changes(
        [
            replace(REPLACED, previous=Previous("night", NOON)),
            replace(REPLACED, reason="CI is back"),
        ]
    ),
    "pause-took-over": taken_over(TakenOver([CARD], [BOB]), SITE),
    "pause-took-over-of-nobody": taken_over(TakenOver([CARD]), SITE),
    "pause-yours-already": taken_over(AlreadyTheirs(), SITE),
    "pause-to-take-over-is-over": taken_over(NothingToTakeOver(), SITE),
    "pause-to-take-over-is-another": taken_over(NothingToTakeOver(BY_HAND), SITE),
    "pause-taken-over-from-you": changed_by_other(make_act(Action.TAKE_OVER)),
    "pause-taken-over-of-a-group": changed_by_other(
        replace(make_act(Action.TAKE_OVER), group=PartOfGroup("release"))
    ),
    "pause-extended-for-you": changed_by_other(
        make_act(Action.EXTEND, resumes_at=NOON + timedelta(hours=2))
    ),
    "pause-kept-for-you": changed_by_other(make_act(Action.KEEP)),
    "reason-form": partial(
        pause_form.reason_form, SITE, "acme/site x", "C0MERGEQ", CARD.line.reason
    ),
    "escalation": partial(reminders.escalation, CARD, "S0ONCALL", None, NOON + timedelta(hours=3)),
    "escalation-of-a-group": partial(
        reminders.escalation, CARD, "S0ONCALL", "release", NOON + timedelta(hours=3)
    ),
    "pause-card-overdue": card(timer=make_timer(failures=1)),
    "pause-card-by-rule": partial(
        pause_card.card,
        replace(
            saying(CARD, reason=pause_card.reason_of_rule(BY_RULE), by=RULE),
            timer=replace(make_timer(), set_by=RULE),
        ),
        pause_card.Around(evidence=BY_RULE, seen={41: SEEN}),
    ),
    "pause-card-lifted": partial(pause_card.card, PAUSE_ENDED),
    "pause-card-with-what-merged": record_with(MergedSince(8, 11, MERGED_AT)),
    "pause-card-with-all-merged": record_with(MergedSince(11, 11, MERGED_AT)),
    "pause-card-with-the-only-one-merged": record_with(MergedSince(1, 1, MERGED_AT)),
    "pause-card-lifted-by-nobody": partial(pause_card.card, ENDED_BY_NOBODY),
    "pause-card-lifted-by-timer": partial(pause_card.card, ENDED_BY_TIMER),
    "pause-ended": ended(PAUSE_ENDED),
    "pause-ended-by-nobody": ended(ENDED_BY_NOBODY),
    "pause-ended-by-timer": ended(ENDED_BY_TIMER),
    "pause-resumed": partial(pause_card.resumed, PAUSE_ENDED),
    "pause-resumed-and-paused-again": partial(
        pause_card.resumed, PAUSE_ENDED, is_paused_again=True
    ),
    "pause-resumed-for-you": resumed_for_you(replace(PAUSE_ENDED, end=ended_by(BOB))),
    "pause-resumed-for-you-and-paused-again": resumed_for_you(PAUSE_ENDED, is_paused_again=True),
    "pause-resumed-for-you-by-nobody": resumed_for_you(replace(PAUSE_ENDED, end=ended_by(None))),
    "pause-changed-elsewhere": partial(
        pause_card.changed,
        saying(CARD, by=Actor("", "carol"), reason="Deploying 4.2"),
    ),
    "pause-end-void": partial(
        pause_card.end_void,
        replace(
            saying(CARD, by=Actor("", "carol"), reason="Deploying 4.2"),
            previous_reason=CARD.line.reason,
        ),
    ),
    "pause-end-void-by-command": partial(
        pause_card.end_void,
        replace(saying(CARD, by=BOB, reason="Deploying 4.2"), previous_reason=CARD.line.reason),
    ),
    "pause-replaced-elsewhere": partial(
        pause_card.replaced_elsewhere,
        replace(
            saying(CARD, by=Actor("", "carol"), reason="Deploying 4.2"),
            previous_reason=CARD.line.reason,
        ),
    ),
    "pause-replaced-by-an-adopted-one": partial(
        pause_card.replaced_elsewhere, replace(ADOPTED, previous_reason=CARD.line.reason)
    ),
    "pause-ended-with-a-reason": partial(pause_card.ended, PAUSE_ENDED, "CI is *green* again"),
    "pause-resumed-for-you-by-somebody": resumed_for_you(
        replace(PAUSE_ENDED, end=ended_by(SOMEBODY))
    ),
    "pause-adopted": partial(pause_card.adopted, ADOPTED),
    "pause-card-adopted": partial(pause_card.card, ADOPTED),
    "pause-still-paused": partial(pause_card.still_paused, PAUSE_ENDED),
    "pause-will-tell": partial(group_acts.will_notify, SITE, is_new=True),
    "pause-will-tell-already": partial(group_acts.will_notify, SITE, is_new=False),
    "reminder": partial(
        reminders.reminder,
        replace(CARD, queue=PausedQueue(2, 7), timer=make_timer()),
        NOON + timedelta(hours=1),
    ),
    "reminder-over": partial(reminders.reminder_over, PAUSE_ENDED),
    "remove": question(RemovalImpact.model_validate(IMPACT)),
    "remove-unaffecting": question(RemovalImpact.model_validate(dict.fromkeys(IMPACT, 0))),
    "remove-unknown-impact": question(RemovalImpact()),
    "removed": partial(removal_texts.done, REMOVAL, SEEN),
    "removed-without-a-title": partial(removal_texts.done, REMOVAL, None),
    "removed-in-doubt": partial(removal_texts.done, IN_DOUBT, SEEN),
    "removal-answered": partial(
        removal_texts.removal_answer, Removed(REMOVAL, SEEN, posted_here=True)
    ),
    "removal-under-way": partial(
        removal_texts.leaving, Removed(REMOVAL, SEEN, posted_here=True, has_left=False)
    ),
    "removal-under-way-in-a-channel-without-the-bot": partial(
        removal_texts.leaving, Removed(REMOVAL, SEEN, posted_here=False, has_left=False)
    ),
    "removal-answered-in-doubt": partial(
        removal_texts.removal_answer, Removed(IN_DOUBT, SEEN, posted_here=True)
    ),
    "not-removed-leaving": not_removed(NotRemoved(SITE, 41, Unremovable.LEAVING)),
    "not-removed-gone": not_removed(NotRemoved(SITE, 41, Unremovable.GONE, REMOVAL)),
    "pause-extended-reply": partial(pause_ends.extended_reply, make_act(resumes_at=NOON)),
    "timer-refused": partial(
        pause_ends.timer_refused,
        replace(
            make_act(Action.RESUME, resumes_at=NOON),
            outcome=Outcome("403 not allowed"),
            previous=Previous("deploying"),
        ),
    ),
    "timer-worked-late": partial(pause_ends.worked, ENDED_BY_TIMER),
    "timer-no-longer-needed": partial(pause_ends.worked, replace(PAUSE_ENDED, timer=make_timer())),
    "rule-cannot-pause": partial(
        pause_replies.not_paused_by_rule,
        replace(
            make_act(),
            reason="unit tests failed in a row for #71, #72",
            outcome=Outcome("503 down"),
        ),
    ),
    "pause-kept-reply": partial(pause_ends.extended_reply, make_act(Action.KEEP)),
    "pause-other-end": left_alone(SITE, OtherEnd(TIMED)),
    "pause-resumed-unseen": left_alone(SITE, NotPaused(is_answer_lost=True)),
    "pause-no-end": left_alone(SITE, OtherEnd(BY_HAND)),
    "pause-no-end-to-extend": partial(
        pause_ends.other_end, SITE, BY_HAND, For(timedelta(minutes=30))
    ),
    "extend-far-away": partial(
        pause_ends.far_extension,
        SITE,
        "acme/site x",
        at_instant(NOON + timedelta(days=3)),
        NOON + timedelta(days=3),
        NOON,
    ),
    "extend-modal": partial(pause_ends.end_form, SITE, "acme/site x", "C0MERGEQ"),
    "extend-modal-without-an-end": partial(
        pause_ends.end_form, SITE, "acme/site x", "C0MERGEQ", end_seen=EndSeen.NONE
    ),
    "extend-modal-working": partial(pause_ends.end_under_way, SITE),
    "modal-one-repository": form(later(queue_notes.queue_notes, make_snapshot(BUSY)), SITE),
    "modal-how-long": form(later(queue_notes.queue_notes, make_snapshot(BUSY), OUTLOOK), SITE),
    "modal-idle-queue": form(
        later(queue_notes.queue_notes, make_snapshot()), SITE, channel_id=None
    ),
    "modal-to-choose": form(
        later(lambda: [pause_form.CHOOSE_FIRST]), SITE, API, chosen=None, channel_id=None
    ),
    "modal-already-paused": form(
        later(queue_notes.queue_notes, make_snapshot(pause=BY_HAND)),
        SITE,
        API,
        asked=Asked(lasting=LENGTH),
    ),
    "modal-working": partial(modal.working_modal, SITE),
    "modal-refused": partial(
        modal.refusal_modal,
        later(
            denied,
            PermissionDenied(Right.PAUSE, Denied(DenialReason.NOT_LISTED), WhoCan(("@releasers",))),
        ),
    ),
    "modal-result": partial(modal.result_modal, pause_replies.paused_reply(make_act()), "C1"),
}
