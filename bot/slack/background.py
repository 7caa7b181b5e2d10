"""The work behind an acknowledgement: done once, and explained to whoever asked when it fails."""

import asyncio
import logging
import uuid
from collections import deque
from collections.abc import Coroutine, Mapping
from contextvars import Context, copy_context
from dataclasses import dataclass
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

MOST_AT_ONCE = 500

MOST_KEPT = 5000
"""Some 20 KB each: a click whose message comes with it, for one."""

QUIET_SECONDS = 0.001
"""Work begins when nothing was handed over for so long: acknowledgements go first."""

LATEST_SECONDS = 0.03
"""Or after that: what people are answered waits for no end of the acknowledgements."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    work: Coroutine[Any, Any, None]
    context: Context
    since: float


class Inbox:
    """Runs what a listener hands over, so that the listener can return at once.

    In the order in which it came, one beginning in each turn of the event loop, so that what
    arrives meanwhile is acknowledged between two of them.
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
        self._waiting: deque[_Waiting] = deque()
        self._last_at = 0.0

    def __len__(self) -> int:
        return len(self._waiting) + len(self._tasks)

    @property
    def is_full(self) -> bool:
        """Whether somebody who can be told so has to be turned away."""
        return len(self) >= self._most_at_once

    @property
    def is_overrun(self) -> bool:
        """Whether nothing more is to be taken, not even what nobody can be turned away from."""
        return len(self) >= self._most_kept

    def hand_over(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` soon; it must deal with its own failures, one that escapes is a defect."""
        loop = asyncio.get_running_loop()
        self._last_at = loop.time()
        self._waiting.append(_Waiting(work, copy_context(), self._last_at))
        if len(self._waiting) == 1:
            loop.call_at(self._next_at(), self._begin_next)

    async def drain(self, seconds: float) -> int:
        """Wait for what is under way, at most `seconds`; cancel the rest and say how many.

        Nothing of it goes on afterwards: what it answers with is closed next.
        """
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
        """Say how many were; each can still tell whom it is for."""
        loop = asyncio.get_running_loop()
        cut = set(self._tasks)
        for task in cut:
            # What has not begun yet would never run, and tell nobody: its turn comes first.
            loop.call_soon(task.cancel)
        await asyncio.wait(cut)
        return len(cut)

    def _next_at(self) -> float:
        quiet_at = self._last_at + self._quiet_seconds
        return min(quiet_at, self._waiting[0].since + self._latest_seconds)

    def _begin_next(self) -> None:
        if not self._waiting:
            return
        loop = asyncio.get_running_loop()
        if self._next_at() > loop.time():
            loop.call_at(self._next_at(), self._begin_next)
            return
        self._begin_first()
        if self._waiting:
            loop.call_soon(self._begin_next)

    def _begin_first(self) -> None:
        first = self._waiting.popleft()
        task = asyncio.create_task(first.work, context=first.context)
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
    """Runs what people asked for behind its acknowledgement; whatever goes wrong, they hear of it.

    `command` is the slash command, by which an explanation names others.
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

        `retry` is the command text that a *Try again* button would repeat.
        """
        once = self.once.act(body, work)
        self.inbox.hand_over(self._guard(once, conversation, repository, retry))

    def tell(self, body: Json, message: Message) -> None:
        """Send whoever sent `body` a message, soon; nothing of `body` is relied upon."""
        response_url, view = body.get("response_url"), _mapping(body.get("view"))
        conversation = Conversation(
            self.client,
            self.replies,
            Actor(person(body), person(body)),
            Origin.BUTTON if "user" in body else Origin.COMMAND,
            response_url=response_url if isinstance(response_url, str) else None,
            view_id=str(view["id"]) if view.get("type") == "modal" and "id" in view else None,
        )
        self.inbox.hand_over(self._guard(conversation.tell_actor(message), conversation))

    async def _guard(
        self,
        work: Coroutine[Any, Any, None],
        conversation: Conversation,
        repository: RepositoryName | None = None,
        retry: str | None = None,
    ) -> None:
        """Cancelled, at the end of the process, it has LAST_WORD_SECONDS to say so."""
        try:
            await work
        except asyncio.CancelledError:
            try:
                async with asyncio.timeout(LAST_WORD_SECONDS):
                    await self._explain(CutOff(), conversation, repository, retry)
            except TimeoutError:
                logger.warning("failure not told", extra={"action": "failure_not_told"})
            raise
        except Exception as raised:  # noqa: BLE001 - the boundary: everything ends here, told and logged
            await self._explain(_as_ours(raised), conversation, repository, retry)

    async def _explain(
        self,
        error: Exception,
        conversation: Conversation,
        repository: RepositoryName | None,
        retry: str | None,
    ) -> None:
        reference = uuid.uuid4().hex[:8]
        _log(error, reference, conversation)
        message = explain(
            error,
            command=self.command,
            reference=reference,
            repository=repository or getattr(error, "repository", None),
            retry=retry,
        )
        try:
            await conversation.tell_actor(message)
        except Exception:
            # Slack itself refuses or is gone: there is nobody left to tell but the operator.
            logger.exception(
                "failure not told", extra={"action": "failure_not_told", "reference": reference}
            )


def _as_ours(error: Exception) -> Exception:
    """A call that Slack refused or did not answer is no defect of ours."""
    if isinstance(error, FAILURES):
        return SlackRefused(read_failure(error).code)
    return error


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
        # A form or a tab that Slack does not take; what we say instead is text alone.
        logger.error("blocks refused", extra={**fields, "action": "blocks_refused"})
    elif isinstance(error, BotError):
        logger.warning("a request failed", extra=fields)
    else:
        logger.error("a defect", extra={**fields, "action": "defect"}, exc_info=error)


def person(body: Json) -> str:
    """The id of whoever sent a command, or pressed or submitted something."""
    return str(body.get("user_id") or _mapping(body.get("user")).get("id"))


def _mapping(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, Mapping) else {}
