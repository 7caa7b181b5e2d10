"""Forms and tabs without what Slack may refuse, so that people always see something."""

from collections.abc import Iterator, Mapping
from typing import Any

from bot.blocks.message import View

PLAIN_KINDS = frozenset({"section", "actions", "context", "divider", "header", "input"})
"""The kinds of blocks that Slack has had for years."""

NOT_ALL_SHOWN = "Some of this can't be shown right now."


def plainer_views(view: View) -> Iterator[dict[str, Any]]:
    """The view, what is usual in it, and what a form needs to be sent, or a sentence."""
    whole: dict[str, Any] = dict(view.view)
    shown: list[dict[str, Any]] = list(whole["blocks"])
    yield whole
    plain = [plain_alert(block) for block in shown]
    usual = [block for block in plain if block["type"] in PLAIN_KINDS]
    if usual != shown:
        yield {**whole, "blocks": usual}
    sentence = {"type": "section", "text": {"type": "plain_text", "text": NOT_ALL_SHOWN}}
    inputs = [_simple(block) for block in shown if block["type"] == "input"]
    yield {**whole, "blocks": [sentence, *inputs]}


def plain_alert(block: Mapping[str, Any]) -> dict[str, Any]:
    """An alert as a section, which every client shows."""
    if block["type"] != "alert":
        return dict(block)
    return {"type": "section", "text": block["text"]}


def _simple(block: dict[str, Any]) -> dict[str, Any]:
    """A field with what it must have, its choice included."""
    needed = ("type", "block_id", "label", "element", "optional", "dispatch_action")
    return {name: block[name] for name in needed if name in block}
