"""The single error boundary: a failure is logged once and explained once."""

import asyncio
import logging
import uuid
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from bot.domain.errors import BotError, CutOff, SlackRefused, UserError
from bot.domain.message import Message
from bot.messages.errors import explain
from bot.slack.replying.conversation import Conversation
from bot.slack.web_api.failures import BLOCKS_CODES, FAILURES, read_failure

logger = logging.getLogger(__name__)

LAST_WORD_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ErrorBoundary:
    """Runs what a person asked for; whatever goes wrong, the person gets a sentence."""

    command: str

    async def guard(
        self,
        work: Coroutine[Any, Any, None],
        conversation: Conversation,
        *,
        repository: str | None = None,
        retry: str | None = None,
    ) -> None:
        """Await `work`. `retry` is the command text that a *Try again* button would repeat.

        Cancelled, at the end of the process, it has LAST_WORD_SECONDS to say so.
        """
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
        repository: str | None,
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
        await self._tell(message, conversation, reference)

    async def _tell(self, message: Message, conversation: Conversation, reference: str) -> None:
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
