"""The interactive elements of Block Kit: what each must have, and where each may stand."""

import re

from bot.sandbox.slack.block_kit.schema import (
    Check,
    Problems,
    anything,
    boolean,
    exactly_one,
    integer,
    items,
    one_of,
    string,
    typed,
)
from bot.sandbox.slack.block_kit.text_objects import (
    ADDRESS,
    CHOICE_OPTION,
    CONFIRM,
    CONVERSATION_FILTER,
    DISPATCH_CONFIG,
    IDENTIFIER,
    MENU_OPTION,
    OPTION_GROUP,
    OVERFLOW_OPTION,
    of_type,
    plain_text,
)
from bot.sandbox.slack.wire import Json

_PLACEHOLDER = plain_text(150)
_LONGEST_INPUT = 3000
_ACTION: dict[str, Check] = {"action_id": IDENTIFIER, "confirm": CONFIRM, "focus_on_load": boolean}
_MENU: dict[str, Check] = {**_ACTION, "placeholder": _PLACEHOLDER}
_TYPED_IN: dict[str, Check] = {
    "action_id": IDENTIFIER,
    "placeholder": _PLACEHOLDER,
    "dispatch_action_config": DISPATCH_CONFIG,
    "focus_on_load": boolean,
}


def _pattern(pattern: str, wanted: str) -> Check:
    compiled = re.compile(pattern)

    def check(value: object, pointer: str, problems: Problems) -> None:
        if not isinstance(value, str) or not compiled.fullmatch(value):
            problems.add(f"must be {wanted}", pointer)

    return check


