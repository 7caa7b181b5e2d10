"""How pytest-xdist shares tests out: each goes to whichever process is free, but for a few."""

from collections.abc import Mapping

from typing_extensions import override
from xdist.scheduler import LoadScopeScheduling

TOGETHER: Mapping[str, str] = {
    "tests/browser/": "browser",
    "tests/chaos/": "chaos",
    "tests/integration/test_procfile.py": "processes",
    "tests/integration/test_rolling_restart.py": "processes",
    "tests/integration/test_several_workers.py": "processes",
    "tests/integration/test_shared_limits.py": "processes",
    "tests/integration/test_wheel.py": "wheel",
    "tests/integration/sandbox_slack/test_other_apps.py": "other apps",
}
"""Beginnings of test ids, and what their tests have in common: one Chromium; several processes of
the bot under load, which are not to disturb each other; one wheel; one installation of Bolt. Chaos
is a group of its own: it disturbs others no more than any test does, and takes minutes, which would
be left at the end if they came after those of the other processes."""


class OneByOne(LoadScopeScheduling):  # type: ignore[misc]  # pytest-xdist has no types
    """Most tests wait more than they compute, so that none of them has to stay with its file."""

    @override
    def _split_scope(self, nodeid: str) -> str:
        found = (name for begin, name in TOGETHER.items() if nodeid.startswith(begin))
        return next(found, nodeid)
