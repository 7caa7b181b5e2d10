"""What docs/scaling.md says of the disk holds."""

import re
from pathlib import Path

import pytest

from tests import capacity
from tests.documentation import ROOT

EVENTS = 3000


@pytest.mark.timeout(240)
async def test_an_event_takes_no_more_of_the_disk_than_documented(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "scaling.md").read_text()
    (documented,) = re.findall(r"^\| SQLite \| ([\d.]+) kB \| ([\d.]+) kB \|$", page, re.MULTILINE)
    each = await capacity.disk(EVENTS, f"sqlite:///{tmp_path / 'bot.sqlite3'}", 200)
    assert each == pytest.approx(1000 * sum(map(float, documented)), rel=0.2)
