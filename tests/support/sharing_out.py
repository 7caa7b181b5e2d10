"""How pytest-xdist distributes tests: each goes to a free process, except for a few groups."""

import random
import zlib
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

LONG = (
    "tests/e2e/test_crash_recovery.py",
    "tests/e2e/test_followed.py",
    "tests/e2e/test_group_proposals_killed.py",
    "tests/e2e/test_killed_however_asked.py",
    "tests/e2e/test_proposals_killed.py",
    "tests/e2e/test_rotation.py",
    "tests/e2e/test_slow_service.py",
    "tests/integration/test_demo_command.py",
    "tests/integration/test_disk.py",
    "tests/integration/test_journeys.py",
)
"""Beginnings of the ids of tests that take up to 40 s each, mostly to wait for a lease to end."""

LONG_UNTIL = 0.8
"""By which part of all tests the last long one has begun: none is left alone at the end."""


def mixed(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests in an order that every process agrees on, those that wait among those that compute.

    A folder's or a file's tests wait, or compute, nearly all: in a row, they would leave the
    processors idle, or each other without one.
    """
    chance = random.Random(0)

    def place(item: pytest.Item) -> float:
        return chance.random() * (LONG_UNTIL if item.nodeid.startswith(LONG) else 1)

    return sorted(items, key=place)


class OneByOne(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Most tests wait more than they compute, so that none of them has to stay with its file."""

    @override
    def _split_scope(self, nodeid: str) -> str:
        for begin, name in PART_SIZE.items():
            if nodeid.startswith(begin):
                return name
        if "postgres" in nodeid:
            return f"postgres {zlib.crc32(nodeid.encode()) % POSTGRES_SERVERS}"
        return nodeid
