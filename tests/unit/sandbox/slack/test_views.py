"""Views: what opens, changes and closes them, and the state of their forms."""

import json
from typing import Any

import pytest

from bot.sandbox.slack.block_kit.form_state import (
    REQUIRED,
    ChoiceUnknown,
    initial_values,
    merged,
    refusals,
)
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.state.triggers import Triggers
from tests.support.block_kit import (
    DIVIDER,
    Json,
    input_block,
    modal as make_modal,
    option,
    plain,
    reason_input,
    section,
    typed_reason,
)
from tests.support.workspace_manifest import make_manifest
from tests.unit.sandbox.slack.conftest import Desk, refused

ALICE = "U0ALICE"


def modal(**fields: object) -> Json:
    return make_modal(reason_input(), **fields)


def trigger(desk: Desk, view_id: str | None = None) -> str:
    return desk.sandbox.installation.triggers.mint(ALICE, view_id)


def opened(desk: Desk, **fields: object) -> Json:
    body = desk.call("views.open", trigger_id=trigger(desk), view=modal(**fields))
    assert body["ok"] is True, body
    view: Json = body["view"]
    return view


def stack(desk: Desk) -> list[str]:
    return [each["id"] for each in desk.sandbox.sight.views(ALICE)["views"]]


def test_an_opened_view_has_every_field_that_slack_gives(desk: Desk) -> None:
    view = opened(desk, private_metadata="p", callback_id="c")
    assert view["state"]["values"]["why"]["text"] == {"type": "plain_text_input", "value": None}
    assert view["root_view_id"] == view["id"]
    assert view["previous_view_id"] is None
    assert view["bot_id"] == "B0MQBOT"
    assert view["private_metadata"] == "p"
    assert view["title"]["emoji"] is True


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"title": plain("x" * 25)}, "must be less than 25 characters"),
        ({"submit": plain("x" * 25)}, "must be less than 25 characters"),
        ({"close": plain("x" * 25)}, "must be less than 25 characters"),
        ({"title": None}, "missing required field: title"),
        ({"blocks": None}, "missing required field: blocks"),
        ({"blocks": [DIVIDER] * 101}, "no more than 100 items allowed"),
        ({"blocks": [{"type": "markdown", "text": "x"}]}, "unsupported type: markdown"),
        ({"submit": None}, "`submit` is required"),
        ({"private_metadata": "x" * 3001}, "must be less than 3001 characters"),
        ({"callback_id": "x" * 256}, "must be less than 256 characters"),
        ({"external_id": "x" * 256}, "must be less than 256 characters"),
        ({"type": "home"}, "must be one of: modal"),
        ({"colour": "red"}, "invalid additional property: colour"),
        ({"notify_on_close": "yes"}, "must provide a boolean"),
    ],
)
def test_views_past_limits_are_refused(
    desk: Desk, fields: dict[str, object], sentence: str
) -> None:
    body = desk.call("views.open", trigger_id=trigger(desk), view=modal(**fields))
    assert body["error"] == "invalid_arguments"
    messages = body["response_metadata"]["messages"]
    assert any(sentence in each and "[json-pointer:/view" in each for each in messages), messages


def test_view_calls_check_their_arguments_and_a_views_size(desk: Desk) -> None:
    past_250_kilobytes = {"view": modal(blocks=[section("x" * 2999)] * 90)}
    error = desk.error("views.open", trigger_id=trigger(desk), **past_250_kilobytes)
    assert error == "view_too_large"
    assert desk.error("views.open", view=modal()) == "invalid_arguments"
    assert desk.error("views.open", trigger_id=trigger(desk)) == "invalid_arguments"
    assert desk.error("views.open", trigger_id=trigger(desk), view="{") == "invalid_arguments"
    assert desk.error("views.update", view=modal()) == "invalid_arguments"
    assert desk.error("views.publish", user_id="U0NOBODY", view=modal()) == "invalid_arguments"


def test_a_trigger_must_be_valid_and_works_once_unless_its_view_was_refused(desk: Desk) -> None:
    once = trigger(desk)
    assert desk.error("views.open", trigger_id=once, view={}) == "invalid_arguments"
    assert desk.call("views.open", trigger_id=once, view=json.dumps(modal()))["ok"] is True
    again = {"trigger_id": once, "view": modal()}
    assert desk.error("views.open", **again) == "exchanged_trigger_id"
    assert desk.error("views.open", **{**again, "trigger_id": "x"}) == "invalid_trigger_id"
    old = {**again, "trigger_id": "1.2.abc"}
    assert desk.error("views.open", **old) == "expired_trigger_id"


