"""`python -m tests.documentation`: writes the tables of the documents that repeat the code."""

import html
import re
from pathlib import Path

from pydantic.fields import FieldInfo

from bot.config import Settings
from bot.domain.classification import classify, topic_of, turn_after
from bot.domain.commands import COMMANDS
from bot.domain.dequeue_codes import DEQUEUE_CODES
from bot.domain.event_records import EventRecord
from bot.messages.events.event_posts import in_words
from tests.support.event_samples import TYPES, leave_with, sample_record

ROOT = Path(__file__).parents[1]
COMMAND = "/mq"
DATE = re.compile(r"<!date\^[^|]*\|([^>]*)>")
"""A time as Slack shows it to each reader, and in UTC for others."""


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
        for verb in COMMANDS
    ]
    return "\n".join(["| Typed | Does | Also |", "|---|---|---|", *rows])


def _aliases(aliases: tuple[str, ...]) -> str:
    return ", ".join(f"`{COMMAND} {alias}`" for alias in aliases)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def events_table() -> str:
    """The message of each type of event that has a topic, and the names of the other types."""
    rows, others = [], []
    for event_type in TYPES:
        record = sample_record(event_type, "full")
        topic = topic_of(classify(record))
        if topic is None:
            others.append(f"`{event_type}`")
        else:
            rows.append([f"`{event_type}`", topic.value, _told(record)])
    return f"{_table(['Event', 'Topic', 'Message'], rows)}\n\nWithout a topic: {', '.join(others)}."


def codes_table() -> str:
    """The message and the topic of a leave with each code, and whose turn it is then."""
    rows = []
    for code in DEQUEUE_CODES:
        leave = leave_with(code)
        kind = classify(leave)
        topic = topic_of(kind)
        turn = turn_after(leave, kind).value
        rows.append([f"`{code}`", topic.value if topic else "", _told(leave), turn])
    return _table(["Code", "Topic", "Message", "Whose turn"], rows)


def _told(record: EventRecord) -> str:
    """The words alone, as in a post."""
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
