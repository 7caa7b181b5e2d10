"""Values that several cases show."""

from dataclasses import replace
from datetime import time, timedelta

from pydantic import JsonValue

from bot.acts.record import Action, Evidence
from bot.boards.board import Board, seen
from bot.channels.subscription import Style
from bot.freezes.calendar import CalendarEntry, EntryState
from bot.freezes.freeze import Freeze, Told
from bot.freezes.windows import OccurrenceKey
from bot.kernel.actor import Actor
from bot.kernel.cron import DigestTime
from bot.kernel.groups import Group
from bot.merge_queue.event_records import FreezeAttributes
from bot.merge_queue.queue import QueueRule
from bot.merge_queue.window import Window
from bot.pauses.by_rule import AUTO_PAUSE
from bot.pauses.pause import PausedQueue, PauseEnd, PauseLine, PauseRecord
from bot.questions.check_statistics import CheckStatistics, Removals
from bot.questions.snapshots import LogPlace, LogSelection
from bot.queues.estimate import Estimate, Outlook
from tests.support.clock import NOON
from tests.support.make import (
    API,
    BOB,
    SITE,
    make_act,
    make_batch,
    make_event_record,
    make_known_pause,
    make_pull_request_record,
    make_queued,
    make_snapshot,
    make_status,
    make_subscription,
    saying,
)
from tests.support.messages.rendering import later

SEEN = make_pull_request_record()
LEAVE = "action.queue.leave"
MERGED = "action.queue.merged"
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
ESTIMATE = Estimate(timedelta(minutes=40), timedelta(minutes=50), timedelta(minutes=65))
OUTLOOK = Outlook(
    Estimate(timedelta(minutes=8), timedelta(minutes=8), timedelta(minutes=8)), ESTIMATE
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
    line=PauseLine(
        paused_at=NOON,
        stored_reason="CI runners are down (by alice via Slack)",
        reason="CI runners are down",
        by=Actor("U0ALICE", "alice"),
    ),
    queue=PausedQueue(queued_at_start=2, queued_now=2),
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
RULE = AUTO_PAUSE
BOARD = Board("C0MERGEQ", SITE, "alice", NOON, board_id=7)
STATE = later(seen, None, make_snapshot(BUSY))
ELSEWHERE = saying(make_known_pause("by hand", actor=None), by=Actor("", "carol"))
PAUSE_ENDED = replace(
    CARD,
    queue=replace(CARD.queue, waited=frozenset(range(11))),
    end=PauseEnd(NOON + timedelta(minutes=102), Actor("U0BOB", "bob")),
)
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
PLANNED_ENTRY = CalendarEntry(
    SITE,
    EntryState.PLANNED,
    NOON + timedelta(hours=4),
    NOON + timedelta(hours=18),
    "release *week*",
    "Ana",
    freeze_id="6d6f1c0e-0000-4000-8000-000000000000",
    terms=FreezeAttributes(matching_conditions=("base=main",)),
    overlaps=("No merges at <night>",),
)
IN_FORCE_ENTRY = replace(
    PLANNED_ENTRY, state=EntryState.IN_FORCE, begins_at=NOON, overlaps=(), by=None
)
WINDOW_ENTRY = CalendarEntry(
    API,
    EntryState.PLANNED,
    NOON + timedelta(hours=8),
    NOON + timedelta(hours=16),
    "No merges at <night>",
    "window night",
    occurrence=OccurrenceKey(API, "night", NOON + timedelta(hours=8)),
    is_recurring=True,
)
SKIPPED_ENTRY = replace(WINDOW_ENTRY, state=EntryState.SKIPPED)
CALENDAR = (
    IN_FORCE_ENTRY,
    replace(IN_FORCE_ENTRY, repository=API, ends_at=None, reason=""),
    PLANNED_ENTRY,
    WINDOW_ENTRY,
    SKIPPED_ENTRY,
    replace(PLANNED_ENTRY, freeze_id=None, is_recurring=True),
)
FREEZE = Freeze(
    SITE,
    None,
    FreezeAttributes(
        reason="release *week*",
        start="2026-07-20T18:00:00",
        end="2026-07-21T08:00:00",
        timezone="Europe/Paris",
        exclude_conditions=("label=hotfix",),
    ),
    "Ana",
    Told(92, 92, NOON),
    queued=5,
)
