"""Block Kit blocks as JSON, within Slack's sizes by construction.

Written as plain JSON and not with `slack_sdk.models`: those drop what they do not know without a
word, check only some limits, and cost an import that `mqbot --help` and the tests would pay.
Sizes are those of https://docs.slack.dev/reference/block-kit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from bot.domain.message import Block, Message
from bot.messages.text import cut, cut_markup

SECTION_LIMIT = 3000
CONTEXT_LIMIT = 3000
HEADER_LIMIT = 150
FIELD_LIMIT = 2000
ROWS_LIMIT = 5
"""Of two fields each, of which a section has at most ten."""

BUTTON_LIMIT = 75
VALUE_LIMIT = 2000
MESSAGE_BLOCKS_LIMIT = 50
MESSAGE_TEXT_LIMIT = 10_000
"""Slack refuses messages whose blocks hold about 11,000 characters or more."""

OPTIONS_LIMIT = 100
FALLBACK_LIMIT = 4000
"""chat.update refuses a longer `text`, so a longer post could never be edited."""

CHART = "data_visualization"
CHART_TITLE_LIMIT = 50
CHART_LABEL_LIMIT = 20

Element = dict[str, JsonValue]


def mrkdwn(text: str, limit: int = SECTION_LIMIT) -> Element:
    """A mrkdwn object; `verbatim` keeps Slack from linking names that came from outside."""
    return {"type": "mrkdwn", "text": cut_markup(text, limit), "verbatim": True}


def plain(text: str, limit: int) -> Element:
    return {"type": "plain_text", "text": cut(text, limit), "emoji": True}


def section(
    text: str,
    *,
    block_id: str | None = None,
    accessory: Element | None = None,
    limit: int = SECTION_LIMIT,
) -> Block:
    block: Element = {"type": "section", "text": mrkdwn(text, limit), "expand": True}
    if block_id is not None:
        block["block_id"] = block_id
    if accessory is not None:
        block["accessory"] = accessory
    return block


def sentence(text: str) -> Message:
    """A message that is these words and nothing else."""
    return Message(text=cut_markup(text, FALLBACK_LIMIT), blocks=(section(text),))


def two_columns(rows: Sequence[tuple[str, str]]) -> Block:
    """At most ROWS_LIMIT rows; a narrow screen shows what belongs together one below the other."""
    cells: list[JsonValue] = [
        mrkdwn(cell, FIELD_LIMIT) for row in rows[:ROWS_LIMIT] for cell in row
    ]
    return {"type": "section", "fields": cells}


def header(text: str) -> Block:
    return {"type": "header", "text": plain(text, HEADER_LIMIT)}


def context(*facts: str) -> Block:
    """The grey line: the facts that are not empty, joined."""
    line = " · ".join(fact for fact in facts if fact)
    return {"type": "context", "elements": [mrkdwn(line, CONTEXT_LIMIT)]}


def divider() -> Block:
    return {"type": "divider"}


def actions(elements: Sequence[Element], *, block_id: str | None = None) -> Block:
    block: Element = {"type": "actions", "elements": list(elements)}
    if block_id is not None:
        block["block_id"] = block_id
    return block


def button(
    label: str,
    *,
    action_id: str,
    value: str,
    style: str | None = None,
    confirm: Element | None = None,
) -> Element:
    """A button. `style` is "primary" or "danger"."""
    element: Element = {
        "type": "button",
        "text": plain(label, BUTTON_LIMIT),
        "action_id": action_id,
        "value": value,
    }
    if style is not None:
        element["style"] = style
    if confirm is not None:
        element["confirm"] = confirm
    return element


def confirmation(title: str, text: str, *, confirm: str, deny: str, style: str) -> Element:
    """The question asked before a button acts."""
    return {
        "title": plain(title, 100),
        "text": plain(text, 300),
        "confirm": plain(confirm, 30),
        "deny": plain(deny, 30),
        "style": style,
    }


def option(label: str, value: str) -> Element:
    return {"text": plain(label, 75), "value": cut(value, 150)}


def select(
    placeholder: str,
    *,
    action_id: str,
    options: Sequence[Element],
    initial: Element | None = None,
    confirm: Element | None = None,
) -> Element:
    """A menu of at most 100 options."""
    element: Element = {
        "type": "static_select",
        "action_id": action_id,
        "placeholder": plain(placeholder, 150),
        "options": list(options[:OPTIONS_LIMIT]),
    }
    if initial is not None:
        element["initial_option"] = initial
    if confirm is not None:
        element["confirm"] = confirm
    return element


def external_select(placeholder: str, *, action_id: str, initial: Element | None = None) -> Element:
    """A menu of more than 100 options: Slack asks the app for those that match what is typed."""
    element: Element = {
        "type": "external_select",
        "action_id": action_id,
        "placeholder": plain(placeholder, 150),
        "min_query_length": 0,
    }
    if initial is not None:
        element["initial_option"] = initial
    return element


def bar_chart(title: str, categories: Sequence[str], series: Mapping[str, Sequence[int]]) -> Block:
    """Bars side by side for each category: at most 20 of them and 6 series, uniquely named.

    Not every client shows it, and a workspace may not have it yet: what it says stands beside it
    in words (https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block).
    """
    labels = [cut(one, CHART_LABEL_LIMIT) for one in categories]
    return {
        "type": CHART,
        "title": cut(title, CHART_TITLE_LIMIT),
        "chart": {
            "type": "bar",
            "series": [
                {
                    "name": cut(name, CHART_LABEL_LIMIT),
                    "data": [
                        {"label": label, "value": value}
                        for label, value in zip(labels, values, strict=True)
                    ],
                }
                for name, values in series.items()
            ],
            "axis_config": {"categories": list[JsonValue](labels)},
        },
    }


def has_controls(shown: Sequence[Block]) -> bool:
    """Whether there is anything to press or choose."""
    return any(_is_control(block) for block in shown)


def without_controls(message: Message) -> Message:
    """The same message with nothing to press or choose."""
    shown = tuple(
        {name: part for name, part in block.items() if name != "accessory"}
        for block in message.blocks
        if block["type"] != "actions"
    )
    return replace(message, blocks=shown)


def _is_control(block: Block) -> bool:
    return block["type"] == "actions" or "accessory" in block


def text_length(blocks: Sequence[Block]) -> int:
    """The characters of all text objects in the blocks."""
    return sum(_length(block) for block in blocks)


def _length(value: object) -> int:
    if isinstance(value, dict):
        own = len(value["text"]) if isinstance(value.get("text"), str) else 0
        return own + sum(_length(inner) for inner in value.values())
    if isinstance(value, (list, tuple)):
        return sum(_length(inner) for inner in value)
    return 0
