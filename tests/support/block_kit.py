"""Blocks as apps write them, for tests of the local workspace and of its page."""

from typing import Any

Json = dict[str, Any]
DIVIDER: Json = {"type": "divider"}


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def section(text: str = "x", **more: Any) -> Json:
    return {"type": "section", "text": mrkdwn(text), **more}


def option(label: str, value: str = "", **more: Any) -> Json:
    return {"text": plain(label), "value": value or label, **more}


def button(label: str = "Go", action_id: str = "go", /, **more: Any) -> Json:
    return {"type": "button", "text": plain(label), "action_id": action_id, **more}


def actions(*elements: Json, **more: Any) -> Json:
    return {"type": "actions", "elements": list(elements), **more}


def input_block(element: Json, label: str = "Label", **more: Any) -> Json:
    return {"type": "input", "label": plain(label), "element": element, **more}


def modal(*blocks: Json, **more: Any) -> Json:
    return {
        "type": "modal",
        "title": plain("Pause"),
        "submit": plain("Pause"),
        "blocks": list(blocks),
        **more,
    }


def reason_input(**more: Any) -> Json:
    """An input of text, as the form of a pause has one."""
    element = {"type": "plain_text_input", "action_id": "text", **more}
    return input_block(element, "Why", block_id="why")


def typed_reason(text: str) -> Json:
    """What a form with that input holds then."""
    return {"why": {"text": {"type": "plain_text_input", "value": text}}}
