"""Groups and the audit, as cases."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from bot.acts.asked import NOTHING_ASKED, Asked
from bot.acts.group_act import GroupAct, GroupOutcome, RepositoryResult
from bot.acts.record import (
    Action,
    ActResult,
    AuditPage,
    AuditRecord,
    AuditSelection,
    Outcome,
    PartOfGroup,
    SettingChange,
)
from bot.desk.readers.acts import read_asked
from bot.kernel.actor import Actor, Origin
from bot.kernel.durations import at_instant
from bot.kernel.ends.phrases import read_end
from bot.kernel.groups import ALL, Group
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import MergedSince, PausedQueue, PauseEnd, PauseLine, PauseRecord, Takeover
from bot.pauses.texts import ends as pause_ends, form as pause_form, group_acts, reminders
from bot.pauses.texts.group_acts import Ends, GroupNow
from bot.questions.texts import audit as question_audit
from bot.queues.snapshot import ReadQueue
from bot.queues.texts import group_status, impact as queue_impact
from tests.support.clock import NOON
from tests.support.make import (
    API,
    BOB,
    DOCS,
    SITE,
    make_act,
    make_batch,
    make_known_pause,
    make_queued,
    make_snapshot,
    make_status,
    saying,
)
from tests.support.messages.rendering import Case, Cases, cases_of, later


def make_group_act(
    *results: RepositoryResult,
    action: Action = Action.PAUSE,
    actor: Actor | None = None,
    asked: str = "freeze for 4.2",
) -> GroupAct:
    return GroupAct(
        group="release",
        action=action,
        at=NOON,
        actor=actor or Actor("U0ALICE", "alice", "T0ACME"),
        origin=Origin.COMMAND,
        repositories=tuple(result.repository for result in results),
        channel_id="C0MERGEQ",
        asked=read_asked(asked) if action is Action.PAUSE else NOTHING_ASKED,
        results=results,
        ended_at=NOON + timedelta(seconds=3),
        group_act_id=7,
    )


RELEASE = Group("release", (SITE, API, DOCS))
BUSY = make_snapshot(
    make_status(
        make_batch(make_queued(41), estimated_merge_at=NOON + timedelta(minutes=6)),
        waiting=[make_queued(42), make_queued(43)],
    )
)
PAUSED = make_snapshot(repository=API, pause=make_known_pause(actor=BOB))
RESULTS = (
    RepositoryResult(SITE, GroupOutcome.CHANGED),
    RepositoryResult(API, GroupOutcome.ALREADY_PAUSED, who="bob"),
    RepositoryResult(DOCS, GroupOutcome.FAILED, detail="409 conflict: the queue changed"),
)
RESTORED = (
    RepositoryResult(SITE, GroupOutcome.CHANGED),
    RepositoryResult(API, GroupOutcome.NOT_OURS, who="bob"),
    RepositoryResult(DOCS, GroupOutcome.REPLACED),
)
RESUMED = make_group_act(*RESTORED, action=Action.RESUME, actor=BOB)
EXTENDED = replace(
    make_group_act(
        RESULTS[0], RepositoryResult(API, GroupOutcome.REPLACED), action=Action.EXTEND, actor=BOB
    ),
    resumes_at=NOON + timedelta(hours=1),
)
ALL_TRIED = make_group_act(*RESULTS)
API_TOO = (RESULTS[0], replace(RESULTS[0], repository=API))
BOTH = make_group_act(*API_TOO)
FIFTY = make_group_act(*([RepositoryResult(SITE, GroupOutcome.CHANGED)] * 50))
ALL_TO_RESUME = replace(make_group_act(*RESULTS[:2], action=Action.RESUME), group=ALL)
BOTH_FOR_A_WHILE = make_group_act(*API_TOO, asked="30m freeze")
IN_HALF_AN_HOUR = NOON + timedelta(minutes=30)
PAUSED_ANEW = PauseRecord(API, PauseLine(NOON, "Night", "Night", by=Actor("", "carol")))
READ: list[ReadQueue] = [BUSY, PAUSED, DOCS]
UNREAD: list[ReadQueue] = [SITE, API, DOCS]
FREEZE = PauseRecord(SITE, PauseLine(NOON, "freeze", "freeze"), queue=PausedQueue(2, 5))

RESUMED_SITE = replace(FREEZE, end=PauseEnd(NOON + timedelta(minutes=42), BOB))

WAITED = replace(
    RESUMED_SITE, queue=PausedQueue(2, 5, frozenset(range(5)), stopped=frozenset({"41 43"}))
)

said = cases_of(group_acts.group_act_post)
card = cases_of(group_acts.group_card)
confirm = cases_of(queue_impact.confirm_group_pause)
since_then = cases_of(group_acts.since_then)


def records(*found: AuditRecord, more: bool = False, **about: Any) -> Case:
    selection = AuditSelection(**about)
    return partial(
        question_audit.audit, AuditPage(selection, [*found], has_newer=more, has_older=more)
    )


def form(channel_id: str | None, notes: Any, *, also: int = 0, end: str | None = None) -> Case:
    names = (RepositoryName(f"acme/r{number}") for number in range(also))
    choices = [RELEASE, *(names if also else RELEASE.repositories)]
    asked = Asked(lasting=read_end(end)) if end is not None else NOTHING_ASKED
    return partial(
        pause_form.pause_form,
        choices,
        chosen=RELEASE,
        channel_id=channel_id,
        notes=notes,
        asked=asked,
    )


UNLISTED = [
    replace(
        make_act(action, ActResult.REFUSED),
        repository=RepositoryName.none(),
        outcome=Outcome(detail="not listed one by one: there were too many"),
        times=23,
    )
    for action in (Action.EXTEND, Action.REMOVE, Action.LINK)
]

CASES: Cases = {
    "audit_of_an_extension": records(
        make_act(Action.EXTEND, resumes_at=NOON + timedelta(hours=1)), repository=SITE
    ),
    "audit": records(
        replace(make_act(), outcome=Outcome("200"), group=PartOfGroup("release", 3)),
        replace(
            make_act(Action.RESUME, actor=BOB, previous_reason="Night", origin=Origin.BUTTON),
            outcome=Outcome("204"),
        ),
        replace(make_act(Action.SUBSCRIBE), setting=SettingChange("", "enter merge")),
        replace(
            make_act(result=ActResult.REFUSED, origin=Origin.MODAL),
            outcome=Outcome(detail="pause: not_listed"),
        ),
        replace(
            make_act(result=ActResult.FAILED), outcome=Outcome("no answer: the connection was lost")
        ),
        make_act(result=ActResult.STARTED),
        more=True,
        since=NOON - timedelta(days=7),
    ),
    "audit_of_a_group": records(make_act(), more=True, group="release", since=NOON),
    "audit_of_many_refusals": records(*UNLISTED),
    "audit_of_nothing": records(repository=SITE),
    "group_freeze": said(replace(make_group_act(*RESULTS, action=Action.FREEZE), resumes_at=NOON)),
    "group_freeze_planned": said(
        replace(
            make_group_act(
                RepositoryResult(SITE, GroupOutcome.CHANGED),
                RepositoryResult(API, GroupOutcome.ALREADY_PLANNED, who="bob"),
                action=Action.FREEZE,
            ),
            asked=Asked("release", start=at_instant(NOON + timedelta(hours=3))),
            resumes_at=NOON + timedelta(hours=5),
        )
    ),
    "group_card": card(ALL_TRIED, GroupNow((SITE,))),
    "group_card_taken_over": card(
        BOTH,
        GroupNow(
            (SITE, API),
            taken_over=replace(FREEZE, taken_over=Takeover(BOB, IN_HALF_AN_HOUR)),
        ),
    ),
    "group_card_of_two": card(BOTH, GroupNow((API,), over=(RESUMED_SITE,))),
    "group_card_all_overdue": card(BOTH, GroupNow((SITE, API), Ends((NOON,) * 2, 2, overdue=2))),
    "group_card_paused_anew": card(BOTH, GroupNow((SITE,), again=(PAUSED_ANEW,))),
    "group_card_over_and_paused_anew": card(
        BOTH,
        GroupNow(
            over=(RESUMED_SITE,),
            again=(saying(PAUSED_ANEW, by=None),),
        ),
    ),
    "group_card_overdue": card(
        BOTH_FOR_A_WHILE, GroupNow((SITE, API), Ends((IN_HALF_AN_HOUR,) * 2, 2, overdue=1))
    ),
    "group_card_that_is_over": card(
        make_group_act(*RESULTS, asked="30m freeze for 4.2"), GroupNow(over=(RESUMED_SITE,))
    ),
    "group_card_with_what_merged": card(
        BOTH,
        GroupNow(
            over=(WAITED, replace(WAITED, repository=API)),
            merged=MergedSince(7, 10, NOON + timedelta(minutes=55)),
        ),
    ),
    "group_card_that_lifts_itself": card(
        BOTH_FOR_A_WHILE, GroupNow((SITE, API), Ends((IN_HALF_AN_HOUR,) * 2, 2))
    ),
    "group_card_of_which_one_lifts_itself": card(
        BOTH, GroupNow((SITE, API), Ends((IN_HALF_AN_HOUR,), 2))
    ),
    "group_card_with_ends_apart": card(
        BOTH, GroupNow((SITE, API), Ends((IN_HALF_AN_HOUR, NOON + timedelta(minutes=90)), 2))
    ),
    "group_confirm": confirm(RELEASE, read_asked("freeze for 4.2"), READ),
    "group_all_paused": partial(group_status.all_paused, Group("release", (SITE,)), [PAUSED]),
    "group_confirm_unread": confirm(RELEASE, read_asked("freeze for 4.2"), UNREAD),
    "group_confirm_all": confirm(Group(ALL, (SITE,)), read_asked("CI is down"), [BUSY]),
    "group_confirm_for_a_while": confirm(
        RELEASE, read_asked("30m freeze"), [BUSY], IN_HALF_AN_HOUR
    ),
    "group_paused_alone": partial(
        group_acts.paused_alone, RELEASE, [make_known_pause(actor=BOB), make_known_pause()]
    ),
    "group_progress": partial(group_acts.progress, FIFTY, 12),
    "group_progress_resume": partial(group_acts.progress, ALL_TO_RESUME, 0),
    "group_paused": said(ALL_TRIED),
    "group_paused_for_a_while": said(make_group_act(RESULTS[0], asked="1h30m freeze for 4.2")),
    "group_paused_until": said(make_group_act(RESULTS[0], asked="until 15:00 freeze for 4.2")),
    "group_going_on": said(replace(ALL_TRIED, results=RESULTS[:2], ended_at=None)),
    "group_resume_done": said(RESUMED),
    "group_lifted_by_its_timers": said(
        replace(RESUMED, origin=Origin.TIMER, resumes_at=NOON - timedelta(minutes=25))
    ),
    "group_extended": said(EXTENDED),
    "group_extended_in_part": said(replace(EXTENDED, results=(*EXTENDED.results, RESULTS[2]))),
    "group_paused_answer": partial(group_acts.answer_to_actor, ALL_TRIED, posted_here=True),
    "group_cut_short": partial(
        group_acts.answer_to_actor,
        replace(
            make_group_act(RESULTS[0], RepositoryResult(API, GroupOutcome.NOT_TRIED)),
            ended_at=NOON + timedelta(minutes=2),
        ),
        posted_here=False,
    ),
    "group_cut_short_unknown": partial(
        group_acts.group_outcome_follows,
        make_group_act(RESULTS[0], RepositoryResult(API, GroupOutcome.UNCERTAIN)),
    ),
    "group_since_then": since_then("release", RESUMED),
    "group_since_then_unknown": since_then("release", None),
    "group_extended_since_then": since_then("release", EXTENDED),
    "group_nothing_held": partial(group_acts.nothing_held, "release"),
    "group_will_tell": partial(group_acts.will_notify, RELEASE, is_new=True),
    "group_asked_already": partial(group_acts.will_notify, RELEASE, is_new=False),
    "group_resumed": partial(
        group_acts.group_resumed,
        ALL_TRIED,
        replace(FREEZE, end=PauseEnd(NOON + timedelta(minutes=42), Actor("", "bob"))),
    ),
    "group_reminder": partial(
        reminders.group_reminder,
        ALL_TRIED,
        [FREEZE, replace(FREEZE, repository=API, queue=PausedQueue(1, 4))],
        IN_HALF_AN_HOUR,
    ),
    "group_reminder_over": partial(reminders.group_over, ALL_TRIED),
    "group_snoozed": partial(reminders.snoozed, SITE, NOON, "release"),
    "group_status": partial(group_status.status, RELEASE, READ),
    "group_status_unread": partial(group_status.status, RELEASE, UNREAD),
    "group_form": form("C1", later(queue_impact.notes, RELEASE, "/mq", READ), end="30m"),
    "group_form_while_reading": form(None, later(queue_impact.notes, RELEASE, "/mq")),
    "group_form_of_many": form("C1", later(queue_impact.notes, RELEASE, "/mq"), also=100),
    "group_extend_form": partial(pause_ends.end_form, "@release", "@release", "C1"),
}
