"""Block Kit blocks as JSON: what is larger than Slack takes raises DoesNotFit.

Nothing is shortened here: what may be left out is decided where a text is written, with `listed`,
`clean` and `cut_markup` of bot.messages.text.

Written as plain JSON and not with `slack_sdk.models`: those drop what they do not know without a
word, check only some limits, and cost an import that `mqbot --help` and the tests would pay.
Sizes are those of https://docs.slack.dev/reference/block-kit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from bot.domain.message import TEXT_LIMIT, Block, Message, require_fit
from bot.messages.text import cut, portions

SECTION_LIMIT = 3000
CONTEXT_LIMIT = 3000
HEADER_LIMIT = 150
FIELD_LIMIT = 2000
ROWS_LIMIT = 5
"""Of two fields each, of which a section has at most ten."""

ELEMENTS_LIMIT = 25
BUTTON_LIMIT = 75
VALUE_LIMIT = 2000
ID_LIMIT = 255
OPTIONS_LIMIT = 100
OPTION_LIMIT = 75
OVERFLOW_LIMIT = 5
OPTION_VALUE_LIMIT = 150
FALLBACK_LIMIT = TEXT_LIMIT
LINES_LENGTH = 2800
"""Of the lines in one section: some room is left for *and N more*."""

CHART = "data_visualization"
CHART_TITLE_LIMIT = 50
CHART_LABEL_LIMIT = 20

Element = dict[str, JsonValue]


def mrkdwn(text: str, limit: int) -> Element:
    """A mrkdwn object; `verbatim` keeps Slack from linking names that came from outside."""
    require_fit(f"“{text[:40]}”", len(text), limit)
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def plain(text: str, limit: int) -> Element:
    require_fit(f"“{text[:40]}”", len(text), limit)
    return {"type": "plain_text", "text": text, "emoji": True}


def section(
    text: str,
    *,
    block_id: str | None = None,
    accessory: Element | None = None,
) -> Block:
    block: Element = {"type": "section", "text": mrkdwn(text, SECTION_LIMIT), "expand": True}
    if block_id is not None:
        block["block_id"] = _identifier(block_id)
    if accessory is not None:
        block["accessory"] = accessory
    return block


def sentence(text: str) -> Message:
    """A message that is these words and nothing else."""
    return Message(text=text, blocks=(section(text),))


def lines(shown: Sequence[str]) -> list[Block]:
    """Whole lines in as many sections as they need."""
    return [section("\n".join(some)) for some in portions(shown, LINES_LENGTH)]


def two_columns(rows: Sequence[tuple[str, str]]) -> Block:
    """At most ROWS_LIMIT rows; a narrow screen shows what belongs together one below the other."""
    require_fit("rows of two columns", len(rows), ROWS_LIMIT)
    cells: list[JsonValue] = [mrkdwn(cell, FIELD_LIMIT) for row in rows for cell in row]
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
    require_fit("elements in a row", len(elements), ELEMENTS_LIMIT)
    block: Element = {"type": "actions", "elements": list(elements)}
    if block_id is not None:
        block["block_id"] = _identifier(block_id)
    return block


def _identifier(block_id: str) -> str:
    require_fit(f"block id “{block_id[:40]}”", len(block_id), ID_LIMIT)
    return block_id


def button(
    label: str,
    *,
    action_id: str,
    value: str,
    style: str | None = None,
    confirm: Element | None = None,
) -> Element:
    """A button. `style` is "primary" or "danger"."""
    require_fit(f"value of “{label[:40]}”", len(value), VALUE_LIMIT)
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


def option(label: str, value: str, *, description: str | None = None) -> Element:
    require_fit(f"value of “{label[:40]}”", len(value), OPTION_VALUE_LIMIT)
    element: Element = {"text": plain(label, OPTION_LIMIT), "value": value}
    if description is not None:
        element["description"] = plain(description, OPTION_LIMIT)
    return element


def select(
    placeholder: str,
    *,
    action_id: str,
    options: Sequence[Element],
    initial: Element | None = None,
    confirm: Element | None = None,
) -> Element:
    """A menu of at most OPTIONS_LIMIT options; with more of them it is an `external_select`."""
    require_fit(f"options of “{placeholder[:40]}”", len(options), OPTIONS_LIMIT)
    element: Element = {
        "type": "static_select",
        "action_id": action_id,
        "placeholder": plain(placeholder, 150),
        "options": list(options),
    }
    if initial is not None:
        element["initial_option"] = initial
    if confirm is not None:
        element["confirm"] = confirm
    return element


def multi_select(
    placeholder: str, *, action_id: str, options: Sequence[Element], chosen: Sequence[Element]
) -> Element:
    """A menu in which several options can be chosen; `chosen` are some of `options`."""
    require_fit(f"options of “{placeholder[:40]}”", len(options), OPTIONS_LIMIT)
    element: Element = {
        "type": "multi_static_select",
        "action_id": action_id,
        "placeholder": plain(placeholder, 150),
        "options": list(options),
    }
    # Slack refuses an empty list.
    if chosen:
        element["initial_options"] = list(chosen)
    return element


def overflow(*, action_id: str, options: Sequence[Element]) -> Element:
    """The menu behind three dots, for what is seldom wanted."""
    require_fit("options behind three dots", len(options), OVERFLOW_LIMIT)
    return {"type": "overflow", "action_id": action_id, "options": list(options)}


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
