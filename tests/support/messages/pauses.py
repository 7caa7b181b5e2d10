"""Pauses of one queue, as cases."""

from dataclasses import replace
from datetime import time, timedelta
from functools import partial
from typing import Any

from bot.domain.asked import Asked
from bot.domain.audit import SECOND_PERSON, Action, Actor, ActResult, Origin
from bot.domain.durations import For, Until
from bot.domain.pause_records import PauseEnding
from bot.domain.pauses import OtherEnd, OtherPause
from bot.domain.queue import RemovalImpact
from bot.domain.removals import LEFT_UNSEEN, NotRemoved, Removed, Unremovable, WouldRemove
from bot.domain.repository import RepositoryName
from bot.messages import group_acts, pause, pause_card, pause_form, reminders, removals, timers
from tests.support.clock import NOON
from tests.support.make import (
    API,
    SITE,
    make_act,
    make_batch,
    make_known_pause,
    make_pull_request_record,
    make_queued,
    make_snapshot,
    make_status,
    make_timer,
)
from tests.support.messages.rendering import Case, Cases, cases_of, later
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

SEEN = make_pull_request_record()
IN_DOUBT = replace(REMOVAL, detail=LEFT_UNSEEN)
ENDED_BY_NOBODY = replace(PAUSE_ENDED, ended_by=None, joined=frozenset())
ENDED_BY_TIMER = replace(PAUSE_ENDED, ending=PauseEnding.TIMER)
BY_HAND = make_known_pause()
LENGTH, AT_THREE = For(timedelta(minutes=45)), Until(time(15))

posted = cases_of(pause.act)
already = cases_of(pause.already_paused)
ended = cases_of(pause_card.ended)
in_doubt = cases_of(pause.is_it_an_end)
left_alone = cases_of(pause.left_alone)
not_paused = cases_of(pause.not_paused)
resumed_for_you = cases_of(pause_card.resumed_for_you)
not_removed = cases_of(removals.not_removed)


def card(**changed: Any) -> Case:
    return partial(pause_card.card, replace(CARD, **changed))


def question(impact: RemovalImpact) -> Case:
    return partial(removals.question, WouldRemove(SITE, make_queued(41), impact))


def form(notes: Any, *targets: RepositoryName, channel_id: str | None = "C1", **how: Any) -> Case:
    how.setdefault("chosen", targets[-1])
    return partial(pause_form.form, [*targets], channel_id=channel_id, notes=notes, **how)


