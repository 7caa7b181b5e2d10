"""Block Kit blocks as JSON; a block that is larger than Slack accepts raises DoesNotFit.

Nothing is shortened here: the author of a text shortens it with `listed`, `clean` and `cut_markup`
of bot.blocks.text.

Plain JSON instead of `slack_sdk.models`: those drop unknown fields silently, check only some
limits, and are slow to import.
Sizes are those of https://docs.slack.dev/reference/block-kit.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from pydantic import JsonValue

from bot.blocks.message import TEXT_LIMIT, Block, Message, View, require_fit
from bot.blocks.text import cut, listed, portions, with_links, without_markup

SECTION_LIMIT = 3000
CONTEXT_LIMIT = 3000
HEADER_LIMIT = 150
FIELD_LIMIT = 2000
ROWS_LIMIT = 5
"""Rows of two fields each; a section has at most ten fields."""

ELEMENTS_LIMIT = 25
BUTTON_LIMIT = 75
VALUE_LIMIT = 2000
BLOCK_ID_LIMIT = 255
OPTIONS_LIMIT = 100
OPTION_LIMIT = 75
OVERFLOW_LIMIT = 5
OPTION_VALUE_LIMIT = 150
RADIO_LIMIT = 10
PLAIN_LENGTH = TEXT_LIMIT - 30
"""Leaves room for *and N more lines*."""

LINES_LENGTH = 2800
"""For the lines of one section; leaves room for *and N more*."""

CHART = "data_visualization"
CHART_TITLE_LIMIT = 50
CHART_LABEL_LIMIT = 20

Element = dict[str, JsonValue]


def mrkdwn(text: str, limit: int) -> Element:
    """A mrkdwn object; `verbatim` keeps Slack from linking names that came from outside.

    It also keeps Slack from linking addresses, which therefore are marked here.
    """
    require_fit(f"“{text[:40]}”", len(text), limit)
    linked = with_links(text)
    shown = linked if len(linked) <= limit else text
    return {"type": "mrkdwn", "text": shown, "verbatim": True}


def plain(text: str, limit: int) -> Element:
    require_fit(f"“{text[:40]}”", len(text), limit)
    return {"type": "plain_text", "text": text, "emoji": True}


def section(text: str, *, block_id: str | None = None, accessory: Element | None = None) -> Block:
    shown = mrkdwn(text, SECTION_LIMIT)
    return _part("section", text=shown, expand=True, accessory=accessory, block_id=block_id)


def message(*shown: Block) -> Message:
    """A message whose text, for screen readers and notifications, says the same as its blocks.

    As many lines as fit, without markup and controls.
    """
    read = "\n".join(text for block in shown for text in _texts(block))
    said = [line.rstrip() for line in without_markup(read).split("\n")]
    text = listed(said, "\n", length=PLAIN_LENGTH, rest=" lines")
    return Message(text=text, blocks=shown)


def sentence(text: str) -> Message:
    return message(section(text))


def post(
    headline: str,
    *facts: str,
    details: Sequence[str] = (),
    buttons: Sequence[Element] = (),
    block_id: str | None = None,
) -> Message:
    """A headline, details below it, one grey line of facts, and buttons."""
    shown = [section(headline), *map(section, filter(None, details))]
    if any(facts):
        shown.append(context(*facts))
    if buttons:
        shown.append(actions(buttons, block_id=block_id))
    return message(*shown)


def _texts(block: Block) -> list[str]:
    """The texts of a block, in reading order."""
    match block:
        case {"type": "section", "fields": [*cells]}:
            rows = zip(cells[::2], cells[1::2], strict=True)
            return [f"{_text(left)}: {_text(right)}" for left, right in rows]
        case {"type": "context", "elements": [*parts]}:
            return [_text(part) for part in parts]
        case {"type": "section" | "header", "text": text}:
            return [_text(text)]
        case _:
            return []


def _text(part: JsonValue) -> str:
    return str(part["text"]) if isinstance(part, dict) else ""


def lines(shown: Sequence[str]) -> list[Block]:
    """Sections for the lines, none of which is split."""
    return [section("\n".join(some)) for some in portions(shown, LINES_LENGTH)]


def two_columns(rows: Sequence[tuple[str, str]]) -> Block:
    """Rows of two fields, at most ROWS_LIMIT; a narrow screen stacks the fields."""
    require_fit("rows of two columns", len(rows), ROWS_LIMIT)
    cells: list[JsonValue] = [mrkdwn(cell, FIELD_LIMIT) for row in rows for cell in row]
    return {"type": "section", "fields": cells}


def header(text: str) -> Block:
    return {"type": "header", "text": plain(text, HEADER_LIMIT)}


def context(*facts: str) -> Block:
    """The grey line: the nonempty facts, joined."""
    line = " · ".join(filter(None, facts))
    return {"type": "context", "elements": [mrkdwn(line, CONTEXT_LIMIT)]}


def divider() -> Block:
    return {"type": "divider"}


def with_state(name: str, end: datetime | None) -> str:
    """A block id that changes with an end, so that a menu of ends forgets what was chosen.

    Slack's clients keep a menu's choice while its block id and action id stay the same, and send
    nothing when the same is chosen again (https://github.com/slackapi/bolt-python/issues/629).
    A click on the message as it was before still arrives.
    """
    return f"{name}-{int(end.timestamp())}" if end is not None else name


def actions(elements: Sequence[Element], *, block_id: str | None = None) -> Block:
    require_fit("elements in a row", len(elements), ELEMENTS_LIMIT)
    return _part("actions", elements=list(elements), block_id=block_id)


def _part(kind: str, **fields: JsonValue) -> Element:
    """A block or an element, without the fields that are None."""
    block_id = str(fields.get("block_id") or "")
    require_fit(f"block id “{block_id[:40]}”", len(block_id), BLOCK_ID_LIMIT)
    return {"type": kind, **{name: value for name, value in fields.items() if value is not None}}


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
    text = plain(label, BUTTON_LIMIT)
    return _part(
        "button", text=text, action_id=action_id, value=value, style=style, confirm=confirm
    )


def confirmation(title: str, text: str, *, confirm: str, deny: str, style: str) -> Element:
    """The question before a button acts."""
    return {
        "title": plain(title, 100),
        "text": plain(text, 300),
        "confirm": plain(confirm, 30),
        "deny": plain(deny, 30),
        "style": style,
    }


def option(label: str, value: str, *, description: str | None = None) -> Element:
    require_fit(f"value of “{label[:40]}”", len(value), OPTION_VALUE_LIMIT)
    shown: Element = {"text": plain(label, OPTION_LIMIT), "value": value}
    if description is not None:
        shown["description"] = plain(description, OPTION_LIMIT)
    return shown


def select(
    placeholder: str,
    *,
    action_id: str,
    options: Sequence[Element],
    initial: Element | None = None,
    confirm: Element | None = None,
) -> Element:
    """A menu of at most OPTIONS_LIMIT options; for more there is `external_select`."""
    return _part(
        "static_select",
        **_menu(placeholder, action_id, options),
        initial_option=initial,
        confirm=confirm,
    )


def multi_select(
    placeholder: str, *, action_id: str, options: Sequence[Element], chosen: Sequence[Element]
) -> Element:
    """A menu in which several options can be chosen; `chosen` are some of `options`."""
    menu = _menu(placeholder, action_id, options)
    # Slack refuses an empty list.
    return _part("multi_static_select", **menu, initial_options=list(chosen) or None)


def external_select(placeholder: str, *, action_id: str, initial: Element | None = None) -> Element:
    """A menu of more than 100 options: Slack asks the app for those that match the typed text."""
    menu = _menu(placeholder, action_id, None)
    return _part("external_select", **menu, min_query_length=0, initial_option=initial)


def _menu(placeholder: str, action_id: str, options: Sequence[Element] | None) -> Element:
    require_fit(f"options of “{placeholder[:40]}”", len(options or ()), OPTIONS_LIMIT)
    shown = None if options is None else list[JsonValue](options)
    return {"action_id": action_id, "placeholder": plain(placeholder, 150), "options": shown}


def overflow(*, action_id: str, options: Sequence[Element]) -> Element:
    """The menu behind three dots, for rare actions."""
    require_fit("options behind three dots", len(options), OVERFLOW_LIMIT)
    return {"type": "overflow", "action_id": action_id, "options": list(options)}


def input_field(  # four are keywords
    block_id: str,
    label: str,
    element: Element,
    *,
    hint: str | None = None,
    optional: bool | None = None,
    dispatch_action: bool | None = None,
) -> Block:
    """A field of a form."""
    return _part(
        "input",
        label=plain(label, 2000),
        element=element,
        hint=None if hint is None else plain(hint, 2000),
        optional=optional,
        dispatch_action=dispatch_action,
        block_id=block_id,
    )


def text_input(
    action_id: str,
    *,
    max_length: int,
    example: str | None = None,
    typed: str | None = None,
    is_focused: bool = False,
) -> Element:
    """A line to type in; `typed` is in it already."""
    return _part(
        "plain_text_input",
        action_id=action_id,
        max_length=max_length,
        focus_on_load=is_focused,
        placeholder=None if example is None else plain(example, 150),
        initial_value=typed or None,
    )


def date_time_picker(action_id: str, at: datetime | None = None) -> Element:
    """Slack's picker of a date and a time; `at` is chosen in it already."""
    chosen = None if at is None else int(at.timestamp())
    return _part("datetimepicker", action_id=action_id, initial_date_time=chosen)


def radio_buttons(
    action_id: str, options: Sequence[Element], initial: Element | None = None
) -> Element:
    """A few choices, all of them visible."""
    require_fit("radio buttons", len(options), RADIO_LIMIT)
    return _part(
        "radio_buttons", action_id=action_id, options=list(options), initial_option=initial
    )


def modal(
    callback_id: str,
    title: str,
    shown: Sequence[Block],
    carried: Mapping[str, JsonValue],
    *,
    submit: str | None = None,
) -> View:
    """A modal; one to fill in has `submit`. `carried`: what comes back with it."""
    return View(
        _part(
            "modal",
            callback_id=callback_id,
            title=plain(title, 24),
            close=plain("Close" if submit is None else "Cancel", 24),
            private_metadata=json.dumps(carried),
            blocks=[dict(block) for block in shown],
            submit=None if submit is None else plain(submit, 24),
        )
    )


def bar_chart(title: str, categories: Sequence[str], series: Mapping[str, Sequence[int]]) -> Block:
    """Bars side by side for each category: at most 20 of them and 6 series, uniquely named.

    Not every client and workspace shows it yet, so its figures are also given in words (https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block).
    """
    labels = [cut(category, CHART_LABEL_LIMIT) for category in categories]
    bars: list[JsonValue] = []
    for name, values in series.items():
        points = zip(labels, values, strict=True)
        data: list[JsonValue] = [{"label": label, "value": value} for label, value in points]
        bars.append({"name": cut(name, CHART_LABEL_LIMIT), "data": data})
    axis: Element = {"categories": list[JsonValue](labels)}
    chart: Element = {"type": "bar", "series": bars, "axis_config": axis}
    return _part(CHART, title=cut(title, CHART_TITLE_LIMIT), chart=chart)


def has_controls(shown: Sequence[Block]) -> bool:
    """Whether the message has buttons or menus."""
    return any(block["type"] == "actions" or "accessory" in block for block in shown)


def without_controls(message: Message) -> Message:
    """The same message without buttons and menus."""
    shown = tuple(
        {name: part for name, part in block.items() if name != "accessory"}
        for block in message.blocks
        if block["type"] != "actions"
    )
    return replace(message, blocks=shown)
