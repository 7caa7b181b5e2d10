"""The composition root: connects adapters to use cases, opens and closes them in order."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import bot.runtime.schema  # noqa: F401 - makes every table known
from bot.boards.keeping import end_unmanaged_boards
from bot.channels.following import FollowSelections, take_configuration
from bot.config.policies import own_tokens
from bot.config.settings import RunSettings, Settings, WebSettings
from bot.desk.background import Once
from bot.desk.use_cases import UseCases
from bot.http.server import HttpServer
from bot.kernel.logins import BotLogins
from bot.kernel.repository import RepositoryName
from bot.machines.http_api import MachineApi
from bot.pauses.rows import Pauses
from bot.people.rows import People
from bot.runtime.adapters import Ports, configured_by, open_ports, refused
from bot.runtime.jobs import Jobs, add_answering_jobs, limits_job
from bot.runtime.last_days import warn_of_last_days
from bot.runtime.listening import build_listeners, build_use_cases
from bot.runtime.monitoring import Monitoring, listening_on
from bot.runtime.reloading import NoteRestarts, Reloading
from bot.runtime.scheduler import Job, JobScheduler
from bot.runtime.surroundings import Surroundings
from bot.runtime.upkeep.housekeeping import learn_sharing
from bot.runtime.upkeep.pruning import Upkeep
from bot.slack.app import App
from bot.slack.http import SlackRequests
from bot.slack.references import Names
from bot.slack.socket_mode import SocketMode
from bot.slack.web_api.clients import SYNC_SECONDS, TOKEN_SECONDS, TokenRefused
from bot.store.installation import ProgramLogins
from bot.store.paces import share

logger = logging.getLogger(__name__)

LISTEN_FIRST_SECONDS = 1.0
"""How long to wait for Slack before the first poll, so that people are answered first."""


@asynccontextmanager
async def build_runtime(
    settings: RunSettings, surroundings: Surroundings | None = None
) -> AsyncIterator[None]:
    """The whole bot over Socket Mode; on exit stop accepting, finish running work, and close.

    Raises ConfigurationError when a credential is refused.
    """
    async with AsyncExitStack() as stack:
        process = _Process(settings, surroundings or Surroundings(), stack)
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
        jobs.note_connections(connection)
        process.start(jobs.scheduler, jobs)
        try:
            await opening
        except TokenRefused as error:
            raise refused("SLACK_APP_TOKEN", error) from None
        process.ready()
        yield


@asynccontextmanager
async def build_web(
    settings: WebSettings, surroundings: Surroundings | None = None
) -> AsyncIterator[HttpServer]:
    """The part that answers people, over HTTP; the worker polls and posts.

    Raises ConfigurationError when a credential is refused or the address is in use.
    """
    async with AsyncExitStack() as stack:
        process = _Process(settings, surroundings or Surroundings(), stack)
        await process.monitoring.open(stack)
        server = HttpServer()
        slack_requests = SlackRequests(settings.signing_secrets, process.monitoring.metrics)
        process.slack_requests = slack_requests
        host, port = settings.http_address
        with listening_on("MQBOT_HTTP", host, port):
            # Metrics and reasons are not public, and this port is.
            await server.open(
                host,
                port,
                [
                    *slack_requests.routes(),
                    *process.monitoring.health.public_routes(),
                    *process.machines.routes(),
                ],
            )
        extra = {"action": "http_open", "host": host, "port": server.port}
        logger.info("listening for Slack", extra=extra)
        # Closed here if the start fails, otherwise below, before its dependencies.
        stack.push_async_callback(server.close)
        ports = await process.open()
        scheduler = JobScheduler(ports.metrics)
        scheduler.every(SYNC_SECONDS, limits_job(ports.slack.client.limits))
        learn = partial(learn_sharing, ports.store, ports.slack.channels)
        scheduler.every(SYNC_SECONDS, Job("learn which channels are shared", learn))
        stack.push_async_callback(scheduler.drain)
        app = process.answer(scheduler, build_use_cases(ports, _leave_to_worker), alone=False)
        pacing = partial(share, ports.store, [app.paces, process.machines.paces])
        scheduler.every(SYNC_SECONDS, Job("share how fast people send requests", pacing))
        stack.push_async_callback(server.close)
        slack_requests.serve(app, ports.slack.identity.home_ids)
        process.start(scheduler)
        process.ready()
        yield server


@asynccontextmanager
async def build_worker(
    settings: Settings, surroundings: Surroundings | None = None
) -> AsyncIterator[None]:
    """Polling, posting and pruning; `build_web` answers people.

    Raises ConfigurationError when a credential is refused.
    """
    async with AsyncExitStack() as stack:
        process = _Process(settings, surroundings or Surroundings(), stack)
        await process.monitoring.open(stack)
        await process.open()
        jobs = await process.work()
        process.start(jobs.scheduler, jobs)
        process.ready()
        yield


class _Process:
    """The parts that processes of the bot share; `stack` closes them, the last one first."""

    ports: Ports
    _follow: FollowSelections

    def __init__(
        self, settings: Settings, surroundings: Surroundings, stack: AsyncExitStack
    ) -> None:
        self._settings = settings
        self._surroundings = surroundings
        self._every = surroundings.every
        self._stack = stack
        self._left: Sequence[RepositoryName] = ()
        self._clock = surroundings.clock
        self.monitoring = Monitoring(settings, self._clock, self._every)
        self.machines = MachineApi(settings.machines, self._clock)
        self.slack_requests: SlackRequests | None = None

    async def open(self) -> Ports:
        metrics = self.monitoring.metrics
        self.ports = await open_ports(
            self._settings, self._stack, self._clock, metrics, self._surroundings.open_store
        )
        self.monitoring.watch(self.ports)
        await self._log_contents()
        return self.ports

    async def _log_contents(self) -> None:
        """A forgotten database, or an empty one where there was another, is seen at once."""
        found = await self.ports.store.read(lambda transaction: Upkeep(transaction).contents())
        sentence = "a database in use" if any(found.values()) else "a new, empty database"
        logger.info("%s", sentence, extra={"action": "database_found", **found})

    async def work(self) -> Jobs:
        """The jobs of a process that polls and posts."""
        await self._store_configuration(self._settings)
        self._follow = FollowSelections(self.ports.store, self.ports.clock, self.ports.configured)
        await self._follow.take_over()
        jobs = Jobs(self._settings, self.ports, self._every)
        self.monitoring.watch_polls(jobs.polls, self.ports.merge_queue.http)
        self.monitoring.watch_slack(self.ports.slack.client, jobs.stale_after)
        self._stack.push_async_callback(jobs.drain)
        return jobs

    def answer(self, scheduler: JobScheduler, use: UseCases, *, alone: bool) -> App:
        """The parts that answer people and machines."""
        ports = self.ports
        inbox = self._surroundings.open_inbox()
        once = Once(ports.clock, ports.store, alone=alone)
        app, bot = build_listeners(
            self._settings,
            ports,
            use,
            inbox,
            once,
            self._surroundings,
        )
        add_answering_jobs(scheduler, bot, self._every)
        self.monitoring.watch_inbox(inbox)
        self._stack.push_async_callback(inbox.drain, self._every.drain)
        names = Names(use.check_permission.people, ports.slack.channels)
        self.machines.serve(use, ports.configured, names.in_text)
        self._stack.push_async_callback(self.machines.close)
        return app

    def start(self, scheduler: JobScheduler, jobs: Jobs | None = None) -> None:
        """Start the schedule, with the reloads of the settings; the worker stores them."""

        async def apply(new: Settings) -> None:
            if jobs is not None:
                await self._store_configuration(new)
            left = await self._removed_while_paused(new)
            self._settings = new
            self._use(left)
            await self._warn_of_last_days()
            if jobs is not None:
                # New subscriptions get the repositories of the new settings at once.
                await self._follow.take_over()
                jobs.prepare_channels.wake()

        reloading = Reloading(self._settings, apply)
        self.monitoring.watch_settings(reloading)
        last_days = Job("warn of secrets that end", self._warn_of_last_days)
        scheduler.every(self._every.last_days, last_days)
        keep = Job("look for removed repositories that are paused", self._keep_removed_while_paused)
        scheduler.every(self._every.removed, keep)
        if jobs is not None:
            catch_up = Job("give channels what they follow", self._follow.catch_up)
            scheduler.every(self._every.followed, catch_up)
        scheduler.every(self._every.settings, reloading.job)
        note = NoteRestarts(reloading, self.ports.store)
        scheduler.every(self._every.restarts, note.job)
        try_token = Job("try the bot token", self.ports.slack.client.try_token)
        scheduler.every(TOKEN_SECONDS, try_token, first_after=TOKEN_SECONDS)
        scheduler.start()
        self._stack.callback(scheduler.stop_firing)
        reloading.listen(self._stack)

    async def _warn_of_last_days(self) -> None:
        warn_of_last_days(self._settings, self.ports.clock.now())

    async def _keep_removed_while_paused(self) -> None:
        settings = self._settings
        left = await self._removed_while_paused(settings)
        # A reload meanwhile has looked for itself.
        if settings is self._settings and left != self._left:
            self._use(left)

    async def _removed_while_paused(self, settings: Settings) -> Sequence[RepositoryName]:
        """The repositories that the settings don't name any more, with a queue still paused.

        The log says so of each that is new.
        """
        names = frozenset(settings.repositories)
        found = await self.ports.store.read(
            lambda transaction: Pauses(transaction).open_elsewhere(names)
        )
        for pause in found:
            if pause.repository not in self._left:
                logger.warning(
                    "a removed repository is still paused",
                    extra={
                        "action": "removed_while_paused",
                        "repository": pause.repository,
                        "by": pause.by_name,
                        "resumes_at": pause.resumes_at,
                        "fix": f"it stays as it is; to resume it: /mq resume {pause.repository}",
                    },
                )
        return tuple(sorted({pause.repository for pause in found}))

    def _use(self, left: Sequence[RepositoryName]) -> None:
        self._left = left
        tokens = own_tokens(self._settings, left)
        self.ports.merge_queue.http.use_tokens(self._settings.api_token, tokens)
        self.machines.use(self._settings.machines)
        if self.slack_requests is not None:
            self.slack_requests.use(self._settings.signing_secrets)
        configured = configured_by(self._settings, self.ports.slack.identity, left)
        self.ports.configured.replace(configured)

    def ready(self) -> None:
        self.monitoring.health.begin()
        self._stack.callback(self.monitoring.health.end)
        extra = {"action": "ready", "repositories": len(self._settings.repositories)}
        logger.info("ready", extra=extra)

    async def _store_configuration(self, settings: Settings) -> None:
        store = self.ports.store
        now = self.ports.clock.now()
        await store.run(take_configuration, now, settings.channels, settings.repositories)
        await store.run(lambda transaction: People(transaction).assign(dict(settings.logins)))
        bots = BotLogins(settings.bot_logins)
        await store.run(lambda transaction: ProgramLogins(transaction).replace(bots))
        await store.run(end_unmanaged_boards, now, settings.repositories)


def _leave_to_worker(after: float = 0.0) -> None:
    """The worker checks the database every second for posts, so it needs no signal."""
