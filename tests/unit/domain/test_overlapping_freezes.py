"""Freezes of one queue at the same time: which one changes nothing, and until when they hold."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.freezes.freeze import Freeze, beside, held_until
from bot.freezes.outcomes import is_needless
from bot.merge_queue.freezes import FreezeTerms, ListedFreeze
from tests.support.clock import NOON
from tests.support.make import SITE

UTC = ZoneInfo("UTC")


def terms(
    start: float | None, hours: float | None, reason: str = "night", **conditions: tuple[str, ...]
) -> FreezeTerms:
    """From so many hours after noon on, for so long; without a start from now on."""
    begins = NOON + timedelta(hours=start) if start is not None else None
    ends = (begins or NOON) + timedelta(hours=hours) if hours is not None else None
    return FreezeTerms(reason, begins, ends, UTC, **conditions)


def freeze(
    start: float, hours: float | None, reason: str = "night", **conditions: tuple[str, ...]
) -> Freeze:
    sent = terms(start, hours, reason, **conditions).sent
    return Freeze(SITE, reason, ListedFreeze.model_validate({"id": reason, **sent}), "alice")


IN_FORCE = freeze(-1, 4)
ENDLESS = freeze(-1, None)
PLANNED = freeze(5, 4)


@pytest.mark.parametrize(
    ("known", "wanted", "needless"),
    [
        (IN_FORCE, terms(None, 2, "other"), True),
        (IN_FORCE, terms(None, 3, "other"), True),
        (IN_FORCE, terms(None, 3.01, "other"), True),
        (IN_FORCE, terms(None, 4, "other"), False),
        (IN_FORCE, terms(None, None, "other"), False),
        (IN_FORCE, terms(2, 4, "other"), False),
        (IN_FORCE, terms(1, 1, "other"), True),
        (IN_FORCE, terms(3, 1, "other"), False),
        (IN_FORCE, terms(None, 4), True),
        (IN_FORCE, terms(2, 4), False),
        (ENDLESS, terms(None, None, "other"), True),
        (ENDLESS, terms(2, 4, "other"), True),
        (PLANNED, terms(None, 2, "other"), False),
        (PLANNED, terms(None, 20), False),
        (PLANNED, terms(5, 4, "other"), True),
        (PLANNED, terms(6, 2, "other"), True),
        (PLANNED, terms(4, 4, "other"), False),
        (PLANNED, terms(6, 4, "other"), False),
        (IN_FORCE, terms(None, 2, "other", matching=("base=main",)), True),
        (freeze(-1, 4, matching=("base=main",)), terms(None, 2, "other"), False),
        (freeze(-1, 4, excluded=("label=hotfix",)), terms(None, 2), False),
    ],
)
def test_only_a_freeze_that_would_change_nothing_is_not_made(
    known: Freeze, wanted: FreezeTerms, *, needless: bool
) -> None:
    assert is_needless(wanted, known, NOON) is needless


def test_freezes_hold_merges_together_while_no_time_lies_between_them() -> None:
    first = freeze(0, 2, "first")
    second = freeze(1, 2, "second")
    third = freeze(3, 1, "third")
    later = freeze(5, 1, "later")
    together = beside(first, [later, third, second])
    assert together == [third, second]
    assert held_until([first, *together]) == NOON + timedelta(hours=4)
    assert beside(later, [first, second, third]) == []
    assert held_until([first, ENDLESS]) is None
