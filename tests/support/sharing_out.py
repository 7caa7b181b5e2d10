"""How pytest-xdist distributes tests: each goes to a free process, except for a few groups."""

from collections.abc import Mapping, Sequence

import pytest
from typing_extensions import override
from xdist.scheduler import LoadScopeScheduling

PART_SIZE: Mapping[str, str] = {
    "tests/browser/": "browser",
    "tests/chaos/": "chaos",
    "tests/e2e/test_take_over.py": "processes",
    "tests/integration/test_noise.py": "noise",
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

WAITING = ("tests/e2e/", "tests/integration/")
"""Beginnings of the ids of tests that mostly wait; nearly all others compute."""


def by_turns(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Those that wait spread evenly among those that compute: the processors are never idle."""
    waiting = [one for one in items if one.nodeid.startswith(WAITING)]
    computing = [one for one in items if not one.nodeid.startswith(WAITING)]
    placed = [
        (number / len(group), one)
        for group in (waiting, computing)
        for number, one in enumerate(group)
    ]
    return [one for _, one in sorted(placed, key=lambda pair: pair[0])]


class OneByOne(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Most tests wait more than they compute, so that none of them has to stay with its file."""

    @override
    def _split_scope(self, nodeid: str) -> str:
        found = (name for begin, name in PART_SIZE.items() if nodeid.startswith(begin))
        return next(found, nodeid)
