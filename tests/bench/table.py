"""The figures as people read them: in a terminal and in a document."""

from collections.abc import Sequence

from rich.table import Table

from tests.bench.figures import Row

HEADINGS = ("what", "ours", "floor", "ratio", "goal", "")


def for_terminal(rows: Sequence[Row]) -> Table:
    table = Table(title="mqbot against its floors")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in {"what", ""} else "right")
    for row in rows:
        *cells, verdict = _cells(row)
        table.add_row(*cells, verdict, style=None if row.is_met else "yellow")
    return table


def for_document(rows: Sequence[Row]) -> str:
    lines = ["| what | ours | floor | ratio | goal | |", "|---|---:|---:|---:|---:|---|"]
    lines += [f"| {' | '.join(_cells(row))} |" for row in rows]
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.what,
        _figure(row.ours, row.unit),
        "none" if row.floor is None else _figure(row.floor, row.unit),
        f"{row.ratio:.2f}",
        row.goal_text,
        "met" if row.is_met else "missed",
    )


def _figure(value: float, unit: str) -> str:
    digits = 0 if value >= 100 or value == int(value) else 2
    return f"{value:,.{digits}f} {unit}".strip()
