"""The connections to Slack under all kinds of failures, over real sockets."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from pydantic import SecretStr
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult

from bot.sandbox.slack.server import SlackSandbox
from bot.slack.socket_mode import CONNECTIONS, PING_SECONDS, SLOW_SECONDS, SocketMode
from bot.slack.web_api.clients import Client, TokenRefused
from tests.support.bot_tester import ALICE, MERGE_QUEUE, LogKeeper
from tests.support.clock import HeldClock
from tests.support.slack_client import client_of, workspace
from tests.support.waiting import until


def wait_for_tickets(side: "Deafness", count: int) -> Awaitable[bool]:
    return until(lambda: side.opened() == count, f"{count} tickets taken")


class Echo:
    """Repeats the typed words, and counts the requests."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()

    def app(self, client: Client) -> AsyncApp:
        async def authorize() -> AuthorizeResult:
            return AuthorizeResult(
                enterprise_id=None,
                team_id="T0ACME",
                bot_user_id="U0MQBOT",
                bot_id="B0MQBOT",
                bot_token=client.token,
            )

        app = AsyncApp(client=client, authorize=authorize, process_before_response=True)
        app.command("/mq")(self.on_command)
        return app

    async def on_command(self, ack: AsyncAck, command: dict[str, Any]) -> None:
        self.commands.append(command["text"])
        await self.gate.wait()
        await ack(f"You said {command['text']}")


class Deafness:
    """A bot's connection to the sandbox workspace, a clock that stands, and its log."""

    def __init__(
        self,
        slack: SlackSandbox,
        client: Client,
        app_token: str | None = None,
        *,
        ping_seconds: float = PING_SECONDS,
    ) -> None:
        self.slack = slack
        self.clock = HeldClock()
        self.echo = Echo()
        self.log = LogKeeper()
        token = SecretStr(app_token or slack.app_token)
        self.connection = SocketMode(
            self.echo.app(client),
            client,
            token,
            self.clock,
            jitter=lambda: 1.0,
            ping_seconds=ping_seconds,
        )

    async def is_heard(self, text: str = "status") -> None:
        """What a person types reaches the app and is acknowledged."""
        done = await self.slack.people.command(ALICE, MERGE_QUEUE, f"/mq {text}")
        assert done["acknowledged"], done
        assert done["ack_text"] == f"You said {text}"

    async def asks_slowly(self) -> asyncio.Task[dict[str, Any]]:
        """A command that is being handled, until `echo.gate` is open."""
        self.echo.gate.clear()
        asking = asyncio.create_task(self.slack.people.command(ALICE, MERGE_QUEUE, "/mq slow"))
        await until(lambda: self.echo.commands, "the command under way")
        return asking

    async def has_connections(self, count: int = CONNECTIONS) -> None:
        await until(
            lambda: self.connection.connections == self.slack.socket_mode.connections == count,
            f"{count} connections",
        )

    def opened(self) -> int:
        calls = self.slack.calls.since(0)
        return len([call for call in calls if call["method"] == "apps.connections.open"])

    def last(self) -> None:
        """Let the connections be so old that they do not count as ended at once."""
        self.clock.advance(PING_SECONDS)

    def reasons(self, action: str) -> list[str]:
        return [
            str(record.__dict__.get("error"))
            for record in self.log.records
            if record.__dict__.get("action") == action
        ]


@pytest.fixture
async def slack() -> AsyncIterator[SlackSandbox]:
    async with workspace(event_retry_seconds=(0.0,)) as sandbox:
        yield sandbox


@pytest.fixture
async def client(slack: SlackSandbox) -> AsyncIterator[Client]:
    async with client_of(slack) as opened:
        yield opened


@pytest.fixture
async def side(slack: SlackSandbox, client: Client) -> AsyncIterator[Deafness]:
    one = Deafness(slack, client)
    with one.log.listening():
        await one.connection.open()
        yield one
        await one.connection.close()


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as opened:
        yield opened


async def test_two_connections_are_opened_and_slacks_count_is_kept(side: Deafness) -> None:
    await side.has_connections(2)
    assert side.connection.is_connected
    assert side.connection.num_connections == 2
    assert list(side.connection.problems) == []
    assert side.log.actions().count("socket_hello") == 2
    assert "socket_ghosts" not in side.log.actions()
    await side.is_heard()


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_renewed_connections_are_replaced_at_once_and_nothing_is_missed(
    side: Deafness, reason: str
) -> None:
    side.last()
    side.slack.faults.arm({"name": "disconnect", "reason": reason})
    for number in range(20):
        if side.slack.socket_mode.connections:
            await side.is_heard(f"status {number}")
    await wait_for_tickets(side, 4)
    await side.has_connections(2)
    await side.is_heard("at last")
    assert side.reasons("socket_renewed") == [reason, reason]
    assert "socket_deaf" not in side.log.actions()
    assert 0.0 in side.clock.slept


