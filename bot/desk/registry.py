"""Registers handlers, and defines what they get."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from bot.acts.asked import NOTHING_ASKED, Asked, TypedEnds, typed_ends
from bot.acts.permission import Right
from bot.acts.reason import check_reason
from bot.acts.record import Action
from bot.blocks import addressed, controls
from bot.blocks.controls import Repeat
from bot.blocks.message import Message, View
from bot.desk import end_questions
from bot.desk.background import Background
from bot.desk.choice import QUESTION_LASTS, can_carry, carried
from bot.desk.explain import beside_field
from bot.desk.meant import ask_again, take_questions
from bot.desk.question import Asker, Question
from bot.desk.readers.acts import read_asked
from bot.desk.rows import Questions
from bot.desk.table import COMMAND_BY_WORD
from bot.desk.use_cases import UseCases
from bot.freezes import actions as freeze_actions
from bot.home.choices import HOME_BEGIN, HomePlace
from bot.kernel.actor import Actor
from bot.kernel.bounded import Bounded
from bot.kernel.clock import Clock
from bot.kernel.configured import Configured
from bot.kernel.durations import DurationProblem
from bot.kernel.ends.doubts import without_end
from bot.kernel.errors import InvalidDuration, UserError
from bot.kernel.groups import Group, Groups, Repositories, Target, repositories_of
from bot.log.sources import Sources
from bot.pauses.texts.ends import EndQuestion
from bot.slack.conversation import Conversation
from bot.slack.errors import NeedsClick
from bot.slack.forms import Forms, FormTurn
from bot.slack.payloads import Interaction, Json
from bot.slack.ports import ChannelAccess
from bot.slack.references import Names
from bot.slack.web_api.channels import SlackChannels
from bot.store.errors import StoreUnavailable
from bot.store.transactions import Store

logger = logging.getLogger(__name__)

TS_DECIMALS = 6
"""Digits behind the dot of a `ts`."""

VIEWERS = 50
"""Half of the hundred tabs a minute that Slack lets a workspace's app publish.

https://docs.slack.dev/reference/methods/views.publish
"""


@dataclass(slots=True)
class RecentViewer:
    """A person who opened the Home tab."""

    actor: Actor
    opened_at: datetime
    place: HomePlace = HOME_BEGIN  #: what they look at
    read_at: datetime | None = None
    seen: str = ""  #: the tab as of `read_at`, without its times


@dataclass(frozen=True, slots=True)
class Bot:
    """What every handler may use."""

    use: UseCases
    background: Background
    channels: SlackChannels
    configured: Configured
    command: str  #: the slash command
    name: str  #: the bot's, in Slack
    #: after this time without an answer, the bot says that it takes longer
    progress_seconds: float
    #: who opened the Home tab last
    viewers: Bounded[str, RecentViewer] = field(default_factory=lambda: Bounded(VIEWERS))
    forms: Forms = field(default_factory=Forms)  #: those on people's screens

    @property
    def sources(self) -> Sources:
        return self.use.sources

    @property
    def clock(self) -> Clock:
        return self.use.sources.clock

    @property
    def names(self) -> Names:
        return Names(self.use.check_permission.people, self.channels)

    @property
    def repositories(self) -> Repositories:
        return self.configured.repositories

    @property
    def groups(self) -> Groups:
        return self.configured.groups

    @property
    def called(self) -> Sequence[str]:
        """What people may type in front of a command, although they needn't."""
        return (self.command, self.name)

    @property
    def targets(self) -> Sequence[Target]:
        """Everything that can be paused: groups first."""
        return (*self.groups.offered, *self.repositories.names)


