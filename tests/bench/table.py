"""The figures as a table, for a terminal or a document."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from tests.bench.figures import Row
from tests.bench.growth import Curve

HEADINGS = ("what", "ours", "floor", "ratio", "goal", "")


def for_terminal(rows: Sequence[Row], curves: Sequence[Curve]) -> Iterator[Table]:
    """What there is of both."""
    if rows:
        yield _of_rows(rows)
    if curves:
        yield _of_growth(curves)


def _of_rows(rows: Sequence[Row]) -> Table:
    table = Table(title="mqbot against its floors")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in {"what", ""} else "right")
    for row in rows:
        *cells, verdict = _cells(row)
        table.add_row(*cells, verdict, style="yellow" if row.is_missed else None)
    return table


def for_document(rows: Sequence[Row]) -> str:
    lines = ["| what | ours | floor | ratio | goal | |", "|---|---:|---:|---:|---:|---|"]
    lines += [f"| {' | '.join(_cells(row))} |" for row in rows]
    return "\n".join(lines)


def _of_growth(curves: Sequence[Curve]) -> Table:
    table = Table(title="CPU as it grows")
    for heading in ("what", "size", "seconds", "each"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    for cells in _growth(curves):
        table.add_row(*cells)
    return table


def growth_for_document(curves: Sequence[Curve]) -> str:
    """One line for each curve, with the CPU of one at each size."""
    lines = ["| what | CPU of each |", "|---|---|"]
    for curve in curves:
        figures = (f"{_each(size, seconds)} at {size:,}" for size, seconds in curve.points)
        lines.append(f"| {curve.what} | {', '.join(figures)} {curve.of} |")
    return "\n".join(lines)


def _growth(curves: Sequence[Curve]) -> Iterator[tuple[str, ...]]:
    for curve in curves:
        for size, seconds in curve.points:
            yield curve.what, f"{size:,} {curve.of}", f"{seconds:.2f} s", _each(size, seconds)


def _each(size: int, seconds: float) -> str:
    return f"{seconds / size * 1000:.2f} ms"


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.what,
        _figure(row.ours, row.unit),
        "none" if row.floor is None else _figure(row.floor, row.unit),
        f"{row.ratio:.2f}",
        row.goal_text,
        row.verdict,
    )


def _figure(value: float, unit: str) -> str:
    digits = 0 if value >= 100 or value == int(value) else 2
    return f"{value:,.{digits}f} {unit}".strip()
