"""The meaning of a failed call: refused, certainly not posted, or in doubt."""

from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.domain.errors import PostInDoubt, PostPostponed
from bot.slack.web_api.failures import post_error


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


@pytest.mark.parametrize("code", ["ratelimited", "rate_limited", "message_limit_exceeded"])
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
        *((failed(code), code) for code in ("internal_error", "brand_new_code")),
        *((failed(None, status=status), f"http_{status}") for status in (500, 503)),
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


def test_a_bug_of_ours_is_not_a_slack_failure() -> None:
    with pytest.raises(KeyError):
        post_error(KeyError("ts"))