async def test_a_warned_connection_serves_until_its_successor_is_open(side: Deafness) -> None:
    side.last()
    side.slack.faults.arm({"name": "refuse_handshake", "times": 2})
    side.slack.faults.arm({"name": "disconnect", "reason": "warning"})
    await until(lambda: side.reasons("socket_failed") == ["InvalidStatus"] * 2, "two refusals")
    assert side.connection.is_connected
    await side.is_heard("over the old ones")
    side.clock.advance(5)
    await wait_for_tickets(side, 6)
    await side.has_connections(2)
    await side.is_heard("over the new ones")


async def test_hours_of_refreshes_leave_two_connections_and_lose_no_command(side: Deafness) -> None:
    for hour in range(12):
        side.last()
        side.slack.faults.arm({"name": "disconnect", "reason": "refresh_requested"})
        await wait_for_tickets(side, 2 * hour + 4)
        await side.has_connections(2)
        await side.is_heard(f"hour {hour}")
    assert side.connection.num_connections <= 3
    assert "socket_ghosts" not in side.log.actions()


async def test_dropped_connections_come_back_with_new_tickets(side: Deafness) -> None:
    side.last()
    side.slack.faults.arm({"name": "drop_connections"})
    await wait_for_tickets(side, 4)
    await side.has_connections(2)
    await side.is_heard()
    assert side.reasons("socket_failed") == ["closed", "closed"]


async def test_a_refused_handshake_is_followed_by_a_new_ticket_after_a_growing_wait(
    side: Deafness,
) -> None:
    side.last()
    side.slack.faults.arm({"name": "refuse_handshake", "times": 6})
    side.slack.faults.arm({"name": "drop_connections"})
    for tickets in (4, 6, 8):
        await wait_for_tickets(side, tickets)
        await until(lambda: side.clock.sleepers == 2, "both lines waiting")
        assert not side.connection.is_connected
        side.clock.advance(10)
    await side.has_connections(2)
    await side.is_heard()
    waits = [wait for wait in side.clock.slept if wait]
    assert waits == sorted(waits)
    assert set(waits) == {1.0, 2.0, 4.0}


async def test_short_lived_connections_are_not_reopened_in_a_tight_loop(side: Deafness) -> None:
    side.slack.faults.arm({"name": "disconnect", "reason": "refresh_requested"})
    await until(lambda: side.clock.slept.count(1.0) == 2, "a wait before the next ticket")
    assert side.opened() == 2
    side.clock.advance(1)
    await side.has_connections(2)
    await side.is_heard()


@pytest.mark.parametrize("reason", ["link_disabled", "too_many_websockets"])
async def test_problems_for_the_operator_are_logged_and_retried_slowly(
    side: Deafness, reason: str
) -> None:
    side.last()
    side.slack.faults.arm({"name": "disconnect", "reason": reason})
    await until(lambda: side.clock.slept.count(SLOW_SECONDS) == 2, "two slow waits")
    assert side.connection.connections == 0
    assert list(side.connection.problems) == [reason, reason]
    assert side.reasons("socket_needs_operator") == [reason, reason]
    reported = [record for record in side.log.records if record.levelno == logging.ERROR]
    assert all("app" in record.__dict__["fix"] for record in reported)
    side.clock.advance(SLOW_SECONDS - 1)
    assert side.opened() == 2
    side.clock.advance(1)
    await side.has_connections(2)
    assert list(side.connection.problems) == []
    await side.is_heard()


async def test_a_refused_eleventh_connection_causes_no_tight_loop(
    slack: SlackSandbox, client: Client, stack: AsyncExitStack
) -> None:
    for _ in range(5):
        other = Deafness(slack, client)
        stack.push_async_callback(other.connection.close)
        await other.connection.open()
    one_more = Deafness(slack, client)
    with one_more.log.listening():
        opening = asyncio.create_task(one_more.connection.open())
        await until(lambda: one_more.clock.slept.count(SLOW_SECONDS) == 2, "two slow waits")
        assert not opening.done()
        assert one_more.reasons("socket_needs_operator") == ["too_many_websockets"] * 2
        opening.cancel()
        await asyncio.wait([opening])
        await one_more.connection.close()