@dataclass(frozen=True, slots=True)
class Call(Conversation):
    """A request, and the conversation in which the person gets the answer."""

    bot: Bot = field(kw_only=True)

    @property
    def asker(self) -> Asker:
        return Asker(self.actor.user_id, self.channel_id)

    async def ask(self, verb: str, typed: str, question: Message) -> None:
        """Ask which queue they mean by what they typed for that command.

        Every process knows the question while it is open, unless the command only reads: that is
        asked and answered also while nothing can be stored.
        """
        store = self.bot.sources.store
        asked = Question(self.asker, verb, typed)
        command = COMMAND_BY_WORD.get(verb)
        is_reading = command is not None and command.right is Right.READ
        is_kept = can_carry(typed) and not (is_reading and carried(typed) == typed)
        if is_kept:
            until = self.bot.clock.now() + QUESTION_LASTS
            await store.run(lambda transaction: Questions(transaction).add(asked, until))
        await self.reply(question)
        ts = self.progress.answered_ts
        if is_kept and ts is not None:
            message = int(ts.replace(".", ""))
            await store.run(lambda transaction: Questions(transaction).shown(asked, message))

    @asynccontextmanager
    async def answering(self, verb: str) -> AsyncIterator[None]:
        """While a command runs: it answers every question that the person was asked for it.

        Those in direct messages go; Slack lets nobody take back what only one person sees in a
        channel. After a failure the questions are open again.
        """
        store = self.bot.sources.store
        now = self.bot.clock.now()
        taken: Mapping[Question, int | None] = {}
        if await store.read(lambda transaction: Questions(transaction).open(self.asker, now, verb)):
            taken = await store.run(take_questions, self.asker, verb, now)
        try:
            yield
        except BaseException:
            if taken:
                await _ask_again(store, list(taken), now + QUESTION_LASTS)
            raise
        for message in filter(None, taken.values()):
            digits = str(message)
            ts = f"{digits[:-TS_DECIMALS]}.{digits[-TS_DECIMALS:]}"
            if ts != self.pressed_ts:
                await self.delete_answer(ts)

    async def question(self, asked: str) -> Question | None:
        """The open question about what was typed; None if it has been answered.

        `asked`: what the question's buttons say that the person typed.
        """
        now = self.bot.clock.now()
        found = await self.bot.sources.store.read(
            lambda transaction: Questions(transaction).open(self.asker, now)
        )
        return next((question for question in found if carried(question.typed) == asked), None)

    @asynccontextmanager
    async def closing(self, question: Question) -> AsyncIterator[bool]:
        """Close the question while its answer is carried out; False if it was closed already.

        Each of two presses may find it open. After a failure it is open again.
        """
        store = self.bot.sources.store
        was_open = await store.run(lambda transaction: Questions(transaction).close(question))
        try:
            yield was_open
        except BaseException:
            if was_open:
                until = self.bot.clock.now() + QUESTION_LASTS
                await _ask_again(store, [question], until)
            raise

    def promise_outcome(self) -> None:
        """The answer says that the outcome follows."""
        if self.request is not None:
            self.bot.background.open.keep(self.request)

    async def open_modal(self, view: View) -> FormTurn:
        """Slack takes the trigger once, within three seconds; raises NeedsClick without one."""
        if not self.trigger_id:
            raise NeedsClick
        await self.begin_answer()
        open_view = partial(self.client.views_open, trigger_id=self.trigger_id)
        return await self.bot.forms.open(open_view, view)

    def turn_of(self, click: Interaction) -> FormTurn:
        """A choice in a form, which changes it."""
        return self.bot.forms.turn(click.view_id, click.view_hash)

    async def show_in_modal(self, turn: FormTurn, view: View) -> None:
        """Unless the person closed, submitted or changed the modal meanwhile."""
        await self.begin_answer()
        await self.bot.forms.show(self.client.views_update, turn, view)

    async def post_without_card(self, message: Message) -> None:
        """Show an act to a channel that has no card of it, and say how to invite the bot."""
        if self.channel_id is not None:
            access = await self.bot.channels.access(self.channel_id)
            if access is ChannelAccess.INVITE:
                message = addressed.with_invitation(message, self.bot.name)
        await self.post_in_channel(message)

    async def admit(self) -> None:
        """Raises PermissionDenied."""
        await self.bot.use.check_permission.require(self.actor, Right.READ)

    async def permit(
        self, action: Action, target: Target | None, asked: Asked = NOTHING_ASKED
    ) -> None:
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

    async def typed_ends(self, asked: Asked) -> TypedEnds:
        """What the typed end may mean, in the person's own time zone; raises InvalidDuration."""
        zone = await self.bot.use.check_permission.zone(self.actor)
        return typed_ends(asked, self.bot.clock.now(), zone)

    async def asked_in_form(
        self, times: Asked, form: Interaction
    ) -> tuple[Asked, EndQuestion | None]:
        """What a form asks for, with an end that means the same whenever it is read.

        Also what to ask about that end before anything is done.
        `times`: from the fields for the end; where these are empty, the reason may hold one, as in
        a command.
        Raises WrongField.
        """
        if not times.is_timed:
            with field_checked(controls.REASON_BLOCK):
                asked, question = await self._end_in_reason(form)
                check_reason(asked.reason)
                return asked, question
        with field_checked(form.end_block):
            asked, question = await self.end_in_field(times, form)
        with field_checked(controls.REASON_BLOCK):
            reason = without_end(form.reason) if form.meant_end else form.reason
            # Raises InvalidDuration for a second end.
            read_asked(Asked(reason, times.lasting).written)
            check_reason(reason)
        return replace(asked, reason=reason), question

    async def _end_in_reason(self, form: Interaction) -> tuple[Asked, EndQuestion | None]:
        asked = Asked(form.reason) if form.is_without_end else read_asked(form.reason)
        if asked.is_timed:
            return await self.end_in_field(asked, form)
        typed = await self.typed_ends(asked)
        if form.is_without_end or not typed.is_doubt:
            return asked, None
        is_freeze = form.callback_id == freeze_actions.FREEZE_VIEW
        return asked, end_questions.doubt_in_form(asked, typed, is_freeze=is_freeze)

    async def end_in_field(
        self, asked: Asked, form: Interaction
    ) -> tuple[Asked, EndQuestion | None]:
        """The same for an end that was read. Raises InvalidDuration, also for several."""
        typed = await self.typed_ends(asked)
        if typed.is_doubt:
            raise InvalidDuration(DurationProblem.UNCLEAR, asked.written)
        settled = typed.with_end(asked)
        if asked.is_exact or not typed.is_far:
            return settled, None
        question = end_questions.far_in_form(typed.ends[0].at, typed.now)
        return settled, question if question.seen != form.carried.seen else None

    def control(self, given: Interaction | str) -> controls.Control:
        """What a button, or the value of another control, was drawn for.

        Raises RepositoryNotAllowed and UnknownGroup.
        """
        value = given if isinstance(given, str) else given.chosen
        return controls.read_control(value, self.bot.groups)


