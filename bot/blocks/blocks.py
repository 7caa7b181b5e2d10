"""Block Kit: builders of blocks, of what stands in them, and of modals.

What stands in a block is an object of `slack_sdk.models.blocks`; a finished block is the JSON that
Slack takes, which the SDK makes and checks. It raises SlackObjectFormationError for a part that is
larger than Slack accepts; DoesNotFit is raised for the few limits that it doesn't check.

Nothing is shortened here: the author of a text shortens it with `listed`, `clean` and `cut_markup`
of bot.blocks.text. Sizes are those of https://docs.slack.dev/reference/block-kit.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time

from pydantic import JsonValue
from slack_sdk.models.blocks import (
    ActionsBlock,
    AlertBlock,
    Block as SdkBlock,
    ButtonElement,
    ConfirmObject,
    ContextBlock,
    ConversationFilter,
    ConversationSelectElement,
    DateTimePickerElement,
    DividerBlock,
    ExternalDataSelectElement,
    HeaderBlock,
    InputBlock,
    InputInteractiveElement,
    InteractiveElement,
    MarkdownTextObject,
    Option as SdkOption,
    OverflowMenuElement,
    PlainTextInputElement,
    PlainTextObject,
    RadioButtonsElement,
    SectionBlock,
    StaticMultiSelectElement,
    StaticSelectElement,
    TimePickerElement,
)
from typing_extensions import override

from bot.blocks.message import TEXT_LIMIT, Block, Colour, Message, View, require_fit
from bot.blocks.text import cut, first_sentences, listed, portions, with_links, without_markup

SECTION_LIMIT = SectionBlock.text_max_length
BUTTON_LIMIT = ButtonElement.text_max_length
VALUE_LIMIT = ButtonElement.value_max_length
BLOCK_ID_LIMIT = SdkBlock.block_id_max_length
OPTIONS_LIMIT = StaticSelectElement.options_max_length
OPTION_LIMIT = SdkOption.label_max_length

ALERT_LIMIT = 200
CONTEXT_LIMIT = 3000
FIELD_LIMIT = 2000
ROWS_LIMIT = SectionBlock.fields_max_length // 2
"""Rows of two fields each."""

RADIO_LIMIT = 10
PLAIN_LENGTH = TEXT_LIMIT - 30
"""Leaves room for *and N more lines*."""

LINES_LENGTH = 2800
"""For the lines of one section; leaves room for *and N more*."""

CHART = "data_visualization"
CHART_TITLE_LIMIT = 50
CHART_LABEL_LIMIT = 20

Element = InteractiveElement
"""A button or a menu."""

Option = SdkOption
"""A line of a menu."""


def _wire(block: SdkBlock) -> Block:
    """The one place where an object of the SDK becomes what Slack takes."""
    return block.to_dict()


def _mrkdwn(text: str, limit: int) -> MarkdownTextObject:
    """A mrkdwn object; `verbatim` keeps Slack from linking names that came from outside.

    It also keeps Slack from linking addresses, which therefore are marked here, if they fit.
    """
    linked = with_links(text)
    shown = linked if len(linked) <= limit else text
    return MarkdownTextObject(text=shown, verbatim=True)


def _mrkdwn_that_fits(text: str, limit: int) -> MarkdownTextObject:
    """The same where the SDK doesn't check the length."""
    require_fit(f"“{text[:40]}”", len(text), limit)
    return _mrkdwn(text, limit)


def _plain(text: str) -> PlainTextObject:
    return PlainTextObject(text=text, emoji=True)


def section(text: str, *, block_id: str | None = None, accessory: Element | None = None) -> Block:
    shown = _mrkdwn(text, SECTION_LIMIT)
    return _wire(SectionBlock(text=shown, expand=True, accessory=accessory, block_id=block_id))


def message(*shown: Block) -> Message:
    """A message whose text, for screen readers and notifications, says the same as its blocks.

    As many lines as fit, without markup and controls.
    """
    read = "\n".join(filter(None, map(text_of, shown)))
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


def coloured(colour: Colour, message: Message) -> Message:
    """The same message with a bar of this colour."""
    return replace(message, colour=colour)


def text_of(block: Block) -> str:
    """The texts of a block, in reading order, a line each."""
    return "\n".join(_texts(block))


def _texts(block: Block) -> list[str]:
    match block:
        case {"type": "section", "fields": [*cells]}:
            rows = zip(cells[::2], cells[1::2], strict=True)
            return [f"{_text_of_part(left)}: {_text_of_part(right)}" for left, right in rows]
        case {"type": "context", "elements": [*parts]}:
            return [_text_of_part(part) for part in parts]
        case {"type": "section" | "header", "text": text}:
            return [_text_of_part(text)]
        case _:
            return []


