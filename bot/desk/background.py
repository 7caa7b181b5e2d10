"""The work behind an acknowledgement: done once, counted, drained, and its failures explained."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.acts.open_requests import OpenRequests
from bot.acts.unanswered import Unanswered
from bot.acts.unanswered_rows import UnansweredRequests
from bot.blocks import controls
from bot.blocks.message import Message
from bot.desk.explain import explain
from bot.kernel.actor import REQUEST_SHOWN, Actor, Origin
from bot.kernel.bounded import Bounded
from bot.kernel.clock import Clock
from bot.kernel.errors import ActState, BotError, UserError, act_of
from bot.kernel.tasks import Tasks
from bot.slack.conversation import Conversation, Replies
from bot.slack.errors import CutOff, SlackRefused
from bot.slack.payloads import Json, request_key
from bot.slack.web_api.failures import BLOCKS_CODES, FAILURES, read_failure
from bot.store.errors import StoreUnavailable
from bot.store.handled_requests import HandledRequests
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

Work = Callable[[], Awaitable[None]]

LAST_WORD_SECONDS = 2.0
"""At shutdown, the time to say that something was cut off."""

BACKGROUND_TASKS = 500

MOST_KEPT = 5000
"""A click with its message takes about 20 KB."""

QUIET_SECONDS = 0.001

LATEST_SECONDS = 0.03
"""The longest time for which work waits for a quiet moment."""

EVENT_LIFETIME = timedelta(hours=25)
"""Slack retries delayed events for a day (https://docs.slack.dev/apis/events-api#retries)."""

TRIGGER_LIFETIME = timedelta(minutes=10)
"""Slack doesn't retry commands, clicks, forms and shortcuts; signatures are valid for 5 minutes."""


MOST_REMEMBERED = 20_000


class Inbox:
    """Runs handed-over work, so that a listener can return immediately.

    Work begins once no request has come for `quiet_seconds`, so that acknowledgements go first,
    but at the latest after `latest_seconds`.
    """

    def __init__(
        self,
        most_at_once: int = BACKGROUND_TASKS,
        quiet_seconds: float = QUIET_SECONDS,
        latest_seconds: float = LATEST_SECONDS,
    ) -> None:
        self._quiet_seconds = quiet_seconds
        self._latest_seconds = latest_seconds
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
        self._timer = asyncio.get_running_loop().call_later(self._quiet_seconds, self._quiet.set)
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
            async with asyncio.timeout(self._latest_seconds):
                await self._quiet.wait()
        await work


class Once:
    """Knows requests that came before, to any process on one database."""

    def __init__(
        self, clock: Clock, store: Store, *, alone: bool = False, most: int = MOST_REMEMBERED
    ) -> None:
        """`alone`: all requests come to this process, so its memory decides without a database."""
        self._clock = clock
        self._store = store
        self._alone = alone
        self._seen = Bounded[str, None](most)

    async def is_first(self, body: Mapping[str, Any], owed: Unanswered | None = None) -> bool:
        """Whether the request did not come before; from now on, it has.

        `owed`: stored with the first, until the request is answered.
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
                if await self._store.run(_remember, key, now, until, owed):
                    return True
            except StoreUnavailable:
                if self._alone:
                    return True
                del self._seen[key]
                raise
        extra = {"action": "request_repeated", "request": key[:REQUEST_SHOWN]}
        logger.info("a repeated request was ignored", extra=extra)
        return False


def _remember(
    transaction: Transaction, key: str, now: datetime, until: datetime, owed: Unanswered | None
) -> bool:
    is_first = HandledRequests(transaction).add(key, now=now, until=until)
    if is_first and owed is not None:
        UnansweredRequests(transaction).add(owed)
    return is_first


@dataclass(frozen=True, slots=True)
class Background:
    """Does the work of requests once each, and explains failures to the person."""

    inbox: Inbox
    once: Once
    #: the requests under way, whose answers another process owes if this one dies
    open: OpenRequests
    replies: Replies
    command: str  #: the slash command, which explanations mention

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

    async def carry_out(self, body: Json, work: Work, conversation: Conversation) -> None:
        """Do the work, unless the request in `body` came before, and explain its failure.

        If cancelled at shutdown, explain that. Until the person has an answer, the request's row
        says that one is owed.
        """
        owed = self._owed(conversation)
        try:
            if not await self.once.is_first(body, owed):
                return
            if owed is not None:
                self.open.begin(owed)
            await work()
        except asyncio.CancelledError:
            await self._say_last(conversation, owed)
            raise
        except Exception as error:  # noqa: BLE001 - everything ends here, explained and logged
            is_shown = await self._explain(error, conversation)
            if owed is not None:
                await self._leave(owed, error, is_shown=is_shown)
        else:
            if owed is not None:
                await self.open.end(owed.request)

    def _owed(self, conversation: Conversation) -> Unanswered | None:
        if conversation.request is None or not conversation.actor.user_id:
            return None
        repeat = conversation.progress.repeat
        is_typed = repeat is not None and repeat.action_id == controls.RETRY
        return self.open.row(
            conversation.request,
            conversation.actor.user_id,
            conversation.channel_id,
            typed=repeat.value if repeat is not None and is_typed else None,
            repeat=None if is_typed else repeat,
        )

    async def _say_last(self, conversation: Conversation, owed: Unanswered | None) -> None:
        """Explain that the bot is stopping; the next process tells the outcome."""
        try:
            async with asyncio.timeout(LAST_WORD_SECONDS):
                error = CutOff(is_told_later=owed is not None)
                is_shown = await self._explain(error, conversation)
                if is_shown and owed is not None:
                    await self.open.leave(owed.request, wait=timedelta())
        except TimeoutError:
            logger.warning("failure not reported", extra={"action": "failure_not_reported"})

    async def _leave(self, owed: Unanswered, error: Exception, *, is_shown: bool) -> None:
        """End the request, unless the outcome is still to come, or nobody could be told it."""
        act = act_of(error)
        if act is not None and act.state is not ActState.NOT_DONE:
            await self.open.leave(owed.request)
        elif is_shown:
            await self.open.end(owed.request)
        else:
            await self.open.leave(owed.request, wait=timedelta())

    async def _explain(self, error: Exception, conversation: Conversation) -> bool:
        """Return whether the person has been shown it."""
        message = self.failed(error, conversation)
        if not conversation.actor.user_id:
            return False
        try:
            await conversation.reply(message)
        except Exception as lost:
            level = logging.WARNING if isinstance(lost, SlackRefused) else logging.ERROR
            extra = {"action": "failure_not_reported"}
            logger.log(level, "failure not reported", extra=extra, exc_info=lost)
            return False
        return True

    def failed(self, error: Exception, conversation: Conversation) -> Message:
        """Log a failure, and return what the person gets to read about it."""
        reference = uuid.uuid4().hex[:8]
        if isinstance(error, FAILURES):
            error = SlackRefused(read_failure(error).code)
        _log_failure(error, reference, conversation)
        repeat = conversation.progress.repeat
        return explain(error, command=self.command, reference=reference, repeat=repeat)


def _log_failure(error: Exception, reference: str, conversation: Conversation) -> None:
    fields = {
        "action": "failed",
        "reference": reference,
        "error": type(error).__name__,
        "detail": str(error)[:300],
        "actor": conversation.actor.user_id,
        "channel": conversation.channel_id,
    }
    if isinstance(error, UserError):
        logger.info("a mistyped command was explained", extra={**fields, "action": "corrected"})
    elif isinstance(error, SlackRefused) and error.code in BLOCKS_CODES:
        # A form or a tab that Slack doesn't accept; the explanation has no blocks.
        logger.error("blocks refused", extra={**fields, "action": "blocks_refused"})
    elif isinstance(error, BotError):
        logger.warning("a request failed", extra=fields)
    else:
        logger.error("a defect", extra={**fields, "action": "defect"}, exc_info=error)
