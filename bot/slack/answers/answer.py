"""What answers a command, and what a class of answers to some of the commands is."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from bot.domain.commands import GeneralCommand, RepositoryCommand
from bot.domain.repository import RepositoryName
from bot.slack.replying.conversation import Conversation

RepositoryAnswer = Callable[[Any, RepositoryName, Conversation], Awaitable[None]]
"""Takes the command, the repository it is about, and the conversation."""

GeneralAnswer = Callable[[Any, Conversation], Awaitable[None]]
"""Takes the command and the conversation."""


class GeneralAnswers(Protocol):
    """Answers to commands that are about no single repository, by the type of the command."""

    def general(self) -> Mapping[type[GeneralCommand], GeneralAnswer]: ...


class RepositoryAnswers(Protocol):
    """Answers to commands that are about one repository, by the type of the command."""

    def answers(self) -> Mapping[type[RepositoryCommand], RepositoryAnswer]: ...
