"""The credential goes to one origin and shows nowhere; addresses and redirects."""

import json
import logging
import traceback
from contextlib import suppress
from dataclasses import replace

import pytest
from pydantic import SecretStr

from bot.desk.explain import explain
from bot.kernel.errors import ConfigurationError, MergeQueueError
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.errors import MergeQueueProtocolError, MergeQueueUnavailable, ServiceMoved
from bot.merge_queue.http import Http
from tests.support.clock import FakeClock
from tests.unit.merge_queue.client_under_test import BRIEF, SITE, STATUS, TOKEN, client_of, scripted
from tests.unit.merge_queue.scripted_service import Behaviour, ScriptedService, answer, drop, hang


@pytest.mark.parametrize("path", ["", "/v1/elsewhere", "http://["])
async def test_redirects_are_not_followed(path: str) -> None:
    """The credential would go with it."""
    async with ScriptedService([]) as elsewhere:
        moved = answer("", status=307, headers=(("Location", path or f"{elsewhere.base_url}/x"),))
        async with scripted(moved, moved) as (service, client):
            with pytest.raises(MergeQueueProtocolError, match="307"):
                await client.status(SITE)
            with pytest.raises(MergeQueueProtocolError, match="307"):
                await client.rules(SITE)
        assert [arrival.method for arrival in service.arrivals] == ["GET", "GET"]

    assert elsewhere.arrivals == []


@pytest.mark.parametrize(
    ("location", "reported"),
    [
        ("https://me:pass@queue.example/v2?key=hush#x", "https://queue.example/v2"),
        (f"https://queue.example:8443/{TOKEN}", "https://queue.example:8443/[credential]"),
        ("//queue.example", "http://queue.example/"),
    ],
)
async def test_a_redirect_is_reported_with_its_target_and_no_secret(
    location: str, reported: str
) -> None:
    moved = answer("", status=308, headers=(("Location", location),))
    async with scripted(moved) as (_, client):
        with pytest.raises(ServiceMoved) as caught:
            await client.status(SITE)

    assert caught.value.address == reported
    assert str(caught.value) == f"308 Permanent Redirect: it redirects to {reported}"
    said = explain(caught.value, command="/mq", reference="1", repeat=None).text
    assert f"`{reported}`" in said
    assert "MQBOT_API_URL" in said


async def test_a_refused_key_is_an_error_in_the_log_once_that_says_what_to_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refused = answer('{"detail": "A valid Bearer token is required"}', status=401)
    well = answer(STATUS)
    with caplog.at_level(logging.INFO):
        async with scripted(refused, refused, well, refused) as (_, client):
            for _ in range(4):
                with suppress(MergeQueueError):
                    await client.status(SITE)
    said = [record for record in caplog.records if hasattr(record, "setting")]
    assert [(record.levelname, record.__dict__["action"]) for record in said] == [
        ("ERROR", "key_refused"),
        ("INFO", "key_accepted"),
        ("ERROR", "key_refused"),
    ]
    assert (
        said[0]
        .getMessage()
        .endswith("in a file it takes effect immediately, elsewhere after a restart")
    )
    assert said[0].__dict__["setting"] == "MQBOT_API_TOKEN"
    assert said[0].__dict__["detail"] == "A valid Bearer token is required"


def _with_locals(error: BaseException) -> traceback.TracebackException:
    """As a log would print it that shows local variables, without this test's own."""
    assert error.__traceback__ is not None
    return traceback.TracebackException(
        type(error), error, error.__traceback__.tb_next, capture_locals=True
    )


@pytest.mark.parametrize(
    ("case", "script"),
    [
        ("refused", [answer(json.dumps({"detail": f"bad key {TOKEN}"}), status=401)]),
        ("echoed", [answer(f"unknown: Bearer {TOKEN}", status=422, content_type="text/plain")]),
        ("lost", [drop] * 3),
        ("silent", [hang]),
        ("unreadable", [answer(f'{{"batches": "{TOKEN}"}}')]),
        ("packed", [answer("{}", headers=(("Content-Encoding", "br"),))]),
    ],
)
async def test_no_event_shows_the_credential(
    case: str, script: list[Behaviour], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    patience = replace(BRIEF, attempts=len(script))
    async with scripted(*script, patience=patience) as (_, client):
        with pytest.raises(MergeQueueError) as caught:
            await client.status(SITE)

    reported = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    reported += "".join(_with_locals(caught.value).format())
    reported += "".join(f"{record.getMessage()} {vars(record)}" for record in caplog.records)
    reported += repr(client) + repr(vars(client))
    assert TOKEN not in reported, case
    assert caught.value.__cause__ is None


async def test_a_credential_too_short_to_be_secret_leaves_responses_unchanged() -> None:
    async with (
        ScriptedService([answer(STATUS)]) as service,
        MergeQueueClient(
            Http(base_url=service.base_url, token=SecretStr("T"), clock=FakeClock())
        ) as client,
    ):
        assert (await client.status(SITE)).batches


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
async def test_proxies_of_the_environment_are_for_other_machines(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ScriptedService([answer(STATUS)]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        monkeypatch.delenv("NO_PROXY", raising=False)
        async with client_of("http://queue.example/v1") as client:
            await client.status(SITE)
        async with client_of(f"http://{host}:9/v1") as client:
            with pytest.raises(MergeQueueUnavailable):
                await client.status(SITE)

    assert [arrival.target for arrival in proxy.arrivals] == [
        "http://queue.example/v1/repos/acme/site/merge-queue/status"
    ]


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "ALL_PROXY"])
async def test_an_unusable_proxy_is_a_wrong_setting_and_its_password_is_hidden(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "socks5://someone:hunter2@proxy.example:1080")
    with pytest.raises(ConfigurationError) as refused:
        async with client_of("https://queue.example/v1"):
            pass
    assert list(refused.value.problems) == [variable]
    assert "hunter2" not in str(refused.value)

    monkeypatch.setenv("NO_PROXY", "queue.example")
    async with client_of("https://queue.example/v1"):
        pass
