"""Refuses views that Slack would refuse, and completes the ones it takes."""

import json
import random

from bot.sandbox.slack.block_kit.blocks import Surface, completed, find_problems
from bot.sandbox.slack.block_kit.schema import (
    Check,
    Problems,
    Shape,
    anything,
    boolean,
    one_of,
    string,
)
from bot.sandbox.slack.block_kit.text_objects import plain_text
from bot.sandbox.slack.wire import Json, SlackRefusal

VIEW_BYTES = 250_000
_TITLE = plain_text(24)
# Slack hands these out with every view and takes them back in views.update, unread.
_OWN_FIELDS = (
    "id",
    "team_id",
    "state",
    "hash",
    "root_view_id",
    "previous_view_id",
    "app_id",
    "app_installed_team_id",
    "bot_id",
)

_SHARED: dict[str, Check] = {
    "private_metadata": string(3000, 0),
    "callback_id": string(255, 0),
    "external_id": string(255, 0),
    **dict.fromkeys(_OWN_FIELDS, anything),
}
_MODAL = Shape(
    {"type": one_of("modal"), "title": _TITLE, "blocks": anything},
    {
        **_SHARED,
        "submit": _TITLE,
        "close": _TITLE,
        "clear_on_close": boolean,
        "notify_on_close": boolean,
        "submit_disabled": boolean,
    },
)
_HOME = Shape(
    {"type": one_of("home"), "blocks": anything},
    {
        **_SHARED,
        **dict.fromkeys(("title", "submit", "close"), anything),
        **dict.fromkeys(("clear_on_close", "notify_on_close"), anything),
    },
)


def accepted_view(view: object, surface: Surface, chance: random.Random) -> Json:
    """Check a view for a modal or home and give it as Slack keeps it.

    Raises SlackRefusal: `invalid_arguments` with a sentence for each fault, `view_too_large`.
    """
    problems = Problems()
    shape = _MODAL if surface == "modal" else _HOME
    shape(view, "/view", problems)
    if isinstance(view, dict) and view.get("blocks") is not None:
        problems.found += find_problems(view["blocks"], surface, "/view/blocks").found
        if surface == "modal" and not problems.found:
            _require_submit(view, problems)
    if problems.found or not isinstance(view, dict):
        messages = [f"[ERROR] {each}" for each in problems.sentences()]
        raise SlackRefusal("invalid_arguments", messages=messages)
    if len(json.dumps(view, ensure_ascii=False).encode()) > VIEW_BYTES:
        raise SlackRefusal("view_too_large")
    return _stored(view, surface, chance)


def _require_submit(view: Json, problems: Problems) -> None:
    has_input = any(each["type"] == "input" for each in view["blocks"])
    if has_input and view.get("submit") is None:
        problems.add("`submit` is required when an `input` block is within blocks", "/view")


def _stored(view: Json, surface: Surface, chance: random.Random) -> Json:
    def titled(name: str) -> Json | None:
        text = view.get(name)
        return {"emoji": True, **text} if isinstance(text, dict) else None

    return {
        "type": surface,
        "title": titled("title") or {"type": "plain_text", "text": "View Title", "emoji": True},
        "submit": titled("submit"),
        "close": titled("close"),
        "blocks": completed(view["blocks"], chance),
        "private_metadata": view.get("private_metadata") or "",
        "callback_id": view.get("callback_id") or "",
        "external_id": view.get("external_id") or "",
        "clear_on_close": bool(view.get("clear_on_close")),
        "notify_on_close": bool(view.get("notify_on_close")),
        "submit_disabled": bool(view.get("submit_disabled")),
    }
