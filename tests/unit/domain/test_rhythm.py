"""How far apart two looks at a log are."""

from datetime import timedelta

import pytest

from bot.domain.rhythm import Rhythm


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


@pytest.mark.parametrize(
    ("quiet", "wait"),
    [(0, 10), (-5, 10), (199, 10), (400, 20), (1200, 60), (86_400, 60)],
)
def test_a_quiet_log_is_looked_at_less_often_up_to_a_bound(quiet: float, wait: float) -> None:
    assert Rhythm(seconds(10), seconds(60)).wait(seconds(quiet)) == seconds(wait)


@pytest.mark.parametrize("longest", [10, 3])
def test_without_a_longer_bound_every_log_is_looked_at_at_the_interval(longest: float) -> None:
    assert Rhythm(seconds(10), seconds(longest)).wait(seconds(86_400)) == seconds(10)
