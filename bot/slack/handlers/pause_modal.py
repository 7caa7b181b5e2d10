"""The pause-reason modal: opened at once, completed with the impact as soon as it is read."""

import logging
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.domain.errors import MergeQueueError
from bot.domain.groups import Repositories
from bot.domain.message import View
from bot.domain.repository import RepositoryName
from bot.messages import pause
from bot.slack.conversation import Conversation, OpenedModal
from bot.slack.web_api.failures import VIEW_GONE_CODES, read_failure
from bot.usecases.asking.show_status import ShowStatus
from bot.usecases.pausing.pause_queue import PauseQueue

logger = logging.getLogger(__name__)

GONE_CODES = VIEW_GONE_CODES | {"hash_conflict"}
"""The person closed, submitted or changed the modal before the impact was read."""


@dataclass(frozen=True, slots=True)
class PauseModal:
    """Slack takes a trigger for three seconds, so no queue is read before the modal is open.

    Whether the person may is asked before, which takes two seconds at most.
    """

    pause_queue: PauseQueue
    show_status: ShowStatus
    repositories: Repositories

    async def open(
        self,
        chosen: RepositoryName | None,
        conversation: Conversation,
        lasting: str | None = None,
    ) -> None:
        """Raises PermissionDenied, before anything is opened."""
        await self.permit(chosen, conversation)
        opened = await conversation.open_modal(
            self._view(
                chosen, conversation, pause.READING if chosen else pause.CHOOSE_FIRST, lasting
            )
        )
        if chosen is not None:
            await self.complete(chosen, opened, conversation, lasting)

    async def permit(self, chosen: RepositoryName | None, conversation: Conversation) -> None:
        """Raises PermissionDenied, put on record once, whichever repository may be meant."""
        names = self.repositories.names if chosen is None else (chosen,)
        await self.pause_queue.permit(conversation.caller, names)

    async def complete(
        self,
        chosen: RepositoryName,
        opened: OpenedModal,
        conversation: Conversation,
        lasting: str | None = None,
    ) -> None:
        """Show what pausing `chosen` would stop, unless the modal has gone or changed."""
        view = self._view(chosen, conversation, await self._note(chosen), lasting)
        await show_if_unchanged(opened, view)

    async def _note(self, chosen: RepositoryName) -> str:
        try:
            snapshot = await self.show_status.run(chosen)
        except MergeQueueError:
            return pause.UNREADABLE
        return pause.impact_note(snapshot)

    def _view(
        self,
        chosen: RepositoryName | None,
        conversation: Conversation,
        note: str,
        lasting: str | None,
    ) -> View:
        return pause.reason_modal(
            self.repositories.names,
            chosen=chosen,
            channel_id=conversation.channel_id,
            note=note,
            lasting=lasting,
        )


async def show_if_unchanged(opened: OpenedModal, view: View) -> None:
    """Complete a modal, unless the person closed, submitted or changed it meanwhile."""
    try:
        await opened.show(view)
    except SlackApiError as error:
        code = read_failure(error).code
        if code not in GONE_CODES:
            raise
        logger.info("modal changed meanwhile", extra={"action": "modal_gone", "error": code})
