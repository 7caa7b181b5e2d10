"""Registers handlers, and defines what they get."""

from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from bot.domain.audit import Actor
from bot.domain.configured import Configured
from bot.domain.durations import Lasting, resumes_at
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
from bot.slack.payloads import Interaction
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.remembered import Bounded
from bot.usecases import UseCases
from bot.usecases.asking import Sources

VIEWERS = 50
"""Half of the hundred tabs a minute that Slack lets a workspace's app publish.

https://docs.slack.dev/reference/methods/views.publish
"""


@dataclass(slots=True)
class RecentViewer:
    """A person who opened the Home tab.

    `first`: where the page that they look at begins.
    `seen`: the tab as of `read_at`, without its times.
    """

    actor: Actor
    opened_at: datetime
    first: int = 0
    read_at: datetime | None = None
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Bot:
    """What every handler may use.

    `command` is the slash command, `name` the bot's in Slack. `viewers`: who opened the Home tab
    last.
    """

    use: UseCases
    sources: Sources
    background: Background
    channels: SlackChannels
    configured: Configured
    clock: Clock
    command: str
    name: str
    viewers: Bounded[str, RecentViewer] = field(default_factory=lambda: Bounded(VIEWERS))

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

    async def require_end(self, lasting: Lasting | None) -> None:
        """Raise InvalidDuration for an end that can't be, in the person's own time zone."""
        if lasting is not None:
            zone = await self.bot.use.check_permission.zone(self.actor)
            resumes_at(lasting, self.bot.clock.now(), zone)


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

Registered = TypeVar("Registered", bound=Callable[..., Any])


class Handlers(dict[str, Registered]):
    """Handlers by their names; called with names, it registers the decorated one."""

    def __call__(self, *names: str) -> Callable[[Registered], Registered]:
        def register(handler: Registered) -> Registered:
            self.update(dict.fromkeys(names, handler))
            return handler

        return register


class Registry:
    """Handlers of commands and events by name, of elements by action id, else by callback id."""

    def __init__(self) -> None:
        self.command = Handlers[OnCommand]()
        self.click = Handlers[OnClick]()
        self.shortcut = Handlers[OnClick]()
        self.form = Handlers[OnForm]()
        self.event = Handlers[OnEvent]()


handles = Registry()
"""`@handles.command("status")`: every handler there is, once `bot.slack.handlers` is imported."""
