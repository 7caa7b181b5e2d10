"""Draws the growth: the measurements, next to a linear line."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from tests.bench.growth import Curve

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "growth.svg"


def draw(curves: Sequence[Curve], path: Path = PICTURE) -> None:
    # The same figures give the same file.
    mpl.rcParams["svg.hashsalt"] = "mqbot"
    figure = Figure(figsize=(12, 4), layout="constrained")
    for axes, curve in zip(figure.subplots(1, len(curves)), curves, strict=True):
        sizes = [size for size, _ in curve.points]
        seconds = [second for _, second in curve.points]
        per_unit = seconds[-1] / sizes[-1]
        axes.loglog(sizes, seconds, marker="o", label="measured")
        axes.loglog(sizes, [per_unit * size for size in sizes], "k--", label="linear")
        axes.set_title(curve.what)
        axes.set_xlabel(curve.of)
        axes.set_ylabel("seconds of CPU")
        axes.grid(visible=True, alpha=0.3)
        axes.legend()
    figure.savefig(path, metadata={"Date": None})
