"""Events, summaries and alerts, as cases."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from bot.blocks import explain
from bot.doctor.diagnosis import QueueCause, QueueVerdict
from bot.feed.repeats import Repeats
from bot.feed.texts import event_posts, summaries
from bot.health import texts as health_texts
from bot.health.alert import Alert, AlertKind
from bot.health.cause import ToldCause
from bot.health.outage import Outage, OutageCause, SlackOutage
from bot.log.classification import EventKind
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import DEQUEUE_CODES
from bot.storms import texts as storm_texts
from bot.storms.storm import FailureStorm, StormEnd
from bot.storms.texts import Failed
from bot.verdicts.verdict import Facts, judge
from tests.support.clock import NOON
from tests.support.event_samples import ERAS, TYPES, checks_end_with, leave_with, sample_record
from tests.support.make import API, SITE, make_event_record, make_pull_request_record
from tests.support.messages.rendering import A_CAUSE, ITS_EVIDENCE, Case, Cases, later
from tests.support.messages.values import CHECKS, FREEZE, LEAVE, MERGED, QUEUED_AT, SEEN


def reported(type_: str, **details: Any) -> Any:
    return partial(event_posts.event, make_event_record(type_, **details), SEEN)


VALUES = {
    AlertKind.HEAD: (5460, 5400),
    AlertKind.BATCH: (3605, 3600),
    AlertKind.DEPTH: (51, 50),
    AlertKind.FAILURES: (5, 5),
    AlertKind.CAUSE: (660, 600),
}


def make_alert(kind: AlertKind = AlertKind.HEAD, ended_at: datetime | None = None) -> Alert:
    """Just over the threshold."""
    value, threshold = VALUES[kind]
    about = None if kind is AlertKind.DEPTH else 42
    batch = "B12" if kind is AlertKind.BATCH else None
    return Alert(SITE, kind, value, threshold, NOON, about, batch, ended_at)


def over(kind: AlertKind) -> Case:
    return partial(health_texts.alert_over, make_alert(kind, NOON + timedelta(minutes=25)))


def of_nothing_queued(type_: str, **details: Any) -> Any:
    return reported(type_, pull_request=None, actor="Ana", **details)


OF_42 = make_pull_request_record(42)
FAILED = make_event_record(LEAVE, merged=False, code="CHECKS_FAILED")

REQUIRED_FAILED = make_event_record(
    LEAVE,
    event_id=500,
    merged=False,
    code="CHECKS_FAILED",
    checks=[
        {"name": "unit tests", "url": "https://ci.example/1", "is_required": True},
        {"name": "docs preview", "url": "https://ci.example/2", "is_required": False},
    ],
    checks_passed=9,
    queued_at=QUEUED_AT,
)


def earlier(type_: str, number: int = 50, **details: Any) -> EventRecord:
    at = NOON - timedelta(minutes=10)
    return make_event_record(type_, event_id=number, received_at=at, pull_request=number, **details)


def failure_of(number: int, check: str) -> EventRecord:
    return earlier(LEAVE, number, merged=False, code="CHECKS_FAILED", checks=[{"name": check}])


def judged(facts: Facts) -> Case:
    return partial(event_posts.event, facts.record, SEEN, verdict=later(judge, facts))


MERGES = [earlier(MERGED, 70 + place) for place in range(8)]
CONFLICTED = make_event_record(LEAVE, merged=False, code="CONFLICT_WITH_BASE_BRANCH")
TWELVE_TIMES = Repeats(NOON - timedelta(hours=2), CONFLICTED, 12)

STORM = FailureStorm(SITE, "500", NOON - timedelta(minutes=20), NOON)
STORMED = [
    Failed(failure_of(42, "lint"), SEEN),
    *(Failed(failure_of(number, "unit <tests>"), None) for number in range(43, 50)),
]
STORM_OVER = STORM.after_merge(NOON + timedelta(minutes=15))
STORM_LAPSED = STORM.after_reading(NOON + timedelta(hours=1))

CASES: Cases = {
    "storm": partial(storm_texts.storm, STORM, STORMED),
    "storm-of-a-branch": partial(
        storm_texts.storm,
        replace(STORM, branch="release/<1.2>"),
        STORMED,
        is_only_branch=False,
    ),
    "storm-of-a-branch-over": partial(
        storm_texts.storm, replace(STORM_OVER, branch="release/<1.2>"), STORMED
    ),
    "storm-over": partial(storm_texts.storm, STORM_OVER, STORMED),
    "storm-of-a-removed-repository": partial(
        storm_texts.storm, STORM.ended(NOON, StormEnd.UNFOLLOWED), STORMED
    ),
    "storm-lapsed": partial(storm_texts.storm, STORM_LAPSED, STORMED),
    "storm-lapsed-and-forgotten": partial(storm_texts.storm, STORM_LAPSED, []),
    "storm-forgotten": partial(storm_texts.storm, STORM, []),
    "event-failure-repeated": partial(
        event_posts.event, CONFLICTED, SEEN, calls=["<@U0ALICE>"], repeats=TWELVE_TIMES
    ),
    "event-failure-repeated-in-a-thread": partial(
        event_posts.event, CONFLICTED, SEEN, is_brief=True, repeats=TWELVE_TIMES
    ),
    "message-that-could-not-be-rendered": partial(
        explain.unrendered, SITE, EventKind.MERGE, updates=1
    ),
    "event-freeze-at-an-unreadable-time": of_nothing_queued(
        "scheduled_freeze.create",
        freeze={"reason": "holidays", "start": "next week", "timezone": "Mars/Olympus"},
    ),
    "merged-together": partial(
        summaries.merged,
        [(make_event_record(MERGED), SEEN), (make_event_record(MERGED, pull_request=42), None)],
    ),
    "merged-together-hours-ago": partial(
        summaries.merged,
        [(make_event_record(MERGED), SEEN), (make_event_record(MERGED, pull_request=42), None)],
        is_late=True,
    ),
    "merged-together-many": partial(
        summaries.merged,
        [(make_event_record(MERGED, pull_request=n, base_ref=None), SEEN) for n in range(41, 49)],
    ),
    "summary": partial(
        summaries.summary,
        {(SITE, EventKind.MERGE): 40, (SITE, EventKind.FAILURE): 1, (API, EventKind.CI): 2},
        NOON,
        ((FAILED, SEEN),),
    ),
    "summary-of-one-of-each-kind": partial(
        summaries.summary, {(SITE, kind): 1 for kind in (*EventKind, None)}, NOON, []
    ),
    "alert-head": partial(health_texts.alert, make_alert(AlertKind.HEAD), OF_42),
    "alert-head-without-a-title": partial(health_texts.alert, make_alert(AlertKind.HEAD)),
    "alert-batch": partial(health_texts.alert, make_alert(AlertKind.BATCH), OF_42),
    "alert-depth": partial(health_texts.alert, make_alert(AlertKind.DEPTH)),
    "alert-failures": partial(health_texts.alert, make_alert(AlertKind.FAILURES), OF_42),
    "alert-with-its-cause": partial(
        health_texts.alert,
        replace(
            make_alert(AlertKind.HEAD),
            cause=QueueCause(QueueVerdict.SAME_CHECK, A_CAUSE, ITS_EVIDENCE),
        ),
        OF_42,
    ),
    "alert-cause": partial(
        health_texts.alert,
        replace(
            make_alert(AlertKind.CAUSE),
            pull_request=None,
            cause=QueueCause(QueueVerdict.SAME_CHECK, A_CAUSE, ITS_EVIDENCE),
        ),
    ),
    "alert-another-cause": partial(
        health_texts.cause_found, ToldCause(7, SITE, QueueVerdict.SAME_CHECK, A_CAUSE, NOON)
    ),
    "alert-cause-over": over(AlertKind.CAUSE),
    "alert-head-over": over(AlertKind.HEAD),
    "alert-batch-over": over(AlertKind.BATCH),
    "alert-depth-over": over(AlertKind.DEPTH),
    "alert-failures-over": over(AlertKind.FAILURES),
    "outage": partial(health_texts.outage, Outage((SITE, API), NOON)),
    **{
        f"outage-{cause.value}": partial(
            health_texts.outage,
            Outage((SITE,), NOON, cause=cause, said="403 forbidden: <!here> no"),
        )
        for cause in OutageCause
    },
    "outage-over": partial(
        health_texts.outage_over, Outage((SITE,) * 7, NOON, ended_at=NOON + timedelta(minutes=12))
    ),
    "outage-of-slack-over": partial(
        health_texts.slack_outage_over, SlackOutage(NOON, NOON + timedelta(minutes=42), late=1270)
    ),
    "event-enter": reported("action.queue.enter", queue_name="hotfix"),
    "event-enter-untitled": partial(
        event_posts.event, make_event_record(queue_name="__default__"), None
    ),
    "event-merge": reported("action.queue.merged", queued_at=QUEUED_AT),
    "event-merge-hours-ago": partial(
        explain.late,
        later(event_posts.event, make_event_record(MERGED), SEEN),
        make_event_record(MERGED).received_at,
    ),
    "event-merge-by-hand": reported(LEAVE, merged=True, code="PR_MANUALLY_MERGED"),
    "event-failure": reported(
        LEAVE, merged=False, code="CHECKS_FAILED", checks=CHECKS, queued_at=QUEUED_AT
    ),
    "event-failure-that-others-have-too": judged(
        Facts(
            REQUIRED_FAILED,
            others=[failure_of(50, "unit tests"), failure_of(51, "unit tests"), *MERGES],
        )
    ),
    "event-failure-by-another-of-its-batch": judged(
        Facts(
            REQUIRED_FAILED,
            others=[
                earlier(
                    "action.queue.batch_bisection_end", pull_requests=[41, 42, 43], culprits=[42]
                )
            ],
        )
    ),
    "event-failure-in-a-storm": judged(
        Facts(
            REQUIRED_FAILED,
            others=[
                failure_of(50 + place, name)
                for place, name in enumerate(["e2e", "lint", "types"] * 2)
            ],
            is_storm=True,
        )
    ),
    "event-failure-without-a-run": judged(
        Facts(
            make_event_record(LEAVE, merged=False),
            own=[earlier("action.queue.checks_not_started", 41, reason="No runner is free.")],
        )
    ),
    "event-failure-in-a-pause": judged(Facts(REQUIRED_FAILED, is_paused=True)),
    "event-failure-of-linked-authors": partial(
        event_posts.event, FAILED, SEEN, calls=["<@U0ALICE>", "<@U0BOB>", "<@U0CAROL>", "<@U0DAVE>"]
    ),
    "event-failure-of-an-unknown-code": reported(LEAVE, merged=False, code="NEW_CODE"),
    "event-failure-with-a-reason": reported(LEAVE, reason="Rule\n`default` <gone>"),
    "event-removed-by-a-person": reported(
        LEAVE, merged=False, code="PR_MANUALLY_DEQUEUED", trigger="@bob"
    ),
    "event-checks-started": reported("action.queue.checks_start"),
    "event-checks-passed": reported("action.queue.checks_end", conclusion="success"),
    "event-checks-failed": reported(
        "action.queue.checks_end", aborted=True, code="CHECKS_TIMEOUT", checks=CHECKS[:1]
    ),
    "event-checks-of-a-batch-failed": reported(
        "action.queue.checks_end",
        aborted=True,
        code="CHECKS_FAILED",
        abort_status="DEFINITIVE",
        members=[41, 42, 43],
        checks=CHECKS[:1],
    ),
    "event-put-back": reported(
        "action.queue.checks_end", aborted=True, code="PR_AHEAD_DEQUEUED", abort_status="REEMBARKED"
    ),
    "event-checks-not-started": reported("action.queue.checks_not_started", reason="no runner"),
    "event-bisection-started": reported(
        "action.queue.batch_bisection_start", pull_requests=[1, 2, 3]
    ),
    "event-bisection-ended": reported(
        "action.queue.batch_bisection_end", culprits=[2], remaining=[1, 3]
    ),
    "event-bisection-without-culprit": reported(
        "action.queue.batch_bisection_end", culprit_found=False
    ),
    "event-paused": of_nothing_queued("queue.pause.create", base_ref=None, reason="by hand"),
    "event-pause-changed": of_nothing_queued("queue.pause.update", base_ref=None, reason="still"),
    "event-resumed": of_nothing_queued("queue.pause.delete"),
    "event-freeze": of_nothing_queued("scheduled_freeze.create", freeze={"reason": "holidays"}),
    "event-freeze-ended-beside-another": partial(
        event_posts.event,
        make_event_record(
            "scheduled_freeze.delete",
            pull_request=None,
            actor="Ana",
            reason="released",
            freeze={"reason": "release week", "start": "2026-07-19T08:00:00"},
        ),
        None,
        others=[FREEZE],
    ),
    "event-command": reported("command.queue", actor="ana"),
    "event-ci": reported("ci_issue.created", pull_request=None),
    "event-other": reported("action.of_tomorrow"),
}

WITH_LITTLE = (" seed", " none", " in a thread")
"""How the names of cases end that show no more than another one."""

OF_EVERY_TYPE: Cases = {
    **{
        f"event {each} {era}": partial(event_posts.event, sample_record(each, era), SEEN)
        for each in TYPES
        for era in ERAS
    },
    **{
        f"{kind} {code}{where}": partial(
            event_posts.event,
            make(code),
            SEEN,
            calls=["<@U0ADA>", "<@U0GRACE>"],
            is_brief=bool(where),
        )
        for code in sorted(DEQUEUE_CODES)
        for kind, make in (("leave", leave_with), ("checks end", checks_end_with))
        for where in (" in a thread", "")
    },
}
"""`test_meaning` holds these as they were reviewed."""
