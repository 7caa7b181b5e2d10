"""Registers handlers, and defines what they get."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from bot.domain.asked import NOTHING, Asked
from bot.domain.audit import Action, Actor
from bot.domain.configured import Configured
from bot.domain.durations import Lasting, resumes_at
from bot.domain.errors import UserError
from bot.domain.groups import Group, Groups, Repositories, Target, repositories_of
from bot.domain.message import View
from bot.domain.permissions import Right
from bot.messages import actions
from bot.messages.errors import beside_field
from bot.ports import Clock
from bot.slack.background import Background, Json, Work
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
    background: Background
    channels: SlackChannels
    configured: Configured
    command: str
    name: str
    viewers: Bounded[str, RecentViewer] = field(default_factory=lambda: Bounded(VIEWERS))

    @property
    def sources(self) -> Sources:
        return self.use.sources

    @property
    def clock(self) -> Clock:
        return self.use.sources.clock

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

    async def admit(self) -> None:
        """Raises PermissionDenied."""
        await self.bot.use.check_permission.require(self.actor, Right.READ)

    async def permit(self, action: Action, target: Target | None, asked: Asked = NOTHING) -> None:
        """Check before asking for more; without a target, for all repositories.

        Raises PermissionDenied, recorded once.
        """
        names = self.bot.repositories.names if target is None else repositories_of(target)
        await self.bot.use.pause_queue.acts.permit_all(
            self.caller,
            action,
            names,
            group=target.name if isinstance(target, Group) else None,
            reason=asked.written or None,
        )

    async def end_of(self, lasting: Lasting | None) -> datetime | None:
        """When it ends, in the person's own time zone; raises InvalidDuration."""
        if lasting is None:
            return None
        zone = await self.bot.use.check_permission.zone(self.actor)
        return resumes_at(lasting, self.bot.clock.now(), zone)

    def held(self, control: Interaction | str) -> actions.Held:
        """What a button, or the value of another control, was drawn for.

        Raises RepositoryNotAllowed and UnknownGroup.
        """
        value = control if isinstance(control, str) else control.chosen
        return actions.read_held(value, self.bot.groups)


OnCommand = Callable[..., Awaitable[None]]
"""Takes the call, the repository or group, and the request's options by keyword."""

OnClick = Callable[[Call, Interaction], Awaitable[None]]

Accepted = tuple[View, Work]
"""What a valid form shows from now on, and the work to do."""

OnForm = Callable[[Call, Interaction], Awaitable[Accepted]]
"""Raises WrongField. Slack waits three seconds for it."""

OnEvent = Callable[[Call, Json], Awaitable[None]]


class WrongField(Exception):
    """What is wrong with a field of a form: shown beside it, and the form stays open."""

    def __init__(self, block_id: str, sentence: str) -> None:
        super().__init__(sentence)
        self.errors = {block_id: sentence}


@contextmanager
def field_checked(block_id: str) -> Iterator[None]:
    """Raise WrongField for what is wrong with the field in that block."""
    try:
        yield
    except UserError as error:
        raise WrongField(block_id, beside_field(error)) from error


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

    command = Handlers[OnCommand]()
    click = Handlers[OnClick]()
    shortcut = Handlers[OnClick]()
    form = Handlers[OnForm]()
    event = Handlers[OnEvent]()


handles = Registry()
"""`@handles.command("status")`: every handler there is, once `bot.slack.handlers` is imported."""