_DATE = _pattern(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", "a date in the form YYYY-MM-DD")
_TIME = _pattern(r"([01]\d|2[0-3]):[0-5]\d", "a time in the form HH:mm")
_TEN_DIGITS = integer(1_000_000_000, 9_999_999_999)

_BUTTON = of_type(
    {"text": plain_text(75)},
    {
        "action_id": IDENTIFIER,
        "url": ADDRESS,
        "value": string(2000, 0),
        "style": one_of("primary", "danger"),
        "confirm": CONFIRM,
        "accessibility_label": string(75),
        "visible_to_user_ids": items(string(255), 10),
    },
)
_IMAGE = exactly_one(
    of_type({"alt_text": string(2000)}, {"image_url": ADDRESS, "slack_file": anything}),
    "image_url",
    "slack_file",
)


def _several(initial: str, check: Check) -> dict[str, Check]:
    return {**_MENU, initial: items(check, 100), "max_selected_items": integer(1, 100)}


def _initial_among_options(shape: Check) -> Check:
    """Hold the initial choice to the options, as Slack does."""

    def check(value: object, pointer: str, problems: Problems) -> None:
        shape(value, pointer, problems)
        if not isinstance(value, dict):
            return
        known = [_comparable(each) for each in options_of(value)]
        single = value.get("initial_option")
        several = value.get("initial_options")
        chosen = [single] if single else several
        for each in chosen if isinstance(chosen, list) else ():
            if _comparable(each) not in known:
                problems.add("initial option must match one of the options", pointer)

    return check


def _comparable(option: object) -> object:
    if not isinstance(option, dict):
        return option
    text = option.get("text")
    return option.get("value"), text.get("text") if isinstance(text, dict) else text


def options_of(element: Json) -> list[Json]:
    """List the options of a menu, radio group or checkbox group, groups flattened."""
    options = _objects(element.get("options"))
    for group in _objects(element.get("option_groups")):
        options += _objects(group.get("options"))
    return options


def _objects(value: object) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _options(extra: dict[str, Check]) -> Check:
    fields = {
        **extra,
        "options": items(MENU_OPTION, 100),
        "option_groups": items(OPTION_GROUP, 100),
    }
    shape = of_type({}, fields)
    return _initial_among_options(exactly_one(shape, "options", "option_groups"))


_EXTERNAL: dict[str, Check] = {"min_query_length": integer(0, 10_000)}
_CONVERSATIONS: dict[str, Check] = {
    "filter": CONVERSATION_FILTER,
    "default_to_current_conversation": boolean,
}
_RESPONDING: dict[str, Check] = {"response_url_enabled": boolean}
_NUMBER = {"min_value": string(255), "max_value": string(255), "initial_value": string(255)}

ELEMENTS: dict[str, Check] = {
    "button": _BUTTON,
    "workflow_button": of_type({"text": plain_text(75), "workflow": anything}, dict(_ACTION)),
    "image": _IMAGE,
    "overflow": of_type({"options": items(OVERFLOW_OPTION, 5)}, dict(_ACTION)),
    "static_select": _options({**_MENU, "initial_option": MENU_OPTION}),
    "multi_static_select": _options(_several("initial_options", MENU_OPTION)),
    "external_select": of_type({}, {**_MENU, **_EXTERNAL, "initial_option": MENU_OPTION}),
    "multi_external_select": of_type({}, {**_several("initial_options", MENU_OPTION), **_EXTERNAL}),
    "users_select": of_type({}, {**_MENU, "initial_user": IDENTIFIER}),
    "multi_users_select": of_type({}, _several("initial_users", IDENTIFIER)),
    "channels_select": of_type({}, {**_MENU, **_RESPONDING, "initial_channel": IDENTIFIER}),
    "multi_channels_select": of_type({}, _several("initial_channels", IDENTIFIER)),
    "conversations_select": of_type(
        {}, {**_MENU, **_CONVERSATIONS, **_RESPONDING, "initial_conversation": IDENTIFIER}
    ),
    "multi_conversations_select": of_type(
        {}, {**_several("initial_conversations", IDENTIFIER), **_CONVERSATIONS}
    ),
    "radio_buttons": _initial_among_options(
        of_type({"options": items(CHOICE_OPTION, 10)}, {**_ACTION, "initial_option": CHOICE_OPTION})
    ),
    "checkboxes": _initial_among_options(
        of_type(
            {"options": items(CHOICE_OPTION, 10)},
            {**_ACTION, "initial_options": items(CHOICE_OPTION, 10)},
        )
    ),
    "datepicker": of_type({}, {**_MENU, "initial_date": _DATE}),
    "timepicker": of_type({}, {**_MENU, "initial_time": _TIME, "timezone": string(255)}),
    "datetimepicker": of_type({}, {**_ACTION, "initial_date_time": _TEN_DIGITS}),
    "plain_text_input": of_type(
        {},
        {
            **_TYPED_IN,
            "initial_value": string(_LONGEST_INPUT, 0),
            "multiline": boolean,
            "min_length": integer(0, _LONGEST_INPUT),
            "max_length": integer(1, _LONGEST_INPUT),
        },
    ),
    "email_text_input": of_type({}, {**_TYPED_IN, "initial_value": string(_LONGEST_INPUT, 0)}),
    "url_text_input": of_type({}, {**_TYPED_IN, "initial_value": string(_LONGEST_INPUT, 0)}),
    "number_input": of_type({"is_decimal_allowed": boolean}, {**_TYPED_IN, **_NUMBER}),
    "rich_text_input": of_type({}, {**_TYPED_IN, "initial_value": anything}),
    "file_input": of_type(
        {},
        {
            "action_id": IDENTIFIER,
            "filetypes": items(string(255), 100),
            "max_files": integer(1, 10),
        },
    ),
    "icon_button": of_type(
        {"icon": one_of("trash"), "text": plain_text(75)},
        {
            "action_id": IDENTIFIER,
            "value": string(2000, 0),
            "confirm": CONFIRM,
            "accessibility_label": string(75),
            "visible_to_user_ids": items(string(255), 10),
        },
    ),
    "feedback_buttons": of_type(
        {"positive_button": anything, "negative_button": anything}, {"action_id": IDENTIFIER}
    ),
}

_SELECTS = {each for each in ELEMENTS if each.endswith("_select")}
_PICKERS = {"datepicker", "timepicker", "datetimepicker"}
_CHOICES = {"radio_buttons", "checkboxes"}
_TEXT_INPUTS = {each for each in ELEMENTS if each.endswith("_input")}
_BUTTONS = {"button", "workflow_button", "overflow"}

ACCESSORIES = _SELECTS | _CHOICES | _BUTTONS | {"datepicker", "timepicker", "image"}
ACTIONS = _SELECTS | _CHOICES | _PICKERS | _BUTTONS | {"rich_text_input"}
INPUTS = _SELECTS | _CHOICES | _PICKERS | _TEXT_INPUTS
CONTEXT_ACTIONS = {"icon_button", "feedback_buttons"}


def element(allowed: set[str]) -> Check:
    """Accept one of the named elements, each held to its own shape."""
    return typed(ELEMENTS, allowed)
