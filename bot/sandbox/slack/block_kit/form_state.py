"""What people have entered into the inputs of a message or view: `state.values`."""

import re

from bot.sandbox.slack.block_kit.blocks import elements_of
from bot.sandbox.slack.block_kit.elements import options_of
from bot.sandbox.slack.wire import Json

# element type -> (field of the payload that holds the value, field that gives its start)
VALUE_FIELDS: dict[str, tuple[str, str]] = {
    "plain_text_input": ("value", "initial_value"),
    "email_text_input": ("value", "initial_value"),
    "url_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "rich_text_input": ("rich_text_value", "initial_value"),
    "static_select": ("selected_option", "initial_option"),
    "external_select": ("selected_option", "initial_option"),
    "radio_buttons": ("selected_option", "initial_option"),
    "users_select": ("selected_user", "initial_user"),
    "channels_select": ("selected_channel", "initial_channel"),
    "conversations_select": ("selected_conversation", "initial_conversation"),
    "checkboxes": ("selected_options", "initial_options"),
    "multi_static_select": ("selected_options", "initial_options"),
    "multi_external_select": ("selected_options", "initial_options"),
    "multi_users_select": ("selected_users", "initial_users"),
    "multi_channels_select": ("selected_channels", "initial_channels"),
    "multi_conversations_select": ("selected_conversations", "initial_conversations"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
    "datetimepicker": ("selected_date_time", "initial_date_time"),
    "file_input": ("files", "initial_files"),
}
_LISTS = {"selected_options", "selected_users", "selected_channels", "selected_conversations"}
_LISTS |= {"files"}
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_URL = re.compile(r"https?://\S+", re.IGNORECASE)

Values = dict[str, dict[str, Json]]

REQUIRED = "Please complete this required field."


class ChoiceUnknown(Exception):
    """A value was given that the element does not offer."""


def initial_values(blocks: list[Json]) -> Values:
    """Give the state of untouched blocks: each input with its initial value or nothing."""
    values: Values = {}
    for block in blocks:
        for part in elements_of(block):
            if part["type"] not in VALUE_FIELDS:
                continue
            name, start = VALUE_FIELDS[part["type"]]
            empty: object = [] if name in _LISTS else None
            entry = {"type": part["type"], name: part.get(start, empty)}
            values.setdefault(block["block_id"], {})[part["action_id"]] = entry
    return values


def carried_over(blocks: list[Json], earlier: Values) -> Values:
    """Give the state after an update: an input keeps its value while both of its ids stay."""
    values = initial_values(blocks)
    for block_id, actions in values.items():
        for action_id, entry in actions.items():
            kept = earlier.get(block_id, {}).get(action_id)
            if kept is not None and kept["type"] == entry["type"]:
                actions[action_id] = kept
    return values


def find_block(blocks: list[Json], block_id: str) -> Json | None:
    return next((each for each in blocks if each["block_id"] == block_id), None)


def find_element(blocks: list[Json], block_id: str, action_id: str) -> Json | None:
    block = find_block(blocks, block_id)
    parts = elements_of(block) if block else []
    return next((each for each in parts if each.get("action_id") == action_id), None)


def entered(element: Json, given: Json) -> Json:
    """Give the state entry for what a person gave to an element.

    Raises ChoiceUnknown when the choice is not among the element's options.
    """
    name, _ = VALUE_FIELDS[element["type"]]
    empty: object = [] if name in _LISTS else None
    value = given.get(name, empty)
    if name == "value" and value == "":
        value = None
    if "external" not in element["type"]:
        chosen = value if name == "selected_options" else [value]
        if name in {"selected_option", "selected_options"} and value:
            value = offered(element, chosen)
            value = value if name == "selected_options" else value[0]
    return {"type": element["type"], name: value}


def offered(element: Json, chosen: object) -> list[Json]:
    """Give the element's own options for the chosen ones, named by their values.

    Raises ChoiceUnknown for one it does not offer.
    """
    if not isinstance(chosen, list):
        raise ChoiceUnknown("the choice must be a list of options")
    known = {each["value"]: each for each in options_of(element) if "value" in each}
    values = [str(each.get("value") if isinstance(each, dict) else each) for each in chosen]
    unknown = [each for each in values if each not in known]
    if unknown:
        raise ChoiceUnknown(f"not among the options: {', '.join(unknown)}")
    return [known[each] for each in values]


def merged(blocks: list[Json], values: Values, given: object) -> Values:
    """Lay what a person gave, `{block_id: {action_id: {…}}}`, over the state.

    Raises ChoiceUnknown for a block, action or option that is not there.
    """
    result = {block_id: dict(actions) for block_id, actions in values.items()}
    if not isinstance(given, dict):
        raise ChoiceUnknown("values must be an object of block ids")
    for block_id, actions in given.items():
        for action_id, entry in actions.items() if isinstance(actions, dict) else ():
            element = find_element(blocks, block_id, action_id)
            if element is None or element["type"] not in VALUE_FIELDS:
                raise ChoiceUnknown(f"there is no input {block_id}/{action_id}")
            if not isinstance(entry, dict):
                raise ChoiceUnknown(f"the value of {block_id}/{action_id} must be an object")
            result[block_id][action_id] = entered(element, entry)
    return result


def refusals(blocks: list[Json], values: Values) -> dict[str, str]:
    """The errors of Slack's own form check, by block id; the app gets no event then."""
    refused: dict[str, str] = {}
    for block in blocks:
        if block["type"] != "input":
            continue
        element = block["element"]
        entry = values.get(block["block_id"], {}).get(element["action_id"], {})
        value = entry.get(VALUE_FIELDS[element["type"]][0])
        if not value or (isinstance(value, str) and not value.strip()):
            if not block.get("optional", False):
                refused[block["block_id"]] = REQUIRED
        elif isinstance(value, str) and (sentence := _unfit(element, value)):
            refused[block["block_id"]] = sentence
    return refused


def _unfit(element: Json, value: str) -> str | None:
    checks = {
        "plain_text_input": _unfit_length,
        "email_text_input": _unfit_email,
        "url_text_input": _unfit_url,
        "number_input": _unfit_number,
    }
    check = checks.get(element["type"])
    return check(element, value) if check else None


def _unfit_length(element: Json, value: str) -> str | None:
    shortest = element.get("min_length", 0)
    longest = element.get("max_length", 3000)
    if len(value) < shortest:
        return f"Please enter at least {shortest} characters."
    if len(value) > longest:
        return f"Please enter no more than {longest} characters."
    return None


def _unfit_email(_element: Json, value: str) -> str | None:
    return None if _EMAIL.fullmatch(value) else "Please enter a valid email address."


def _unfit_url(_element: Json, value: str) -> str | None:
    return None if _URL.fullmatch(value) else "Please enter a valid URL."


def _unfit_number(element: Json, value: str) -> str | None:
    try:
        number = float(value)
    except ValueError:
        return "Please enter a number."
    if not element["is_decimal_allowed"] and not number.is_integer():
        return "Please enter a whole number."
    if number < float(element.get("min_value", "-inf")):
        return f"Please enter a number of at least {element['min_value']}."
    if number > float(element.get("max_value", "inf")):
        return f"Please enter a number of at most {element['max_value']}."
    return None
