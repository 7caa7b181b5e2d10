"""What an app may put into a message: text, blocks, attachments and metadata, checked."""

import json
import re
from dataclasses import dataclass

from bot.sandbox.slack.block_kit.blocks import (
    MARKDOWN_BUDGET,
    MESSAGE_TEXT_BUDGET,
    completed,
    find_problems,
    spoken_text,
    text_length,
)
from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.state.mrkdwn import text_from_app
from bot.sandbox.slack.web_api.calls import Call
from bot.sandbox.slack.wire import Json, SlackRefusal

POSTED_TEXT = 40_000
ATTACHMENTS = 100
# Slack doesn't publish the limit; it asks apps to stay under 1 to 2 KB.
METADATA_BYTES = 8_000
_EVENT_TYPE = re.compile(r"[A-Za-z0-9_]{1,255}")


@dataclass(frozen=True)
class Content:
    """The checked content of a message; None where the call said nothing."""

    text: str | None
    blocks: list[Json] | None
    attachments: list[Json] | None

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.blocks or self.attachments)

    @property
    def fallback(self) -> str:
        """Give the text, or the one Slack builds when only blocks were sent."""
        return self.text or spoken_text(self.blocks or [])


def read_content(
    call: Call,
    installation: Installation,
    *,
    default_parse: str = "none",
    budgeted: bool = True,
) -> Content:
    """Read and check what a call wants to say.

    `budgeted` is False for `response_url`, which was seen to take blocks that chat.postMessage
    refuses. Raises SlackRefusal: `invalid_blocks`, `invalid_blocks_format`, `msg_blocks_too_long`,
    `invalid_attachments`, `too_many_attachments`, `markdown_text_conflict`, `msg_too_long`.
    """
    blocks = _read_blocks(call, installation, budgeted=budgeted)
    text = call.text("text") if call.has("text") else None
    markdown = call.text("markdown_text")
    if markdown:
        if text or blocks:
            raise SlackRefusal("markdown_text_conflict")
        if len(markdown) > MARKDOWN_BUDGET:
            raise SlackRefusal("msg_too_long")
        block = {"type": "markdown", "text": markdown}
        return Content(markdown, completed([block], installation.chance), None)
    if text is not None and len(text) > POSTED_TEXT and default_parse == "none":
        text = text[:POSTED_TEXT]
        call.warnings.append("message_truncated")
    if text is not None:
        parse = call.text("parse") or default_parse
        linked = parse in {"full", "client"} or call.flag("link_names")
        text = text_from_app(text, installation.workspace, link_names=linked)
    return Content(text, blocks, _read_attachments(call, installation))


def _read_blocks(call: Call, installation: Installation, *, budgeted: bool) -> list[Json] | None:
    blocks = call.structured("blocks", "invalid_blocks_format")
    if blocks is None:
        return None
    if not isinstance(blocks, list):
        raise SlackRefusal("invalid_blocks_format")
    problems = find_problems(blocks, "message").sentences()
    if problems:
        messages = [f"[ERROR] {each}" for each in problems]
        raise SlackRefusal("invalid_blocks", messages=messages, fields={"errors": problems})
    if budgeted and text_length(blocks) > MESSAGE_TEXT_BUDGET:
        raise SlackRefusal("msg_blocks_too_long")
    return completed(blocks, installation.chance)


def _read_attachments(call: Call, installation: Installation) -> list[Json] | None:
    attachments = call.structured("attachments", "invalid_attachments")
    if attachments is None:
        return None
    if not isinstance(attachments, list) or not all(isinstance(e, dict) for e in attachments):
        raise SlackRefusal("invalid_attachments")
    if len(attachments) > ATTACHMENTS:
        raise SlackRefusal("too_many_attachments")
    return [
        {"id": number, **_with_blocks(each, installation)}
        for number, each in enumerate(attachments, 1)
    ]


def _with_blocks(attachment: Json, installation: Installation) -> Json:
    blocks = attachment.get("blocks")
    if blocks is None:
        return attachment
    if not isinstance(blocks, list):
        raise SlackRefusal("invalid_attachments")
    problems = find_problems(blocks, "message").sentences()
    if problems:
        messages = [f"[ERROR] {each}" for each in problems]
        raise SlackRefusal("invalid_attachments", messages=messages)
    return {**attachment, "blocks": completed(blocks, installation.chance)}


def read_metadata(call: Call) -> Json | None:
    """Read and check `metadata`; an empty object means none.

    Raises SlackRefusal: `invalid_metadata_format`, `invalid_metadata_schema`,
    `metadata_too_large`.
    """
    metadata = call.structured("metadata", "invalid_metadata_format")
    if metadata is None or metadata == {}:
        return None
    if not isinstance(metadata, dict):
        raise SlackRefusal("invalid_metadata_format")
    event_type = metadata.get("event_type")
    payload = metadata.get("event_payload")
    if not isinstance(event_type, str) or not _EVENT_TYPE.fullmatch(event_type):
        raise SlackRefusal("invalid_metadata_schema")
    if not isinstance(payload, dict):
        raise SlackRefusal("invalid_metadata_schema")
    if len(json.dumps(metadata).encode()) > METADATA_BYTES:
        raise SlackRefusal("metadata_too_large")
    return {"event_type": event_type, "event_payload": payload}
