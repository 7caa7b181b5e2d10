"""The composition root: connects adapters to use cases, opens and closes them in order."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from bot.clock import SystemClock
from bot.config import RunSettings, Settings, WebSettings
from bot.config.policies import own_tokens
from bot.domain.errors import ConfigurationError
from bot.machine_api import MachineApi, Served
from bot.ports import Clock
from bot.runtime.adapters import Ports, configured_by, open_ports, refused
from bot.runtime.jobs import Jobs, add_answering_jobs, limits_job
from bot.runtime.listening import Listening, build_listeners, build_use_cases
from bot.runtime.monitoring import Monitoring
from bot.runtime.reloading import RELOAD_SECONDS, Reloading
from bot.scheduler import JobScheduler
from bot.slack.background import Inbox, Once
from bot.slack.http import HttpServer
from bot.slack.socket_mode import SocketMode
from bot.slack.web_api.clients import TokenRefused
from bot.slack.web_api.limits import SYNC_SECONDS
from bot.usecases.boards import end_unmanaged_boards
from bot.usecases.channel_settings import take_configuration
from bot.usecases.people import take_logins

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 5.0

LISTEN_FIRST_SECONDS = 1.0
"""How long to wait for Slack before the first poll, so that people are answered first."""


@asynccontextmanager
async def build_runtime(settings: RunSettings, clock: Clock | None = None) -> AsyncIterator[None]:
    """The whole bot over Socket Mode; on exit stop accepting, finish running work, and close.

    Raises ConfigurationError when a credential is refused.
    """
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        monitoring = Monitoring(settings, clock)
        machines = MachineApi(settings.machines)
        await monitoring.open(stack, machines)
        ports = await open_ports(settings, stack, clock, monitoring.metrics)
        monitoring.watch(ports)
        jobs = await _prepare_jobs(settings, ports)
        inbox = Inbox()
        once = Once(ports.clock, ports.store, alone=True)
        listening = build_listeners(settings, ports, jobs.wake, inbox, once)
        add_answering_jobs(jobs.scheduler, listening.bot)
        jobs.time_pauses(listening.bot.use)
        reloading = _reloading(settings, ports, monitoring, jobs)
        jobs.scheduler.every(RELOAD_SECONDS, reloading.job)
        stack.push_async_callback(jobs.drain)
        stack.push_async_callback(inbox.drain, DRAIN_SECONDS)
        _serve_machines(machines, listening, ports, stack)
        connection = SocketMode(
            listening.app, ports.slack.client, settings.slack_app_token, ports.clock
        )
        monitoring.watch_inbox(inbox)
        monitoring.watch_polls(jobs.polls)
        monitoring.watch_slack(ports.slack.reach, jobs.stale_after)
        monitoring.watch_sockets(connection)
        stack.push_async_callback(connection.close)
        await _listen_and_poll(connection, jobs, stack)
        reloading.listen(stack)
        _ready(settings, monitoring, stack)
        yield


@asynccontextmanager
async def build_web(settings: WebSettings, clock: Clock | None = None) -> AsyncIterator[HttpServer]:
    """The part that answers people, over HTTP; the worker polls and posts.

    Raises ConfigurationError when a credential is refused or the address is in use.
    """
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        monitoring = Monitoring(settings, clock)
        await monitoring.open(stack)
        server = HttpServer()
        machines = MachineApi(settings.machines)
        await _listen(server, settings, monitoring, machines)
        # Closed here if the start fails, otherwise below, before its dependencies.
        stack.push_async_callback(server.close)
        ports = await open_ports(settings, stack, clock, monitoring.metrics)
        monitoring.watch(ports)
        inbox = Inbox()
        monitoring.watch_inbox(inbox)
        once = Once(ports.clock, ports.store)
        listening = build_listeners(settings, ports, _leave_to_worker, inbox, once)
        scheduler = JobScheduler(ports.measures)
        scheduler.every(SYNC_SECONDS, limits_job(ports.slack.limits))
        add_answering_jobs(scheduler, listening.bot)
        reloading = _reloading(settings, ports, monitoring)
        scheduler.every(RELOAD_SECONDS, reloading.job)
        stack.push_async_callback(scheduler.drain)
        stack.push_async_callback(inbox.drain, DRAIN_SECONDS)
        _serve_machines(machines, listening, ports, stack)
        stack.push_async_callback(server.close)
        server.serve(listening.app)
        scheduler.start()
        stack.callback(scheduler.stop_firing)
        reloading.listen(stack)
        _ready(settings, monitoring, stack)
        yield server


@asynccontextmanager
async def build_worker(settings: Settings, clock: Clock | None = None) -> AsyncIterator[None]:
    """Polling, posting and pruning; `build_web` answers people.

    Raises ConfigurationError when a credential is refused.
    """
    clock = clock or SystemClock()
    async with AsyncExitStack() as stack:
        monitoring = Monitoring(settings, clock)
        await monitoring.open(stack)
        ports = await open_ports(settings, stack, clock, monitoring.metrics)
        monitoring.watch(ports)
        jobs = await _prepare_jobs(settings, ports)
        jobs.time_pauses(build_use_cases(ports, jobs.wake))
        reloading = _reloading(settings, ports, monitoring, jobs)
        jobs.scheduler.every(RELOAD_SECONDS, reloading.job)
        monitoring.watch_polls(jobs.polls)
        monitoring.watch_slack(ports.slack.reach, jobs.stale_after)
        stack.push_async_callback(jobs.drain)
        jobs.scheduler.start()
        stack.callback(jobs.scheduler.stop_firing)
        reloading.listen(stack)
        _ready(settings, monitoring, stack)
        yield


def _serve_machines(
    machines: MachineApi, listening: Listening, ports: Ports, stack: AsyncExitStack
) -> None:
    machines.serve(Served(listening.bot.use, ports.configured, ports.clock))
    stack.push_async_callback(machines.close)


async def _listen_and_poll(connection: SocketMode, jobs: Jobs, stack: AsyncExitStack) -> None:
    opening = asyncio.create_task(connection.open())
    stack.callback(opening.cancel)
    await asyncio.wait([opening], timeout=LISTEN_FIRST_SECONDS)
    jobs.scheduler.start()
    stack.callback(jobs.scheduler.stop_firing)
    try:
        await opening
    except TokenRefused as error:
        raise refused("SLACK_APP_TOKEN", error) from None


async def _prepare_jobs(settings: Settings, ports: Ports) -> Jobs:
    await _store_configuration(settings, ports)
    jobs = Jobs(settings, ports)
    # Before the first poll, so that it doesn't take over other processes' logs.
    await jobs.share.run()
    return jobs


async def _store_configuration(settings: Settings, ports: Ports) -> None:
    now = ports.clock.now()
    await ports.store.run(take_configuration, now, settings.channels)
    await ports.store.run(take_logins, settings.logins)
    await ports.store.run(end_unmanaged_boards, now, settings.repositories)


def _reloading(
    settings: Settings, ports: Ports, monitoring: Monitoring, jobs: Jobs | None = None
) -> Reloading:
    """Reloads the settings; without `jobs`, the worker stores them."""

    async def apply(new: Settings) -> None:
        if jobs is not None:
            await _store_configuration(new, ports)
        ports.merge_queue.http.use_own_tokens(own_tokens(new))
        ports.configured.replace(configured_by(new, ports.slack.identity))
        if jobs is not None:
            jobs.prepare_channels.wake()

    reloading = Reloading(settings, apply)
    monitoring.watch_settings(reloading)
    return reloading


async def _listen(
    server: HttpServer, settings: Settings, monitoring: Monitoring, machines: MachineApi
) -> None:
    host, port = settings.http_address
    try:
        # Metrics are not public, and this port is.
        await server.open(host, port, [*monitoring.health.routes(), *machines.routes()])
    except OSError as error:
        problem = f"{host}:{port} cannot be listened on ({error.strerror})"
        raise ConfigurationError({"MQBOT_HTTP_PORT": problem}) from None


def _leave_to_worker(after: float = 0.0) -> None:
    """The worker checks the database every second for posts, so it needs no signal."""


def _ready(settings: Settings, monitoring: Monitoring, stack: AsyncExitStack) -> None:
    monitoring.health.begin()
    stack.callback(monitoring.health.end)
    logger.info("ready", extra={"action": "ready", "repositories": len(settings.repositories)})
