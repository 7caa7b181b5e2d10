"""Pausing and resuming, over both families of endpoints, with answers that are lost."""

import asyncio
import logging
from dataclasses import replace

import httpx
import pytest
from typing_extensions import override

from bot.kernel.metrics import Metrics
from bot.merge_queue.errors import (
    MergeQueueUnavailable,
    PauseNotOffered,
    StaleReading,
    StateConflict,
)
from bot.merge_queue.offered import BELIEVED_SECONDS
from bot.merge_queue.port import UnclearChange
from bot.merge_queue.queue import Pause
from tests.support.clock import FakeClock
from tests.support.metrics import counted
from tests.unit.merge_queue.client_under_test import (
    BRIEF,
    NOT_PAUSED,
    OTHER_PAUSE,
    PAUSE,
    SITE,
    client_of,
    scripted,
)
from tests.unit.merge_queue.scripted_service import Behaviour, ScriptedService, answer, drop, hang


@pytest.mark.parametrize(
    ("case", "lost"),
    [
        ("dropped", drop),
        ("silent", hang),
        ("500", answer("", status=500)),
        ("504", answer("<html>", status=504, content_type="text/html")),
        ("cut short", answer('{"reason": "dep')),
        ("empty", answer("{}")),
        ("accepted", answer("", status=202)),
    ],
)
async def test_a_pause_without_an_answer_is_unclear_and_the_pause_is_read(
    case: str, lost: Behaviour
) -> None:
    answers: list[str] = []
    async with scripted(lost, answer(PAUSE)) as (service, client):
        paused = await client.pause(SITE, "deploying", on_answer=answers.append)

    assert isinstance(paused, UnclearChange), case
    assert paused.pause is not None
    assert paused.pause.reason == "deploying"
    assert len(answers) == 1
    if lost is drop:
        assert answers[0].startswith("no answer: the connection was lost")
    assert [arrival.method for arrival in service.arrivals] == ["PUT", "GET"]


@pytest.mark.parametrize(("read", "reason"), [(NOT_PAUSED, None), (answer(OTHER_PAUSE), "another")])
async def test_the_client_does_not_judge_what_it_reads_after_a_lost_answer(
    read: Behaviour, reason: str | None
) -> None:
    async with scripted(drop, read) as (service, client):
        paused = await client.pause(SITE, "deploying")

    assert isinstance(paused, UnclearChange)
    assert isinstance(paused.lost, MergeQueueUnavailable)
    assert paused.lost.arrived
    assert (paused.pause.reason if paused.pause is not None else None) == reason
    assert [arrival.method for arrival in service.arrivals] == ["PUT", "GET"]


async def test_a_pause_stays_in_doubt_when_the_lookup_fails_too() -> None:
    async with scripted(drop, answer("{}", status=403)) as (_, client):
        with pytest.raises(MergeQueueUnavailable, match="connection was lost"):
            await client.pause(SITE, "deploying")


async def test_a_lookup_does_not_outlast_its_own_timeout() -> None:
    patience = replace(BRIEF, read=30, read_back=0.3)
    async with (
        ScriptedService([drop, hang]) as service,
        client_of(service, patience=patience) as client,
        asyncio.timeout(10),
    ):
        with pytest.raises(MergeQueueUnavailable, match="connection was lost"):
            await client.pause(SITE, "deploying")


async def test_a_rejected_pause_is_neither_sent_again_nor_looked_up() -> None:
    limited = answer("", status=429, headers=(("Retry-After", "1"),))
    async with scripted(limited) as (_, client):
        with pytest.raises(MergeQueueUnavailable) as caught:
            await client.pause(SITE, "deploying")

    assert caught.value.retry_after == 1.0


@pytest.mark.parametrize("look", ["404", "paused false"])
async def test_a_resume_without_an_answer_is_unclear_and_the_pause_is_read(look: str) -> None:
    seen = NOT_PAUSED if look == "404" else answer('{"paused": false}')
    async with scripted(drop, seen) as (service, client):
        resumed = await client.resume(SITE)

    assert isinstance(resumed, UnclearChange)
    assert resumed.pause is None
    assert [arrival.method for arrival in service.arrivals] == ["DELETE", "GET"]


async def test_resume_is_not_repeated_when_it_is_no_longer_allowed() -> None:
    allowed = iter([True, False])
    async with ScriptedService([]) as service:
        transport = FailingFirst([httpx.ConnectError("refused")])
        async with client_of(service, transport=transport) as client:
            with pytest.raises(StaleReading):
                await client.resume(SITE, may_send=lambda: next(allowed))

    assert service.arrivals == []


async def test_a_resume_without_an_answer_tells_of_the_pause_that_is_still_in_force() -> None:
    async with scripted(drop, answer(PAUSE)) as (service, client):
        resumed = await client.resume(SITE)

    assert isinstance(resumed, UnclearChange)
    assert resumed.pause is not None
    assert [arrival.method for arrival in service.arrivals] == ["DELETE", "GET"]


