"""The report of `mqbot check`: a table for people, JSON for machines."""

import json
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bot.domain.checks import Finding, Standing

MARKS = {Standing.OK: "✓", Standing.WRONG: "✗", Standing.UNKNOWN: "?"}
PLAIN_MARKS = {Standing.OK: "+", Standing.WRONG: "x", Standing.UNKNOWN: "?"}
STYLES = {Standing.OK: "green", Standing.WRONG: "bold red", Standing.UNKNOWN: "yellow"}

NARROWEST = 80

Redact = Callable[[str], str]


def as_json(found: Sequence[Finding], redact: Redact) -> str:
    """`{"ok": bool, "findings": [{"area", "subject", "standing", "sentence", "mend"}]}`."""
    body = {
        "ok": all(one.standing is Standing.OK for one in found),
        "findings": [
            {
                "area": one.area,
                "subject": redact(one.subject),
                "standing": one.standing,
                "sentence": redact(one.sentence),
                "mend": redact(one.mend) if one.mend else None,
            }
            for one in found
        ],
    }
    return json.dumps(body, indent=2)


def show_table(found: Sequence[Finding], redact: Redact) -> None:
    """On standard output, as wide as the terminal; marks are words as well as signs."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 2 * NARROWEST)
    marks = MARKS if console.encoding.lower().startswith("utf") else PLAIN_MARKS
    table = Table(title="mqbot check", title_justify="left", expand=False)
    for column in ("", "What", "Found", "What mends it"):
        table.add_column(column, overflow="fold")

    def cell(text: str) -> Text:
        encoding = console.encoding
        return Text(redact(text).encode(encoding, "replace").decode(encoding))

    for one in found:
        table.add_row(
            Text(f"{marks[one.standing]} {one.standing}", style=STYLES[one.standing]),
            cell(f"{one.area}: {one.subject}"),
            cell(one.sentence),
            cell(one.mend or ""),
        )
    console.print(table)
    console.print(_total(found))


def _total(found: Sequence[Finding]) -> str:
    wrong = sum(one.standing is Standing.WRONG for one in found)
    unknown = sum(one.standing is Standing.UNKNOWN for one in found)
    if not wrong and not unknown:
        return "All is well."
    parts = [f"{wrong} wrong"] if wrong else []
    parts += [f"{unknown} not checked"] if unknown else []
    return f"Not all is well: {', '.join(parts)}."
