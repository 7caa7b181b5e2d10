from typing import Any

import pytest

from bot.sandbox.slack.block_kit.form_state import (
    REQUIRED,
    ChoiceUnknown,
    initial_values,
    merged,
    refusals,
)
from tests.support.block_kit import Json, input_block, option


def block(element: Json, **fields: Any) -> Json:
    return input_block({"action_id": "a", **element}, block_id="b", **fields)


OPTIONS = [option("One", "one"), option("Two", "two")]


@pytest.mark.parametrize(
    ("element", "entry"),
    [
        ({"type": "plain_text_input", "initial_value": "x"}, {"value": "x"}),
        ({"type": "plain_text_input"}, {"value": None}),
        (
            {"type": "static_select", "options": OPTIONS, "initial_option": OPTIONS[1]},
            {"selected_option": OPTIONS[1]},
        ),
        ({"type": "checkboxes", "options": OPTIONS}, {"selected_options": []}),
        ({"type": "datepicker", "initial_date": "2026-11-20"}, {"selected_date": "2026-11-20"}),
        ({"type": "users_select"}, {"selected_user": None}),
        ({"type": "multi_users_select"}, {"selected_users": []}),
    ],
)
def test_an_untouched_input_has_its_initial_value(element: Json, entry: Json) -> None:
    assert initial_values([block(element)])["b"]["a"] == {"type": element["type"], **entry}


def test_choices_come_from_the_elements_options() -> None:
    blocks = [block({"type": "static_select", "options": OPTIONS})]
    given = {"b": {"a": {"selected_option": {"value": "two"}}}}
    values = merged(blocks, initial_values(blocks), given)
    assert values["b"]["a"]["selected_option"] == OPTIONS[1]


@pytest.mark.parametrize(
    "given",
    [
        "text",
        {"other": {"a": {"value": "x"}}},
        {"b": {"other": {"value": "x"}}},
        {"b": {"a": "x"}},
        {"b": {"a": {"selected_option": {"value": "three"}}}},
    ],
)
def test_choices_that_the_form_does_not_offer_are_refused(given: object) -> None:
    blocks = [block({"type": "static_select", "options": OPTIONS})]
    with pytest.raises(ChoiceUnknown):
        merged(blocks, initial_values(blocks), given)


@pytest.mark.parametrize(
    ("element", "value", "sentence"),
    [
        ({"type": "plain_text_input"}, None, REQUIRED),
        ({"type": "plain_text_input"}, "   ", REQUIRED),
        ({"type": "plain_text_input", "max_length": 3}, "abcd", "no more than 3 characters"),
        ({"type": "plain_text_input", "min_length": 3}, "ab", "at least 3 characters"),
        ({"type": "email_text_input"}, "alice", "valid email"),
        ({"type": "url_text_input"}, "alice", "valid URL"),
        ({"type": "number_input", "is_decimal_allowed": False}, "1.5", "whole number"),
        ({"type": "number_input", "is_decimal_allowed": True}, "x", "enter a number"),
        ({"type": "number_input", "is_decimal_allowed": True, "max_value": "2"}, "3", "at most 2"),
        ({"type": "number_input", "is_decimal_allowed": True, "min_value": "2"}, "1", "at least 2"),
    ],
)
def test_slacks_own_form_check_refuses(element: Json, value: str | None, sentence: str) -> None:
    values = {"b": {"a": {"type": element["type"], "value": value}}}
    assert sentence in refusals([block(element)], values)["b"]


@pytest.mark.parametrize(
    ("element", "value"),
    [
        ({"type": "plain_text_input", "max_length": 3}, "abc"),
        ({"type": "email_text_input"}, "alice@acme.example"),
        ({"type": "url_text_input"}, "https://acme.example"),
        ({"type": "number_input", "is_decimal_allowed": False, "min_value": "2"}, "2"),
    ],
)
def test_slacks_own_form_check_lets_good_values_through(element: Json, value: str) -> None:
    values = {"b": {"a": {"type": element["type"], "value": value}}}
    assert refusals([block(element)], values) == {}


def test_an_optional_input_may_stay_empty() -> None:
    blocks = [block({"type": "plain_text_input"}, optional=True)]
    assert refusals(blocks, initial_values(blocks)) == {}
