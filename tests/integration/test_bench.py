"""`python -m tests.bench --quick`: every row comes out, with figures that can be."""

import asyncio
import json
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[2]

ROWS = 51
"""How many lines the whole table has."""

PARTS = {"polls": 1, "pages": 1}
"""The cheapest parts with a floor, and how many lines they have; a long run measures all parts."""


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")
@pytest.mark.timeout(600)
async def test_the_quick_benchmark_gives_every_row() -> None:
    is_long = settings.get_current_profile_name() == "long"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench", "--quick", "--json"),
        *(() if is_long else PARTS),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, complaints = await process.communicate()
    assert process.returncode == 0, complaints.decode()
    rows = json.loads(printed)["rows"]
    expected = ROWS if is_long else sum(PARTS.values())
    assert len({row["what"] for row in rows}) == len(rows) == expected
    for row in rows:
        assert row["floor"] is None or row["floor"] > 0, row
        # Nobody is a hundred times slower or faster than the same libraries without being broken.
        assert row["floor"] is None or 0.01 < row["ratio"] < 100, row
