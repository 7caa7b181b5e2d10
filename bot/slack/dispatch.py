"""A payload goes to Bolt, whichever way it came, and is known by its key on the way."""

import asyncio
from collections.abc import Sequence
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot.ports.measures import Measures
from bot.slack.once import KEY, RETRY, request_key
from bot.slack.tracing import tracing


async def dispatch(
    app: AsyncApp, body: dict[str, Any], retry: str | None, measures: Measures
) -> BoltResponse:
    """Bolt's answer; how long it took is measured. `retry` counts what Slack has sent again.

    A parsed body is what Socket Mode gives; over HTTP it is parsed before it comes here. Bolt's
    own reading of a form takes any command in whose text the word “payload” stands for a request
    without fields.
    """
    loop = asyncio.get_running_loop()
    begun = loop.time()
    # A digest of the request, taken once: the log and the listeners' guard both know it by that.
    key = request_key(body)
    known = {} if key is None else {"request": key.short}
    # Of the headers nothing else is asked for, and Bolt would copy each of them.
    headers: dict[str, str | Sequence[str]] = {} if retry is None else {RETRY: retry}
    request = AsyncBoltRequest(mode="socket_mode", body=body, headers=headers, context={KEY: key})
    with tracing(**known):
        answer = await app.async_dispatch(request)
    measures.acknowledged(loop.time() - begun)
    return answer
