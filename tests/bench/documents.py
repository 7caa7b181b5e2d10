"""Writes docs/performance.md: the table, how it was made, and on what."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from tests.bench import table
from tests.bench.figures import Extent, Row
from tests.bench.growth import Curve

DOCUMENT = Path(__file__).parents[2] / "docs" / "performance.md"
TEMPLATE = Path(__file__).parent / "performance.md.template"


def write(rows: Sequence[Row], curves: Sequence[Curve], load: str, extent: Extent) -> None:
    """`load`: what else the machine was doing, as a reader has to know it."""
    written = TEMPLATE.read_text("utf-8").format(
        cores=os.cpu_count(),
        python=platform.python_version(),
        system=platform.system(),
        load=load,
        rounds=extent.rounds,
        table=table.of_rows(rows),
        growth=table.of_growth(curves),
    )
    DOCUMENT.write_text(written, "utf-8")
