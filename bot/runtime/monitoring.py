"""Monitoring of the process: its health, readiness and metrics, and their port."""

import asyncio
import errno
import os
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from datetime import timedelta

from bot.config.settings import Settings
from bot.desk.background import Inbox
from bot.feed.poll_repositories import PollRepositories
from bot.kernel.clock import Clock
from bot.kernel.errors import AddressInUse, ConfigurationError
from bot.kernel.metrics import CONTENT_TYPE, Metrics, OutboxReading
from bot.machines.http_api import MachineApi
from bot.merge_queue.http import Http
from bot.posts.outbox import Outbox
from bot.runtime.adapters import Ports
from bot.runtime.health_port import Health, metrics_route, open_port
from bot.runtime.intervals import USUAL, Intervals
from bot.runtime.reloading import Reloading
from bot.slack.socket_mode import SocketMode
from bot.slack.web_api.clients import LimitedWebClient
from bot.store.errors import StoreUnavailable
from bot.store.space import Space, space_of
from bot.store.transactions import Store

SECOND = timedelta(seconds=1)

DATABASE_SECONDS = 1.0
"""How long an answer about the database counts: anybody may ask for readiness, again and again."""


@contextmanager
def listening_on(settings: str, host: str, port: int) -> Iterator[None]:
    """Raise ConfigurationError when it can't be listened on; AddressInUse may pass by itself.

    `settings`: how the variables of the address begin.
    """
    try:
        yield
    except OSError as error:
        # asyncio's own sentence repeats the address.
        number = error.errno or 0
        why = os.strerror(number) if number in errno.errorcode else error.strerror
        problem = f"can't listen on {host}:{port} ({why}); "
        if error.errno == errno.EADDRINUSE:
            problem += "stop the program that has it, or choose another port"
            raise AddressInUse({f"{settings}_PORT": problem}) from None
        if error.errno == errno.EACCES:
            problem += "choose a port from 1024 on"
            raise ConfigurationError({f"{settings}_PORT": problem}) from None
        problem += "choose an address of this machine"
        raise ConfigurationError({f"{settings}_HOST": problem}) from None


def refused_by_slack(setting: str, code: str) -> str:
    return f"Slack refuses {setting} ({code}); set a new one and restart"


