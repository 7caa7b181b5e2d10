"""A rendered message."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

Block = Mapping[str, JsonValue]
"""A Block Kit block as JSON."""


@dataclass(frozen=True, slots=True)
class Message:
    """What Slack is given.

    `told` is how many deliveries it tells. `text` says everything essential: screen readers,
    notifications and clients that cannot show blocks get only that.

    https://docs.slack.dev/reference/methods/chat.postMessage
    """

    text: str
    blocks: tuple[Block, ...] = ()
    told: int = 1


@dataclass(frozen=True, slots=True)
class View:
    """A modal or Home tab as JSON (https://docs.slack.dev/reference/views)."""

    view: Mapping[str, JsonValue]
