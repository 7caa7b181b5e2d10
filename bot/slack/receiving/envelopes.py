"""What comes over a socket goes to the reception, and its answer back."""

import json
import logging
from collections.abc import Mapping
from typing import Any

from slack_bolt.response import BoltResponse
from slack_sdk.socket_mode.request import SocketModeRequest

from bot.slack.receiving.reception import HANDLED, Json, Reception

logger = logging.getLogger(__name__)


class Envelopes:
    """Has each envelope received.

    https://docs.slack.dev/apis/events-api/using-socket-mode#acknowledge
    """

    def __init__(self, reception: Reception) -> None:
        self._reception = reception

    async def acknowledge(self, frame: Mapping[str, Any]) -> Json | None:
        """The acknowledgement to send back; None for what no listener takes.

        Slack then shows the person an error, which is the truth: nothing was done.
        """
        request = SocketModeRequest.from_dict(dict(frame))
        if request is None:
            logger.warning("no envelope", extra={"action": "envelope_unreadable"})
            return None
        retry = None if request.retry_attempt is None else str(request.retry_attempt)
        answer = await self._reception.acknowledge(request.payload, retry)
        if answer.status != HANDLED:
            logger.warning(
                "no listener took an envelope",
                extra={
                    "action": "envelope_not_taken",
                    "envelope_type": request.type,
                    "status": answer.status,
                },
            )
            return None
        return {"envelope_id": request.envelope_id, **_payload(answer)}


def _payload(answer: BoltResponse) -> Json:
    if not answer.body:
        return {}
    content_type = str(answer.headers.get("content-type", [""])[0])
    if content_type.startswith("application/json"):
        return {"payload": json.loads(answer.body)}
    return {"payload": {"text": answer.body}}
