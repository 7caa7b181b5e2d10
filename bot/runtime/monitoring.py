"""Monitoring of the process: its health, readiness and metrics, and their port."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from datetime import timedelta

from bot.config.settings import Settings
from bot.domain.errors import ConfigurationError, StoreUnavailable
from bot.health import Health, metrics_route, open_port
from bot.machine_api import MachineApi
from bot.metrics import CONTENT_TYPE, Metrics, OutboxReading
from bot.ports import Clock
from bot.runtime.adapters import Ports
from bot.runtime.reloading import Reloading
from bot.slack.background import Inbox
from bot.slack.socket_mode import SocketMode
from bot.slack.web_api.clients import LimitedWebClient
from bot.usecases.polling.poll_repositories import PollRepositories

READ_SECONDS = 3.0
SECOND = timedelta(seconds=1)


@contextmanager
def listening_on(variable: str, host: str, port: int) -> Iterator[None]:
    """Raise ConfigurationError when the address is in use."""
    try:
        yield
    except OSError as error:
        problem = f"{host}:{port} cannot be listened on ({error.strerror})"
        raise ConfigurationError({variable: problem}) from None


class Monitoring:
    """Opens first and closes last, to show a start or stop that hangs."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self.metrics = Metrics()
        self.health = Health()
        self._settings = settings
        self._clock = clock
        self._ports: Ports | None = None
        self._reading: OutboxReading | None = None
        self._asked: asyncio.Task[OutboxReading | None] | None = None

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
        with listening_on("MQBOT_HEALTH_PORT", host, port):
            await open_port(stack, host, port, routes)

    def watch(self, ports: Ports) -> None:
        self._ports = ports
        self.health.add("database", self._database)
        self.metrics.watch_outbox(lambda: self._reading)
        self.metrics.watch(
            "mqbot_database_up",
            "Whether the database answered when it was last asked",
            lambda: float(self._reading is not None),
        )

    def watch_polls(self, polls: PollRepositories) -> None:
        def check() -> str | None:
            found = polls.freshness()
            if not found.is_stale:
                return None
            return f"{found.stale} of {found.polled} event logs were not read for too long"

        self.health.add("polls", check)
        self.metrics.watch(
            "mqbot_repositories_polled",
            "Repositories that this process polls",
            lambda: polls.freshness().polled,
        )
        self.metrics.watch(
            "mqbot_repositories_stale",
            "Those of them whose event log was not read for too long",
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
        self.health.add("slack", lambda: said if client.seen.began_at(limit) else None)

    def watch_sockets(self, connection: SocketMode) -> None:
        self.health.add(
            "sockets", lambda: None if connection.is_connected else "no connection to Slack"
        )
        self.metrics.watch(
            "mqbot_slack_sockets", "Open connections to Slack", lambda: connection.connections
        )
        self.metrics.watch(
            "mqbot_slack_sockets_counted",
            "Connections of the app that Slack counted at the last hello",
            lambda: connection.num_connections or 0,
        )

    def watch_settings(self, reloading: Reloading) -> None:
        self.metrics.watch(
            "mqbot_settings_valid",
            "Whether the settings could be read when they were last reloaded",
            lambda: float(reloading.is_valid),
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
        done, _ = await asyncio.wait([reading], timeout=READ_SECONDS)
        return reading.result() if done else None

    async def _read(self, ports: Ports) -> OutboxReading | None:
        try:
            summary = await ports.store.run(lambda transaction: transaction.outbox.summary())
        except StoreUnavailable:
            # mqbot_database_up shows it; a failing scrape would hide everything else as well.
            return None
        return OutboxReading(summary, self._clock.now())

    async def _database(self) -> str | None:
        if self._ports is None:
            return "not open yet"
        await self._ports.store.ask()
        return None
