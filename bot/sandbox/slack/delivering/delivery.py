"""The interface through which the workspace sends events to the app."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from bot.sandbox.slack.faults import Faults
from bot.sandbox.slack.wire import Json

TIMEOUT = "operation_timeout"
NOT_CONNECTED = "app_not_connected"

PayloadKind = Literal["events_api", "slash_commands", "interactive"]


@dataclass(frozen=True)
class Payload:
    """What the app is sent; `answerable` when its acknowledgement may carry content."""

    kind: PayloadKind
    body: Json
    answerable: bool = False


@dataclass(slots=True)
class Terms:
    """On which both ways to the app deliver."""

    faults: Faults
    ack_seconds: float  #: how long the app has to acknowledge
    #: the waits before an unacknowledged event is sent again
    event_retry_seconds: tuple[float, ...]
    on_connections: Callable[[], None]  #: called when a way to the app has opened or closed
    ping_seconds: float = 15.0  #: from one ping of a connection to the next


class AppNotConnected(Exception):
    """There is nowhere to send the payload."""


class AcknowledgementMissed(Exception):
    """The app did not acknowledge within Slack's three seconds."""


class Delivery(Protocol):
    """A way to reach the app: Socket Mode, or signed requests to its address."""

    @property
    def connections(self) -> int:
        """Say how many ways to the app are open now."""

    async def deliver(self, payload: Payload) -> Json:
        """Send a command or interaction, once, and give what the acknowledgement carried.

        Raises AppNotConnected, AcknowledgementMissed.
        """

    def announce(self, payload: Payload) -> asyncio.Future[str | None]:
        """Send an event in the background, again when it is not acknowledged.

        The future gives the fate of the first attempt: None when it was acknowledged, else
        NOT_CONNECTED or TIMEOUT.
        """
