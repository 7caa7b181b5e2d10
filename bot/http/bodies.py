"""Reads the bodies of requests whose sender nobody knows yet, with limits for each and for all."""

import asyncio
import logging
from dataclasses import dataclass, field

from aiohttp import web

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class _Reading:
    """A body that is being received."""

    timeout: asyncio.Timeout
    received: bytearray = field(default_factory=bytearray)
    gave_way: bool = False

    def give_way(self) -> None:
        """Stop reading at once, and free what was received."""
        self.gave_way = True
        self.received.clear()
        self.timeout.reschedule(asyncio.get_running_loop().time())


class Bodies:
    """Limits the sum of all bodies that are being received.

    Nobody knows yet who sends them. Bytes count, not what a header announces; beyond the limit the
    largest body gives way, so that requests of ordinary size still come through.
    """

    def __init__(self) -> None:
        self.seconds = 3.0
        """Time for a body; Slack gives up after that."""
        self.most_bytes = 16 * 1024 * 1024
        """Of all bodies that a port is receiving."""
        self._readings: set[_Reading] = set()
        self.received_bytes = 0
        """Of all bodies that are being read."""

    async def read(self, request: web.Request, most: int) -> bytes:
        """Raises HTTPException if it is too large or too slow, or has to give way."""
        if (request.content_length or 0) > most:
            raise web.HTTPRequestEntityTooLarge(most, request.content_length or 0)
        timeout = asyncio.timeout(self.seconds)
        reading = _Reading(timeout)
        self._readings.add(reading)
        try:
            async with timeout:
                await self._receive(request, reading, most)
        except TimeoutError:
            if reading.gave_way:
                raise web.HTTPServiceUnavailable from None
            raise web.HTTPRequestTimeout from None
        except ConnectionError:
            # Nobody gets this answer, and nobody has to read about it.
            raise web.HTTPRequestTimeout from None
        except web.RequestPayloadError:
            raise web.HTTPBadRequest from None
        finally:
            self._readings.discard(reading)
            self.received_bytes -= len(reading.received)
        return bytes(reading.received)

    async def _receive(self, request: web.Request, reading: _Reading, most: int) -> None:
        async for part in request.content.iter_any():
            if len(reading.received) + len(part) > most:
                raise web.HTTPRequestEntityTooLarge(most, len(reading.received) + len(part))
            reading.received += part
            self.received_bytes += len(part)
            while self.received_bytes > self.most_bytes:
                largest = max(self._readings, key=lambda reading: len(reading.received))
                self.received_bytes -= len(largest.received)
                largest.give_way()
                extra = {"action": "bodies_full"}
                logger.warning("requests are too large together; refused the largest", extra=extra)
