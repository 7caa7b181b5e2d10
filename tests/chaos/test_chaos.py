"""Short chaos runs: every event is posted once and in order, whatever dies."""

from pathlib import Path

import pytest

from tests.chaos.plan import Options, make_plan
from tests.chaos.report import killed, table
from tests.chaos.run import run
from tests.support.postgres import postgres_or_skip


def test_a_plan_is_the_same_for_the_same_seed() -> None:
    assert make_plan(Options(seed=5)) == make_plan(Options(seed=5))
    assert make_plan(Options(seed=5)) != make_plan(Options(seed=6))


@pytest.mark.timeout(900)
async def test_twenty_kills_cause_no_loss_duplication_or_reordering(tmp_path: Path) -> None:
    options = Options(seed=20, minutes=1.2, kills=20, long_freezes=0, drain_seconds=180)

    result = await run(options, tmp_path)

    assert result.is_good, table(result)
    assert killed(result) == 20
    assert result.verdict.posts > 0


@pytest.mark.postgres
@pytest.mark.timeout(900)
async def test_two_processes_and_a_database_crash_report_everything_once(tmp_path: Path) -> None:
    postgres_or_skip()
    options = Options(
        seed=21,
        minutes=1.0,
        kills=6,
        database="postgres",
        processes=2,
        long_freezes=1,
        drain_seconds=180,
    )

    result = await run(options, tmp_path)

    assert result.is_good, table(result)
    assert result.acts["database server killed"] > 0
    assert any(act.startswith("cut off from the database") for act in result.acts)
    assert result.verdict.posts > 0
