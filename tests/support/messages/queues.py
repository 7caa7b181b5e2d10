"""What people asked to see of a queue, and boards, as cases."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from bot.blocks.blocks import without_controls
from bot.boards import texts as board_texts
from bot.boards.board import UnreadQueue, WhyUnread, seen
from bot.desk import help as desk_help
from bot.kernel.groups import ALL, Group, GroupAnswers
from bot.merge_queue.position import InBatch, InQueue, NotQueued, Place, QueuePosition
from bot.merge_queue.queue import MergeabilityCheck, QueueCheck, QueuedDetails, SpeculativeCheck
from bot.questions.snapshots import BranchActivity, BranchNames, BranchPage, LogPage
from bot.questions.statistics import TimeInQueue
from bot.questions.texts import (
    branches,
    event_log,
    rules,
    statistics as question_statistics,
    weekly,
    why,
)
from bot.questions.weekly_figures import WeekComparison, WeekFigures
from bot.queues.position import Explanation
from bot.queues.texts import status as queue_status
from bot.slack.ports import ChannelAccess
from tests.support.clock import NOON
from tests.support.make import (
    API,
    DOCS,
    SITE,
    make_batch,
    make_event_record,
    make_known_pause,
    make_queued,
    make_snapshot,
    make_statistics,
    make_status,
)
from tests.support.messages.rendering import Case, Cases, cases_of, later
from tests.support.messages.values import (
    BOARD,
    BUSY,
    ELSEWHERE,
    ESTIMATE,
    EVALUATED,
    FREEZE,
    HISTORY,
    LEAVE,
    LEFT,
    LONG,
    MERGE,
    NARROW,
    OUT,
    OUTLOOK,
    PLACE,
    REMOVED,
    RULES,
    SEEN,
    STATE,
    TIMED,
)


def explained(place: QueuePosition, **fields: Any) -> Case:
    snapshot = fields.pop("snapshot", make_snapshot(BUSY))
    records = fields.pop("records", HISTORY[:2])
    seen = fields.pop("seen", SEEN)
    return partial(why.why, Explanation(41, snapshot, place, records, {}, seen, **fields))


def make_checks(states: Mapping[str, str], conditions: str = "") -> SpeculativeCheck:
    checks = tuple(QueueCheck(name=name, state=state) for name, state in states.items())
    return SpeculativeCheck(checks=checks, evaluated_conditions=conditions)


def in_batch(code: str = "running", **queued: Any) -> InBatch:
    pull_request = make_queued(41).model_copy(update=queued)
    return InBatch(pull_request, make_batch(pull_request, code=code), 1)


def stats(**how: Any) -> Case:
    """As the channel sees it."""
    return partial(without_controls, later(question_statistics.statistics, make_statistics(**how)))


RELEASE = Group("release", (SITE, API))
THIS_WEEK = WeekFigures(
    merged=214,
    time_in_queue=TimeInQueue(timedelta(minutes=24), timedelta(minutes=95)),
    attempts=1.42,
    restarted=17,
    around=3,
    by_day=(*(timedelta(minutes=20 + day) for day in range(5)), None, timedelta(minutes=9)),
)
WEEK_BEFORE = WeekFigures(
    merged=198,
    time_in_queue=TimeInQueue(timedelta(minutes=19), timedelta(minutes=61)),
    attempts=1.2,
    restarted=4,
    around=0,
    by_day=(*(timedelta(minutes=18) for _ in range(5)), timedelta(minutes=6), None),
)


def answers(*found: Any, total: int | None = None) -> GroupAnswers[Any]:
    names = (SITE, API, DOCS)
    return GroupAnswers(list(zip(names, found, strict=False)), 0, total or len(found))


no_place = partial(cases_of(board_texts.no_place), SITE)
branches_of_a_week = partial(cases_of(branches.branches), SITE, timedelta(days=7))
boards = partial(cases_of(board_texts.board), BOARD)
helping = partial(cases_of(desk_help.help_text), "/mq")
log = cases_of(event_log.event_log)
rules_of = partial(cases_of(rules.rules), SITE)
status_of = cases_of(queue_status.status)
weekly_of = cases_of(weekly.weekly)

CASES: Cases = {
    "board-no-place-between-people": no_place(ChannelAccess.DIRECT, "mqbot"),
    "board-no-place-any-more": no_place(ChannelAccess.UNKNOWN, "mqbot"),
    "why-maybe-unreadable": explained(
        NotQueued(), records=[], snapshot=make_snapshot(make_status(unreadable=2)), seen=None
    ),
    "why-without-events": explained(NotQueued(REMOVED), records=[], snapshot=make_snapshot()),
    "help": helping(),
    "help-after-nonsense": helping(problem="I don't understand “thanks”."),
    "help-all": helping(is_whole=True),
    "help-extend": helping("extend"),
    "help-pause": helping("pause"),
    "help-resume": helping("resume"),
    "status-empty": status_of(make_snapshot()),
    "status-freeze-to-come": status_of(replace(make_snapshot(BUSY), next_freeze=FREEZE)),
    "status-first-batch-waits": status_of(
        make_snapshot(make_status(make_batch(make_queued(41), code="waiting_for_checks_slot")))
    ),
    "status-partly-frozen": status_of(
        replace(
            make_snapshot(
                make_status(make_batch(make_queued(41).model_copy(update={"is_frozen": False})))
            ),
            freezes=(FREEZE,),
        )
    ),
    "status-busy": status_of(make_snapshot(BUSY, branch="main")),
    "status-how-long": status_of(make_snapshot(BUSY), OUTLOOK),
    "status-paused": status_of(make_snapshot(BUSY, pause=make_known_pause())),
    "status-paused-timed": status_of(make_snapshot(BUSY, pause=TIMED)),
    "status-paused-elsewhere": status_of(
        make_snapshot(pause=make_known_pause("by hand", actor=None))
    ),
    "status-long": status_of(make_snapshot(LONG)),
    "status-waiting-page": partial(queue_status.waiting_page, make_snapshot(LONG), 390),
    "why-in-batch": explained(in_batch()),
    "why-frozen": explained(in_batch("frozen")),
    "why-how-long": explained(InQueue(make_queued(41), Place(3, 12)), estimate=ESTIMATE),
    "why-details": explained(
        in_batch(),
        checks=MergeabilityCheck.model_validate(EVALUATED),
        details=QueuedDetails(position=2, checks_timeout_at=NOON, estimated_time_of_merge=NOON),
    ),
    "why-failed-checks": explained(
        in_batch("bisecting"),
        checks=MergeabilityCheck.model_validate(
            {
                **EVALUATED,
                "checks": [
                    {"name": "unit tests", "state": "failure"},
                    {"name": "docs <preview>", "state": "timed_out"},
                ],
            }
        ),
    ),
    "why-running-checks": explained(
        in_batch(), checks=make_checks({"unit tests": "pending", "lint": "success"})
    ),
    "why-open-conditions": explained(
        in_batch(), checks=make_checks({}, "- [X] `label=ready`\n- [ ] `#approved>=1`")
    ),
    "why-removed": explained(NotQueued(REMOVED)),
    "why-conflict": explained(in_batch(conflict_with_pull_requests=(40, 39))),
    "why-in-line": explained(InQueue(make_queued(41), Place(3, 12))),
    "why-in-some-line": explained(InQueue(make_queued(41))),
    "why-paused": explained(
        InQueue(make_queued(41), Place(1, 12)),
        snapshot=make_snapshot(BUSY, pause=make_known_pause()),
    ),
    "why-paused-elsewhere": explained(
        InQueue(make_queued(41), Place(3, 12)), snapshot=make_snapshot(BUSY, pause=ELSEWHERE)
    ),
    "why-merged": explained(NotQueued(make_event_record("action.queue.merged"), has_merged=True)),
    "why-left": explained(NotQueued(LEFT), records=HISTORY),
    "why-not-put-back-yet": explained(
        NotQueued(make_event_record(LEAVE, merged=False, code="BATCH_AHEAD_FAILED"))
    ),
    "why-left-without-metadata": explained(NotQueued(make_event_record(LEAVE)), seen=None),
    "why-out-of-sight": explained(NotQueued(), is_log_read=False),
    "why-never-seen": explained(NotQueued(), records=[]),
    "event-log": log(
        LogPage(PLACE, HISTORY[::-1], {}, {41: SEEN}, older=replace(PLACE, cursor="next"))
    ),
    "event-log-filtered": log(
        LogPage(NARROW, HISTORY[::-1], newer=NARROW, older=NARROW, unreadable=1)
    ),
    "event-log-restarted": log(LogPage(PLACE, HISTORY[:1], restarted=True)),
    "event-log-empty": log(LogPage(PLACE, [])),
    "event-log-of-a-group": partial(
        event_log.log_of_group,
        RELEASE,
        answers(LogPage(PLACE, HISTORY[:1], {}, {41: SEEN}), LogPage(PLACE, []), None, total=120),
        since=timedelta(days=1),
        pull_request=41,
        branch="main",
        types=["action.queue.leave"],
    ),
    "rules-of-a-group": partial(rules.rules_of_group, RELEASE, answers(RULES * 6, (), None)),
    "branches-of-a-group": partial(
        branches.branches_of_group,
        RELEASE,
        timedelta(days=7),
        answers(BranchNames(["main", "release/4.2"]), BranchNames([]), None),
    ),
    "branches-of-a-group-now": partial(
        branches.branches_of_group,
        Group(ALL, (SITE, API)),
        timedelta(days=7),
        answers(BranchNames(["main"], is_now=True), BranchNames([], is_now=True)),
    ),
    "statistics-of-a-group": partial(
        question_statistics.statistics_of_group,
        RELEASE,
        timedelta(days=7),
        "main",
        answers(make_statistics(), replace(make_statistics(each=(0, 0, 0)), cut=True), None),
    ),
    "stats-checks-of-a-group": partial(
        question_statistics.checks_of_group,
        RELEASE,
        timedelta(days=7),
        answers(OUT, replace(OUT, before=None)),
    ),
    "rules": rules_of(RULES),
    "rules-many": rules_of(RULES * 6, 5),
    "rules-whole": rules_of(RULES, whole=True),
    "rules-none": rules_of(()),
    "branches": branches_of_a_week(
        BranchPage((BranchActivity("main", 8, MERGE, SEEN), BranchActivity("release/4.2", 0)), 0, 2)
    ),
    "branches-many": branches_of_a_week(
        BranchPage(tuple(BranchActivity(f"release/{n}") for n in range(20, 30)), 20, 50)
    ),
    "branches-none": partial(branches.branches, SITE, timedelta(hours=24), BranchPage((), 0, 0)),
    "statistics": partial(question_statistics.statistics, make_statistics()),
    "statistics-of-weeks": stats(branch="release/4.2", days=30),
    "statistics-cut": partial(
        without_controls,
        later(question_statistics.statistics, replace(make_statistics(days=3), cut=True)),
    ),
    "statistics-without-merges": stats(each=(0, 0, 0)),
    "statistics-of-hours": stats(days=0.25),
    "stats-checks": partial(question_statistics.check_statistics, OUT),
    "weekly": weekly_of(WeekComparison(OUT, THIS_WEEK, WEEK_BEFORE)),
    "weekly-first": weekly_of(WeekComparison(replace(OUT, before=None), THIS_WEEK, None)),
    "board": boards(STATE),
    "board-freeze-to-come": boards(
        later(seen, None, replace(make_snapshot(BUSY), next_freeze=FREEZE))
    ),
    "board-how-long": boards(STATE, OUTLOOK),
    "board-empty": boards(later(seen, None, make_snapshot())),
    "board-long": boards(later(seen, None, make_snapshot(LONG))),
    "board-paused": boards(
        later(
            seen,
            None,
            make_snapshot(BUSY, pause=make_known_pause(resumes_at=NOON + timedelta(hours=1))),
        )
    ),
    "board-silent": boards(later(replace, STATE, unread=UnreadQueue(NOON, WhyUnread.SILENT))),
    "board-refused": boards(later(replace, STATE, unread=UnreadQueue(NOON, WhyUnread.REFUSED))),
    "board-ended": partial(board_texts.board_ended, replace(BOARD, ended_at=NOON, ended_by="bob")),
    "board-there": partial(board_texts.there_already, SITE, "https://acme.example/archives/C1/p1"),
    "board-not-there": partial(board_texts.not_there, SITE),
    "board-ended-reply": partial(board_texts.ended_reply, SITE),
    "board-no-place": no_place(ChannelAccess.INVITE, "mqbot"),
}
