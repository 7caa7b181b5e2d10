"""Every message as plain text on one page, beside the file that its words stand in."""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bot.blocks.message import Message, View
from tests.support.every_message import ON_THE_PAGE, every_message
from tests.support.messages.rendering import Case, render
from tests.support.shown import as_read

ROOT = Path(__file__).parents[2]
BOT = ROOT / "bot"
HEAD = """\
# Every message

`python -m tests.documentation` writes this page from the cases in `tests/support/messages`.

- A heading is a file. The messages below it are made there. *Also* names other files that \
hold some of their words.
- `[…]` is a button, `(…)` a menu or a field, `{…}` what Slack asks before a button acts. Links \
and times stand as labels.
- A message in several lengths stands here in its longest. Slack shows a time in the reader's zone.
"""

FEWEST_WORDS = 3
FEWEST_CHARACTERS = 14
"""Of a text in the code that says where a message's words come from; shorter ones recur."""

SHOW_NO_MESSAGES = {"sandbox", "inspection", "cli", "runtime", "config"}
"""Folders of `bot` whose texts stand in no message."""

Json = Mapping[str, Any]


def every_message_page() -> str:
    """The whole of `docs/every-message.md`, grouped by file."""
    sources = _sources_of_wording()
    entries: dict[str, list[str]] = {}
    shown_already: set[tuple[str, str]] = set()
    without_outside_text = every_message(lambda: "…", lambda: "https://code.example/")
    for name, case in ON_THE_PAGE.items():
        file = _file_of(case)
        text = as_text(render(case))
        if (file, text) in shown_already:
            continue
        shown_already.add((file, text))
        others = sorted(_files_of_words(as_text(without_outside_text[name]), sources) - {file})
        entries.setdefault(file, []).append(_entry(name, text, others))
    sections = [f"## `{file}`\n\n" + "\n".join(entries[file]) for file in sorted(entries)]
    return "\n".join([HEAD, *sections])


def _entry(name: str, text: str, others: list[str]) -> str:
    also = " · also " + ", ".join(f"`{other}`" for other in others) if others else ""
    return f"**{name}**{also}\n\n```text\n{text}\n```\n"


def _file_of(case: Case) -> str:
    file = inspect.getsourcefile(inspect.unwrap(case.func))
    assert file is not None
    return str(Path(file).relative_to(ROOT))


def _sources_of_wording() -> dict[str, str]:
    """The file of each longer text in the code; a text that two files hold names neither."""
    found: dict[str, set[str]] = {}
    for path in BOT.rglob("*.py"):
        if SHOW_NO_MESSAGES & set(path.parts):
            continue
        for text in _literals(ast.parse(path.read_text("utf-8"))):
            found.setdefault(text, set()).add(str(path.relative_to(ROOT)))
    return {text: files.pop() for text, files in found.items() if len(files) == 1}


def _literals(tree: ast.AST) -> Iterator[str]:
    descriptions = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        text = as_read(node.value).strip()
        is_long_enough = len(text) >= FEWEST_CHARACTERS and len(text.split()) >= FEWEST_WORDS
        if is_long_enough and id(node) not in descriptions:
            yield text


def _files_of_words(text: str, sources: Mapping[str, str]) -> set[str]:
    """The files whose texts occur in `text`, except inside a longer text of another file."""
    found: set[str] = set()
    left = text
    for wording in sorted(sources, key=len, reverse=True):
        if wording not in left:
            continue
        whole_words = re.compile(rf"(?<!\w){re.escape(wording)}(?!\w)")
        if whole_words.search(left):
            found.add(sources[wording])
            left = whole_words.sub("\n", left)
    return found


def as_text(shown: Message | View) -> str:
    """What a person reads in it, without markup for links and times."""
    if isinstance(shown, View):
        return "\n".join(_view_lines(shown.view))
    if not shown.blocks:
        return as_read(shown.text)
    lines = [line for block in shown.blocks for line in _block_lines(block)]
    # A fence would end that of the page.
    return "\n".join(lines).replace("`" * 3, "~" * 3)


def _view_lines(view: Json) -> Iterator[str]:
    if "title" in view:
        yield f"# {_words(view['title'])}"
    for block in view["blocks"]:
        yield from _block_lines(block)
    buttons = [f"[{_words(view[name])}]" for name in ("submit", "close") if name in view]
    if buttons:
        yield " ".join(buttons)


def _block_lines(block: Json) -> Iterator[str]:
    match block["type"]:
        case "divider":
            yield "---"
        case "actions":
            yield " ".join(_control(element) for element in block["elements"])
        case "context":
            yield " · ".join(_words(element) for element in block["elements"])
        case "input":
            yield f"{_words(block['label'])}: {_control(block['element'])}"
            yield from _hint_lines(block)
        case "data_visualization":
            yield f"(chart: {block['title']})"
        case _:
            yield from _section_lines(block)


def _hint_lines(block: Json) -> Iterator[str]:
    if "hint" in block:
        yield f"  {_words(block['hint'])}"


def _section_lines(section: Json) -> Iterator[str]:
    texts = [section["text"]] if "text" in section else []
    yield from map(_words, [*texts, *section.get("fields", ())])
    if "accessory" in section:
        yield _control(section["accessory"])


def _control(element: Json) -> str:
    """A button, menu or field, with its choices and with what Slack asks before it acts."""
    kind = element["type"]
    if kind in {"plain_text", "mrkdwn"}:
        return _words(element)
    if kind == "button":
        return f"[{_words(element['text'])}]{_question(element)}"
    choices = [_words(option["text"]) for option in element.get("options", ())]
    filled = [element["initial_value"]] if "initial_value" in element else []
    empty = [_words(element["placeholder"])] if "placeholder" in element else []
    named = choices or filled or empty or [kind.replace("_", " ")]
    return f"({' | '.join(named)}){_question(element)}"


def _question(element: Json) -> str:
    if "confirm" not in element:
        return ""
    asked = element["confirm"]
    parts = [_words(asked[name]) for name in ("title", "text")]
    buttons = [f"[{_words(asked[name])}]" for name in ("confirm", "deny")]
    return re.sub(r"\s+", " ", f" {{{' '.join([*parts, *buttons])}}}").rstrip()


def _words(part: Json) -> str:
    return as_read(part["text"])
