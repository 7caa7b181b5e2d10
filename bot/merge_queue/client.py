"""The merge queue service over HTTP: the MergeQueue port, and the deprecated endpoints."""

import ssl
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Self

import httpx
from pydantic import SecretStr
from typing_extensions import override

from bot.merge_queue.caller import Caller
from bot.merge_queue.connection import GATE, Connection
from bot.merge_queue.endpoints import Endpoints
from bot.merge_queue.retries import Patience
from bot.merge_queue.statistics import Statistics
from bot.merge_queue.unreadable import UnreadableEvents
from bot.ports import Clock


class MergeQueueClient(Endpoints, AbstractAsyncContextManager["MergeQueueClient"]):
    """All endpoints, over connections of its own.

    `base_url` ends in the version segment, `/v1`. `token` is an application key or a personal
    access token; it is in no log, exception or `repr`. One client serves the whole process.
    Reads are tried again within `patience`; a write whose answer is lost is looked up. At most
    `requests_at_once` are in flight. With `deprecated_pause_endpoints` pauses go over endpoints 9
    to 12, for a service that lacks 2 to 4. `trust`: whose certificates are believed, the usual
    ones by default. Raises ValueError when the address or the credential cannot be one, and
    ConfigurationError when a proxy or certificates that the environment names cannot be used.
    """

    def __init__(  # noqa: PLR0913  # told by name, and callers give three or four
        self,
        *,
        base_url: str,
        token: SecretStr,
        clock: Clock,
        transport: httpx.AsyncBaseTransport | None = None,
        trust: ssl.SSLContext | None = None,
        patience: Patience | None = None,
        requests_at_once: int = GATE,
        deprecated_pause_endpoints: bool = False,
    ) -> None:
        patience = patience or Patience()
        self.statistics = Statistics()
        self._connection = Connection(
            base_url=base_url,
            token=token,
            clock=clock,
            patience=patience,
            requests_at_once=requests_at_once,
            transport=transport,
            trust=trust,
        )
        caller = Caller(
            self._connection, clock=clock, patience=patience, statistics=self.statistics
        )
        unreadable = UnreadableEvents(self.statistics)
        super().__init__(caller, unreadable, deprecated_pause=deprecated_pause_endpoints)
        self.scheduled = Endpoints(
            caller.behind_people(), unreadable, deprecated_pause=deprecated_pause_endpoints
        )
        """The same for what the schedule asks: it never takes the last request in flight."""

    @override
    def __repr__(self) -> str:
        return f"MergeQueueClient({self._connection.address!r})"

    @override
    async def __aenter__(self) -> Self:
        return self

    @override
    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._connection.aclose()
