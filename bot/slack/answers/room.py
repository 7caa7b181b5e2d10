"""What a room of answers is: some of the commands that are about one repository."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from bot.domain.commands import RepositoryCommand
from bot.domain.repository import RepositoryName
from bot.slack.conversation import Conversation

RepositoryAnswer = Callable[[Any, RepositoryName, Conversation], Awaitable[None]]
"""Takes the command, the repository it is about, and the conversation."""


class Room(Protocol):
    """Answers, by the type of the command."""

    def answers(self) -> Mapping[type[RepositoryCommand], RepositoryAnswer]: ...