def test_a_refusal_can_use_up_the_trigger(desk: Desk) -> None:
    desk.sandbox.installation.triggers.used_by_refusals = True
    for method in ("views.open", "views.push"):
        asked = {"trigger_id": trigger(desk), "view": {}}
        assert desk.error(method, **asked) == "invalid_arguments"
        assert desk.error(method, **{**asked, "view": modal()}) == "exchanged_trigger_id"


def test_a_trigger_expires_after_three_seconds(desk: Desk) -> None:
    now = [100.0]
    triggers = Triggers(lambda: now[0], desk.sandbox.installation.chance)
    early = triggers.mint(ALICE)
    late = triggers.mint(ALICE)
    now[0] += 3.0
    assert triggers.exchange(early).user == ALICE
    now[0] += 0.01
    with refused("expired_trigger_id"):
        triggers.exchange(late)


def test_a_stack_begins_with_an_open_modal_and_has_three_views_at_most(desk: Desk) -> None:
    assert desk.error("views.push", trigger_id=trigger(desk), view=modal()) == "not_found"
    root = opened(desk)
    second = desk.call("views.push", trigger_id=trigger(desk, root["id"]), view=modal())["view"]
    third = desk.call("views.push", trigger_id=trigger(desk, second["id"]), view=modal())["view"]
    assert (third["root_view_id"], third["previous_view_id"]) == (root["id"], second["id"])
    fourth = {"trigger_id": trigger(desk, third["id"]), "view": modal()}
    assert desk.error("views.push", **fourth) == "push_limit_reached"
    assert stack(desk) == [root["id"], second["id"], third["id"]]


def test_an_update_needs_the_current_hash_and_keeps_the_input(desk: Desk) -> None:
    view = opened(desk)
    entered = typed_reason("half")
    kept = desk.sandbox.installation.views.find(view["id"])
    assert kept is not None
    kept.values = entered
    target = {"view_id": view["id"], "view": modal(title=plain("New"))}
    wrong = desk.error("views.update", **target, hash="1.x")
    updated = desk.call("views.update", **target, hash=view["hash"])["view"]
    assert wrong == "hash_conflict"
    assert updated["hash"] != view["hash"]
    assert updated["title"]["text"] == "New"
    assert updated["state"]["values"] == entered
    renamed = modal(blocks=[{**reason_input(), "block_id": "why2"}])
    fresh = desk.call("views.update", view_id=view["id"], view=renamed)["view"]
    assert fresh["state"]["values"]["why2"]["text"]["value"] is None


@pytest.mark.parametrize("clears", [False, True])
def test_closing_a_pushed_view_shows_the_one_below_or_closes_the_whole_stack(
    desk: Desk, *, clears: bool
) -> None:
    root = opened(desk)
    view = modal(clear_on_close=clears)
    pushed = desk.call("views.push", trigger_id=trigger(desk, root["id"]), view=view)["view"]
    desk.sandbox.people.close(ALICE, pushed["id"])
    assert stack(desk) == ([] if clears else [root["id"]])
    assert desk.error("views.update", view_id=pushed["id"], view=modal()) == "not_found"


def test_an_external_id_belongs_to_one_view(desk: Desk) -> None:
    opened(desk, external_id="e1")
    again = {"trigger_id": trigger(desk), "view": modal(external_id="e1")}
    assert desk.error("views.open", **again) == "duplicate_external_id"
    new = modal(external_id="e1", title=plain("New"))
    updated = desk.call("views.update", external_id="e1", view=new)
    assert updated["view"]["title"]["text"] == "New"


def test_a_home_view_is_published_again_under_its_id(desk: Desk) -> None:
    home = {"type": "home", "blocks": [DIVIDER]}
    first = desk.call("views.publish", user_id=ALICE, view=home)["view"]
    second = desk.call("views.publish", user_id=ALICE, view=home, hash=first["hash"])["view"]
    assert second["id"] == first["id"]
    stale = {"user_id": ALICE, "view": home, "hash": first["hash"]}
    assert desk.error("views.publish", **stale) == "hash_conflict"
    assert desk.error("views.publish", user_id=ALICE, view=modal()) == "invalid_arguments"
    without = Desk(SlackSandbox(make_manifest(app_home={"home_tab_enabled": False})))
    assert without.error("views.publish", user_id=ALICE, view=home) == "not_enabled"


def block(element: Json, **fields: Any) -> Json:
    return input_block({"action_id": "a", **element}, block_id="b", **fields)


OPTIONS = [option("One", "one"), option("Two", "two")]


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
def test_slacks_own_form_check_accepts_good_and_no_values(element: Json, value: str) -> None:
    values = {"b": {"a": {"type": element["type"], "value": value}}}
    assert refusals([block(element)], values) == {}
    optional = [block(element, optional=True)]
    assert refusals(optional, initial_values(optional)) == {}
