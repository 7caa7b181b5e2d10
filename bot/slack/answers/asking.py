"""Answers to questions about a queue."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.commands import RepositoryCommand, StatusCommand
from bot.domain.repository import RepositoryName
from bot.messages import status
from bot.slack.answers.room import RepositoryAnswer
from bot.slack.conversation import Conversation
from bot.usecases.show_status import ShowStatus


@dataclass(frozen=True, slots=True)
class StatusAnswers:
    """The live queue, for the caller alone."""

    show_status: ShowStatus

    def answers(self) -> Mapping[type[RepositoryCommand], RepositoryAnswer]:
        return {StatusCommand: self.status}

    async def status(
        self, command: StatusCommand, repository: RepositoryName, conversation: Conversation
    ) -> None:
        snapshot = await self.show_status.run(repository, command.branch)
        await conversation.tell_actor(status.status(snapshot))