async def _ask_again(store: Store, questions: Sequence[Question], until: datetime) -> None:
    """Open the questions of a failed command again; why it failed matters more to the person."""
    try:
        await store.run(ask_again, questions, until)
    except StoreUnavailable as error:
        extra = {"action": "question_not_reopened", "cause": error.cause}
        logger.warning("a question can't be reopened after its answer failed", extra=extra)


OnCommand = Callable[..., Awaitable[None]]
"""Takes the call, the repository or group, and the request's options by keyword."""


OnClick = Callable[[Call, Interaction], Awaitable[None]]

CallWork = Callable[[Call], Awaitable[None]]
"""The work of a request, which gets the call once the person's name is known."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A form that was sent and has no mistakes."""

    shown: View  #: what it shows from now on
    work: CallWork | None = None  #: None if it asks to be sent again, or the person is refused
    repeat: Repeat | None = None  #: the button that asks for the same again if the work fails


OnForm = Callable[[Call, Interaction], Awaitable[Accepted]]
"""Raises WrongField. Slack waits three seconds for it."""

OnEvent = Callable[[Call, Json], Awaitable[None]]


class FormMistake(Exception):
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
        raise FormMistake(block_id, beside_field(error, block_id)) from error


Registered = TypeVar("Registered", bound=Callable[..., Any])


class Handlers(dict[str, Registered]):
    """Handlers by their names; called with names, it registers the decorated one.

    Raises ValueError for a name that another handler has.
    """

    def __call__(self, *names: str) -> Callable[[Registered], Registered]:
        def register(handler: Registered) -> Registered:
            taken = sorted(self.keys() & set(names))
            if taken:
                raise ValueError(f"another handler has the name {', '.join(taken)}")
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
"""`@handles.command("status")`: every handler there is, once `bot.runtime.handlers` is imported."""
