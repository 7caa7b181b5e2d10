"""Runs a typed command to its answer, whether it was typed, chosen from a menu or tried again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from bot.domain.commands import (
    BoardCommand,
    Command,
    GeneralCommand,
    PauseCommand,
    PauseGroupCommand,
    RepositoryCommand,
    SubscribeCommand,
    UnpauseCommand,
    UnpauseGroupCommand,
    UnsubscribeCommand,
    parse_command,
)
from bot.domain.denials import Right
from bot.domain.errors import RepositoryNotChosen, UserError
from bot.domain.groups import Groups
from bot.domain.repositories import Repositories
from bot.domain.repository import RepositoryName
from bot.messages import choice
from bot.slack.answers.answer import GeneralAnswer, RepositoryAnswer
from bot.slack.replying.conversation import Conversation
from bot.usecases.check_permission import CheckPermission
from bot.usecases.pausing.unpause_queue import UnpauseQueue
from bot.usecases.preferences.channel_default import ChannelDefault
from bot.usecases.preferences.manage_boards import ManageBoards
from bot.usecases.preferences.manage_subscriptions import ManageSubscriptions

_ACTS = (
    PauseCommand,
    UnpauseCommand,
    PauseGroupCommand,
    UnpauseGroupCommand,
    SubscribeCommand,
    UnsubscribeCommand,
    BoardCommand,
)


@dataclass(frozen=True, slots=True)
class Answers:
    """Each command ends in a line that somebody sees."""

    check_permission: CheckPermission
    manage_subscriptions: ManageSubscriptions
    channel_default: ChannelDefault
    manage_boards: ManageBoards
    unpause_queue: UnpauseQueue
    repositories: Repositories
    groups: Groups
    general: Mapping[type[GeneralCommand], GeneralAnswer]
    answers: Mapping[type[RepositoryCommand], RepositoryAnswer]

    def __post_init__(self) -> None:
        """Raises TypeError when a command would have no answer."""
        unanswered = set(get_args(Command)).difference(self.answers, self.general)
        if unanswered:
            raise TypeError(unanswered)

    async def run(self, typed: str, conversation: Conversation) -> None:
        """Raises what parsing and the use cases raise; nothing is half said by then."""
        command = await self._parse(typed, conversation)
        if isinstance(command, GeneralCommand):
            await self.general[type(command)](command, conversation)
            return
        repository = await self._repository(command, conversation)
        if repository is None:
            await self.admit(conversation)
            await self._ask(typed, conversation)
            return
        await self.answers[type(command)](command, repository, conversation)

    async def _parse(self, typed: str, conversation: Conversation) -> Command:
        """For an act the permission is asked for, and put on record, where it is carried out."""
        try:
            command = parse_command(typed, self.repositories, self.groups)
        except UserError:
            await self.admit(conversation)
            raise
        if not isinstance(command, _ACTS):
            await self.admit(conversation)
        return command

    async def admit(self, conversation: Conversation, right: Right = Right.READ) -> None:
        """Raises PermissionDenied."""
        await self.check_permission.require(conversation.actor, right)

    async def _repository(
        self, command: RepositoryCommand, conversation: Conversation
    ) -> RepositoryName | None:
        """The one typed, the only one there is, that whose board ends, or the channel's own.

        To resume, also the only one that is paused.
        """
        if command.repository is not None:
            return command.repository
        if len(self.repositories.names) == 1:
            return self.repositories.names[0]
        if conversation.channel_id is None:
            return None
        if isinstance(command, BoardCommand) and command.is_off:
            boards = await self.manage_boards.kept_here(
                conversation.channel_id, self.repositories.names
            )
            if len(boards) == 1:
                return boards[0]
        default = await self.channel_default.of(conversation.channel_id)
        if default in self.repositories.names:
            return default
        heard = await self.manage_subscriptions.subscriptions(conversation.channel_id)
        names = {one.repository for one in heard}.intersection(self.repositories.names)
        if len(names) != 1 and isinstance(command, UnpauseCommand):
            names = await self.unpause_queue.paused(self.repositories.names)
        return names.pop() if len(names) == 1 else None

    async def _ask(self, typed: str, conversation: Conversation) -> None:
        names = self.repositories.names
        if not names or not choice.can_carry(typed):
            raise RepositoryNotChosen(names)
        await conversation.tell_actor(choice.which_repository(names, typed))
