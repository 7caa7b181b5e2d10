"""An address whose certificate is refused: who reads it learns which setting to change."""

import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from bot.kernel.transport import why_lost
from tests.support.bot_process import MqbotProcess

CERTIFICATE = Path(__file__).parents[1] / "support" / "samples" / "other.example.pem"
"""Of no authority, for other.example; with its key, which protects nothing."""


@pytest.fixture
async def address() -> AsyncIterator[str]:
    """Where a server answers over TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    runner = web.AppRunner(web.Application())
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    yield f"https://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({}, "its certificate isn't trusted; SSL_CERT_FILE"),
        # aiohttp reads the certificates when it is imported, so this needs a start from nothing.
        (
            {"SSL_CERT_FILE": str(CERTIFICATE), "PYTHONUTF8": "1"},
            "its certificate is for another name",
        ),
    ],
    ids=["untrusted", "another name"],
)
async def test_a_refused_certificate_names_the_setting(
    address: str, sqlite_url: str, tmp_path: Path, environ: dict[str, str], said: str
) -> None:
    settings = {
        "MQBOT_API_URL": f"{address}/v1",
        "MQBOT_API_TOKEN": "key-3.14159265",
        "MQBOT_REPOSITORIES": "acme/site",
        "SLACK_API_URL": f"{address}/api/",
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_APP_TOKEN": "xapp-1",
        "DATABASE_URL": sqlite_url,
        "MQBOT_URL": address,
        "MQBOT_TOKEN": "x",
        **environ,
    }
    process = await MqbotProcess.start("check", "--json", folder=tmp_path, environ=settings)
    assert await process.ends() == 1
    found = {load["subject"]: load for load in json.loads(process.printed)["findings"]}
    for subject, setting in (
        ("acme/site", "MQBOT_API_URL"),
        ("credential", "MQBOT_API_URL"),
        ("bot token", "SLACK_API_URL"),
        ("app-level token", "SLACK_API_URL"),
    ):
        assert said in found[subject]["sentence"]
        assert setting in found[subject]["fix"]
    asking = tmp_path / "asking"
    asking.mkdir()
    asked = await MqbotProcess.start("status", "acme/site", folder=asking, environ=settings)
    assert await asked.ends() == 1
    assert asked.complaints.startswith(f"mqbot: MQBOT_URL: the bot didn't answer ({said}")
    for words in (process.printed, asked.complaints):
        assert "CERTIFICATE_VERIFY_FAILED" not in words
        assert "Error" not in words


@pytest.mark.parametrize(
    ("code", "said"),
    [(10, "has expired"), (62, "another name"), (64, "another name"), (19, "SSL_")],
)
def test_what_is_wrong_with_a_certificate_is_said(code: int, said: str) -> None:
    refused = ssl.SSLCertVerificationError(1, "certificate verify failed")
    refused.verify_code = code
    lost = OSError("All connection attempts failed")
    lost.__cause__ = ExceptionGroup("several", [refused])
    assert said in (why_lost(lost) or "")


def test_a_chain_of_exceptions_that_leads_back_to_itself_is_read_once() -> None:
    one = OSError()
    other = OSError()
    one.__context__ = other
    other.__context__ = one
    assert why_lost(one) is None