async def test_extra_connections_at_slack_are_logged(side: Deafness, client: Client) -> None:
    other = Deafness(side.slack, client)
    await other.connection.open()
    assert other.connection.num_connections == 4
    assert "socket_ghosts" in side.log.actions()
    await other.connection.close()


async def test_a_rejected_app_level_token_stops_the_start(
    slack: SlackSandbox, client: Client
) -> None:
    one = Deafness(slack, client, app_token="xapp-1-A1-unknown")
    with pytest.raises(TokenRefused) as refused:
        await one.connection.open()
    assert refused.value.code == "invalid_auth"
    assert not one.connection.is_connected
    await one.connection.close()


async def test_a_token_revoked_later_is_reported_and_tried_again_slowly(
    side: Deafness, monkeypatch: pytest.MonkeyPatch
) -> None:
    side.last()
    for socket in side.connection._sockets:
        monkeypatch.setattr(socket, "app_token", "xapp-1-A1-revoked")
    side.slack.faults.arm({"name": "drop_connections"})
    await until(lambda: side.clock.slept.count(SLOW_SECONDS) == 2, "two slow waits")
    assert not side.connection.is_connected
    assert side.reasons("socket_needs_operator") == ["invalid_auth"] * 2
    for socket in side.connection._sockets:
        monkeypatch.setattr(socket, "app_token", side.slack.app_token)
    side.clock.advance(SLOW_SECONDS)
    await side.has_connections(2)
    await side.is_heard()


async def test_an_unreachable_slack_and_its_recovery_are_logged_once(side: Deafness) -> None:
    side.last()
    side.slack.faults.arm({"name": "http_500", "method": "apps.connections.open", "times": 10})
    side.slack.faults.arm({"name": "drop_connections"})
    for tickets in (4, 6, 8, 10, 12):
        await wait_for_tickets(side, tickets)
        await until(lambda: side.clock.sleepers == 2, "both lines waiting")
        side.clock.advance(60)
    await side.has_connections(2)
    await side.is_heard()
    assert side.log.errors() == ["socket_deaf"]
    assert side.log.actions().count("socket_recovered") == 1
    assert max(side.clock.slept) <= 60


async def test_a_lost_payload_costs_one_command_and_no_connection(stack: AsyncExitStack) -> None:
    impatient = await stack.enter_async_context(workspace(ack_seconds=0.3))
    one = Deafness(impatient, await stack.enter_async_context(client_of(impatient)))
    await one.connection.open()
    impatient.faults.arm({"name": "lose_payload"})
    done = await impatient.people.command(ALICE, MERGE_QUEUE, "/mq status")
    assert (done["acknowledged"], done["error"]) == (False, "operation_timeout")
    assert one.echo.commands == []
    await one.is_heard("again")
    assert one.connection.connections == 2
    await one.connection.close()


async def test_an_acknowledgement_goes_over_the_other_connection_when_one_breaks(
    side: Deafness,
) -> None:
    side.last()
    asking = await side.asks_slowly()
    side.slack.faults.arm({"name": "drop_connections"})
    await wait_for_tickets(side, 4)
    await side.has_connections(2)
    side.echo.gate.set()
    assert (await asking)["ack_text"] == "You said slow"


async def test_closing_still_sends_pending_acknowledgements(side: Deafness) -> None:
    asking = await side.asks_slowly()
    closing = asyncio.create_task(side.connection.close())
    await asyncio.sleep(0)
    side.echo.gate.set()
    assert (await asking)["ack_text"] == "You said slow"
    await closing
    await until(lambda: side.slack.socket_mode.connections == 0, "no connection")


async def test_a_half_open_connection_is_replaced_and_reported(
    slack: SlackSandbox, client: Client
) -> None:
    side = Deafness(slack, client, ping_seconds=0.2)
    with side.log.listening():
        await side.connection.open()
        side.last()
        side.slack.faults.arm({"name": "half_open"})
        await until(lambda: side.opened() == 3, "a new ticket")
        await until(lambda: side.connection.connections == 2, "two connections")
        assert side.reasons("socket_failed") == ["closed"]
        # Slack goes on counting the dead one, and sending it what people do.
        assert side.connection.num_connections == 3
        assert "socket_ghosts" in side.log.actions()
        assert side.slack.socket_mode.connections == 3
        await side.connection.close()
