"""How pytest-xdist distributes tests: a free process gets a test, or a part of the unit tests."""

import random
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from typing_extensions import override
from xdist.scheduler import LoadScopeScheduling

PART_SIZE: Mapping[str, str] = {
    "tests/browser/": "browser",
    "tests/chaos/": "chaos",
    "tests/e2e/test_take_over.py": "processes",
    "tests/integration/test_noise.py": "noise",
    "tests/integration/test_outage_of_workers.py": "outage of workers",
    "tests/integration/test_procfile.py": "processes",
    "tests/integration/test_rolling_restart.py": "processes",
    "tests/integration/test_what_processes_share.py": "processes",
    "tests/integration/test_wheel.py": "wheel",
    "tests/integration/sandbox_slack/test_other_apps.py": "other apps",
    "tests/properties/test_exactly_once.py": "exactly once",
}
"""Beginnings of test ids, and what their tests have in common: one Chromium; several processes of
the bot under load, which are not to disturb each other; one wheel; one installation of Bolt. Chaos
is a group of its own: it disturbs others no more than any test does. Groups come first, the largest
before the others, so what takes minutes stands here as well: it is not left at the end."""

POSTGRES_SERVERS = 3
"""Each process that runs a test of PostgreSQL starts a server of its own, so not all of them do."""

WAITING = (
    (
        "tests/e2e/test_outcomes_of_every_act.py",
        "tests/e2e/test_notices.py",
        "tests/e2e/test_outcomes.py",
        "tests/e2e/test_slow_slack.py",
        "tests/e2e/test_threads.py",
        "tests/e2e/test_outages.py",
        "tests/integration/test_slack_sdk.py",
    ),
    (
        "tests/e2e/test_killed_however_asked.py",
        "tests/e2e/test_group_proposals_killed.py",
        "tests/e2e/test_every_event_type.py",
        "tests/e2e/test_status.py",
        "tests/integration/test_secrets.py",
        "tests/e2e/test_storms.py",
        "tests/integration/test_run_command.py",
    ),
    (
        "tests/e2e/test_crash_recovery.py",
        "tests/e2e/test_board.py",
        "tests/e2e/test_why_it_failed.py",
        "tests/e2e/test_queue_condition.py",
        "tests/e2e/test_slow_service.py",
        "tests/integration/test_outage_in_the_log.py",
        "tests/e2e/test_digest.py",
    ),
    (
        "tests/e2e/test_rotation.py",
        "tests/e2e/test_reload.py",
        "tests/e2e/test_event_posts.py",
        "tests/e2e/test_followed.py",
        "tests/e2e/test_why_nothing_merges.py",
        "tests/e2e/test_freezes.py",
        "tests/integration/test_disk.py",
        "tests/integration/test_log_of_a_bot.py",
    ),
    (
        "tests/e2e/test_pause_card.py",
        "tests/e2e/test_odd_logs.py",
        "tests/e2e/test_proposals_killed.py",
        "tests/e2e/test_clocks.py",
        "tests/integration/test_journeys.py",
        "tests/integration/test_check_and_run_agree.py",
        "tests/e2e/test_policies.py",
    ),
)
"""Beginnings of the ids of tests that wait much longer than they compute, up to 40 s each. One
process has all of a group, which take about six minutes together, and begins with them: so the
others, which have none of them, keep the processors busy."""


UNIT_PARTS = 150
"""Unit tests are so short that giving out each on its own would take a third of their time."""


def part_of(nodeid: str) -> str:
    """What a process runs in a row: a group, some fifty unit tests, or one test."""
    for begin, name in PART_SIZE.items():
        if nodeid.startswith(begin):
            return name
    for number, files in enumerate(WAITING):
        if nodeid.startswith(files):
            return f"waiting {number}"
    if "postgres" in nodeid:
        return f"postgres {zlib.crc32(nodeid.encode()) % POSTGRES_SERVERS}"
    if nodeid.startswith("tests/unit/"):
        return f"unit {zlib.crc32(nodeid.encode()) % UNIT_PARTS}"
    return nodeid


def mixed(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Groups first, the largest before the others; then all parts, not those of a folder in a row.

    These wait, or compute, nearly all: they would leave the processors idle, or each other without
    one. Every process agrees on the order.
    """
    sizes = Counter(part_of(item.nodeid) for item in items)

    def place(item: pytest.Item) -> tuple[int, float]:
        part = part_of(item.nodeid)
        is_group = not part.startswith(("tests/", "unit "))
        return (-sizes[part] if is_group else 0, random.Random(part).random())

    return sorted(items, key=place)


class OneByOne(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Most tests wait more than they compute, so that none of them has to stay with its file."""

    @override
    def _split_scope(self, nodeid: str) -> str:
        return part_of(nodeid)
