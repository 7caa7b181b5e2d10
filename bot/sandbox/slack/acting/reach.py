"""Asks the app, and says how that went in the words of the control API."""

from dataclasses import dataclass, field

from bot.sandbox.slack.delivering.delivery import (
    NOT_CONNECTED,
    TIMEOUT,
    AcknowledgementMissed,
    AppNotConnected,
    Delivery,
    Payload,
)
from bot.sandbox.slack.wire import Json


@dataclass(frozen=True)
class Outcome:
    """What came of asking: what the acknowledgement carried, or why there was none."""

    content: Json = field(default_factory=dict)
    error: str | None = None

    @property
    def acknowledged(self) -> bool:
        return self.error is None

    def body(self) -> Json:
        answer: Json = {"ok": True, "acknowledged": self.acknowledged}
        return answer if self.error is None else {**answer, "error": self.error}


async def ask(delivery: Delivery, payload: Payload) -> Outcome:
    """Send a payload to the app and wait for its acknowledgement, three seconds at most."""
    try:
        return Outcome(await delivery.deliver(payload))
    except AppNotConnected:
        return Outcome(error=NOT_CONNECTED)
    except AcknowledgementMissed:
        return Outcome(error=TIMEOUT)
