"""Registers handlers, and defines what they get."""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bot.domain.configured import Configured
from bot.domain.errors import (
    InvalidCondition,
    InvalidDuration,
    InvalidReason,
    RepositoryNotAllowed,
    UnknownGroup,
)
from bot.domain.groups import Groups, Repositories, Target
from bot.domain.message import View
from bot.domain.permissions import Right
from bot.domain.repository import RepositoryName
from bot.messages.errors import beside_field
from bot.ports import Clock
from bot.slack.background import Background, Json
from bot.slack.conversation import Conversation
from bot.slack.handlers.viewers import RecentViewers
from bot.slack.payloads import Interaction
from bot.slack.web_api.channels import SlackChannels
from bot.usecases import UseCases
from bot.usecases.asking import Sources


@dataclass(frozen=True, slots=True)
class Bot:
    """What every handler may use. `command` is the slash command, `name` the bot's in Slack."""

    use: UseCases
    sources: Sources
    background: Background
    channels: SlackChannels
    configured: Configured
    clock: Clock
    command: str
    name: str
    viewers: RecentViewers = field(default_factory=RecentViewers)

    @property
    def repositories(self) -> Repositories:
        return self.configured.repositories

    @property
    def groups(self) -> Groups:
        return self.configured.groups

    @property
    def targets(self) -> Sequence[Target]:
        """Everything that can be paused: groups first."""
        return (*self.groups.offered, *self.repositories.names)


@dataclass(frozen=True, slots=True)
class Call(Conversation):
    """A request, and the conversation in which the person gets the answer."""

    bot: Bot = field(kw_only=True)

    async def admit(self, right: Right = Right.READ) -> None:
        """Raises PermissionDenied."""
        await self.bot.use.check_permission.require(self.actor, right)


@dataclass(frozen=True, slots=True)
class Accepted:
    """A valid form: what it shows from now on, and the work to do."""

    shows: View
    work: Coroutine[Any, Any, None]
    repository: RepositoryName | None = None


OnCommand = Callable[..., Coroutine[Any, Any, None]]
"""Takes the call, the repository or group, and the request's options by keyword."""

OnClick = Callable[[Call, Interaction], Coroutine[Any, Any, None]]


class WrongField(Exception):
    """What is wrong with a field of a form: shown beside it, and the form stays open."""

    def __init__(self, block_id: str, sentence: str) -> None:
        super().__init__(sentence)
        self.block_id = block_id
        self.sentence = sentence


FIELD_ERRORS = (
    InvalidReason,
    InvalidDuration,
    InvalidCondition,
    RepositoryNotAllowed,
    UnknownGroup,
)


@contextmanager
def field_checked(block_id: str) -> Iterator[None]:
    """Raise WrongField for what is wrong with the field in that block."""
    try:
        yield
    except FIELD_ERRORS as error:
        raise WrongField(block_id, beside_field(error)) from error


OnForm = Callable[[Call, Interaction], Coroutine[Any, Any, Accepted]]
"""Raises WrongField. Slack waits three seconds for it."""

OnEvent = Callable[[Call, Json], Coroutine[Any, Any, None] | None]
"""Returns the work to do; None if there is none."""

Handler = TypeVar("Handler", bound=Callable[..., Any])


class Handlers:
    """Handlers by command name, action id, callback id and event type."""

    def __init__(self) -> None:
        self.commands: dict[str, OnCommand] = {}
        self.clicks: dict[str, OnClick] = {}
        self.shortcuts: dict[str, OnClick] = {}
        self.forms: dict[str, OnForm] = {}
        self.events: dict[str, OnEvent] = {}

    def command(self, *names: str) -> Callable[[Handler], Handler]:
        return _into(self.commands, names)

    def click(self, *action_ids: str) -> Callable[[Handler], Handler]:
        return _into(self.clicks, action_ids)

    def shortcut(self, callback_id: str) -> Callable[[Handler], Handler]:
        return _into(self.shortcuts, [callback_id])

    def event(self, event_type: str) -> Callable[[Handler], Handler]:
        return _into(self.events, [event_type])

    def form(self, callback_id: str) -> Callable[[Handler], Handler]:
        return _into(self.forms, [callback_id])


def _into(table: dict[str, Any], names: Iterable[str]) -> Callable[[Handler], Handler]:
    def register(handler: Handler) -> Handler:
        table.update(dict.fromkeys(names, handler))
        return handler

    return register


handles = Handlers()
"""`@handles.command("status")`: every handler there is, once `bot.slack.handlers` is imported."""
