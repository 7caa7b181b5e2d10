"""`python -m tests.documentation`: writes the tables of the documents that repeat the code."""

import re
from pathlib import Path

from pydantic.fields import FieldInfo

from bot.config import Settings
from bot.domain.commands import VERBS

ROOT = Path(__file__).parents[1]
COMMAND = "/mq"


def settings_table() -> str:
    """Every setting of bot/config: what must be given first, else in its own order."""
    fields = sorted(Settings.model_fields.values(), key=lambda field: not field.is_required())
    rows = [
        f"| `{field.validation_alias}` | {_cell(field.description or '')} | {_default(field)} |"
        for field in fields
    ]
    return "\n".join(["| Variable | What it takes | Default |", "|---|---|---|", *rows])


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    if field.default_factory is not None:
        return "see left"
    if field.default in {None, ()}:
        return "none"
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    if isinstance(field.default, float):
        return f"`{field.default:g}`"
    return f"`{field.default}`"


def verbs_table() -> str:
    """Every row of the command table of bot/domain/commands."""
    rows = [
        f"| `{_cell(f'{COMMAND} {verb.usage}')}` | {_cell(verb.task)} | {_aliases(verb.aliases)} |"
        for verb in VERBS
    ]
    return "\n".join(["| Typed | Does | Also |", "|---|---|---|", *rows])


def _aliases(aliases: tuple[str, ...]) -> str:
    return ", ".join(f"`{COMMAND} {alias}`" for alias in aliases)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


TABLES = {
    ROOT / "docs" / "configuration.md": ("settings", settings_table),
    ROOT / "README.md": ("verbs", verbs_table),
}


def with_table(document: str, name: str, table: str) -> str:
    """`document` with `table` between the marks of `name`; raises ValueError without them."""
    marks = re.compile(rf"(<!-- {name}: [^>]*-->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    written, count = marks.subn(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", document)
    if count != 1:
        msg = f"there is not exactly one place for the table of {name}"
        raise ValueError(msg)
    return written


def main() -> None:
    for path, (name, table) in TABLES.items():
        path.write_text(with_table(path.read_text(), name, table()))


if __name__ == "__main__":
    main()
