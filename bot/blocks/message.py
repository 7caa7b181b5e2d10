"""A rendered message; creating one that exceeds Slack's size limits raises an error."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import blake2b

from pydantic import JsonValue

Block = Mapping[str, JsonValue]
"""A Block Kit block as JSON."""

TEXT_LIMIT = 4000
"""chat.update refuses a longer `text`, so a longer post could never be edited."""

MESSAGE_BLOCKS_LIMIT = 50
MESSAGE_BLOCKS_TEXT_LIMIT = 10_000
"""Slack refuses messages whose blocks hold about 11,000 characters or more."""

VIEW_BLOCKS_LIMIT = 100
PRIVATE_METADATA_LIMIT = 3000


class DoesNotFit(ValueError):
    """A text or list is larger than Slack accepts; its author has to shorten it."""


def require_fit(what: str, size: int, limit: int) -> None:
    """Raises DoesNotFit."""
    if size > limit:
        raise DoesNotFit(f"{what}: {size:,}, at most {limit:,}")


class Colour(StrEnum):
    """The bar beside a message; its words say the same."""

    RED = "#c22a44"  #: something failed or needs somebody
    YELLOW = "#d9a400"  #: paused
    BLUE = "#2f6fd0"  #: frozen
    GREEN = "#2f9e6e"  #: running again


@dataclass(frozen=True, slots=True)
class Message:
    """A message for Slack. Raises DoesNotFit.

    https://docs.slack.dev/reference/methods/chat.postMessage
    """

    text: str  #: everything essential, for screen readers, notifications and clients without blocks
    blocks: tuple[Block, ...] = ()
    colour: Colour | None = None  #: of the bar beside all blocks but the first
    is_refusal: bool = False  #: its first block says why nothing was done; in a form it stands out
    updates: int = 1  #: how many deliveries it covers
    #: when the event was recorded, by the service's clock; None if it is not about one event
    since: datetime | None = field(default=None, compare=False)
    #: when its subject happened, if known
    happened_at: datetime | None = field(default=None, compare=False)
    #: what the log says that it is about
    about: Mapping[str, object] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        require_fit("characters of a message's text", len(self.text), TEXT_LIMIT)
        require_fit("blocks of a message", len(self.blocks), MESSAGE_BLOCKS_LIMIT)
        length = text_length(self.blocks)
        require_fit("characters of a message's blocks", length, MESSAGE_BLOCKS_TEXT_LIMIT)

    def wire(self) -> tuple[list[dict[str, JsonValue]], list[dict[str, JsonValue]]]:
        """The `blocks` and the `attachments` that Slack takes.

        Slack draws a coloured bar beside attachments only, so all but the first block go there
        (https://docs.slack.dev/messaging/formatting-message-text#attachments).
        """
        shown = [dict(block) for block in self.blocks]
        if self.colour is None or len(shown) == 1:
            return shown, []
        bar: dict[str, JsonValue] = {
            "color": self.colour.value,
            "fallback": self.text,
            "blocks": list[JsonValue](shown[1:]),
        }
        return shown[:1], [bar]

    @property
    def content_hash(self) -> str:
        """A hash: equal for messages that say the same."""
        said = json.dumps([self.text, self.blocks, self.colour], sort_keys=True)
        return blake2b(said.encode(), digest_size=16).hexdigest()


def text_length(shown: object) -> int:
    """The total length of all text objects in blocks."""
    if isinstance(shown, dict):
        own = len(shown["text"]) if isinstance(shown.get("text"), str) else 0
        return own + sum([text_length(inner) for inner in shown.values()])
    if isinstance(shown, (list, tuple)):
        return sum([text_length(inner) for inner in shown])
    return 0


@dataclass(frozen=True, slots=True)
class Thread:
    """The target of a reply: `ts` is that of the thread's first message."""

    ts: str
    broadcast: bool = False  #: show it in the channel too


@dataclass(frozen=True, slots=True)
class View:
    """A modal or Home tab as JSON (https://docs.slack.dev/reference/views); raises DoesNotFit."""

    view: Mapping[str, JsonValue]

    def __post_init__(self) -> None:
        shown = self.view["blocks"]
        kept = self.view.get("private_metadata", "")
        count = len(shown) if isinstance(shown, list) else 0
        require_fit("blocks of a view", count, VIEW_BLOCKS_LIMIT)
        require_fit("characters of private_metadata", len(str(kept)), PRIVATE_METADATA_LIMIT)
