"""Pauses of one queue, as cases."""

from dataclasses import replace
from datetime import time, timedelta
from functools import partial

from bot.domain.audit import SECOND_PERSON, Action, ActResult, Origin
from bot.domain.durations import For, Until
from bot.domain.pause_records import PauseEnding, Who
from bot.domain.queue import RemovalImpact
from bot.domain.removals import LEFT_UNSEEN, NotRemoved, Removed, Unremovable, WouldRemove
from bot.domain.snapshots import Impact
from bot.messages import actions, pause, pause_card, pause_form, reminders, removals, timers
from tests.support.clock import NOON
from tests.support.make import (
    API,
    SITE,
    make_act,
    make_known_pause,
    make_pull_request_record,
    make_queued,
    make_snapshot,
    make_timer,
)
from tests.support.messages.rendering import Cases, later
from tests.support.messages.values import (
    BUSY,
    BY_RULE,
    CARD,
    IMPACT,
    PAUSE_ENDED,
    REMOVAL,
    REPLACED,
    RESUMED,
    RULE,
    TIMED,
)

CASES: Cases = {
    "removed-without-a-title": partial(removals.done, REMOVAL, None),
    "modal-idle-queue": partial(
        pause_form.form,
        [SITE],
        chosen=SITE,
        channel_id=None,
        notes=later(pause_form.queue_notes, make_snapshot()),
    ),
    "pause-second-person-needed": partial(
        pause.act,
        replace(make_act(Action.RESUME, previous_reason="CI is down"), detail=SECOND_PERSON),
    ),
    "pause-left-as-paused": partial(pause.left_as_paused, make_known_pause()),
    "pause-not-yours": partial(pause.not_yours, make_known_pause()),
    "pause-replaced-reply": partial(pause.replaced, REPLACED),
    "pause-resumed-reply": partial(pause.resumed_reply, SITE),
    "pause-unchanged": partial(pause.unchanged),
    "pause-still-paused": partial(pause_card.still_paused, PAUSE_ENDED),
    "reminder": partial(
        reminders.reminder,
        replace(CARD, queued_now=7, timer=make_timer()),
        NOON + timedelta(hours=1),
    ),
    "reminder-over": partial(reminders.over, PAUSE_ENDED),
    "removal-answered": partial(
        removals.answer, Removed(REMOVAL, make_pull_request_record(), posted_here=True)
    ),
    "removal-answered-in-doubt": partial(
        removals.answer,
        Removed(replace(REMOVAL, detail=LEFT_UNSEEN), make_pull_request_record(), posted_here=True),
    ),
    "pause-extended-reply": partial(timers.extended_reply, make_act(resumes_at=NOON)),
    "pause-kept-reply": partial(timers.extended_reply, make_act(Action.KEEP)),
    "extend-modal-working": partial(timers.working_modal),
    "pause-paused": partial(pause.act, make_act()),
    "pause-replaced": partial(pause.act, REPLACED),
    "pause-timed": partial(pause.act, make_act(resumes_at=NOON + timedelta(minutes=45))),
    "pause-extended": partial(
        pause.act, make_act(action=Action.EXTEND, resumes_at=NOON + timedelta(hours=2))
    ),
    "timer-did-nothing": partial(
        pause.act, replace(RESUMED, origin=Origin.TIMER, result=ActResult.UNCHANGED)
    ),
    "extend-modal": partial(timers.extend_form, SITE, "acme/site x", "C0MERGEQ"),
    "pause-card": partial(pause_card.card, CARD),
    "pause-card-timed": partial(pause_card.card, replace(CARD, queued_now=7, timer=make_timer())),
    "pause-card-of-nobody": partial(
        pause_card.card, replace(CARD, by=None, queued_at_start=None, queued_now=None)
    ),
    "pause-card-changed": partial(pause_card.card, replace(CARD, previous_reason="night")),
    "pause-card-by-rule": partial(
        pause_card.card,
        replace(
            CARD,
            reason=pause_card.reason_of(BY_RULE),
            by=RULE,
            timer=replace(make_timer(), set_by=RULE),
        ),
        BY_RULE,
        {41: make_pull_request_record()},
    ),
    "pause-kept": partial(pause.act, make_act(action=Action.KEEP)),
    "pause-card-overdue": partial(pause_card.card, replace(CARD, timer=make_timer(failures=1))),
    "pause-card-lifted": partial(pause_card.card, PAUSE_ENDED),
    "pause-card-lifted-by-nobody": partial(
        pause_card.card, replace(PAUSE_ENDED, ended_by=None, joined=frozenset())
    ),
    "pause-card-lifted-by-timer": partial(
        pause_card.card, replace(PAUSE_ENDED, ending=PauseEnding.TIMER)
    ),
    "pause-card-replaced": partial(
        pause_card.card, replace(PAUSE_ENDED, ending=PauseEnding.REPLACED)
    ),
    "pause-ended": partial(pause_card.ended, PAUSE_ENDED),
    "pause-ended-by-nobody": partial(
        pause_card.ended, replace(PAUSE_ENDED, ended_by=None, joined=frozenset())
    ),
    "pause-ended-by-timer": partial(
        pause_card.ended, replace(PAUSE_ENDED, ending=PauseEnding.TIMER)
    ),
    "pause-resumed": partial(pause_card.resumed, PAUSE_ENDED),
    "pause-resumed-and-paused-again": partial(
        pause_card.resumed, PAUSE_ENDED, is_paused_again=True
    ),
    "pause-resumed-for-you": partial(
        pause_card.resumed_for_you, replace(PAUSE_ENDED, ended_by=Who("bob", "U0BOB"))
    ),
    "pause-resumed-for-you-and-paused-again": partial(
        pause_card.resumed_for_you, PAUSE_ENDED, is_paused_again=True
    ),
    "pause-resumed-for-you-by-nobody": partial(
        pause_card.resumed_for_you, replace(PAUSE_ENDED, ended_by=None)
    ),
    "pause-replaced-elsewhere": partial(
        pause_card.replaced_elsewhere,
        replace(CARD, by=Who("carol"), reason="Deploying 4.2", previous_reason=CARD.reason),
    ),
    "pause-will-tell": partial(pause_card.will_notify, SITE, is_new=True),
    "pause-will-tell-already": partial(pause_card.will_notify, SITE, is_new=False),
    "pause-not-paused": partial(pause.not_paused, SITE),
    "pause-already-running": partial(pause.not_paused, SITE, PAUSE_ENDED),
    "pause-already-running-by-nobody": partial(
        pause.not_paused, SITE, replace(PAUSE_ENDED, ended_by=None)
    ),
    "pause-already-running-by-timer": partial(
        pause.not_paused, SITE, replace(PAUSE_ENDED, ending=PauseEnding.TIMER)
    ),
    "pause-already": partial(pause.already_paused, SITE, make_known_pause(), "deploying"),
    "pause-already-timed": partial(pause.already_paused, SITE, TIMED, "deploying"),
    "pause-already-timed-same-reason": partial(
        pause.already_paused, SITE, TIMED, TIMED.reason, Until(time(15))
    ),
    "pause-already-same": partial(pause.already_paused, SITE, TIMED, TIMED.reason, is_same=True),
    "remove": partial(
        removals.question, WouldRemove(SITE, make_queued(41), RemovalImpact.model_validate(IMPACT))
    ),
    "remove-unaffecting": partial(
        removals.question,
        WouldRemove(SITE, make_queued(41), RemovalImpact.model_validate(dict.fromkeys(IMPACT, 0))),
    ),
    "remove-unknown-impact": partial(
        removals.question, WouldRemove(SITE, make_queued(41), RemovalImpact())
    ),
    "removed": partial(removals.done, REMOVAL, make_pull_request_record()),
    "removed-in-doubt": partial(
        removals.done, replace(REMOVAL, detail=LEFT_UNSEEN), make_pull_request_record()
    ),
    "not-removed-leaving": partial(removals.not_removed, NotRemoved(SITE, 41, Unremovable.LEAVING)),
    "not-removed-gone": partial(
        removals.not_removed, NotRemoved(SITE, 41, Unremovable.GONE, REMOVAL)
    ),
    "pause-confirm": partial(
        pause.confirm,
        actions.PauseChoice(SITE, "CI runners are down", For(timedelta(minutes=45))),
        Impact(waiting=12, in_batches=9, running_batches=3, next_merge_at=NOON, checks=24),
        "/mq",
    ),
    "pause-confirm-one": partial(
        pause.confirm,
        actions.PauseChoice(SITE, "CI runners are down"),
        Impact(0, 1, 1, None, 1),
        "/mq",
    ),
    "pause-in-doubt-running": partial(
        pause.is_it_an_end,
        SITE,
        "CI down 45m",
        "CI down",
        For(timedelta(minutes=45)),
        Impact(1, 2, 2, None),
    ),
    "pause-in-doubt": partial(
        pause.is_it_an_end, SITE, "CI down 45m", "CI down", For(timedelta(minutes=45))
    ),
    "pause-in-doubt-lone-number": partial(
        pause.is_it_an_end, SITE, "90", "", For(timedelta(minutes=90))
    ),
    "pause-other-end": partial(timers.other_end, SITE, TIMED),
    "pause-no-end": partial(timers.other_end, SITE, make_known_pause()),
    "extend-modal-without-an-end": partial(
        timers.extend_form, SITE, "acme/site x", "C0MERGEQ", had_end=False
    ),
    "pause-already-timed-both": partial(
        pause.already_paused, SITE, TIMED, "deploying", Until(time(15))
    ),
    "pause-resume-other": partial(pause.resume_other, API, TIMED),
    "pause-other": partial(pause.other_pause, SITE, make_known_pause(actor=None)),
    "pause-other-timed": partial(pause.other_pause, SITE, TIMED),
    "pause-over": partial(pause.over, SITE),
    "pause-reply": partial(pause.paused_reply, make_act()),
    "modal-one-repository": partial(
        pause_form.form,
        [SITE],
        chosen=SITE,
        channel_id="C1",
        notes=later(pause_form.queue_notes, make_snapshot(BUSY)),
    ),
    "modal-to-choose": partial(
        pause_form.form,
        [SITE, API],
        chosen=None,
        channel_id=None,
        notes=later(lambda: [pause_form.CHOOSE_FIRST]),
    ),
    "modal-already-paused": partial(
        pause_form.form,
        [SITE, API],
        chosen=API,
        channel_id="C1",
        notes=later(pause_form.queue_notes, make_snapshot(pause=make_known_pause())),
        end="45m",
    ),
    "modal-working": partial(pause_form.working_modal, SITE),
    "modal-result": partial(pause_form.result_modal, pause.paused_reply(make_act()), "C1"),
}
