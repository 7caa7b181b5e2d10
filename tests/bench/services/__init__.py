"""The services for the measured programs: as cheap as possible, so as not to be measured too."""

import ssl
from contextlib import AbstractAsyncContextManager
from typing import Self

from aiohttp import web
from typing_extensions import override


class Service(AbstractAsyncContextManager["Service"]):
    """Answers on a loopback port while its context lasts."""

    def __init__(self, *routes: web.RouteDef, tls: ssl.SSLContext | None = None) -> None:
        application = web.Application()
        application.add_routes(routes)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.2)
        self._tls = tls
        self.port = 0

    @override
    async def __aenter__(self) -> Self:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self._tls).start()
        self.port = self._runner.addresses[0][1]
        return self

    @override
    async def __aexit__(self, *raised: object) -> None:
        await self._runner.cleanup()