class Monitoring:
    """Opens first and closes last, to show a start or stop that hangs."""

    def __init__(self, settings: Settings, clock: Clock, every: Intervals = USUAL) -> None:
        self.metrics = Metrics()
        self.health = Health(every.checks)
        self._settings = settings
        self._clock = clock
        self._ports: Ports | None = None
        self._reading: OutboxReading | None = None
        self._space: Space | None = None
        self._asked: asyncio.Task[OutboxReading | None] | None = None
        self._database_problem: str | None = None
        self._ask_database_from = clock.monotonic()

    async def open(self, stack: AsyncExitStack, machines: MachineApi | None = None) -> None:
        """Listen; raises ConfigurationError when the address is in use.

        `machines`: served on the same port.
        """
        port = self._settings.health_port
        if port is None:
            return
        host = self._settings.health_host
        routes = [*self.health.routes(), metrics_route(self.scrape, CONTENT_TYPE)]
        routes += machines.routes() if machines is not None else ()
        with listening_on("MQBOT_HEALTH", host, port):
            await open_port(stack, host, port, routes)

    def watch(self, ports: Ports) -> None:
        self._ports = ports
        self.health.add("database", self._database)
        # A worker replaces it by one that also sees whether Slack answers.
        self.health.add("slack", self._bot_token)
        self.metrics.watch(
            "mqbot_clock_ahead_seconds",
            "How far this machine's clock is ahead of Slack's, by Slack's last answer",
            lambda: ports.slack.client.clock_ahead / SECOND,
        )
        self.metrics.watch_outbox(lambda: self._reading)
        self.metrics.watch(
            "mqbot_database_up",
            "Whether the database could be read and written when it was last asked",
            lambda: float(self._reading is not None),
        )
        self.metrics.watch(
            "mqbot_database_bytes",
            "Size of the database",
            lambda: self._space.database if self._space else None,
        )
        self.metrics.watch(
            "mqbot_disk_free_bytes",
            "Space left on the disk of the SQLite file; absent with PostgreSQL",
            lambda: self._space.free if self._space else None,
        )

    def watch_polls(self, polls: PollRepositories, service: Http) -> None:
        def check() -> str | None:
            found = polls.freshness()
            if service.refused_settings:
                settings = ", ".join(sorted(service.refused_settings))
                return f"the merge queue service refuses {settings}; set a valid one"
            if not found.is_stale:
                return None
            said = f"{found.stale} of {found.polled} event logs were not read for too long"
            cause = service.silence.cause
            return f"{said}: the merge queue service doesn't answer ({cause})" if cause else said

        self.health.add("polls", check)
        self.metrics.watch(
            "mqbot_repositories_polled",
            "Repositories that this process polls; zero on standby",
            lambda: polls.freshness().polled,
        )
        self.metrics.watch(
            "mqbot_repositories_stale",
            "Polled repositories whose event log was not read for too long",
            lambda: polls.freshness().stale,
        )
        self.metrics.watch(
            "mqbot_oldest_poll_seconds",
            "How long ago the event log was read that waits longest",
            lambda: polls.freshness().oldest / SECOND,
        )

    def watch_slack(self, client: LimitedWebClient, limit: timedelta) -> None:
        """For a process that gets no requests over HTTP: readiness would turn them away."""
        said = "Slack doesn't answer"

        def check() -> str | None:
            return self._bot_token() or (said if client.seen.began_at(limit) else None)

        self.health.add("slack", check)

    def watch_sockets(self, connection: SocketMode) -> None:
        def check() -> str | None:
            if connection.is_connected:
                return None
            if connection.refusal is not None:
                return refused_by_slack("SLACK_APP_TOKEN", connection.refusal)
            return "no connection to Slack"

        self.health.add("sockets", check)
        self.metrics.watch(
            "mqbot_slack_sockets", "Open connections to Slack", lambda: connection.connections
        )
        self.metrics.watch(
            "mqbot_slack_sockets_counted",
            "Connections of the app that Slack counted at the last hello",
            lambda: connection.num_connections,
        )

    def watch_settings(self, reloading: Reloading) -> None:
        self.metrics.watch(
            "mqbot_settings_valid",
            "Whether the settings could be read when they were last reloaded",
            lambda: float(reloading.is_valid),
        )

        self.metrics.watch(
            "mqbot_settings_waiting",
            "Settings that have changed and wait for a restart of this process",
            lambda: len(reloading.pending),
        )

    def watch_inbox(self, inbox: Inbox) -> None:
        self.metrics.watch(
            "mqbot_inbox", "Requests of people that are being worked on", lambda: len(inbox)
        )

    async def scrape(self) -> bytes:
        if self._ports is not None:
            self._reading = await self._read_within(self._ports)
        return self.metrics.render()

    async def _read_within(self, ports: Ports) -> OutboxReading | None:
        """The outbox; None if the database is too slow, because Prometheus waits 10 seconds."""
        reading = self._asked
        if reading is None or reading.done():
            reading = self._asked = asyncio.create_task(self._read(ports))
        # Not cancelled: the transaction runs to its end, and scrapes meanwhile share it.
        done, _ = await asyncio.wait([reading], timeout=self.health.seconds)
        return reading.result() if done else None

    async def _read(self, ports: Ports) -> OutboxReading | None:
        self._space = None
        try:
            # First, because it still answers when the disk is full.
            self._space = await ports.store.read(
                lambda transaction: space_of(transaction.connection)
            )
            # A database that is full, read-only or locked by others isn't up.
            await ports.store.ask()
            summary = await ports.store.read(lambda transaction: Outbox(transaction).summary())
        except StoreUnavailable:
            # mqbot_database_up shows it; a failing scrape would hide everything else as well.
            return None
        return OutboxReading(summary, self._clock.now())

    def _bot_token(self) -> str | None:
        code = self._ports.slack.client.refusal if self._ports is not None else None
        return refused_by_slack("SLACK_BOT_TOKEN", code) if code is not None else None

    async def _database(self) -> str | None:
        if self._ports is None:
            return "not open yet"
        if self._clock.monotonic() >= self._ask_database_from:
            self._database_problem = await self._ask(self._ports.store)
            self._ask_database_from = self._clock.monotonic() + DATABASE_SECONDS
        return self._database_problem

    async def _ask(self, store: Store) -> str | None:
        try:
            await store.ask()
        except StoreUnavailable as error:
            return f"cannot be written: {error.cause}"
        return None
