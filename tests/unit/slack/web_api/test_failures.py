"""The meaning of a failed call: refused, certainly not posted, or in doubt."""

import asyncio
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.domain.errors import PostInDoubt, PostPostponed, PostRefused, Refusal
from bot.slack.web_api.failures import Failure, post_error, read_failure

POSTPONED = ("ratelimited", "rate_limited", "message_limit_exceeded")
IN_DOUBT = (
    "internal_error",
    "fatal_error",
    "service_unavailable",
    "request_timeout",
    "brand_new_code",
)


def failed(
    code: str | None, *, status: int = 200, headers: dict[str, str] | None = None
) -> SlackApiError:
    """The SDK's error for an answer of Slack."""
    data: Any = {"ok": False, "error": code} if code is not None else "<html>"
    response = AsyncSlackResponse(
        client=AsyncWebClient(),
        http_verb="POST",
        api_url="https://slack.com/api/chat.postMessage",
        req_args={},
        data=data,
        headers=headers or {},
        status_code=status,
    )
    return SlackApiError("the call failed", response)  # type: ignore[no-untyped-call]  # the SDK's


@pytest.mark.parametrize(
    ("code", "refusal"),
    [
        ("not_in_channel", Refusal.CHANNEL),
        ("is_archived", Refusal.CHANNEL),
        ("invalid_auth", Refusal.CREDENTIAL),
        ("missing_scope", Refusal.CREDENTIAL),
        ("invalid_blocks", Refusal.MESSAGE),
        ("msg_too_long", Refusal.MESSAGE),
        ("thread_not_found", Refusal.THREAD),
        ("user_not_found", Refusal.PERSON),
    ],
)
def test_a_refusal_says_what_slack_does_not_take(code: str, refusal: Refusal) -> None:
    error = post_error(failed(code))
    assert isinstance(error, PostRefused)
    assert (error.code, error.refusal) == (code, refusal)


@pytest.mark.parametrize("code", POSTPONED)
def test_a_workspace_rate_limit_postpones_every_channel(code: str) -> None:
    for workspace_wide in (True, False):
        error = post_error(failed(code), workspace_wide=workspace_wide)
        assert isinstance(error, PostPostponed)
        assert error.workspace_wide is workspace_wide


@pytest.mark.parametrize("code", ["ratelimited", None], ids=["body", "no body"])
@pytest.mark.parametrize(
    ("header", "wait"),
    [("30", 30.0), ("86400", 300.0), ("0", 0.0), ("-5", 0.0), ("soon", None), (None, None)],
)
def test_slacks_requested_wait_is_read_and_shortened_when_implausible(
    code: str | None, header: str | None, wait: float | None
) -> None:
    headers = {"Retry-After": header} if header is not None else {}
    error = post_error(failed(code, status=429, headers=headers))
    assert isinstance(error, PostPostponed)
    assert error.retry_after == wait


@pytest.mark.parametrize(
    ("unclear", "code"),
    [
        *((failed(code), code) for code in IN_DOUBT),
        *((failed(None, status=status), f"http_{status}") for status in (500, 502, 503)),
        (failed(None), "unreadable_answer"),
        (TimeoutError(), "TimeoutError"),
        (aiohttp.ServerDisconnectedError(), "ServerDisconnectedError"),
        (aiohttp.ClientOSError(104, "reset"), "ClientOSError"),
    ],
)
def test_an_unclear_answer_leaves_the_post_in_doubt(unclear: Exception, code: str) -> None:
    error = post_error(unclear)
    assert isinstance(error, PostInDoubt)
    assert error.code == code


def test_a_failed_connection_means_nothing_was_posted() -> None:
    key = ConnectionKey(
        "slack.com",
        443,
        is_ssl=True,
        ssl=True,
        proxy=None,
        proxy_auth=None,
        proxy_headers_hash=None,
    )
    refused = aiohttp.ClientConnectorError(key, OSError(111, "refused"))
    error = post_error(refused)
    assert isinstance(error, PostPostponed)
    assert not error.workspace_wide


def test_a_bug_of_ours_is_not_a_slack_failure() -> None:
    with pytest.raises(KeyError):
        post_error(KeyError("ts"))


def test_a_cancellation_is_not_a_failure() -> None:
    with pytest.raises(asyncio.CancelledError):
        post_error(asyncio.CancelledError())  # type: ignore[arg-type]  # no Exception: that is the point


def test_the_status_and_code_of_a_failure_are_kept() -> None:
    assert read_failure(failed("is_archived", status=200)) == Failure("is_archived", None, 200)
    assert read_failure(TimeoutError()) == Failure("TimeoutError")