CASES: Cases = {
    "pause-second-person-needed": posted(
        replace(make_act(Action.RESUME, previous_reason="CI is down"), detail=SECOND_PERSON)
    ),
    "pause-paused": posted(make_act()),
    "pause-replaced": posted(REPLACED),
    "pause-timed": posted(make_act(resumes_at=NOON + timedelta(minutes=45))),
    "pause-extended": posted(make_act(Action.EXTEND, resumes_at=NOON + timedelta(hours=2))),
    "pause-kept": posted(make_act(Action.KEEP)),
    "timer-did-nothing": posted(replace(RESUMED, origin=Origin.TIMER, result=ActResult.UNCHANGED)),
    "pause-left-as-paused": partial(pause.left_as_paused, BY_HAND),
    "pause-not-yours": partial(pause.not_yours, BY_HAND),
    "pause-replaced-reply": partial(pause.replaced, REPLACED),
    "pause-reply": partial(pause.paused_reply, make_act()),
    "pause-resumed-reply": partial(pause.resumed_reply, SITE),
    "pause-unchanged": partial(pause.unchanged),
    "pause-over": partial(pause.over, SITE),
    "pause-resume-other": partial(pause.resume_other, API, TIMED),
    "pause-other": left_alone(SITE, OtherPause(make_known_pause(actor=None))),
    "pause-other-timed": left_alone(SITE, OtherPause(TIMED)),
    "pause-already": already(SITE, BY_HAND, Asked("deploying")),
    "pause-already-timed": already(SITE, TIMED, Asked("deploying")),
    "pause-already-timed-both": already(SITE, TIMED, Asked("deploying", AT_THREE)),
    "pause-already-timed-same-reason": already(SITE, TIMED, Asked(TIMED.reason, AT_THREE)),
    "pause-already-same": already(SITE, TIMED, Asked(TIMED.reason), is_same=True),
    "pause-not-paused": not_paused(SITE),
    "pause-already-running": not_paused(SITE, PAUSE_ENDED),
    "pause-already-running-by-nobody": not_paused(SITE, replace(PAUSE_ENDED, ended_by=None)),
    "pause-already-running-by-timer": not_paused(SITE, ENDED_BY_TIMER),
    "pause-confirm": partial(
        pause.confirm,
        SITE,
        Asked("CI runners are down", LENGTH),
        make_status(
            *(make_batch(checks=(0, 8), estimated_merge_at=NOON) for _ in range(3)),
            waiting=[make_queued(number) for number in range(12)],
        ),
        "/mq",
    ),
    "pause-confirm-one": partial(
        pause.confirm,
        SITE,
        Asked("CI runners are down"),
        make_status(make_batch(checks=(0, 1))),
        "/mq",
    ),
    "pause-in-doubt": in_doubt(SITE, Asked("CI down 45m"), Asked("CI down", LENGTH)),
    "pause-in-doubt-running": in_doubt(
        SITE,
        Asked("CI down 45m"),
        Asked("CI down", LENGTH),
        make_status(*(make_batch(checks=(0, 0)) for _ in range(2))),
    ),
    "pause-in-doubt-lone-number": in_doubt(
        SITE, Asked("90"), Asked("", For(timedelta(minutes=90)))
    ),
    "pause-card": card(),
    "pause-card-timed": card(queued_now=7, timer=make_timer()),
    "pause-card-of-nobody": card(by=None, queued_at_start=None, queued_now=None),
    "pause-card-changed": card(previous_reason="night"),
    "pause-card-overdue": card(timer=make_timer(failures=1)),
    "pause-card-by-rule": partial(
        pause_card.card,
        replace(
            CARD,
            reason=pause_card.reason_of(BY_RULE),
            by=RULE,
            timer=replace(make_timer(), set_by=RULE),
        ),
        BY_RULE,
        {41: SEEN},
    ),
    "pause-card-lifted": partial(pause_card.card, PAUSE_ENDED),
    "pause-card-lifted-by-nobody": partial(pause_card.card, ENDED_BY_NOBODY),
    "pause-card-lifted-by-timer": partial(pause_card.card, ENDED_BY_TIMER),
    "pause-card-replaced": partial(
        pause_card.card, replace(PAUSE_ENDED, ending=PauseEnding.REPLACED)
    ),
    "pause-ended": ended(PAUSE_ENDED),
    "pause-ended-by-nobody": ended(ENDED_BY_NOBODY),
    "pause-ended-by-timer": ended(ENDED_BY_TIMER),
    "pause-resumed": partial(pause_card.resumed, PAUSE_ENDED),
    "pause-resumed-and-paused-again": partial(
        pause_card.resumed, PAUSE_ENDED, is_paused_again=True
    ),
    "pause-resumed-for-you": resumed_for_you(replace(PAUSE_ENDED, ended_by=Actor("U0BOB", "bob"))),
    "pause-resumed-for-you-and-paused-again": resumed_for_you(PAUSE_ENDED, is_paused_again=True),
    "pause-resumed-for-you-by-nobody": resumed_for_you(replace(PAUSE_ENDED, ended_by=None)),
    "pause-replaced-elsewhere": partial(
        pause_card.replaced_elsewhere,
        replace(CARD, by=Actor("", "carol"), reason="Deploying 4.2", previous_reason=CARD.reason),
    ),
    "pause-still-paused": partial(pause_card.still_paused, PAUSE_ENDED),
    "pause-will-tell": partial(group_acts.will_notify, SITE, is_new=True),
    "pause-will-tell-already": partial(group_acts.will_notify, SITE, is_new=False),
    "reminder": partial(
        reminders.reminder,
        replace(CARD, queued_now=7, timer=make_timer()),
        NOON + timedelta(hours=1),
    ),
    "reminder-over": partial(reminders.over, PAUSE_ENDED),
    "remove": question(RemovalImpact.model_validate(IMPACT)),
    "remove-unaffecting": question(RemovalImpact.model_validate(dict.fromkeys(IMPACT, 0))),
    "remove-unknown-impact": question(RemovalImpact()),
    "removed": partial(removals.done, REMOVAL, SEEN),
    "removed-without-a-title": partial(removals.done, REMOVAL, None),
    "removed-in-doubt": partial(removals.done, IN_DOUBT, SEEN),
    "removal-answered": partial(removals.answer, Removed(REMOVAL, SEEN, posted_here=True)),
    "removal-answered-in-doubt": partial(
        removals.answer, Removed(IN_DOUBT, SEEN, posted_here=True)
    ),
    "not-removed-leaving": not_removed(NotRemoved(SITE, 41, Unremovable.LEAVING)),
    "not-removed-gone": not_removed(NotRemoved(SITE, 41, Unremovable.GONE, REMOVAL)),
    "pause-extended-reply": partial(timers.extended_reply, make_act(resumes_at=NOON)),
    "pause-kept-reply": partial(timers.extended_reply, make_act(Action.KEEP)),
    "pause-other-end": left_alone(SITE, OtherEnd(TIMED)),
    "pause-no-end": left_alone(SITE, OtherEnd(BY_HAND)),
    "extend-modal": partial(timers.extend_form, SITE, "acme/site x", "C0MERGEQ"),
    "extend-modal-without-an-end": partial(
        timers.extend_form, SITE, "acme/site x", "C0MERGEQ", had_end=False
    ),
    "extend-modal-working": partial(timers.working_modal),
    "modal-one-repository": form(later(pause_form.queue_notes, make_snapshot(BUSY)), SITE),
    "modal-idle-queue": form(later(pause_form.queue_notes, make_snapshot()), SITE, channel_id=None),
    "modal-to-choose": form(
        later(lambda: [pause_form.CHOOSE_FIRST]), SITE, API, chosen=None, channel_id=None
    ),
    "modal-already-paused": form(
        later(pause_form.queue_notes, make_snapshot(pause=BY_HAND)), SITE, API, end="45m"
    ),
    "modal-working": partial(pause_form.working_modal, SITE),
    "modal-result": partial(pause_form.result_modal, pause.paused_reply(make_act()), "C1"),
}