def _text_of_part(part: JsonValue) -> str:
    return str(part["text"]) if isinstance(part, dict) else ""


def state_line(icon: str, state: str, about: str = "") -> str:
    """The first line of a message: its icon, the state of a named queue, and why; both escaped."""
    return f"{icon} {state} · {about}" if about else f"{icon} {state}"


def facts(*labelled: tuple[str, str]) -> list[Block]:
    """A line of facts, each behind its label; those without a value are left out.

    Where they are too long for one section, each has its own.
    """
    known = [f"*{label}* {value}" for label, value in labelled if value]
    line = " · ".join(known)
    if len(line) > SECTION_LIMIT:
        return [section(fact) for fact in known]
    return [section(line)] if known else []


def lines(shown: Sequence[str]) -> list[Block]:
    """Sections for the lines, none of which is split."""
    return [section("\n".join(some)) for some in portions(shown, LINES_LENGTH)]


def two_columns(rows: Sequence[tuple[str, str]]) -> Block:
    """Rows of two fields, at most ROWS_LIMIT; a narrow screen stacks the fields."""
    cells = [_mrkdwn_that_fits(cell, FIELD_LIMIT) for row in rows for cell in row]
    return _wire(SectionBlock(fields=cells))


def header(text: str) -> Block:
    return _wire(HeaderBlock(text=_plain(text)))


def context(*facts: str) -> Block:
    """The grey line: the nonempty facts, joined."""
    line = " · ".join(filter(None, facts))
    return _wire(ContextBlock(elements=[_mrkdwn_that_fits(line, CONTEXT_LIMIT)]))


def alert(text: str, level: str) -> list[Block]:
    """A text that stands out, in forms only; `level`: "warning" or "error".

    Of one that is too long for an alert the first sentences stand out, if they fit.
    """
    head = first_sentences(text, ALERT_LIMIT)
    rest = text[len(head) :].strip()
    shown = [_wire(AlertBlock(text=_mrkdwn(head, ALERT_LIMIT), level=level))] if head else []
    return [*shown, section(rest)] if rest else shown


def refusal(message: Message) -> Message:
    """The same message, marked as one that says why nothing was done."""
    return replace(message, is_refusal=True)


def divider() -> Block:
    return _wire(DividerBlock())


def with_state(name: str, end: datetime | None) -> str:
    """A block id that changes with an end, so that a menu of ends forgets what was chosen.

    Slack's clients keep a menu's choice while its block id and action id stay the same, and send
    nothing when the same is chosen again (https://github.com/slackapi/bolt-python/issues/629).
    A click on the message as it was before still arrives.
    """
    return f"{name}-{int(end.timestamp())}" if end is not None else name


def actions(elements: Sequence[Element], *, block_id: str | None = None) -> Block:
    return _wire(ActionsBlock(elements=elements, block_id=block_id))


def button(
    label: str,
    *,
    action_id: str,
    value: str,
    style: str | None = None,
    confirm: ConfirmObject | None = None,
    spoken: str | None = None,
) -> Element:
    """A button. `style` is "primary" or "danger".

    `spoken`: what screen readers say, where several buttons have the same label.
    """
    return ButtonElement(
        text=_plain(label),
        action_id=action_id,
        value=value,
        style=style,
        confirm=confirm,
        accessibility_label=None if spoken is None else cut(spoken, BUTTON_LIMIT),
    )


def confirmation(title: str, text: str, *, confirm: str, deny: str, style: str) -> ConfirmObject:
    """The question before a button acts."""
    return ConfirmObject(
        title=_plain(title),
        text=_plain(text),
        confirm=_plain(confirm),
        deny=_plain(deny),
        style=style,
    )


def option(label: str, value: str, *, description: str | None = None) -> Option:
    about = None if description is None else _plain(description)
    return Option(text=_plain(label), value=value, description=about)


def select(
    placeholder: str,
    *,
    action_id: str,
    options: Sequence[Option],
    initial: Option | None = None,
    confirm: ConfirmObject | None = None,
) -> InputInteractiveElement:
    """A menu of at most OPTIONS_LIMIT options; for more there is `external_select`."""
    return StaticSelectElement(
        placeholder=_plain(placeholder),
        action_id=action_id,
        options=options,
        initial_option=initial,
        confirm=confirm,
    )


def multi_select(
    placeholder: str, *, action_id: str, options: Sequence[Option], chosen: Sequence[Option]
) -> InputInteractiveElement:
    """A menu in which several options can be chosen; `chosen` are some of `options`."""
    return StaticMultiSelectElement(
        placeholder=_plain(placeholder),
        action_id=action_id,
        options=options,
        initial_options=chosen,
    )


