"""Our estimate of when something merges is better than last week's median, in a month of life."""

import pytest

from tests.bench.figures import QUICK
from tests.bench.queue_life import HABITS, Habits, month
from tests.bench.rows import estimate
from tests.bench.rows.estimate import MOST_AGAINST_NAIVE

OF_EACH_QUEUE = 4
LEAST_ANSWERED = 0.75


async def test_the_estimate_is_much_better_than_last_weeks_median() -> None:
    rows = await estimate.rows(QUICK)
    assert len(rows) == len(HABITS) * OF_EACH_QUEUE
    judged = [row for row in rows if row.goal == MOST_AGAINST_NAIVE]
    assert len(judged) == len(HABITS)
    assert [row.what for row in judged if row.is_missed] == []
    answered = [row.ratio for row in rows if row.what.endswith("questions that we answer")]
    assert min(answered) > LEAST_ANSWERED


@pytest.mark.parametrize("habits", HABITS)
def test_the_same_seed_gives_the_same_month(habits: Habits) -> None:
    first, second, other = (month(habits, days=7, seed=seed) for seed in (5, 5, 6))
    assert [entry.left for entry in first.entries] == [entry.left for entry in second.entries]
    assert [entry.left for entry in first.entries] != [entry.left for entry in other.entries]
