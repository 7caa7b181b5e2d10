"""Runs the work that follows an acknowledgement, and explains its failures."""

import asyncio
import logging
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import Context, copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.audit import Actor, Origin
from bot.domain.errors import BotError, CutOff, SlackRefused, UserError
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.messages.errors import explain
from bot.slack.conversation import Conversation, Replies
from bot.slack.once import Once
from bot.slack.web_api.failures import BLOCKS_CODES, FAILURES, read_failure

logger = logging.getLogger(__name__)

Json = dict[str, Any]

LAST_WORD_SECONDS = 2.0
"""At shutdown, the time to say that something was cut off."""

MOST_AT_ONCE = 500

MOST_KEPT = 5000
"""A click with its message takes about 20 KB."""

QUIET_SECONDS = 0.001
"""Work begins after so long without a new request, so that acknowledgements go first."""

LATEST_SECONDS = 0.03
"""The longest time for which work waits for that."""


class Inbox:
    """Runs handed-over work in order, so that a listener can return immediately.

    One piece of work begins in each turn of the event loop, so that requests that arrive meanwhile
    are acknowledged in between.
    """

    def __init__(
        self,
        most_at_once: int = MOST_AT_ONCE,
        *,
        most_kept: int = MOST_KEPT,
        quiet_seconds: float = QUIET_SECONDS,
        latest_seconds: float = LATEST_SECONDS,
    ) -> None:
        self._most_at_once = most_at_once
        self._most_kept = most_kept
        self._quiet_seconds = quiet_seconds
        self._latest_seconds = latest_seconds
        self._tasks: set[asyncio.Task[None]] = set()
        # Each with its context, and the time by which it begins.
        self._waiting: deque[tuple[Coroutine[Any, Any, None], Context, float]] = deque()
        self._next: asyncio.Handle | None = None

    def __len__(self) -> int:
        return len(self._waiting) + len(self._tasks)

    @property
    def is_full(self) -> bool:
        """Whether to turn away commands: their senders see that the bot is busy."""
        return len(self) >= self._most_at_once

    @property
    def is_overrun(self) -> bool:
        """Whether to turn away everything."""
        return len(self) >= self._most_kept

    def hand_over(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` soon; an exception that it raises is a defect."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._waiting.append((work, copy_context(), now + self._latest_seconds))
        if self._next is not None:
            self._next.cancel()
        latest = self._waiting[0][2]
        self._next = loop.call_at(min(now + self._quiet_seconds, latest), self._begin_next)

    async def drain(self, seconds: float) -> int:
        """Wait for all work, at most `seconds`; cancel the rest and return how many."""
        while self._waiting:
            self._begin_first()
        try:
            async with asyncio.timeout(seconds):
                while self._tasks:
                    await asyncio.wait(self._tasks)
        except TimeoutError:
            return await self._cut_off()
        return 0

    async def _cut_off(self) -> int:
        """Cancel what is left; it may still notify the person."""
        loop = asyncio.get_running_loop()
        cut = set(self._tasks)
        for task in cut:
            # Not immediately: a task that has not begun yet would never run.
            loop.call_soon(task.cancel)
        await asyncio.wait(cut)
        return len(cut)

    def _begin_next(self) -> None:
        if self._waiting:
            self._begin_first()
        if self._waiting:
            self._next = asyncio.get_running_loop().call_soon(self._begin_next)

    def _begin_first(self) -> None:
        work, context, _ = self._waiting.popleft()
        task = asyncio.create_task(work, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            logger.error(
                "work behind an acknowledgement failed",
                extra={"action": "inbox_failed"},
                exc_info=task.exception(),
            )


@dataclass(frozen=True, slots=True)
class Background:
    """Runs the work of requests in the inbox, once each, and explains failures to the person.

    `command`: the slash command, which explanations mention.
    """

    inbox: Inbox
    once: Once
    client: AsyncWebClient
    replies: Replies
    command: str

    def start(
        self,
        body: Json,
        work: Coroutine[Any, Any, None],
        conversation: Conversation,
        *,
        repository: RepositoryName | None = None,
        retry: str | None = None,
    ) -> None:
        """Begin `work` soon, unless the request in `body` came before.

        `retry`: the command text for a *Try again* button.
        """
        explain = partial(self._explain, conversation, repository=repository, retry=retry)
        self.inbox.hand_over(_guarded(self.once.act(body, work), explain))

    def reply(self, body: Json, message: Message) -> None:
        """Soon send a message to the sender of `body`, which may be malformed."""
        response_url, view = body.get("response_url"), _mapping(body.get("view"))
        conversation = Conversation(
            self.client,
            self.replies,
            Actor(person(body), person(body)),
            Origin.BUTTON if "user" in body else Origin.COMMAND,
            response_url=response_url if isinstance(response_url, str) else None,
            view_id=str(view["id"]) if view.get("type") == "modal" and "id" in view else None,
        )
        work = conversation.reply(message)
        self.inbox.hand_over(_guarded(work, partial(self._explain, conversation)))

    async def _explain(
        self,
        conversation: Conversation,
        error: Exception,
        *,
        repository: RepositoryName | None = None,
        retry: str | None = None,
    ) -> None:
        reference = uuid.uuid4().hex[:8]
        _log(error, reference, conversation)
        if not conversation.actor.user_id:
            return
        message = explain(
            error,
            command=self.command,
            reference=reference,
            repository=repository or getattr(error, "repository", None),
            retry=retry,
        )
        try:
            await conversation.reply(message)
        except Exception:
            logger.exception(
                "failure not reported",
                extra={"action": "failure_not_reported", "reference": reference},
            )


async def _guarded(
    work: Coroutine[Any, Any, None], explain: Callable[[Exception], Awaitable[None]]
) -> None:
    """Await `work` and explain its failure. If cancelled at shutdown, explain that."""
    try:
        await work
    except asyncio.CancelledError:
        try:
            async with asyncio.timeout(LAST_WORD_SECONDS):
                await explain(CutOff())
        except TimeoutError:
            logger.warning("failure not reported", extra={"action": "failure_not_reported"})
        raise
    except FAILURES as error:
        await explain(SlackRefused(read_failure(error).code))
    except Exception as error:  # noqa: BLE001 - everything ends here, explained and logged
        await explain(error)


def _log(error: Exception, reference: str, conversation: Conversation) -> None:
    fields = {
        "action": "failed",
        "reference": reference,
        "error": type(error).__name__,
        "detail": str(error)[:300],
        "actor": conversation.actor.user_id,
        "channel": conversation.channel_id,
    }
    if isinstance(error, UserError):
        logger.info("a person was corrected", extra={**fields, "action": "corrected"})
    elif isinstance(error, SlackRefused) and error.code in BLOCKS_CODES:
        # A form or a tab that Slack doesn't accept; the explanation has no blocks.
        logger.error("blocks refused", extra={**fields, "action": "blocks_refused"})
    elif isinstance(error, BotError):
        logger.warning("a request failed", extra=fields)
    else:
        logger.error("a defect", extra={**fields, "action": "defect"}, exc_info=error)


def person(body: Json) -> str:
    """The id of the person who sent a command, a click or a form."""
    return str(body.get("user_id") or _mapping(body.get("user")).get("id"))


def _mapping(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}
