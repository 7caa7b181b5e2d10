"""What becomes of two storms of failures in one slice of the log, as after the bot was away."""

from datetime import timedelta

import pytest

from bot.posts.live_message import LiveKind
from bot.storms.posts import STORM_LIVE_MESSAGES
from bot.storms.rows import Storms
from bot.storms.storm import CALM, StormEnd
from bot.storms.subject import storm_subject
from bot.verdicts.verdict import STORM_SPAN
from tests.support.make import SITE
from tests.support.reading import Reading
from tests.support.transactions import begin

LONG = timedelta(days=1)
FIRST = range(41, 47)
SECOND = range(51, 58)


def fail(
    bot: Reading, numbers: range, code: str = "CHECKS_FAILED", batch: str | None = None
) -> None:
    checks = [{"name": "unit tests", "state": "failure"}]
    for number in numbers:
        bot.tell(
            "action.queue.leave",
            number,
            merged=False,
            dequeue_code=code,
            unsuccessful_checks=checks,
            batch_id=batch,
        )


def shown(bot: Reading) -> list[str]:
    """The message of each storm, the first storm's first."""
    with begin(bot.store) as transaction:
        found = Storms(transaction).around(SITE, bot.clock.now() - LONG, bot.clock.now())
        messages = []
        for storm in sorted(found, key=lambda storm: storm.began_at):
            message = STORM_LIVE_MESSAGES[LiveKind.STORM](transaction, storm_subject(storm))
            assert message is not None
            messages.append(message.text)
        return messages


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_storm_that_a_merge_ended_says_so_though_another_began(*, is_known: bool) -> None:
    """`is_known`: it began in an earlier slice."""
    bot = await Reading().start("failure")
    fail(bot, FIRST)
    if is_known:
        await bot.poll()
    bot.tell("action.queue.merged", 47, seconds=CALM.total_seconds() + 1)
    fail(bot, SECOND)
    await bot.poll()

    with begin(bot.store) as transaction:
        found = Storms(transaction).around(SITE, bot.clock.now() - LONG, bot.clock.now())
    assert {storm.ending for storm in found} == {StormEnd.MERGED, None}
    over, lasting = shown(bot)
    assert "pull requests are merging again" in over
    assert "6 pull requests failed between" in over
    assert "7 pull requests have failed since" in lasting


async def test_a_storm_that_lapsed_is_counted_though_another_began() -> None:
    bot = await Reading().start("failure")
    fail(bot, FIRST)
    bot.clock.advance(STORM_SPAN.total_seconds())
    fail(bot, SECOND)
    await bot.poll()

    earlier, later = shown(bot)
    assert "6 pull requests" in earlier
    assert "7 pull requests have failed since" in later


async def test_a_batch_that_leaves_is_no_storm() -> None:
    bot = await Reading().start("failure")
    fail(bot, FIRST, "BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS", batch="b1")
    fail(bot, range(51, 52))
    await bot.poll()

    assert shown(bot) == []


async def test_a_storm_is_over_once_more_merge_than_batches_fail() -> None:
    bot = await Reading().start("failure")
    fail(bot, FIRST)
    await bot.poll()
    bot.clock.advance(2 * STORM_SPAN.total_seconds() / 3)
    fail(bot, range(51, 52))
    bot.clock.advance(2 * STORM_SPAN.total_seconds() / 3)
    for number in range(61, 64):
        bot.tell("action.queue.merged", number)
    fail(bot, SECOND, "BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS", batch="b2")
    fail(bot, range(71, 72))
    await bot.poll()

    assert ["pull requests are merging again" in message for message in shown(bot)] == [True]
