"""Clicks that only read: each shows the state now."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.audit import Origin
from bot.domain.denials import Right
from bot.domain.repositories import Repositories
from bot.domain.snapshots import Snapshot
from bot.messages import actions, choice, status
from bot.slack.actions.click import Act
from bot.slack.answers import Answers
from bot.slack.conversation import Conversation
from bot.slack.payloads import BlockActions
from bot.usecases.show_status import ShowStatus


@dataclass(frozen=True, slots=True)
class StatusActions:
    """*Refresh*, *Share in channel* and *Show more* of a status."""

    show_status: ShowStatus
    answers: Answers
    repositories: Repositories

    def acts(self) -> Mapping[str, Act]:
        return {
            actions.REFRESH: self._refresh,
            actions.SHARE: self._share,
            actions.MORE: self._more,
        }

    async def _refresh(self, click: BlockActions, conversation: Conversation) -> None:
        if conversation.origin is Origin.HOME:
            return
        await conversation.put_in_place(
            status.status(await self._read(click.action.chosen, conversation))
        )

    async def _share(self, click: BlockActions, conversation: Conversation) -> None:
        await conversation.tell_channel(
            status.status(await self._read(click.action.chosen, conversation))
        )

    async def _more(self, click: BlockActions, conversation: Conversation) -> None:
        first, _, queue = click.action.chosen.partition(" ")
        message = status.waiting_page(await self._read(queue, conversation), int(first))
        await conversation.put_in_place(message)

    async def _read(self, value: str, conversation: Conversation) -> Snapshot:
        await self.answers.admit(conversation, Right.READ)
        name, _, branch = value.partition(" ")
        repository = self.repositories.allowed(name)
        return await self.show_status.run(repository, branch or None)


@dataclass(frozen=True, slots=True)
class CommandActions:
    """*Try again* and the choice of a repository: the command goes on as if it were typed."""

    answers: Answers

    def acts(self) -> Mapping[str, Act]:
        return {actions.RETRY: self._retry, actions.CHOOSE: self._choose}

    async def _retry(self, click: BlockActions, conversation: Conversation) -> None:
        await self.answers.run(click.action.chosen, conversation)

    async def _choose(self, click: BlockActions, conversation: Conversation) -> None:
        typed = choice.continued(click.action.block_id, click.action.chosen)
        await self.answers.run(typed, conversation)
