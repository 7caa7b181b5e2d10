"""The work behind an acknowledgement is counted, bounded, supervised and drained."""

import asyncio
import logging

import pytest

from bot.slack.inbox import Inbox


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def test_work_is_counted_until_it_ends() -> None:
    inbox, done = Inbox(), asyncio.Event()
    inbox.hand_over(_wait(done))
    inbox.hand_over(_wait(done))
    assert len(inbox) == 2
    done.set()
    assert await inbox.drain(5) == 0
    assert len(inbox) == 0


async def test_it_says_when_it_is_full() -> None:
    inbox, done = Inbox(most_at_once=2), asyncio.Event()
    inbox.hand_over(_wait(done))
    filling = [inbox.is_full]
    inbox.hand_over(_wait(done))
    filling.append(inbox.is_full)
    done.set()
    await inbox.drain(5)
    assert [*filling, inbox.is_full] == [False, True, False]


async def test_draining_waits_for_what_is_under_way() -> None:
    inbox, done, ended = Inbox(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        await done.wait()
        ended.set()

    inbox.hand_over(work())
    draining = asyncio.create_task(inbox.drain(5))
    await asyncio.sleep(0)
    assert not draining.done()
    done.set()
    assert await draining == 0
    assert ended.is_set()


async def test_draining_cancels_what_takes_too_long_and_says_how_many() -> None:
    inbox, never, cancelled = Inbox(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            await never.wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    inbox.hand_over(work())
    assert await inbox.drain(0.01) == 1
    assert cancelled.is_set()
    assert len(inbox) == 0


async def test_an_empty_inbox_drains_at_once() -> None:
    assert await Inbox().drain(0) == 0


async def test_work_that_fails_is_logged_once_and_harms_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    inbox, done = Inbox(), asyncio.Event()

    async def fail() -> None:
        await done.wait()
        raise RuntimeError("a defect")

    inbox.hand_over(fail())
    inbox.hand_over(_wait(done))
    done.set()
    assert await inbox.drain(5) == 0
    logged = [one for one in caplog.records if one.levelno >= logging.ERROR]
    assert [getattr(one, "action", None) for one in logged] == ["inbox_failed"]
