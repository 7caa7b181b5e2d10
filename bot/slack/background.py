"""The work behind an acknowledgement: done once, counted, drained, and its failures explained."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any

from bot.domain.audit import Actor, Origin
from bot.domain.errors import BotError, CutOff, SlackRefused, StoreUnavailable, UserError
from bot.domain.message import Message
from bot.messages.errors import explain
from bot.ports import Clock
from bot.slack.conversation import Conversation, Replies
from bot.slack.web_api.failures import BLOCKS_CODES, FAILURES, read_failure
from bot.slack.web_api.remembered import Bounded
from bot.store.transactions import Store
from bot.usecases.tasks import Tasks

logger = logging.getLogger(__name__)

Json = dict[str, Any]
Work = Callable[[], Awaitable[None]]

LAST_WORD_SECONDS = 2.0
"""At shutdown, the time to say that something was cut off."""

MOST_AT_ONCE = 500

MOST_KEPT = 5000
"""A click with its message takes about 20 KB."""

QUIET_SECONDS = 0.001

LATEST_SECONDS = 0.03
"""The longest time for which work waits for a quiet moment."""

EVENT_LIFETIME = timedelta(hours=25)
"""Slack retries delayed events for a day (https://docs.slack.dev/apis/events-api#retries)."""

TRIGGER_LIFETIME = timedelta(minutes=10)
"""Slack doesn't retry commands, clicks, forms and shortcuts; signatures are valid for 5 minutes."""

SHOWN = 12
"""Characters of a digest that are enough to find it in a log."""

MOST_REMEMBERED = 20_000


class Inbox:
    """Runs handed-over work, so that a listener can return immediately.

    Work begins once no request has come for QUIET_SECONDS, so that acknowledgements go first.
    """

    def __init__(self, most_at_once: int = MOST_AT_ONCE) -> None:
        self._most_at_once = most_at_once
        self._tasks = Tasks("work behind an acknowledgement failed", "inbox_failed")
        self._quiet = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def is_full(self) -> bool:
        """Whether to turn away commands: their senders see that the bot is busy."""
        return len(self._tasks) >= self._most_at_once

    @property
    def is_overrun(self) -> bool:
        """Whether to turn away everything."""
        return len(self._tasks) >= MOST_KEPT

    def hand_over(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` soon; an exception that it raises is a defect."""
        self._quiet.clear()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(QUIET_SECONDS, self._quiet.set)
        self._tasks.start(self._run(work), "inbox")

    async def drain(self, seconds: float) -> int:
        """Wait for all work, at most `seconds`; cancel the rest and return how many.

        Cancelled work may still notify the person.
        """
        self._quiet.set()
        try:
            async with asyncio.timeout(seconds):
                await self._tasks.drain()
        except TimeoutError:
            cut = set(self._tasks)
            for task in cut:
                # Not immediately: work that has not begun yet would never run.
                asyncio.get_running_loop().call_soon(task.cancel)
            await asyncio.wait(cut)
            return len(cut)
        return 0

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LATEST_SECONDS):
                await self._quiet.wait()
        await work


def request_key(body: Mapping[str, Any]) -> str | None:
    """The same for each delivery of a request; a digest, because a trigger id is a credential.

    Events have an id, and everything that people do a trigger id; None if there is neither.

    https://docs.slack.dev/apis/events-api#event-type-structure
    """
    identity = body.get("event_id") or body.get("trigger_id")
    return sha256(identity.encode()).hexdigest() if isinstance(identity, str) else None


class Once:
    """Knows requests that came before, to any process on one database."""

    def __init__(self, clock: Clock, store: Store, *, alone: bool = False) -> None:
        """`alone`: all requests come to this process, so its memory decides without a database."""
        self._clock = clock
        self._store = store
        self._alone = alone
        self._seen = Bounded[str, None](MOST_REMEMBERED)

    async def is_first(self, body: Mapping[str, Any]) -> bool:
        """Whether the request did not come before; from now on, it has.

        Raises StoreUnavailable, having remembered nothing, if the database must decide and can't.
        """
        key = request_key(body)
        if key is None:
            return True
        now = self._clock.now()
        until = now + (EVENT_LIFETIME if body.get("event_id") else TRIGGER_LIFETIME)
        if key not in self._seen:
            self._seen[key] = None
            try:
                if await self._store.run(
                    lambda transaction: transaction.expiring_keys.add_request(
                        key, now=now, until=until
                    )
                ):
                    return True
            except StoreUnavailable:
                if self._alone:
                    return True
                del self._seen[key]
                raise
        extra = {"action": "request_repeated", "request": key[:SHOWN]}
        logger.info("a request came again", extra=extra)
        return False


@dataclass(frozen=True, slots=True)
class Background:
    """Does the work of requests once each, and explains failures to the person.

    `command`: the slash command, which explanations mention.
    """

    inbox: Inbox
    once: Once
    replies: Replies
    command: str

    def asked_by(self, user_id: str, body: Json) -> Conversation:
        """The conversation with the person who sent `body`, which no handler could read."""
        view = body.get("view") or {}
        return Conversation(
            self.replies,
            Actor(user_id, user_id),
            Origin.BUTTON,
            response_url=body.get("response_url"),
            view_id=view.get("id") if view.get("type") == "modal" else None,
        )

    async def carry_out(
        self, body: Json, work: Work, conversation: Conversation, retry: str | None = None
    ) -> None:
        """Do the work, unless the request in `body` came before, and explain its failure.

        If cancelled at shutdown, explain that. `retry`: the command for a *Try again* button.
        """
        try:
            if await self.once.is_first(body):
                await work()
        except asyncio.CancelledError:
            try:
                async with asyncio.timeout(LAST_WORD_SECONDS):
                    await self._explain(CutOff(), conversation, retry)
            except TimeoutError:
                logger.warning("failure not reported", extra={"action": "failure_not_reported"})
            raise
        except Exception as error:  # noqa: BLE001 - everything ends here, explained and logged
            await self._explain(error, conversation, retry)

    async def _explain(
        self, error: Exception, conversation: Conversation, retry: str | None
    ) -> None:
        message = self.failed(error, conversation, retry)
        if not conversation.actor.user_id:
            return
        try:
            await conversation.reply(message)
        except Exception:
            logger.exception("failure not reported", extra={"action": "failure_not_reported"})

    def failed(
        self, error: Exception, conversation: Conversation, retry: str | None = None
    ) -> Message:
        """Log a failure, and return what the person gets to read about it."""
        reference = uuid.uuid4().hex[:8]
        if isinstance(error, FAILURES):
            error = SlackRefused(read_failure(error).code)
        _log(error, reference, conversation)
        return explain(error, command=self.command, reference=reference, retry=retry)


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
