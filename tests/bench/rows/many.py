"""Thousands of repositories in one process: are polls on time, and does anybody wait for them?"""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from bot.merge_queue.http import REQUESTS_AT_ONCE
from tests.bench.figures import Extent, Row
from tests.bench.ours.poller import INTERVAL
from tests.bench.program import running
from tests.bench.services import certificate

DISTANT_SECONDS = 0.1
MOST_REQUESTS = 128
"""The most that MQBOT_REQUESTS_AT_ONCE can be."""

QUIET_SECONDS = 60
"""The default of MQBOT_QUIET_POLL_SECONDS."""


async def rows(extent: Extent) -> Sequence[Row]:
    """The default settings: quiet logs are polled less often."""
    amount = extent.scaled(8_000, 800)
    of = f"{amount:,} repositories, one in 20 busy"
    return await _rows(of, amount, extent.scaled(20, 3), QUIET_SECONDS)


async def steady(extent: Extent) -> Sequence[Row]:
    """Every log at the interval, whether or not something happens in it."""
    amount = extent.scaled(8_000, 400)
    of = f"{amount:,} repositories, each every 10 s"
    return await _rows(of, amount, extent.scaled(20, 3), round(INTERVAL.total_seconds()))


async def distant(extent: Extent) -> Sequence[Row]:
    """Every log at the interval, of a service that takes its time."""
    amount = extent.scaled(8_000, 400)
    of = f"{amount:,} repositories, each every 10 s, answers in {DISTANT_SECONDS * 1000:.0f} ms"
    return await _rows(
        of,
        amount,
        extent.scaled(20, 3),
        round(INTERVAL.total_seconds()),
        requests=MOST_REQUESTS,
        answer_seconds=DISTANT_SECONDS,
    )


async def _rows(
    of: str,
    amount: int,
    seconds: int,
    longest: int,
    *,
    requests: int = REQUESTS_AT_ONCE,
    answer_seconds: float = 0.0,
) -> Sequence[Row]:
    with tempfile.TemporaryDirectory() as folder:
        await certificate.make(Path(folder))
        options = ("--tls", folder, "--seconds", str(answer_seconds))
        async with running("services.pages", *options) as pages:
            environ = {
                "BENCH_SERVICE": f"https://127.0.0.1:{pages.reported['port']}/v1",
                "BENCH_CERTIFICATE": folder,
            }
            async with running(
                "ours.many", *map(str, (seconds, longest, requests)), environ=environ
            ) as ours:
                found = await ours.play(amount)
    late, command = found["lateness"], found["command"]
    return [
        Row(f"{of}: lateness of polls, p99", "s", late, None, late, 1),
        Row(f"{of}: a status meanwhile, p99", "s", command, None, command, 1),
        Row(f"{of}: share of a core", "", found["cpu"], None, found["cpu"], 0.6),
    ]
