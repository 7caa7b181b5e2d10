"""A rendered message."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import JsonValue

from bot.domain.values import value

Block = Mapping[str, JsonValue]
"""A Block Kit block as JSON."""


@value(frozen=True, slots=True)
class Message:
    """What Slack is given.

    `told` is how many deliveries it tells. `text` says everything essential: screen readers,
    notifications and clients that cannot show blocks get only that. `since`: when the event it
    tells was recorded, by the service's clock; None for what is told of no single event.
    `happened_at`: when what it tells happened, if that is known, event or not.

    https://docs.slack.dev/reference/methods/chat.postMessage
    """

    text: str
    blocks: tuple[Block, ...] = ()
    told: int = 1
    since: datetime | None = field(default=None, compare=False)
    happened_at: datetime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Thread:
    """Where a reply goes: `ts` is that of the thread's first message.

    `broadcast`: the channel itself shows it too.
    """

    ts: str
    broadcast: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A modal or Home tab as JSON (https://docs.slack.dev/reference/views)."""

    view: Mapping[str, JsonValue]
