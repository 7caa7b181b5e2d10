"""What the handlers of each subject have in common."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from slack_bolt.async_app import AsyncApp

from bot.domain.groups import Groups, Repositories
from bot.domain.permissions import Right
from bot.ports import Clock
from bot.slack.background import Background
from bot.slack.conversation import Conversation
from bot.slack.payloads import BlockActions
from bot.usecases import UseCases
from bot.usecases.asking.sources import Sources

OnCommand = Callable[..., Awaitable[None]]
"""Takes the repository or group, the conversation, and the request's options by keyword."""

OnClick = Callable[[BlockActions, Conversation], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Shared:
    """What every handler may use. `command` is the slash command, `bot_name` the bot in Slack."""

    use_cases: UseCases
    sources: Sources
    background: Background
    repositories: Repositories
    groups: Groups
    clock: Clock
    command: str
    bot_name: str


class Subject:
    """Everything that people do about one subject; each part may be left out."""

    def __init__(self, shared: Shared) -> None:
        self.use = shared.use_cases
        self.sources = shared.sources
        self.background = shared.background
        self.repositories = shared.repositories
        self.groups = shared.groups
        self.clock = shared.clock
        self.command = shared.command
        self.bot_name = shared.bot_name

    def on_command(self) -> Mapping[str, OnCommand]:
        """What is done for a request, by its action (`bot.domain.commands`)."""
        return {}

    def on_click(self) -> Mapping[str, OnClick]:
        """What clicks do, by action id (`bot.messages.actions`)."""
        return {}

    def register(self, app: AsyncApp) -> None:
        """Register what takes forms, shortcuts and events."""

    async def admit(self, conversation: Conversation, right: Right = Right.READ) -> None:
        """Raises PermissionDenied."""
        await self.use.check_permission.require(conversation.actor, right)
