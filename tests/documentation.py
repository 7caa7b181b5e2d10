"""`python -m tests.documentation`: writes the tables of the documents that repeat the code."""

import html
import re
from pathlib import Path

from pydantic.fields import FieldInfo

from bot.config import DESCRIPTIONS
from bot.config.settings import Settings, variable
from bot.domain.classification import classify, topic_of
from bot.domain.commands import COMMANDS
from bot.domain.event_records import EventRecord
from bot.domain.event_types import DEQUEUE_CODES
from bot.messages.events.event_posts import in_words
from tests.support.event_samples import TYPES, leave_with, sample_record

ROOT = Path(__file__).parents[1]
COMMAND = "/mq"
DATE = re.compile(r"<!date\^[^|]*\|([^>]*)>")
"""A time as Slack shows it to each reader, and in UTC for others."""


def settings_table() -> str:
    """Every setting of bot/config, required ones first."""
    fields = sorted(Settings.model_fields.items(), key=lambda one: not one[1].is_required())
    rows = [
        f"| `{variable(name)}` | {_cell(DESCRIPTIONS[variable(name)])} | {_default(field)} |"
        for name, field in fields
    ]
    return "\n".join(["| Variable | What it takes | Default |", "|---|---|---|", *rows])


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    if field.default_factory is not None:
        return "see left"
    if field.default in (None, (), {}):
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
        for verb in COMMANDS
    ]
    return "\n".join(["| Typed | Does | Also |", "|---|---|---|", *rows])


def _aliases(aliases: tuple[str, ...]) -> str:
    return ", ".join(f"`{COMMAND} {alias}`" for alias in aliases)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def events_table() -> str:
    """The message of each type of event that has a topic."""
    rows = []
    for event_type in TYPES:
        record = sample_record(event_type, "full")
        topic = topic_of(classify(record))
        if topic is not None:
            rows.append([f"`{event_type}`", topic.value, _reported(record)])
    return _table(["Event", "Topic", "Message"], rows)


def codes_table() -> str:
    """The message of a leave with each code, in one table for each beginning and topic."""
    tables: dict[str, list[list[str]]] = {}
    for code in DEQUEUE_CODES:
        leave = leave_with(code)
        beginning, _, rest = _reported(leave).partition(": ")
        topic = topic_of(classify(leave))
        head = f"{beginning}: … (`{topic.value}`)" if topic else f"{beginning}: …"
        tables.setdefault(head, []).append([f"`{code}`", rest])
    return "\n\n".join(_table(["Code", head], rows) for head, rows in tables.items())


def _reported(record: EventRecord) -> str:
    """The text without markup, as in a post."""
    said = DATE.sub(r"\1", in_words(record))
    return html.unescape(said).replace("`", "'")


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *([_cell(one) for one in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


TABLES = {
    "settings": (ROOT / "docs" / "configuration.md", settings_table),
    "verbs": (ROOT / "docs" / "commands.md", verbs_table),
    "events": (ROOT / "docs" / "messages.md", events_table),
    "codes": (ROOT / "docs" / "messages.md", codes_table),
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
    for name, (path, table) in TABLES.items():
        path.write_text(with_table(path.read_text(), name, table()))


if __name__ == "__main__":
    main()
