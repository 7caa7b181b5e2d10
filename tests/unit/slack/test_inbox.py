"""The work after an acknowledgement is counted, bounded, supervised and drained."""

import asyncio
import logging
from contextvars import ContextVar

import pytest

from bot.slack import background
from bot.slack.background import Inbox


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def test_draining_waits_for_running_work() -> None:
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


@pytest.mark.parametrize("seconds", [0.01, -1])
async def test_draining_cancels_and_counts_slow_work_which_may_still_notify_its_person(
    seconds: float,
) -> None:
    """With -1, the time is over before the work had its first turn."""
    inbox, never, reported = Inbox(), asyncio.Event(), list[str]()

    async def work() -> None:
        try:
            await never.wait()
        except asyncio.CancelledError:
            reported.append("cut off")
            raise

    inbox.hand_over(work())
    assert await inbox.drain(seconds) == 1
    assert (reported, len(inbox)) == (["cut off"], 0)


async def test_failed_work_is_logged_once_and_affects_no_other_work(
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


async def test_work_waits_for_quiet_and_keeps_its_context_and_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Acknowledgements go first; each work sees the context of its own request."""
    for moment in ("QUIET_SECONDS", "LATEST_SECONDS"):
        monkeypatch.setattr(background, moment, 3600)
    inbox, seen = Inbox(), list[str]()
    name: ContextVar[str] = ContextVar("name")

    async def work() -> None:
        seen.append(name.get())

    for one in ("a", "b", "c"):
        name.set(one)
        inbox.hand_over(work())
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (seen, len(inbox)) == ([], 3)
    await inbox.drain(30)
    assert (seen, len(inbox)) == (["a", "b", "c"], 0)
