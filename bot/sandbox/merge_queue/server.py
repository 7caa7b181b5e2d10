"""The sandbox merge queue service on a loopback port."""

import asyncio
import contextlib
from dataclasses import dataclass, field

from aiohttp import web

from bot.sandbox.merge_queue.api import PREFIX, MergeQueueApi
from bot.sandbox.merge_queue.control_api import ControlApi
from bot.sandbox.merge_queue.controls import Controls
from bot.sandbox.merge_queue.intake import Intake

_TICK_SECONDS = 0.1


@dataclass(kw_only=True)
class MergeQueueSandbox(Controls):
    """A working local merge queue service; see `Controls` for its options and control methods.

    `base_url`, which ends in `/v1`, is known once `start` has returned.
    """

    base_url: str = field(default="", init=False)
    _runner: web.AppRunner | None = field(default=None, init=False, repr=False)
    _driver: asyncio.Task[None] | None = field(default=None, init=False, repr=False)

    @property
    def control_url(self) -> str:
        """Give the address of the control endpoints."""
        return f"{self.base_url.removesuffix(PREFIX)}/sandbox"

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen on a port (0: the system chooses). Raise OSError when it is taken."""
        app = web.Application(middlewares=[Intake(self).middleware])
        app.add_routes(MergeQueueApi(self).routes())
        app.add_routes(ControlApi(self).routes())
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError:
            await runner.cleanup()
            raise
        self._runner = runner
        bound = runner.addresses[0]
        shown = f"[{host}]" if ":" in host else host
        self.base_url = f"http://{shown}:{bound[1]}{PREFIX}"
        self._driver = asyncio.create_task(self._drive(), name="merge queue simulation")

    async def stop(self) -> None:
        """Stop listening and driving; raise what broke the simulation, if anything did."""
        driver = self._driver
        self._driver = None
        runner = self._runner
        self._runner = None
        if runner is not None:
            await runner.cleanup()
        if driver is not None:
            driver.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await driver

    async def _drive(self) -> None:
        while self.real_time:
            self.catch_up()
            await asyncio.sleep(_TICK_SECONDS)