async def test_a_write_that_was_not_sent_is_repeated() -> None:
    refusals = [httpx.ConnectError("refused"), httpx.ConnectTimeout("")]
    counts = Metrics()
    async with ScriptedService([answer(PAUSE)]) as service:
        transport = FailingFirst(refusals)
        async with client_of(service, transport=transport, metrics=counts) as client:
            paused = await client.pause(SITE, "deploying")

    assert isinstance(paused, Pause)
    assert paused.reason == "deploying"
    assert len(service.arrivals) == 1
    assert counted(counts.service_retries) == {("set_pause",): 2}


class FailingFirst(httpx.AsyncHTTPTransport):
    """Fails as a transport does when nobody can be reached, then works."""

    def __init__(self, failures: list[httpx.TransportError]) -> None:
        super().__init__()
        self._failures = failures

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if self._failures:
            raise self._failures.pop(0)
        return await super().handle_async_request(request)


async def test_resume_that_finds_nothing_while_a_pause_is_in_force_is_no_success() -> None:
    async with scripted(NOT_PAUSED, answer(PAUSE)) as (_, client):
        with pytest.raises(StateConflict):
            await client.resume(SITE)


MISSING = answer('{"detail": "Not Found"}', status=404)


async def test_many_repositories_at_the_start_find_the_endpoints_out_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with scripted(*[MISSING] * 6) as (_, client):
        found = await asyncio.gather(*(client.current_pause(SITE) for _ in range(6)))
    assert found == [None] * 6
    actions = [getattr(record, "action", None) for record in caplog.records]
    assert actions.count("pause_endpoints") == 1


async def test_without_pause_endpoints_the_pause_is_unknown() -> None:
    async with scripted(MISSING, MISSING, MISSING, not_offered=("/pause",)) as (_, client):
        for call in (client.current_pause(SITE), client.resume(SITE), client.pause(SITE, "x")):
            with pytest.raises(PauseNotOffered) as caught:
                await call
            assert caught.value.repository == SITE


async def test_once_a_pause_could_be_read_the_endpoints_are_there_after_all() -> None:
    clock = FakeClock()
    script = (MISSING, answer(PAUSE), MISSING)
    async with scripted(*script, not_offered=("/pause",), clock=clock) as (_, client):
        with pytest.raises(PauseNotOffered):
            await client.current_pause(SITE)
        assert await client.current_pause(SITE) is not None
        clock.advance(BELIEVED_SECONDS)
        assert await client.current_pause(SITE) is None


@pytest.mark.parametrize("answers", [[], [answer(PAUSE)]], ids=["not paused", "paused"])
async def test_after_one_odd_answer_the_deprecated_endpoints_are_used_for_minutes_only(
    answers: list[Behaviour],
) -> None:
    """They may go on beside the others for a while, and end one day."""
    clock = FakeClock()
    script = (MISSING, *(answers or [MISSING]), MISSING, answer(PAUSE), answer(PAUSE))
    odd = ("merge-queue/pause",)
    async with scripted(*script, not_offered=odd, clock=clock) as (service, client):
        pause = await client.current_pause(SITE)
        assert (pause is not None) is bool(answers)
        service.not_offered = ()
        clock.advance(BELIEVED_SECONDS)
        for _ in range(2):
            assert await client.current_pause(SITE) is not None

    endings = [arrival.target.removeprefix(f"/v1/repos/{SITE}/") for arrival in service.arrivals]
    current = "merge-queue/pause"
    assert endings == [current, "queue/pause", "queue/pause", current, current]


async def test_after_one_odd_answer_the_deprecated_endpoints_are_used_again() -> None:
    """Of a gateway that has an answer of its own for OPTIONS, for a moment."""
    clock = FakeClock()
    script = (MISSING, answer(PAUSE), MISSING, MISSING, MISSING, answer(PAUSE))
    alone = ("merge-queue/pause",)
    async with scripted(*script, not_offered=alone, clock=clock) as (service, client):
        assert await client.current_pause(SITE) is not None
        clock.advance(BELIEVED_SECONDS)
        service.not_offered = ()
        assert await client.current_pause(SITE) is None
        clock.advance(BELIEVED_SECONDS)
        service.not_offered = alone
        assert await client.current_pause(SITE) is not None


async def test_a_service_with_the_deprecated_endpoints_alone_is_said_to_be_one_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock()
    script = (MISSING, answer(PAUSE), MISSING, answer(PAUSE))
    missing = ("merge-queue/pause",)
    with caplog.at_level("INFO"):
        async with scripted(*script, not_offered=missing, clock=clock) as (_, client):
            assert await client.current_pause(SITE) is not None
            clock.advance(BELIEVED_SECONDS)
            assert await client.current_pause(SITE) is None
            assert await client.current_pause(SITE) is not None
    actions = [getattr(record, "action", None) for record in caplog.records]
    assert actions.count("pause_endpoints") == 1


async def test_a_service_that_lists_no_methods_is_assumed_to_follow_the_documentation() -> None:
    async with scripted(MISSING, not_offered=("",)) as (_, client):
        assert await client.current_pause(SITE) is None


@pytest.mark.parametrize("status", [404, 405, 410, 501])
async def test_post_replaces_a_delete_that_does_not_exist(status: int) -> None:
    script = [answer("", status=status), answer("", status=204)]
    async with scripted(*script, deprecated_pause=True) as (service, client):
        assert await client.resume(SITE) is True

    assert [arrival.method for arrival in service.arrivals] == ["DELETE", "POST"]
