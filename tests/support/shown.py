"""Messages and views of the local Slack workspace, as a person reads them."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

_REFERENCE = re.compile(r"<(?:[^<>|]*\|)?([^<>|]*)>")
MORE = "More actions"
"""What Slack calls the menu behind three dots."""

_ELEMENT_TEXTS = {"plain_text", "mrkdwn"}


def as_read(mrkdwn: str) -> str:
    """Links and dates as their labels, entities as characters."""
    return html.unescape(_REFERENCE.sub(r"\1", mrkdwn))


@dataclass(frozen=True)
class Element:
    """A button or menu, and the block it stands in."""

    block_id: str
    body: Json

    @property
    def label(self) -> str:
        if self.body["type"] == "overflow":
            return MORE
        if self.body["type"] == "radio_buttons":
            return str(self.body["options"][0]["text"]["text"])
        return str((self.body.get("text") or self.body.get("placeholder") or {}).get("text"))

    @property
    def question(self) -> str | None:
        """What Slack asks before the button acts."""
        confirm = self.body.get("confirm")
        return None if confirm is None else str(confirm["text"]["text"])

    def option(self, label: str) -> Json:
        options: Sequence[Json] = self.body["options"]
        return next(message for message in options if message["text"]["text"] == label)


@dataclass(frozen=True)
class Blocks:
    """What a person reads in blocks, and what can be pressed or chosen there."""

    blocks: Sequence[Json]

    @property
    def words(self) -> str:
        return "\n".join(as_read(text) for block in self.blocks for text in _texts(block))

    @property
    def labels(self) -> list[str]:
        return [element.label for element in self.elements()]

    def elements(self) -> Iterator[Element]:
        for block in self.blocks:
            found = block.get("elements", []) if block["type"] == "actions" else []
            found = [*found, block.get("accessory") or block.get("element")]
            for body in found:
                if body is not None and "action_id" in body:
                    yield Element(block["block_id"], body)

    def options(self, menu: str) -> list[str]:
        return [message["text"]["text"] for message in self.element(menu).body["options"]]

    def element(self, label: str) -> Element:
        found = [one for one in self.elements() if one.label == label]
        assert found, f"no “{label}” here, only {self.labels}: {self.words}"
        return found[0]


def _texts(block: Json) -> Iterator[str]:
    if block["type"] == "actions":
        return
    for name in ("text", "label", "hint"):
        if isinstance(block.get(name), dict):
            yield block[name]["text"]
    for inner in (*block.get("fields", ()), *block.get("elements", ())):
        if inner.get("type") in _ELEMENT_TEXTS:
            yield inner["text"]


@dataclass(frozen=True)
class Shown(Blocks):
    """A message that somebody sees; `line` is its text for notifications and screen readers."""

    channel: str
    ts: str
    line: str
    ephemeral: bool

    def __contains__(self, text: str) -> bool:
        return text in self.words or text in self.line


@dataclass(frozen=True)
class ShownView(Blocks):
    """An open modal or a Home tab."""

    view_id: str
    title: str
    body: Json

    def __contains__(self, text: str) -> bool:
        return text in self.words


def message_shown(body: Json) -> Shown:
    beside = [block for each in body.get("attachments") or () for block in each.get("blocks") or ()]
    return Shown(
        blocks=[*(body["blocks"] or []), *beside],
        channel=body["channel"],
        ts=body["ts"],
        line=as_read(body["text"]),
        ephemeral=body["ephemeral"],
    )


def view_shown(body: Json) -> ShownView:
    title = (body.get("title") or {}).get("text", "")
    return ShownView(blocks=body["blocks"], view_id=body["id"], title=title, body=body)
