"""What is asked of the database for many repositories is asked for all of them together."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine, event

from bot.acts.group_act import GroupAct, GroupOutcome, RepositoryResult
from bot.channels.rows import Subscriptions
from bot.inspection.database import inspect_store, subscribed_channels
from bot.kernel.repository import RepositoryName
from bot.runtime.upkeep import housekeeping
from tests.support.acting_groups import ActingOnGroups
from tests.support.make import make_configured, make_subscription
from tests.support.transactions import begin


@contextmanager
def statements(engine: Engine) -> Iterator[list[str]]:
    """Those that are sent to the database meanwhile."""
    sent: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        sent.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(engine, "before_cursor_execute", note)


async def prepare_channels(bot: ActingOnGroups) -> None:
    configured = make_configured(*bot.names)
    await housekeeping.prepare_channels(bot.store, bot.channels, configured, asyncio.Event())


async def inspect_installation(bot: ActingOnGroups) -> None:
    assert await subscribed_channels(bot.store, bot.names) == {"C1", "C2"}
    await inspect_store(bot.store, bot.clock)


async def act_on_group(bot: ActingOnGroups) -> None:
    """Everything but what is done to each repository."""
    begun = await bot.work.begin(bot.request("freeze"))

    async def changed(_act: GroupAct, repository: RepositoryName) -> RepositoryResult:
        return RepositoryResult(repository, GroupOutcome.CHANGED)

    ended = await bot.work.run(begun, changed, bot.report)
    assert len(ended.results) == bot.count
    await bot.groups.act(bot.request("freeze"), bot.report, again=ended.group_act_id)


@pytest.mark.parametrize("work", [prepare_channels, inspect_installation, act_on_group])
async def test_a_hundred_repositories_need_no_more_statements_than_ten(
    work: Callable[[ActingOnGroups], Awaitable[None]],
) -> None:
    taken = []
    for count in (10, 100):
        bot = ActingOnGroups(count=count)
        with begin(bot.store) as transaction:
            for name in bot.names:
                for channel_id in ("C1", "C2"):
                    Subscriptions(transaction).save(
                        make_subscription(repository=name, channel_id=channel_id)
                    )
        with statements(bot.store.engine) as sent:
            await work(bot)
        taken.append(len(sent))

    assert taken[0] == taken[1] > 0
