"""Writes docs/performance.md: the table, how it was made, and on what."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from tests.bench import picture
from tests.bench.figures import Extent, Row
from tests.bench.growth import Curve
from tests.bench.table import for_document, growth_for_document

DOCUMENT = Path(__file__).parents[2] / "docs" / "performance.md"

GROWTH = "## Growth\n"
"""The heading of the page's second part."""

TEMPLATE = Path(__file__).parent / "performance.md.template"


def write(rows: Sequence[Row], curves: Sequence[Curve], load: str, extent: Extent) -> None:
    """`load`: what else the machine was doing, as a reader has to know it.

    Without rows the part above the growth stays as it is.
    """
    above, _, below = TEMPLATE.read_text("utf-8").partition(GROWTH)
    if rows:
        above = above.format(
            cores=os.cpu_count(),
            python=platform.python_version(),
            system=platform.system(),
            load=load,
            rounds=extent.rounds,
            table=for_document(rows),
        )
    else:
        above, _, _ = DOCUMENT.read_text("utf-8").partition(GROWTH)
    below = below.format(load=load, growth=growth_for_document(curves))
    picture.draw(curves)
    DOCUMENT.write_text(f"{above}{GROWTH}{below}", encoding="utf-8")
