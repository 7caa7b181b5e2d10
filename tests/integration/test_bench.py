"""`python -m tests.bench --quick`: every row comes out, with figures that can be."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

ROWS = 28
"""How many lines the table has."""


@pytest.mark.timeout(600)
async def test_the_quick_benchmark_gives_every_row() -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench", "--quick", "--json"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complaints = await process.communicate()
    assert process.returncode == 0, complaints.decode()
    rows = json.loads(printed)["rows"]
    assert len({row["what"] for row in rows}) == len(rows) == ROWS
    for row in rows:
        assert row["floor"] is None or row["floor"] > 0, row
        # Nobody is a hundred times slower or faster than the same libraries without being broken.
        assert row["floor"] is None or 0.01 < row["ratio"] < 100, row
