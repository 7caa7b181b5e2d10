"""The figures as Markdown tables, for a terminal and for the page."""

from collections.abc import Sequence

from tests.bench.figures import Row
from tests.bench.growth import Curve


def of_rows(rows: Sequence[Row]) -> str:
    lines = ["| what | ours | floor | ratio | goal | |", "|---|---:|---:|---:|---:|---|"]
    for row in rows:
        floor = "none" if row.floor is None else _figure(row.floor, row.unit)
        ours = _figure(row.ours, row.unit)
        ratio = f"{row.ratio:.2f}"
        cells = row.what, ours, floor, ratio, row.goal_text, row.verdict
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def of_growth(curves: Sequence[Curve]) -> str:
    """One line for each curve, with the CPU of one at each size."""
    lines = ["| what | CPU of each |", "|---|---|"]
    for curve in curves:
        points = (f"{seconds / size * 1000:.2f} ms at {size:,}" for size, seconds in curve.points)
        lines.append(f"| {curve.what} | {', '.join(points)} {curve.of} |")
    return "\n".join(lines)


def _figure(value: float, unit: str) -> str:
    digits = 0 if value >= 100 or value == int(value) else 2
    return f"{value:,.{digits}f} {unit}".strip()
