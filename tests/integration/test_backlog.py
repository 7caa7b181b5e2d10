"""A backlog is posted completely, in few posts and with little memory."""

import sys

import pytest

from tests import backlog

EVENTS = 10_000
MEMORY_LIMIT_MEGABYTES = 150


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads memory from /proc")
@pytest.mark.timeout(240)
async def test_a_backlog_is_reported_in_summaries_within_150_megabytes() -> None:
    progress = await backlog.run(EVENTS, within_seconds=200)

    assert progress.reported == EVENTS
    assert progress.states["delivered"] < EVENTS / 100
    assert progress.peak_megabytes < MEMORY_LIMIT_MEGABYTES
