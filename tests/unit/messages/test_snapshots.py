"""Every message as people see it, compared with the JSON files in `snapshots/`.

`--update-snapshots` writes them anew; the difference is then reviewed as wording.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import time, timedelta
from typing import Any

import pytest
from pydantic import JsonValue

from bot.domain.audit import Action, ActResult, Evidence, Origin
from bot.domain.auto_pause import AUTO_PAUSE
from bot.domain.boards import Board, seen
from bot.domain.classification import EventKind
from bot.domain.durations import DurationProblem, For, Until
from bot.domain.errors import (
    CommandSyntaxError,
    CredentialRefused,
    CutOff,
    InvalidConfiguration,
    InvalidDuration,
    InvalidReason,
    InvalidRequest,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    QueueBusy,
    RepositoryNotAllowed,
    RepositoryNotChosen,
    ResourceNotFound,
    StateConflict,
    StoreUnavailable,
)
from bot.domain.event_log import Window
from bot.domain.event_records import FreezeAttributes
from bot.domain.freezes import Freeze, Stage
from bot.domain.groups import ALL, Group
from bot.domain.message import Message, View
from bot.domain.notices import Notice
from bot.domain.outages import Outage, OutageCause
from bot.domain.pause_records import PauseEnding, PauseRecord, Who
from bot.domain.queue import (
    MergeabilityCheck,
    QueueCheck,
    QueuedDetails,
    QueueRule,
    RemovalImpact,
    SpeculativeCheck,
)
from bot.domain.queue_health import AlertKind
from bot.domain.queue_position import (
    Explanation,
    InBatch,
    InQueue,
    Left,
    Merged,
    NeverQueued,
    NotListed,
    QueuePosition,
)
from bot.domain.removals import LEFT_UNSEEN, NotRemoved, Unremovable, WouldRemove
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import BranchActivity, BranchPage, Impact, LogPage, LogPlace, LogSelection
from bot.domain.statistics import CheckStatistics, Removals
from bot.domain.subscriptions import DigestTime, Style, Subscription, SubscriptionSource
from bot.messages import (
    actions,
    alerts,
    board,
    branches,
    choice,
    errors,
    event_log,
    freezes,
    help as help_messages,
    home,
    pause,
    pause_card,
    pause_form,
    people,
    removals,
    rules,
    statistics,
    status,
    subscriptions,
    timers,
    why,
)
from bot.messages.blocks import button
from bot.messages.events import event_posts, summaries
from bot.ports import ChannelAccess
from tests.support.alert_messages import make_alert
from tests.support.clock import NOON
from tests.support.make import (
    API,
    BOB,
    SITE,
    make_act,
    make_batch,
    make_event_record,
    make_home,
    make_known_pause,
    make_outbox,
    make_person,
    make_pull_request_record,
    make_queued,
    make_snapshot,
    make_statistics,
    make_status,
    make_subscription,
    make_timer,
    make_viewer,
)
from tests.support.snapshots import Snapshots

SEEN = make_pull_request_record()
LEAVE, MERGED = "action.queue.leave", "action.queue.merged"
QUEUED_AT = (NOON - timedelta(minutes=12)).isoformat()
CHECKS: list[JsonValue] = [
    {"name": "unit", "url": "https://ci.example/1"},
    {"name": "e2e <chrome>", "url": None},
    {"name": "lint", "url": "https://ci.example/3"},
    {"name": "types", "url": "https://ci.example/4"},
]
BUSY = make_status(
    make_batch(make_queued(41), make_queued(42, title="Fix <b> & co"), estimated_merge_at=NOON),
    make_batch(make_queued(43), name="batch-8", code="waiting_for_previous_batches", checks=(0, 0)),
    waiting=[make_queued(44, priority_alias="high"), make_queued(45)],
)
TIMED = make_known_pause(resumes_at=NOON + timedelta(minutes=45))
LONG = make_status(
    *(make_batch(*(make_queued(n) for n in range(8)), name=f"batch-{b}") for b in range(7)),
    waiting=[make_queued(number) for number in range(100, 500)],
)
REPLACED = make_act(
    actor=BOB, reason="deploying", previous_reason="CI runners are down", previous_paused_at=NOON
)
EVALUATED = {
    "checks": [{"name": "unit tests", "state": "pending"}],
    "conditions_evaluation": {
        "match": False,
        "label": "all of",
        "subconditions": [
            {"match": False, "label": "check-success=unit tests"},
            {"match": False, "label": "label=ready <now>"},
            {"match": True, "label": "base=main"},
        ],
    },
}
REMOVAL = replace(make_act(Action.REMOVE, actor=BOB, reason=None), pull_request=41)
IMPACT = {"interrupted_batches": 2, "rechecked_pull_requests": 1, "cascaded_pull_requests": 3}
RELEASE = Group("release", (SITE, API))
WIDE = replace(
    make_subscription("merge", "action.queue.change", branches=frozenset({"main", "release/*"})),
    except_logins=frozenset({"renovate"}),
    style=Style.DIGEST,
    digest=DigestTime(time(9), "Europe/Paris"),
)
RESUMED = make_act(
    Action.RESUME,
    at=NOON + timedelta(minutes=102),
    previous_reason="CI runners are down",
    previous_paused_at=NOON,
)

CARD = PauseRecord(
    repository=SITE,
    paused_at=NOON,
    stored_reason="CI runners are down (by alice via Slack)",
    reason="CI runners are down",
    by=Who("alice", "U0ALICE"),
    queued_at_start=2,
    queued_now=2,
    pause_id=1,
)
OUT = CheckStatistics(
    SITE,
    timedelta(days=7),
    NOON - timedelta(days=7),
    NOON,
    Removals(
        9,
        {"unit tests": 6, "lint": 1},
        {"CHECKS_FAILED": 7, "PR_MANUALLY_DEQUEUED": 2},
        timedelta(minutes=90),
        timedelta(),
    ),
    Removals(4, {"unit tests": 2}, {"CHECKS_FAILED": 4}, timedelta(), timedelta(hours=5)),
)
BY_RULE = Evidence("unit tests", "main", (41, 43, 46), "S0ONCALL")
RULE = Who(AUTO_PAUSE.name, AUTO_PAUSE.user_id)
BOARD = Board("C0MERGEQ", SITE, "alice", NOON, board_id=7)
STATE = seen(None, make_snapshot(BUSY))
ELSEWHERE = replace(make_known_pause("by hand", actor=None), by=Who("carol"))
PAUSE_ENDED = replace(
    CARD,
    joined=frozenset(range(9)),
    ended_at=NOON + timedelta(minutes=102),
    ended_by=Who("bob", "U0BOB"),
    ending=PauseEnding.RESUMED,
)


def explain(error: Exception) -> Message:
    return errors.explain(
        error, command="/mq", reference="0a1b2c3d", repository=SITE, retry="status"
    )


def reported(type_: str, **details: object) -> Message:
    return event_posts.event(make_event_record(type_, **details), SEEN)  # type: ignore[arg-type]  # JSON values, as each case writes them


LEFT = make_event_record(
    LEAVE, event_id=3, code="CHECKS_FAILED", merged=False, queued_at=QUEUED_AT, checks=CHECKS
)
REMOVED = make_event_record(LEAVE, code="PR_MANUALLY_DEQUEUED", trigger="@bob", merged=False)
MERGE = make_event_record("action.queue.merged", received_at=NOON - timedelta(hours=2))
HISTORY = [
    make_event_record(received_at=NOON - timedelta(minutes=12)),
    make_event_record(
        "action.queue.checks_start", event_id=2, received_at=NOON - timedelta(minutes=11)
    ),
    LEFT,
]


def explained(place: QueuePosition, **fields: Any) -> Message:
    snapshot = fields.pop("snapshot", make_snapshot(BUSY))
    records = fields.pop("records", HISTORY[:2])
    seen = fields.pop("seen", SEEN)
    return why.why(Explanation(41, snapshot, place, records, {}, seen, **fields))


def make_checks(states: Mapping[str, str], conditions: str = "") -> SpeculativeCheck:
    checks = tuple(QueueCheck(name=name, state=state) for name, state in states.items())
    return SpeculativeCheck(checks=checks, evaluated_conditions=conditions)


def in_batch(code: str = "running", **queued: Any) -> InBatch:
    pull_request = make_queued(41).model_copy(update=queued)
    return InBatch(pull_request, make_batch(pull_request, code=code), 1)


WINDOW = Window(NOON - timedelta(days=30), NOON + timedelta(hours=1))
PLACE = LogPlace(LogSelection(SITE, WINDOW))
NARROW = LogPlace(
    LogSelection(SITE, WINDOW, 41, "main", frozenset({LEAVE, "action.queue.enter"})), "cursor"
)
RULES = (
    QueueRule(
        name="hotfix",
        config={
            "batch_size": 1,
            "batch_max_wait_time": 30,
            "checks_timeout": 5400,
            "allow_inplace_checks": True,
            "commit_message_template": None,
            "queue_conditions": ["label=hotfix", {"or": ["base=main"]}],
        },
    ),
    QueueRule(
        name="__default__",
        config={
            "batch_size": {"min": 2, "max": 5},
            "batch_max_wait_time": 0,
            "checks_timeout": "auto",
            "batch_max_failure_resolution_attempts": 3,
            "merge_method": "squash",
        },
    ),
)


def subscribed_to(
    one: Subscription,
    access: ChannelAccess = ChannelAccess.OPEN,
    configured: Sequence[Subscription] = (),
) -> Message:
    return subscriptions.subscribed(
        SITE, [one], access, command="/mq", bot_name="merge-queue", configured=configured
    )


def over(kind: AlertKind) -> Message:
    return alerts.over(replace(make_alert(kind), ended_at=NOON + timedelta(minutes=25)))


FREEZE = Freeze(
    SITE,
    92,
    92,
    NOON,
    FreezeAttributes(
        reason="release *week*",
        start="2026-07-20T18:00:00",
        end="2026-07-21T08:00:00",
        timezone="Europe/Paris",
        exclude_conditions=("label=hotfix",),
    ),
    "Ana",
    NOON + timedelta(hours=4),
    NOON + timedelta(hours=18),
    queued=5,
)

CASES: Mapping[str, Callable[[], Message | View]] = {
    "help": lambda: help_messages.help_text("/mq"),
    "help-pause": lambda: help_messages.help_text("/mq", "pause"),
    "help-resume": lambda: help_messages.help_text("/mq", "resume"),
    "status-empty": lambda: status.status(make_snapshot()),
    "status-busy": lambda: status.status(make_snapshot(BUSY, branch="main")),
    "status-paused": lambda: status.status(make_snapshot(BUSY, pause=make_known_pause())),
    "status-paused-timed": lambda: status.status(make_snapshot(BUSY, pause=TIMED)),
    "status-paused-elsewhere": lambda: status.status(
        make_snapshot(pause=make_known_pause("by hand", actor=None))
    ),
    "status-long": lambda: status.status(make_snapshot(LONG)),
    "status-waiting-page": lambda: status.waiting_page(make_snapshot(LONG), 390),
    "why-in-batch": lambda: explained(in_batch()),
    "why-frozen": lambda: explained(in_batch("frozen")),
    "why-details": lambda: explained(
        in_batch(),
        checks=MergeabilityCheck.model_validate(EVALUATED),
        details=QueuedDetails(position=2, checks_timeout_at=NOON, estimated_time_of_merge=NOON),
    ),
    "why-running-checks": lambda: explained(
        in_batch(), checks=make_checks({"unit tests": "pending", "lint": "success"})
    ),
    "why-open-conditions": lambda: explained(
        in_batch(), checks=make_checks({}, "- [X] `label=ready`\n- [ ] `#approved>=1`")
    ),
    "why-removed": lambda: explained(Left(REMOVED)),
    "why-conflict": lambda: explained(in_batch(conflict_with_pull_requests=(40, 39))),
    "why-in-line": lambda: explained(InQueue(make_queued(41), 3, 12)),
    "why-paused": lambda: explained(
        InQueue(make_queued(41), 1, 12), snapshot=make_snapshot(BUSY, pause=make_known_pause())
    ),
    "why-paused-elsewhere": lambda: explained(
        InQueue(make_queued(41), 3, 12), snapshot=make_snapshot(BUSY, pause=ELSEWHERE)
    ),
    "why-merged": lambda: explained(Merged(make_event_record("action.queue.merged"))),
    "why-left": lambda: explained(Left(LEFT), records=HISTORY),
    "why-left-without-metadata": lambda: explained(Left(make_event_record(LEAVE)), seen=None),
    "why-out-of-sight": lambda: explained(NotListed(), whole_log=False),
    "why-never-seen": lambda: explained(NeverQueued()),
    "event-log": lambda: event_log.event_log(
        LogPage(PLACE, HISTORY[::-1], {}, {41: SEEN}, older=replace(PLACE, cursor="next"))
    ),
    "event-log-filtered": lambda: event_log.event_log(
        LogPage(NARROW, HISTORY[::-1], newer=NARROW, older=NARROW, unreadable=1)
    ),
    "event-log-restarted": lambda: event_log.event_log(LogPage(PLACE, HISTORY[:1], restarted=True)),
    "event-log-empty": lambda: event_log.event_log(LogPage(PLACE, [])),
    "rules": lambda: rules.rules(SITE, RULES),
    "rules-many": lambda: rules.rules(SITE, RULES * 6, 5),
    "rules-whole": lambda: rules.rules(SITE, RULES, whole=True),
    "rules-none": lambda: rules.rules(SITE, ()),
    "branches": lambda: branches.branches(
        SITE,
        timedelta(days=7),
        BranchPage(
            (BranchActivity("main", 8, MERGE, SEEN), BranchActivity("release/4.2", 0)), 0, 2
        ),
    ),
    "branches-many": lambda: branches.branches(
        SITE,
        timedelta(days=7),
        BranchPage(tuple(BranchActivity(f"release/{n}") for n in range(20, 30)), 20, 50),
    ),
    "branches-none": lambda: branches.branches(SITE, timedelta(hours=24), BranchPage((), 0, 0)),
    "statistics": lambda: statistics.statistics(make_statistics()),
    "statistics-of-weeks": lambda: statistics.shared(
        make_statistics(branch="release/4.2", days=30)
    ),
    "statistics-cut": lambda: statistics.shared(replace(make_statistics(days=3), cut=True)),
    "statistics-without-merges": lambda: statistics.shared(make_statistics(each=(0, 0, 0))),
    "statistics-of-hours": lambda: statistics.shared(make_statistics(days=0.25)),
    "error-configuration": lambda: explain(
        InvalidConfiguration(422, "queue_rules: 'batch_size' must be at least 1")
    ),
    "home": lambda: home.home(
        make_home(
            make_snapshot(BUSY, pause=make_known_pause()),
            make_snapshot(repository=API),
            polled={SITE: NOON - timedelta(seconds=8), API: NOON - timedelta(minutes=9)},
            subscriptions=[
                make_subscription("merge", "failure"),
                make_subscription(channel_id="D0ALICE", repository=API),
            ],
            timed=[TIMED],
        ),
        make_viewer("ada"),
        "/mq",
    ),
    "home-unreadable-and-more": lambda: home.home(
        make_home(SITE, left_out=4), make_viewer(may_pause=False), "/mq"
    ),
    "home-nothing-of-mine": lambda: home.home(
        make_home(make_snapshot()), make_viewer("zoe"), "/mq"
    ),
    "home-not-well": lambda: home.home(
        make_home(
            outbox=make_outbox(
                waiting=12,
                in_doubt=1,
                oldest_at=NOON - timedelta(minutes=31),
                suspended=[("C0OLD", "is_archived")],
            )
        ),
        make_viewer(),
        "/mq",
    ),
    "home-database-away": home.unavailable,
    "linked": lambda: people.linked(make_person("ada"), "/mq"),
    "linked-first": lambda: people.linked(make_person("ada", failures=True), "/mq", is_first=True),
    "unlinked": lambda: people.unlinked(was_linked=True),
    "was-not-linked": lambda: people.unlinked(was_linked=False),
    "linked-without-mentions": lambda: people.linked(make_person("ada", mentions=False), "/mq"),
    "login-taken": lambda: people.taken("ada"),
    "login-assigned": lambda: people.assigned("ada"),
    "login-wanted-by-another": lambda: people.wanted_by("U0BOB", "ada", "/mq"),
    "me": lambda: people.me(make_person("ada"), "/mq"),
    "me-unknown": lambda: people.me(make_person(), "/mq"),
    "merge-told-its-author": lambda: people.direct(reported(MERGED), Notice.MERGE),
    "failure-told-its-author": lambda: people.direct(
        reported(LEAVE, merged=False, code="CHECKS_FAILED", checks=CHECKS, queued_at=QUEUED_AT),
        Notice.FAILURE,
    ),
    "me-waiting": lambda: people.me(
        replace(make_person("ada"), awaited=[RepositoryName(f"acme/r{n:02}") for n in range(12)]),
        "/mq",
    ),
    "me-stopped-waiting": lambda: people.me(
        make_person("ada"), "/mq", people.stopped_waiting(is_new=True)
    ),
    "me-switched": lambda: people.me(
        make_person("ada", mentions=False),
        "/mq",
        people.switched({Notice.MENTION: False}),
    ),
    "me-switched-before": lambda: people.me(
        make_person(),
        "/mq",
        people.switched({}),
    ),
    "question-expired": lambda: choice.expired("pause …", "/mq"),
    "which-paused-repository": lambda: choice.which_repository([API], "resume", running=SITE),
    "which-repository": lambda: choice.which_repository([SITE, API], "pause CI is down"),
    "merged-together": lambda: summaries.merged(
        [(make_event_record(MERGED), SEEN), (make_event_record(MERGED, pull_request=42), None)]
    ),
    "merged-together-many": lambda: summaries.merged(
        [
            (make_event_record(MERGED, pull_request=number, base_ref=None), SEEN)
            for number in range(41, 49)
        ]
    ),
    "summary": lambda: summaries.summary(
        {(SITE, EventKind.MERGE): 40, (SITE, EventKind.FAILURE): 1, (API, EventKind.CI): 2},
        NOON,
        [(make_event_record(LEAVE, merged=False, code="CHECKS_FAILED"), SEEN)],
    ),
    "summary-of-one-of-each-kind": lambda: summaries.summary(
        {(SITE, kind): 1 for kind in (*EventKind, None)}, NOON, []
    ),
    "pause-paused": lambda: pause.act(make_act()),
    "pause-replaced": lambda: pause.act(REPLACED),
    "pause-timed": lambda: pause.act(make_act(resumes_at=NOON + timedelta(minutes=45))),
    "pause-extended": lambda: pause.act(
        make_act(action=Action.EXTEND, resumes_at=NOON + timedelta(hours=2))
    ),
    "timer-did-nothing": lambda: pause.act(
        replace(RESUMED, origin=Origin.TIMER, result=ActResult.UNCHANGED)
    ),
    "extend-modal": lambda: timers.extend_form(SITE, "acme/site x", "C0MERGEQ"),
    "error-duration": lambda: explain(InvalidDuration(DurationProblem.UNREADABLE, "1.5h")),
    "pause-card": lambda: pause_card.card(CARD),
    "pause-card-timed": lambda: pause_card.card(replace(CARD, queued_now=7, timer=make_timer())),
    "pause-card-of-nobody": lambda: pause_card.card(
        replace(CARD, by=None, queued_at_start=None, queued_now=None)
    ),
    "pause-card-changed": lambda: pause_card.card(replace(CARD, previous_reason="night")),
    "pause-card-by-rule": lambda: pause_card.card(
        replace(
            CARD,
            reason=pause_card.reason_of(BY_RULE),
            by=RULE,
            timer=replace(make_timer(), set_by=RULE),
        ),
        BY_RULE,
        {41: make_pull_request_record()},
    ),
    "stats-checks": lambda: statistics.check_statistics(OUT),
    "weekly": lambda: statistics.weekly(replace(OUT, before=None)),
    "pause-kept": lambda: pause.act(make_act(action=Action.KEEP)),
    "pause-card-overdue": lambda: pause_card.card(replace(CARD, timer=make_timer(failures=1))),
    "pause-card-lifted": lambda: pause_card.card(PAUSE_ENDED),
    "pause-card-lifted-by-nobody": lambda: pause_card.card(
        replace(PAUSE_ENDED, ended_by=None, joined=frozenset())
    ),
    "pause-card-lifted-by-timer": lambda: pause_card.card(
        replace(PAUSE_ENDED, ending=PauseEnding.TIMER)
    ),
    "pause-card-replaced": lambda: pause_card.card(
        replace(PAUSE_ENDED, ending=PauseEnding.REPLACED)
    ),
    "pause-ended": lambda: pause_card.ended(PAUSE_ENDED),
    "pause-ended-by-nobody": lambda: pause_card.ended(
        replace(PAUSE_ENDED, ended_by=None, joined=frozenset())
    ),
    "pause-ended-by-timer": lambda: pause_card.ended(
        replace(PAUSE_ENDED, ending=PauseEnding.TIMER)
    ),
    "pause-resumed": lambda: pause_card.resumed(PAUSE_ENDED),
    "pause-resumed-and-paused-again": lambda: pause_card.resumed(PAUSE_ENDED, is_paused_again=True),
    "pause-resumed-for-you": lambda: pause_card.resumed_for_you(
        replace(PAUSE_ENDED, ended_by=Who("bob", "U0BOB"))
    ),
    "pause-resumed-for-you-and-paused-again": lambda: pause_card.resumed_for_you(
        PAUSE_ENDED, is_paused_again=True
    ),
    "pause-resumed-for-you-by-nobody": lambda: pause_card.resumed_for_you(
        replace(PAUSE_ENDED, ended_by=None)
    ),
    "pause-replaced-elsewhere": lambda: pause_card.replaced_elsewhere(
        replace(CARD, by=Who("carol"), reason="Deploying 4.2", previous_reason=CARD.reason)
    ),
    "pause-will-tell": lambda: pause_card.will_notify(SITE, is_new=True),
    "pause-will-tell-already": lambda: pause_card.will_notify(SITE, is_new=False),
    "pause-not-paused": lambda: pause.not_paused(SITE),
    "pause-already-running": lambda: pause.not_paused(SITE, PAUSE_ENDED),
    "pause-already-running-by-nobody": lambda: pause.not_paused(
        SITE, replace(PAUSE_ENDED, ended_by=None)
    ),
    "pause-already-running-by-timer": lambda: pause.not_paused(
        SITE, replace(PAUSE_ENDED, ending=PauseEnding.TIMER)
    ),
    "pause-already": lambda: pause.already_paused(SITE, make_known_pause(), "deploying"),
    "pause-already-timed": lambda: pause.already_paused(SITE, TIMED, "deploying"),
    "pause-already-timed-same-reason": lambda: pause.already_paused(
        SITE, TIMED, TIMED.reason, Until(time(15))
    ),
    "pause-already-same": lambda: pause.already_paused(SITE, TIMED, TIMED.reason, is_same=True),
    "remove": lambda: removals.question(
        WouldRemove(SITE, make_queued(41), RemovalImpact.model_validate(IMPACT))
    ),
    "remove-unaffecting": lambda: removals.question(
        WouldRemove(SITE, make_queued(41), RemovalImpact.model_validate(dict.fromkeys(IMPACT, 0)))
    ),
    "remove-unknown-impact": lambda: removals.question(
        WouldRemove(SITE, make_queued(41), RemovalImpact())
    ),
    "removed": lambda: removals.done(REMOVAL, make_pull_request_record()),
    "removed-in-doubt": lambda: removals.done(
        replace(REMOVAL, detail=LEFT_UNSEEN), make_pull_request_record()
    ),
    "not-removed-leaving": lambda: removals.not_removed(NotRemoved(SITE, 41, Unremovable.LEAVING)),
    "not-removed-gone": lambda: removals.not_removed(
        NotRemoved(SITE, 41, Unremovable.GONE, REMOVAL)
    ),
    "pause-confirm": lambda: pause.confirm(
        actions.PauseChoice(SITE, "CI runners are down", For(timedelta(minutes=45))),
        Impact(waiting=12, in_batches=9, running_batches=3, next_merge_at=NOON, checks=24),
        "/mq",
    ),
    "pause-confirm-one": lambda: pause.confirm(
        actions.PauseChoice(SITE, "CI runners are down"), Impact(0, 1, 1, None, 1), "/mq"
    ),
    "pause-in-doubt-running": lambda: pause.is_it_an_end(
        SITE, "CI down 45m", "CI down", For(timedelta(minutes=45)), Impact(1, 2, 2, None)
    ),
    "pause-in-doubt": lambda: pause.is_it_an_end(
        SITE, "CI down 45m", "CI down", For(timedelta(minutes=45))
    ),
    "pause-in-doubt-lone-number": lambda: pause.is_it_an_end(
        SITE, "90", "", For(timedelta(minutes=90))
    ),
    "pause-other-end": lambda: timers.other_end(SITE, TIMED),
    "pause-no-end": lambda: timers.other_end(SITE, make_known_pause()),
    "extend-modal-without-an-end": lambda: timers.extend_form(
        SITE, "acme/site x", "C0MERGEQ", had_end=False
    ),
    "pause-already-timed-both": lambda: pause.already_paused(
        SITE, TIMED, "deploying", Until(time(15))
    ),
    "pause-resume-other": lambda: pause.resume_other(API, TIMED),
    "pause-other": lambda: pause.other_pause(SITE, make_known_pause(actor=None)),
    "pause-other-timed": lambda: pause.other_pause(SITE, TIMED),
    "pause-over": lambda: pause.over(SITE),
    "pause-reply": lambda: pause.paused_reply(make_act()),
    "modal-one-repository": lambda: pause_form.form(
        [SITE], chosen=SITE, channel_id="C1", notes=pause_form.queue_notes(make_snapshot(BUSY))
    ),
    "modal-to-choose": lambda: pause_form.form(
        [SITE, API], chosen=None, channel_id=None, notes=[pause_form.CHOOSE_FIRST]
    ),
    "modal-already-paused": lambda: pause_form.form(
        [SITE, API],
        chosen=API,
        channel_id="C1",
        notes=pause_form.queue_notes(make_snapshot(pause=make_known_pause())),
        end="45m",
    ),
    "modal-working": lambda: pause_form.working_modal(SITE),
    "modal-result": lambda: pause_form.result_modal(pause.paused_reply(make_act()), "C1"),
    "subscribed": lambda: subscribed_to(make_subscription()),
    "subscribed-to-be-invited": lambda: subscribed_to(
        make_subscription("merge", "action.queue.change"), ChannelAccess.INVITE
    ),
    "subscribed-besides-the-configuration": lambda: subscribed_to(
        make_subscription("merge"), ChannelAccess.INVITE, [make_subscription("failure", "pause")]
    ),
    "subscribed-with-all-options": lambda: subscribed_to(WIDE),
    "subscribed-together": lambda: subscriptions.subscribed(
        RELEASE,
        [make_subscription("merge"), make_subscription("merge", "failure", repository=API)],
        ChannelAccess.INVITE,
        bot_name="merge-queue",
        configured=[make_subscription(repository=API)],
        command="/mq",
    ),
    "subscribed-together-already-so": lambda: subscriptions.already_so(
        Group(ALL, (SITE, API)), [make_subscription(), make_subscription(repository=API)], "/mq"
    ),
    "unsubscribed-together": lambda: subscriptions.unsubscribed(RELEASE, [SITE, API], [], "/mq"),
    "unsubscribed-together-in-part": lambda: subscriptions.unsubscribed(
        RELEASE, [SITE], [make_subscription("merge", repository=API)], "/mq"
    ),
    "narrowed-together": lambda: subscriptions.unsubscribed(
        RELEASE, [], [make_subscription("merge"), make_subscription("merge", repository=API)], "/mq"
    ),
    "was-not-subscribed-together": lambda: subscriptions.not_subscribed(RELEASE, [], "/mq"),
    "was-not-heard-together": lambda: subscriptions.not_subscribed(
        RELEASE, [make_subscription("merge")], "/mq"
    ),
    "subscribed-already-so": lambda: subscriptions.already_so(SITE, [WIDE], "/mq"),
    "subscriptions-with-a-default": lambda: subscriptions.subscriptions([WIDE], "/mq", SITE),
    "default-set": lambda: subscriptions.default_set(SITE),
    "default-forgotten": lambda: subscriptions.default_set(None),
    "default-told": lambda: subscriptions.default_reply(SITE, "/mq"),
    "default-none": lambda: subscriptions.default_reply(None, "/mq"),
    "subscriptions-test": lambda: subscriptions.samples(
        SITE,
        [("enter", []), ("merge", [WIDE, make_subscription("merge")]), ("failure", [WIDE])],
        "main",
    ),
    "board": lambda: board.board(BOARD, STATE),
    "board-empty": lambda: board.board(BOARD, seen(None, make_snapshot())),
    "board-long": lambda: board.board(BOARD, seen(None, make_snapshot(LONG))),
    "board-paused": lambda: board.board(
        BOARD,
        seen(
            None,
            make_snapshot(BUSY, pause=make_known_pause(resumes_at=NOON + timedelta(hours=1))),
        ),
    ),
    "board-silent": lambda: board.board(
        BOARD, STATE, Outage((SITE,), NOON, cause=OutageCause.SILENT)
    ),
    "board-refused": lambda: board.board(
        BOARD, STATE, Outage((SITE,), NOON, cause=OutageCause.REFUSED)
    ),
    "board-ended": lambda: board.ended(replace(BOARD, ended_at=NOON, ended_by="bob")),
    "board-there": lambda: board.there_already(SITE, "https://acme.example/archives/C1/p1"),
    "board-not-there": lambda: board.not_there(SITE),
    "board-ended-reply": lambda: board.ended_reply(SITE),
    "board-no-place": lambda: board.no_place(SITE, ChannelAccess.INVITE, "mqbot"),
    "alert-head": lambda: alerts.alert(make_alert(AlertKind.HEAD), make_pull_request_record(42)),
    "alert-head-without-a-title": lambda: alerts.alert(make_alert(AlertKind.HEAD)),
    "alert-batch": lambda: alerts.alert(make_alert(AlertKind.BATCH), make_pull_request_record(42)),
    "alert-depth": lambda: alerts.alert(make_alert(AlertKind.DEPTH)),
    "alert-failures": lambda: alerts.alert(
        make_alert(AlertKind.FAILURES), make_pull_request_record(42)
    ),
    "alert-head-over": lambda: over(AlertKind.HEAD),
    "alert-batch-over": lambda: over(AlertKind.BATCH),
    "alert-depth-over": lambda: over(AlertKind.DEPTH),
    "alert-failures-over": lambda: over(AlertKind.FAILURES),
    "outage": lambda: alerts.outage(Outage((SITE, API), NOON)),
    "outage-over": lambda: alerts.outage_over(
        Outage((SITE,) * 7, NOON, ended_at=NOON + timedelta(minutes=12))
    ),
    "outage-of-slack-over": lambda: alerts.outage_over(
        Outage((), NOON, cause=OutageCause.SLACK, ended_at=NOON + timedelta(minutes=42), late=1270)
    ),
    "unsubscribed": lambda: subscriptions.unsubscribed(SITE, [SITE], [], "/mq"),
    "unsubscribed-in-part": lambda: subscriptions.unsubscribed(
        SITE, [], [make_subscription("merge")], "/mq"
    ),
    "was-not-heard": lambda: subscriptions.not_subscribed(
        SITE, [make_subscription("merge", "failure")], "/mq"
    ),
    "was-not-subscribed": lambda: subscriptions.not_subscribed(SITE, [], "/mq"),
    "configured-stays": lambda: subscriptions.still_configured([SITE]),
    "subscriptions": lambda: subscriptions.subscriptions(
        [make_subscription(), make_subscription("ci", source=SubscriptionSource.CONFIGURATION)],
        "/mq",
    ),
    "subscriptions-none": lambda: subscriptions.subscriptions([], "/mq"),
    "error-unknown-verb": lambda: explain(
        CommandSyntaxError(
            "There is no command “pasue”.", "pause [reason]", ("pause",), ("pause CI is down",)
        )
    ),
    "error-repository": lambda: explain(RepositoryNotAllowed("acme/other", (SITE, API))),
    "error-which-repository": lambda: explain(RepositoryNotChosen((SITE, API))),
    "error-busy": lambda: explain(QueueBusy(SITE)),
    "error-blank-reason": lambda: explain(InvalidReason(0)),
    "error-long-reason": lambda: explain(InvalidReason(256)),
    "error-unavailable": lambda: explain(MergeQueueUnavailable("timeout")),
    "error-unreadable": lambda: explain(MergeQueueProtocolError("not JSON")),
    "error-credential": lambda: explain(CredentialRefused(403, "no")),
    "error-not-found": lambda: explain(ResourceNotFound(404, "no")),
    "error-conflict": lambda: explain(StateConflict(409, "changed")),
    "error-invalid": lambda: explain(InvalidRequest(422, "the file is <invalid>", field="branch")),
    "error-store": lambda: explain(StoreUnavailable("locked")),
    "error-cut-off": lambda: explain(CutOff()),
    "error-defect": lambda: explain(ZeroDivisionError("secret of ours")),
    "event-enter": lambda: reported("action.queue.enter", queue_name="hotfix"),
    "event-enter-untitled": lambda: event_posts.event(
        make_event_record(queue_name="__default__"), None
    ),
    "event-merge": lambda: reported("action.queue.merged", queued_at=QUEUED_AT),
    "event-merge-by-hand": lambda: reported(LEAVE, merged=True, code="PR_MANUALLY_MERGED"),
    "event-failure": lambda: reported(
        LEAVE, merged=False, code="CHECKS_FAILED", checks=CHECKS, queued_at=QUEUED_AT
    ),
    "event-failure-of-linked-authors": lambda: event_posts.event(
        make_event_record(LEAVE, merged=False, code="CHECKS_FAILED"),
        SEEN,
        calls=["<@U0ALICE>", "<@U0BOB>", "<@U0CAROL>", "<@U0DAVE>"],
    ),
    "event-failure-of-an-unknown-code": lambda: reported(LEAVE, merged=False, code="NEW_CODE"),
    "event-failure-with-a-reason": lambda: reported(LEAVE, reason="Rule\n`default` <gone>"),
    "event-removed-by-a-person": lambda: reported(
        LEAVE, merged=False, code="PR_MANUALLY_DEQUEUED", trigger="@bob"
    ),
    "event-checks-started": lambda: reported("action.queue.checks_start"),
    "event-checks-passed": lambda: reported("action.queue.checks_end", conclusion="success"),
    "event-checks-failed": lambda: reported(
        "action.queue.checks_end", aborted=True, code="CHECKS_TIMEOUT", checks=CHECKS[:1]
    ),
    "event-checks-of-a-batch-failed": lambda: reported(
        "action.queue.checks_end",
        aborted=True,
        code="CHECKS_FAILED",
        abort_status="DEFINITIVE",
        members=[41, 42, 43],
        checks=CHECKS[:1],
    ),
    "event-put-back": lambda: reported(
        "action.queue.checks_end", aborted=True, code="PR_AHEAD_DEQUEUED", abort_status="REEMBARKED"
    ),
    "event-checks-not-started": lambda: reported(
        "action.queue.checks_not_started", reason="no runner"
    ),
    "event-bisection-started": lambda: reported(
        "action.queue.batch_bisection_start", pull_requests=[1, 2, 3]
    ),
    "event-bisection-ended": lambda: reported(
        "action.queue.batch_bisection_end", culprits=[2], remaining=[1, 3]
    ),
    "event-bisection-without-culprit": lambda: reported(
        "action.queue.batch_bisection_end", culprit_found=False
    ),
    "event-paused": lambda: reported(
        "queue.pause.create", pull_request=None, base_ref=None, reason="by hand", actor="Ana"
    ),
    "event-pause-changed": lambda: reported(
        "queue.pause.update", pull_request=None, base_ref=None, reason="still", actor="Ana"
    ),
    "event-resumed": lambda: reported("queue.pause.delete", pull_request=None, actor="Ana"),
    "event-freeze": lambda: reported(
        "scheduled_freeze.create", pull_request=None, freeze={"reason": "holidays"}, actor="Ana"
    ),
    "freeze-planned": lambda: freezes.card(FREEZE),
    "freeze-in-force": lambda: freezes.card(
        replace(FREEZE, stage=Stage.IN_FORCE, queued=1),
        [button("End now", action_id="x", value="y")],
    ),
    "freeze-over": lambda: freezes.card(
        replace(FREEZE, stage=Stage.OVER, over_at=FREEZE.ends_at),
        [button("x", action_id="x", value="y")],
    ),
    "freeze-removed": lambda: freezes.card(
        replace(
            FREEZE,
            stage=Stage.OVER,
            over_at=NOON + timedelta(hours=4, minutes=5),
            removed_by="Ben",
            removed_for="shipped",
        )
    ),
    "freeze-canceled": lambda: freezes.card(
        replace(FREEZE, stage=Stage.OVER, over_at=NOON, removed_by="Ben")
    ),
    "freeze-announced": lambda: freezes.announced(replace(FREEZE, stage=Stage.ANNOUNCED)),
    "freeze-begun": lambda: freezes.begun(replace(FREEZE, stage=Stage.IN_FORCE)),
    "freeze-ended": lambda: freezes.over(replace(FREEZE, stage=Stage.OVER, over_at=FREEZE.ends_at)),
    "event-command": lambda: reported("command.queue", actor="ana"),
    "event-ci": lambda: reported("ci_issue.created", pull_request=None),
    "event-other": lambda: reported("action.of_tomorrow"),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_message_is_as_it_was_reviewed(name: str, snapshots: Snapshots) -> None:
    snapshots.check(name, CASES[name]())


def test_every_snapshot_is_of_a_message(snapshots: Snapshots) -> None:
    snapshots.check_names(CASES)
