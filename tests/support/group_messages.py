"""The messages about groups and about the audit, with text from outside wherever it can stand."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from bot.domain.audit import (
    Action,
    Actor,
    ActResult,
    AuditPage,
    AuditPlace,
    AuditRecord,
    AuditSelection,
    Origin,
)
from bot.domain.group_acts import GroupAct, GroupOutcome, RepositoryResult
from bot.domain.groups import ALL, Group
from bot.domain.message import Message, View
from bot.domain.pause_records import PauseRecord, Who
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import audit, group_acts, groups, pause_form, reminders, timers
from tests.support.clock import NOON
from tests.support.make import make_act, make_timer

MANY = tuple(RepositoryName(f"{'o' * 39}/{'r' * 96}{number:04}") for number in range(500))
"""More than a message can name, with names as long as hosts allow."""


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


def every_outcome(text: str) -> list[RepositoryResult]:
    """Each outcome for twenty repositories, so that every line is cut."""
    outcomes = list(GroupOutcome)
    return [
        RepositoryResult(name, outcomes[number % len(outcomes)], who=text, detail=text)
        for number, name in enumerate(MANY)
    ]


ENDS = group_acts.Ends((NOON + timedelta(hours=2),) * 60, 60)


def messages_of_groups(text: str, snapshot: Snapshot) -> Mapping[str, Message | View]:
    actor = Actor("U1", text, "T0ACME")
    many, everything = Group("release", MANY), Group(ALL, MANY)
    all_failed = [RepositoryResult(name, GroupOutcome.FAILED, detail=text) for name in MANY]
    all_held = [RepositoryResult(name, GroupOutcome.ALREADY_PAUSED, who=text) for name in MANY]
    read = [snapshot] * 80 + [*MANY[:40]]
    reason = text[:255]
    paused = make_group_act(*_of_pause(text), actor=actor, asked=reason)
    resumed = make_group_act(*_of_resume(text), action=Action.RESUME, actor=actor)
    extended = replace(
        make_group_act(*_of_extension(text), action=Action.EXTEND, actor=actor),
        resumes_at=NOON + timedelta(hours=2),
    )
    return {
        "group confirm": groups.confirm(many, reason, read),
        "group confirm of all": groups.confirm(everything, reason, [*MANY]),
        "group progress": group_acts.progress("release", Action.PAUSE, 12, 50),
        "group going on": group_acts.going_on(replace(paused, ended_at=None)),
        "group paused": group_acts.act(paused),
        "group resume done": group_acts.act(resumed),
        "group failed": group_acts.act(make_group_act(*all_failed, actor=actor, asked=reason)),
        "group already": group_acts.answer(
            make_group_act(*all_held, actor=actor, asked=reason), posted_here=False
        ),
        "group cut short": group_acts.act(
            make_group_act(*_of_pause(text), actor=actor, asked=reason, ended=False)
        ),
        "group cut short and ended": group_acts.answer(
            replace(
                make_group_act(*_of_pause(text), actor=actor, asked=reason),
                ended_at=NOON + timedelta(minutes=2),
            ),
            posted_here=False,
        ),
        "group since then": group_acts.since_then("release", resumed),
        "group unknown since then": group_acts.since_then("release", None),
        "group status": groups.status(many, read),
        "group card": group_acts.card(paused, [*MANY[:60]], ENDS),
        "group card paused anew": group_acts.card(
            paused,
            [*MANY[:60]],
            ENDS,
            again_paused=[PauseRecord(name, NOON, text, text, Who(text)) for name in MANY],
        ),
        "group card overdue": group_acts.card(paused, [*MANY[:60]], replace(ENDS, overdue=60)),
        "group card that is over": group_acts.card(paused, []),
        "group resumed by its timers": group_acts.act(
            replace(resumed, origin=Origin.TIMER, resumes_at=NOON - timedelta(hours=1))
        ),
        "group form": pause_form.form(
            [many, *MANY[:90]],
            chosen=many,
            channel_id="C0MERGEQ",
            notes=groups.notes(many, "/mq", read),
            end="30m",
        ),
        "group form while reading": pause_form.form(
            [everything, *MANY],
            chosen=everything,
            channel_id=None,
            notes=groups.notes(everything, "/mq"),
        ),
        "group reminder": reminders.of_group(
            paused,
            [
                PauseRecord(name, NOON, text, text, Who(text), queued_now=7, timer=make_timer(text))
                for name in MANY
            ],
            NOON + timedelta(hours=1),
        ),
        "group reminder when it is over": reminders.group_over(paused),
        "group extended": group_acts.act(extended),
        "group extend form": timers.extend_form("all", "@all", None),
        "group resumed": group_acts.resumed(
            paused,
            PauseRecord(MANY[0], NOON, text, text, ended_by=Who(text), ended_at=NOON),
            is_yours=True,
        ),
        "group will tell": group_acts.will_notify("release", is_new=False),
        "group nothing held": group_acts.nothing_held("release"),
    }


def _of_pause(text: str) -> list[RepositoryResult]:
    not_here = {GroupOutcome.NOT_PAUSED, GroupOutcome.NOT_OURS, GroupOutcome.REPLACED}
    return [one for one in every_outcome(text) if one.outcome not in not_here]


def _of_resume(text: str) -> list[RepositoryResult]:
    return [one for one in every_outcome(text) if one.outcome is not GroupOutcome.ALREADY_PAUSED]


def _of_extension(text: str) -> list[RepositoryResult]:
    not_here = {GroupOutcome.ALREADY_PAUSED, GroupOutcome.NOT_OURS}
    return [one for one in every_outcome(text) if one.outcome not in not_here]


def messages_of_audit(text: str) -> Mapping[str, Message]:
    actor = Actor("U1", text, "T0ACME")
    record = replace(
        make_act(actor=actor, reason=text, repository=MANY[0], previous_reason=text),
        answer=text,
        group="release",
        group_act_id=3,
        record_id=9,
    )
    return {
        "audit": audit.audit(page(*[record] * 10)),
        "audit of every kind": audit.audit(page(*every_record(text))),
        "audit of nothing": audit.audit(page()),
    }


def page(*records: AuditRecord) -> AuditPage:
    selection = AuditSelection(MANY[0], NOON - timedelta(days=7))
    return AuditPage(selection, records, has_newer=bool(records), has_older=bool(records))


def every_record(text: str) -> list[AuditRecord]:
    """Each action and each result, from wherever one can act."""
    actor, origins = Actor("U1", text, "T0ACME"), list(Origin)
    actions, results = list(Action), list(ActResult)
    kinds = [(actions[n % len(actions)], results[n % len(results)]) for n in range(10)]
    return [
        replace(
            make_act(action, result, actor=actor, reason=text),
            origin=origins[number % len(origins)],
            setting_before="" if action is Action.SUBSCRIBE else None,
            setting_after="enter merge" if action is Action.SUBSCRIBE else None,
            detail=text,
            resumes_at=NOON,
            record_id=number,
        )
        for number, (action, result) in enumerate(kinds)
    ]


PLACE = AuditPlace(NOON, 9)
