"""The composition root: connects adapters to use cases, opens and closes them in order."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bot.clock import SystemClock
from bot.config.policies import own_tokens
from bot.config.settings import RunSettings, Settings, WebSettings
from bot.machine_api import MachineApi
from bot.ports import Clock
from bot.runtime.adapters import Ports, configured_by, open_ports, refused
from bot.runtime.jobs import Jobs, add_answering_jobs, limits_job
from bot.runtime.listening import build_listeners, build_use_cases
from bot.runtime.monitoring import Monitoring, listening_on
from bot.runtime.reloading import RELOAD_SECONDS, Reloading
from bot.scheduler import JobScheduler
from bot.slack.app import App
from bot.slack.background import Inbox, Once
from bot.slack.http import HttpServer
from bot.slack.socket_mode import SocketMode
from bot.slack.web_api.clients import SYNC_SECONDS, TokenRefused
from bot.usecases import UseCases
from bot.usecases.boards import end_unmanaged_boards
from bot.usecases.channel_settings import take_configuration

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 5.0

LISTEN_FIRST_SECONDS = 1.0
"""How long to wait for Slack before the first poll, so that people are answered first."""


@asynccontextmanager
async def build_runtime(settings: RunSettings, clock: Clock | None = None) -> AsyncIterator[None]:
    """The whole bot over Socket Mode; on exit stop accepting, finish running work, and close.

    Raises ConfigurationError when a credential is refused.
    """
    async with AsyncExitStack() as stack:
        process = _Process(settings, clock, stack)
        await process.monitoring.open(stack, process.machines)
        ports = await process.open()
        jobs = await process.work()
        app = process.answer(jobs.scheduler, jobs.use, alone=True)
        connection = SocketMode(app, ports.slack.client, settings.slack_app_token, ports.clock)
        process.monitoring.watch_sockets(connection)
        stack.push_async_callback(connection.close)
        opening = asyncio.create_task(connection.open())
        stack.callback(opening.cancel)
        await asyncio.wait([opening], timeout=LISTEN_FIRST_SECONDS)
        process.start(jobs.scheduler, jobs)
        try:
            await opening
        except TokenRefused as error:
            raise refused("SLACK_APP_TOKEN", error) from None
        process.ready()
        yield


@asynccontextmanager
async def build_web(settings: WebSettings, clock: Clock | None = None) -> AsyncIterator[HttpServer]:
    """The part that answers people, over HTTP; the worker polls and posts.

    Raises ConfigurationError when a credential is refused or the address is in use.
    """
    async with AsyncExitStack() as stack:
        process = _Process(settings, clock, stack)
        await process.monitoring.open(stack)
        server = HttpServer()
        host, port = settings.http_address
        with listening_on("MQBOT_HTTP_PORT", host, port):
            # Metrics are not public, and this port is.
            routes = [*process.monitoring.health.routes(), *process.machines.routes()]
            await server.open(host, port, routes)
        # Closed here if the start fails, otherwise below, before its dependencies.
        stack.push_async_callback(server.close)
        ports = await process.open()
        scheduler = JobScheduler(ports.metrics)
        scheduler.every(SYNC_SECONDS, limits_job(ports.slack.client.limits))
        stack.push_async_callback(scheduler.drain)
        app = process.answer(scheduler, build_use_cases(ports, _leave_to_worker), alone=False)
        stack.push_async_callback(server.close)
        server.serve(app)
        process.start(scheduler)
        process.ready()
        yield server


@asynccontextmanager
async def build_worker(settings: Settings, clock: Clock | None = None) -> AsyncIterator[None]:
    """Polling, posting and pruning; `build_web` answers people.

    Raises ConfigurationError when a credential is refused.
    """
    async with AsyncExitStack() as stack:
        process = _Process(settings, clock, stack)
        await process.monitoring.open(stack)
        await process.open()
        jobs = await process.work()
        process.start(jobs.scheduler, jobs)
        process.ready()
        yield


class _Process:
    """The parts that processes of the bot share; `stack` closes them, the last one first."""

    ports: Ports

    def __init__(self, settings: Settings, clock: Clock | None, stack: AsyncExitStack) -> None:
        self._settings, self._stack = settings, stack
        self._clock = clock or SystemClock()
        self.monitoring = Monitoring(settings, self._clock)
        self.machines = MachineApi(settings.machines)

    async def open(self) -> Ports:
        metrics = self.monitoring.metrics
        self.ports = await open_ports(self._settings, self._stack, self._clock, metrics)
        self.monitoring.watch(self.ports)
        return self.ports

    async def work(self) -> Jobs:
        """The jobs of a process that polls and posts."""
        await self._store_configuration(self._settings)
        jobs = Jobs(self._settings, self.ports)
        # Before the first poll, so that it doesn't take over other processes' logs.
        await jobs.share.run()
        self.monitoring.watch_polls(jobs.polls)
        self.monitoring.watch_slack(self.ports.slack.client, jobs.stale_after)
        self._stack.push_async_callback(jobs.drain)
        return jobs

    def answer(self, scheduler: JobScheduler, use: UseCases, *, alone: bool) -> App:
        """The parts that answer people and machines."""
        ports, inbox = self.ports, Inbox()
        once = Once(ports.clock, ports.store, alone=alone)
        app, bot = build_listeners(self._settings, ports, use, inbox, once)
        add_answering_jobs(scheduler, bot)
        self.monitoring.watch_inbox(inbox)
        self._stack.push_async_callback(inbox.drain, DRAIN_SECONDS)
        self.machines.serve(use, ports.configured)
        self._stack.push_async_callback(self.machines.close)
        return app

    def start(self, scheduler: JobScheduler, jobs: Jobs | None = None) -> None:
        """Start the schedule, with the reloads of the settings; the worker stores them."""

        async def apply(new: Settings) -> None:
            if jobs is not None:
                await self._store_configuration(new)
            self.ports.merge_queue.http.use_own_tokens(own_tokens(new))
            self.ports.configured.replace(configured_by(new, self.ports.slack.identity))
            if jobs is not None:
                jobs.prepare_channels.wake()

        reloading = Reloading(self._settings, apply)
        self.monitoring.watch_settings(reloading)
        scheduler.every(RELOAD_SECONDS, reloading.job)
        scheduler.start()
        self._stack.callback(scheduler.stop_firing)
        reloading.listen(self._stack)

    def ready(self) -> None:
        self.monitoring.health.begin()
        self._stack.callback(self.monitoring.health.end)
        extra = {"action": "ready", "repositories": len(self._settings.repositories)}
        logger.info("ready", extra=extra)

    async def _store_configuration(self, settings: Settings) -> None:
        store, now = self.ports.store, self.ports.clock.now()
        await store.run(take_configuration, now, settings.channels)
        await store.run(lambda transaction: transaction.people.assign(dict(settings.logins)))
        await store.run(end_unmanaged_boards, now, settings.repositories)


def _leave_to_worker(after: float = 0.0) -> None:
    """The worker checks the database every second for posts, so it needs no signal."""