def external_select(
    placeholder: str, *, action_id: str, initial: Option | None = None
) -> InputInteractiveElement:
    """A menu of more than 100 options: Slack asks the app for those that match the typed text."""
    return ExternalDataSelectElement(
        placeholder=_plain(placeholder),
        action_id=action_id,
        initial_option=initial,
        min_query_length=0,
    )


def overflow(*, action_id: str, options: Sequence[Option]) -> Element:
    """The menu behind three dots, for rare actions."""
    return OverflowMenuElement(action_id=action_id, options=options)


def input_field(  # four are keywords
    block_id: str,
    label: str,
    element: InputInteractiveElement,
    *,
    hint: str | None = None,
    optional: bool | None = None,
    dispatch_action: bool | None = None,
) -> Block:
    """A field of a form."""
    field = InputBlock(
        label=_plain(label),
        element=element,
        hint=None if hint is None else _plain(hint),
        optional=optional,
        dispatch_action=dispatch_action,
        block_id=block_id,
    )
    return _wire(field)


def text_input(
    action_id: str,
    *,
    max_length: int,
    example: str | None = None,
    typed: str | None = None,
    is_focused: bool = False,
) -> InputInteractiveElement:
    """A line to type in; `typed` is in it already."""
    return PlainTextInputElement(
        action_id=action_id,
        max_length=max_length,
        focus_on_load=is_focused,
        placeholder=None if example is None else _plain(example),
        initial_value=typed,
    )


def date_time_picker(action_id: str, at: datetime | None = None) -> InputInteractiveElement:
    """Slack's picker of a date and a time; `at` is chosen in it already."""
    chosen = None if at is None else int(at.timestamp())
    return DateTimePickerElement(action_id=action_id, initial_date_time=chosen)


def time_picker(action_id: str, at: time | None = None) -> InputInteractiveElement:
    """Slack's picker of a time of day."""
    return TimePickerElement(
        action_id=action_id, initial_time=None if at is None else f"{at:%H:%M}"
    )


def channel_menu(placeholder: str, *, action_id: str) -> InputInteractiveElement:
    """The channels that the person sees, without conversations between people."""
    return ConversationSelectElement(
        placeholder=_plain(placeholder),
        action_id=action_id,
        filter=ConversationFilter(include=["public", "private"], exclude_bot_users=True),
    )


def radio_buttons(
    action_id: str, options: Sequence[Option], initial: Option | None = None
) -> InputInteractiveElement:
    """A few choices, all of them visible."""
    require_fit("radio buttons", len(options), RADIO_LIMIT)
    return RadioButtonsElement(action_id=action_id, options=options, initial_option=initial)


def modal(
    callback_id: str,
    title: str,
    shown: Sequence[Block],
    carried: Mapping[str, JsonValue],
    *,
    submit: str | None = None,
) -> View:
    """A modal; one to fill in has `submit`. `carried`: what comes back with it."""
    view: dict[str, JsonValue] = {
        "type": "modal",
        "callback_id": callback_id,
        "title": _plain(title).to_dict(),
        "close": _plain("Close" if submit is None else "Cancel").to_dict(),
        "private_metadata": json.dumps(carried),
        "blocks": [dict(block) for block in shown],
    }
    if submit is not None:
        view["submit"] = _plain(submit).to_dict()
    return View(view)


class DataVisualizationBlock(SdkBlock):
    """A chart, for which the SDK has no class yet.

    https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
    """

    def __init__(self, title: str, chart: Mapping[str, JsonValue]) -> None:
        super().__init__(type=CHART)
        self.title = title
        self.chart = chart

    @property
    @override
    def attributes(self) -> set[str]:  # type: ignore[override]  # as the SDK's own blocks do
        return super().attributes | {"title", "chart"}


def bar_chart(title: str, categories: Sequence[str], series: Mapping[str, Sequence[int]]) -> Block:
    """Bars side by side for each category: at most 20 of them and 6 series, uniquely named.

    Not every client and workspace shows it yet, so its figures are also given in words.
    """
    labels = [cut(category, CHART_LABEL_LIMIT) for category in categories]
    bars: list[JsonValue] = []
    for name, values in series.items():
        points = zip(labels, values, strict=True)
        data: list[JsonValue] = [{"label": label, "value": value} for label, value in points]
        bars.append({"name": cut(name, CHART_LABEL_LIMIT), "data": data})
    chart: dict[str, JsonValue] = {
        "type": "bar",
        "series": bars,
        "axis_config": {"categories": list[JsonValue](labels)},
    }
    return _wire(DataVisualizationBlock(cut(title, CHART_TITLE_LIMIT), chart))


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


def with_menu(message: Message, menu: Element) -> Message:
    """The same message with a menu at its headline."""
    headline, *rest = message.blocks
    return replace(message, blocks=({**headline, "accessory": menu.to_dict()}, *rest))
