"""A rate limit of Slack's applies to all callers, not only to the one that met it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Concatenate, ParamSpec, TypeVar

import pytest
from aiohttp import ClientSession
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.sandbox.slack.server import SlackSandbox
from bot.slack.web_api.clients import Limits, open_session
from bot.slack.web_api.failures import read_failure
from bot.store.errors import StoreUnavailable
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.support.databases import TestDatabase
from tests.support.slack_client import client_in, client_of, workspace

P = ParamSpec("P")
T = TypeVar("T")


@pytest.fixture
async def slack() -> AsyncIterator[SlackSandbox]:
    async with workspace() as sandbox:
        yield sandbox


@pytest.fixture
async def client(slack: SlackSandbox) -> AsyncIterator[AsyncWebClient]:
    async with client_of(slack) as opened:
        yield opened


@pytest.fixture
async def processes(
    slack: SlackSandbox, database: TestDatabase
) -> AsyncIterator[tuple["Caller", "Caller"]]:
    """Two processes' clients on one database."""
    async with open_session() as session:
        yield Caller(slack, database, session), Caller(slack, database, session)


class SometimesAway(Store):
    """A store that can be taken away, and counts what is asked of it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.is_away = False
        self.transactions = 0

    @override
    async def run(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self.is_away:
            raise StoreUnavailable("away")
        self.transactions += 1
        return await self._store.run(body, *args, **kwargs)

    @override
    async def read(
        self, body: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self.is_away:
            raise StoreUnavailable("away")
        self.transactions += 1
        return await self._store.read(body, *args, **kwargs)


class Caller:
    """What a process calls Slack with."""

    def __init__(self, slack: SlackSandbox, database: TestDatabase, session: ClientSession) -> None:
        self.store = SometimesAway(database.open_store())
        self.limits = Limits(self.store)
        self.client = client_in(session, slack, limits=self.limits)

    async def is_refused(self) -> bool:
        try:
            await self.client.conversations_info(channel="C0MERGEQ")
        except SlackApiError as error:
            return read_failure(error).code == "ratelimited"
        return False


async def exchange(*callers: Caller) -> None:
    """What their jobs do every second."""
    for caller in callers:
        await caller.limits.sync()


def limit(slack: SlackSandbox, method: str, retry_after: int, times: int = 1) -> None:
    fault = {"name": "rate_limit", "method": method, "times": times, "retry_after": retry_after}
    slack.faults.arm(fault)


def calls_of(slack: SlackSandbox, method: str) -> int:
    return sum(1 for call in slack.calls.since(0) if call["method"] == method)


async def test_a_limited_method_is_not_called_until_its_wait_ends_and_others_are(
    slack: SlackSandbox, client: AsyncWebClient
) -> None:
    limit(slack, "conversations.info", 0)
    with pytest.raises(SlackApiError):
        await client.conversations_info(channel="C0MERGEQ")
    assert (await client.conversations_info(channel="C0MERGEQ"))["ok"]
    assert calls_of(slack, "conversations.info") == 2

    limit(slack, "conversations.info", 60)
    for _ in range(3):
        with pytest.raises(SlackApiError) as refused:
            await client.conversations_info(channel="C0MERGEQ")
        failure = read_failure(refused.value)
        assert (failure.code, failure.status) == ("ratelimited", 429)
        assert failure.retry_after is not None
        assert 50 <= failure.retry_after <= 60
    assert calls_of(slack, "conversations.info") == 3
    assert (await client.auth_test())["ok"]


async def test_a_later_shorter_wait_opens_nothing_early() -> None:
    limits = Limits()
    limits.close("chat.update", 60)
    limits.close("chat.update", 5)
    assert limits.left("chat.update") > 50
    limits.close("chat.update", 90)
    assert limits.left("chat.update") > 60


async def test_a_limit_met_by_one_process_holds_for_others(
    slack: SlackSandbox, processes: tuple[Caller, Caller]
) -> None:
    one, other = processes
    assert not await other.is_refused()
    limit(slack, "conversations.info", 60)
    assert await one.is_refused()
    assert (one.store.transactions, other.store.transactions) == (0, 0)
    await exchange(one, other)

    assert await other.is_refused()
    assert calls_of(slack, "conversations.info") == 2
    assert 50 < other.limits.left("conversations.info") <= 60
    assert (await other.client.auth_test())["ok"]


async def test_expired_limits_do_not_affect_a_new_process(
    slack: SlackSandbox, processes: tuple[Caller, Caller]
) -> None:
    one, other = processes
    one.limits.close("views.open", 60)
    limit(slack, "conversations.info", 1)
    assert await one.is_refused()
    await one.limits.sync()
    await asyncio.sleep(1)
    await other.limits.sync()

    assert not await other.is_refused()
    assert 50 < other.limits.left("views.open") <= 60


async def test_limits_met_while_the_database_is_away_are_shared_later(
    slack: SlackSandbox, processes: tuple[Caller, Caller]
) -> None:
    one, other = processes
    limit(slack, "conversations.info", 60)
    one.store.is_away = True
    assert await one.is_refused()
    with pytest.raises(StoreUnavailable):
        await one.limits.sync()
    assert await one.is_refused()

    one.store.is_away = False
    await exchange(one, other)
    assert await other.is_refused()
    assert calls_of(slack, "conversations.info") == 1


async def post(client: AsyncWebClient, channel: str) -> str:
    """What Slack, or the client in its place, says to a post."""
    try:
        await client.chat_postMessage(channel=channel, text="Hello")
    except SlackApiError as error:
        return read_failure(error).code
    return "ok"


async def test_a_posts_rate_limit_affects_only_its_channel(
    slack: SlackSandbox, client: AsyncWebClient
) -> None:
    slack.faults.arm({"name": "rate_limit", "channel": "C0RELEASE", "retry_after": 60})
    for channel, said in (("C0RELEASE", "ratelimited"), ("C0MERGEQ", "ok")):
        assert [await post(client, channel) for _ in range(2)] == [said, said]
    assert calls_of(slack, "chat.postMessage") == 3


async def test_rate_limits_in_several_channels_count_as_a_workspace_limit(
    slack: SlackSandbox, processes: tuple[Caller, Caller]
) -> None:
    one, other = processes
    limit(slack, "chat.postMessage", 60, times=3)
    for channel in ("C0RELEASE", "C0GENERAL", "C0INCIDENT"):
        assert await post(one.client, channel) == "ratelimited"

    assert await post(one.client, "C0MERGEQ") == "ratelimited"
    await exchange(one, other)
    assert await post(other.client, "C0MERGEQ") == "ratelimited"
    assert calls_of(slack, "chat.postMessage") == 3


async def test_implausibly_long_waits_are_shortened(
    slack: SlackSandbox, processes: tuple[Caller, Caller]
) -> None:
    one, other = processes
    limit(slack, "conversations.info", 999_999_999)
    assert await one.is_refused()
    await exchange(one, other)
    for caller in processes:
        assert 290 < caller.limits.left("conversations.info") <= 300


async def test_a_longer_wait_met_during_an_exchange_is_shared_by_the_next(
    processes: tuple[Caller, Caller],
) -> None:
    one, other = processes
    one.limits.close("chat.update", 60)
    exchanging = asyncio.create_task(one.limits.sync())
    await asyncio.sleep(0)
    assert one.store.transactions == 1
    assert not exchanging.done()
    one.limits.close("chat.update", 300)
    await exchanging

    await exchange(one, other)

    assert other.limits.left("chat.update") > 200
