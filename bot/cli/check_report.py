"""The report of `mqbot check`: a table for people, JSON for machines."""

import json
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot.domain.inspection import CheckResult, CheckStatus

MARKS = {
    CheckStatus.OK: "✓",
    CheckStatus.WARNING: "!",
    CheckStatus.WRONG: "✗",
    CheckStatus.UNKNOWN: "?",
}
PLAIN_MARKS = {
    CheckStatus.OK: "+",
    CheckStatus.WARNING: "!",
    CheckStatus.WRONG: "x",
    CheckStatus.UNKNOWN: "?",
}
STYLES = {
    CheckStatus.OK: "green",
    CheckStatus.WARNING: "yellow",
    CheckStatus.WRONG: "bold red",
    CheckStatus.UNKNOWN: "yellow",
}

WIDTH_OF_A_FILE = 160
WIDTH_OF_A_TABLE = 100
"""Characters; in less, columns break the names of settings in two."""

INDENTATION = 4

Redact = Callable[[str], str]


def as_json(found: Sequence[CheckResult], redact: Redact) -> str:
    """`{"ok": bool, "findings": [{"area", "subject", "standing", "sentence", "fix"}]}`."""
    body = {
        "ok": is_well(found),
        "findings": [
            {
                "area": one.area,
                "subject": redact(one.subject),
                "standing": one.standing,
                "sentence": redact(one.sentence),
                "fix": redact(one.fix) if one.fix else None,
            }
            for one in found
        ],
    }
    return json.dumps(body, indent=2)


def is_well(found: Sequence[CheckResult]) -> bool:
    return all(one.standing in {CheckStatus.OK, CheckStatus.WARNING} for one in found)


def show(found: Sequence[CheckResult], redact: Redact, console: Console) -> None:
    """Print a table if there is room, else a list; marks are words as well as symbols."""
    if not console.is_terminal:
        console.width = max(console.width, WIDTH_OF_A_FILE)
    encoding = console.encoding
    marks = MARKS if encoding.lower().startswith("utf") else PLAIN_MARKS

    def cell(text: str) -> Text:
        return Text(redact(text).encode(encoding, "replace").decode(encoding))

    rows = [
        (
            Text(f"{marks[one.standing]} {one.standing}", style=STYLES[one.standing]),
            cell(f"{one.area}: {one.subject}"),
            cell(one.sentence),
            cell(one.fix or ""),
        )
        for one in found
    ]
    if console.width >= WIDTH_OF_A_TABLE:
        console.print(_table(rows))
    else:
        for standing, what, sentence, fix in rows:
            console.print(Text.assemble(standing, "  ", what))
            for line in filter(None, (sentence, fix)):
                console.print(Padding(line, (0, 0, 0, INDENTATION)))
    console.print(_total(found))


def _table(rows: Sequence[tuple[Text, ...]]) -> Table:
    table = Table(title="mqbot check", title_justify="left", expand=False)
    for column in ("", "What", "Found", "How to fix"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _total(found: Sequence[CheckResult]) -> str:
    wrong = sum(one.standing is CheckStatus.WRONG for one in found)
    unknown = sum(one.standing is CheckStatus.UNKNOWN for one in found)
    warnings = sum(one.standing is CheckStatus.WARNING for one in found)
    counted = f"{warnings} warning{'' if warnings == 1 else 's'}"
    if not wrong and not unknown:
        return f"All is well, with {counted}." if warnings else "All is well."
    parts = [f"{wrong} problem{'' if wrong == 1 else 's'} found"] if wrong else []
    parts += [f"{unknown} not checked"] if unknown else []
    parts += [counted] if warnings else []
    return f"{', '.join(parts)}."
