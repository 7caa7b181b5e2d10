"""Groups and the audit, as cases."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

from bot.domain.audit import Action, Actor, ActResult, AuditPage, AuditSelection, Origin
from bot.domain.group_acts import GroupAct, GroupOutcome, RepositoryResult
from bot.domain.groups import ALL, Group
from bot.domain.pause_records import PauseEnding, PauseRecord, Who
from bot.domain.repository import RepositoryName
from bot.messages import audit, group_acts, groups, pause_form, reminders, timers
from bot.messages.group_acts import Ends
from tests.support.clock import NOON
from tests.support.make import (
    API,
    BOB,
    SITE,
    make_act,
    make_batch,
    make_known_pause,
    make_queued,
    make_snapshot,
    make_status,
)
from tests.support.messages.rendering import Cases, later


def make_group_act(
    *results: RepositoryResult,
    action: Action = Action.PAUSE,
    actor: Actor | None = None,
    asked: str = "freeze for 4.2",
    ended: bool = True,
) -> GroupAct:
    return GroupAct(
        group="release",
        action=action,
        at=NOON,
        actor=actor or Actor("U0ALICE", "alice", "T0ACME"),
        origin=Origin.COMMAND,
        repositories=tuple(one.repository for one in results),
        channel_id="C0MERGEQ",
        asked=asked if action is Action.PAUSE else "",
        results=results,
        ended_at=NOON + timedelta(seconds=3) if ended else None,
        group_act_id=7,
    )


DOCS = RepositoryName("acme/docs")
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


CASES: Cases = {
    "audit_of_an_extension": partial(
        audit.audit,
        AuditPage(
            AuditSelection(SITE),
            [make_act(Action.EXTEND, resumes_at=NOON + timedelta(hours=1))],
            has_newer=False,
            has_older=False,
        ),
    ),
    "group_card_all_overdue": partial(
        group_acts.card,
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API)),
        [SITE, API],
        Ends((NOON,) * 2, 2, overdue=2),
    ),
    "group_form_of_many": partial(
        pause_form.form,
        [RELEASE, *(RepositoryName(f"acme/r{number}") for number in range(100))],
        chosen=RELEASE,
        channel_id="C1",
        notes=later(groups.notes, RELEASE, "/mq"),
    ),
    "group_reminder_over": partial(reminders.group_over, make_group_act(*RESULTS)),
    "group_confirm": partial(groups.confirm, RELEASE, "freeze for 4.2", [BUSY, PAUSED, DOCS]),
    "group_confirm_unread": partial(groups.confirm, RELEASE, "freeze for 4.2", [SITE, API, DOCS]),
    "group_confirm_all": partial(groups.confirm, Group(ALL, (SITE,)), "CI is down", [BUSY]),
    "group_progress": partial(group_acts.progress, "release", Action.PAUSE, 12, 50),
    "group_progress_resume": partial(group_acts.progress, ALL, Action.RESUME, 0, 2),
    "group_paused": partial(group_acts.act, make_group_act(*RESULTS)),
    "group_paused_for_a_while": partial(
        group_acts.act, make_group_act(RESULTS[0], asked="1h30m freeze for 4.2")
    ),
    "group_paused_until": partial(
        group_acts.act, make_group_act(RESULTS[0], asked="until 15:00 freeze for 4.2")
    ),
    "group_confirm_for_a_while": partial(
        groups.confirm, RELEASE, "30m freeze", [BUSY], NOON + timedelta(minutes=30)
    ),
    "group_confirm_in_doubt": partial(groups.confirm, RELEASE, "CI down 30m", [BUSY]),
    "group_paused_answer": partial(group_acts.answer, make_group_act(*RESULTS), posted_here=True),
    "group_resume_done": partial(group_acts.act, RESUMED),
    "group_going_on": partial(
        group_acts.act, replace(make_group_act(*RESULTS), results=RESULTS[:2], ended_at=None)
    ),
    "group_cut_short": partial(
        group_acts.answer,
        replace(
            make_group_act(RESULTS[0], RepositoryResult(API, GroupOutcome.NOT_TRIED)),
            ended_at=NOON + timedelta(minutes=2),
        ),
        posted_here=False,
    ),
    "group_snoozed": partial(reminders.snoozed, SITE, NOON, "release"),
    "group_since_then": partial(group_acts.since_then, "release", RESUMED),
    "group_since_then_unknown": partial(group_acts.since_then, "release", None),
    "group_card": partial(group_acts.card, make_group_act(*RESULTS), [SITE]),
    "group_card_of_two": partial(
        group_acts.card, make_group_act(RESULTS[0], replace(RESULTS[0], repository=API)), [API]
    ),
    "group_card_paused_anew": partial(
        group_acts.card,
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API)),
        [SITE],
        again_paused=[PauseRecord(API, NOON, "Night", "Night", by=Who("carol"))],
    ),
    "group_card_over_and_paused_anew": partial(
        group_acts.card,
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API)),
        [],
        again_paused=[PauseRecord(API, NOON, "Night", "Night")],
    ),
    "group_card_overdue": partial(
        group_acts.card,
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API), asked="30m freeze"),
        [SITE, API],
        Ends((NOON + timedelta(minutes=30),) * 2, 2, overdue=1),
    ),
    "group_card_that_is_over": partial(
        group_acts.card, make_group_act(*RESULTS, asked="30m freeze for 4.2"), []
    ),
    "group_lifted_by_its_timers": partial(
        group_acts.act,
        replace(RESUMED, origin=Origin.TIMER, resumes_at=NOON - timedelta(minutes=25)),
    ),
    "group_reminder": partial(
        reminders.of_group,
        make_group_act(*RESULTS),
        [
            PauseRecord(SITE, NOON, "freeze", "freeze", queued_at_start=2, queued_now=5),
            PauseRecord(API, NOON, "freeze", "freeze", queued_at_start=1, queued_now=4),
        ],
        NOON + timedelta(minutes=30),
    ),
    "group_card_that_lifts_itself": partial(
        group_acts.card,
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API), asked="30m freeze"),
        [SITE, API],
        Ends((NOON + timedelta(minutes=30),) * 2, 2),
    ),
    "group_card_of_which_one_lifts_itself": partial(
        group_acts.card,
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API)),
        [SITE, API],
        Ends((NOON + timedelta(minutes=30),), 2),
    ),
    "group_card_with_ends_apart": partial(
        group_acts.card,
        make_group_act(RESULTS[0], replace(RESULTS[0], repository=API)),
        [SITE, API],
        Ends((NOON + timedelta(minutes=30), NOON + timedelta(minutes=90)), 2),
    ),
    "group_extended": partial(group_acts.act, EXTENDED),
    "group_extended_in_part": partial(
        group_acts.act, replace(EXTENDED, results=(*EXTENDED.results, RESULTS[2]))
    ),
    "group_extended_since_then": partial(group_acts.since_then, "release", EXTENDED),
    "group_nothing_held": partial(group_acts.nothing_held, "release"),
    "group_will_tell": partial(group_acts.will_notify, "release", is_new=True),
    "group_asked_already": partial(group_acts.will_notify, "release", is_new=False),
    "group_resumed": partial(
        group_acts.resumed,
        make_group_act(*RESULTS),
        PauseRecord(
            SITE,
            NOON,
            "freeze",
            "freeze",
            ended_by=Who("bob"),
            ended_at=NOON + timedelta(minutes=42),
            ending=PauseEnding.RESUMED,
        ),
    ),
    "group_status_unread": partial(groups.status, RELEASE, [SITE, API, DOCS]),
    "group_status": partial(groups.status, RELEASE, [BUSY, PAUSED, DOCS]),
    "audit": partial(
        audit.audit,
        AuditPage(
            AuditSelection(None, NOON - timedelta(days=7)),
            [
                replace(make_act(), answer="200", group="release", group_act_id=3),
                replace(
                    make_act(Action.RESUME, actor=BOB, previous_reason="Night"),
                    origin=Origin.BUTTON,
                    answer="204",
                ),
                replace(make_act(Action.SUBSCRIBE), setting_before="", setting_after="enter merge"),
                replace(
                    make_act(result=ActResult.REFUSED),
                    origin=Origin.MODAL,
                    detail="pause: not_listed",
                ),
                replace(
                    make_act(result=ActResult.FAILED), answer="no answer: the connection was lost"
                ),
                make_act(result=ActResult.STARTED),
            ],
            has_newer=True,
            has_older=True,
        ),
    ),
    "audit_of_nothing": partial(
        audit.audit, AuditPage(AuditSelection(SITE), [], has_newer=False, has_older=False)
    ),
    "group_form": partial(
        pause_form.form,
        [RELEASE, *RELEASE.repositories],
        chosen=RELEASE,
        channel_id="C1",
        notes=later(groups.notes, RELEASE, "/mq", [BUSY, PAUSED, DOCS]),
        end="30m",
    ),
    "group_form_while_reading": partial(
        pause_form.form,
        [RELEASE, *RELEASE.repositories],
        chosen=RELEASE,
        channel_id=None,
        notes=later(groups.notes, RELEASE, "/mq"),
    ),
    "group_extend_form": partial(timers.extend_form, "@release", "@release", "C1"),
}
