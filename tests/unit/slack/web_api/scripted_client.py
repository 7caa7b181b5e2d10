"""A Web API client whose answers are written beforehand."""

from collections import deque
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from typing_extensions import override

Answer = dict[str, Any] | str | Exception


class ScriptedClient(AsyncWebClient):
    """Answers calls in their order: with a body, with Slack's error code, or by failing.

    `calls` keeps each method with its arguments. A call that no answer was written for fails.
    """

    def __init__(self, *answers: Answer) -> None:
        super().__init__(token="xoxb-scripted", retry_handlers=[])
        self.answers = deque(answers)
        self.calls: list[tuple[str, dict[str, Any]]] = []

    @override
    async def api_call(self, api_method: str, **how: Any) -> AsyncSlackResponse:
        arguments = how.get("json") or how.get("params") or how.get("data") or {}
        self.calls.append((api_method, dict(arguments)))
        assert self.answers, f"an unexpected call of {api_method}: {arguments}"
        answer = self.answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        body = {"ok": False, "error": answer} if isinstance(answer, str) else {"ok": True, **answer}
        response = AsyncSlackResponse(
            client=self,
            http_verb="POST",
            api_url=f"{self.base_url}{api_method}",
            req_args={},
            data=body,
            headers={},
            status_code=200,
        )
        response.validate()  # type: ignore[no-untyped-call]  # the SDK's own
        return response


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
