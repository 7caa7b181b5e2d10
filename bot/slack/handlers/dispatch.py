"""Acknowledges what Slack sends, reads it, and runs its handler or command in the inbox."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.audit import Actor, Origin
from bot.domain.commands import command_called, parse_command
from bot.domain.errors import CommandSyntaxError, PermissionDenied, RepositoryNotChosen, UserError
from bot.domain.groups import Target
from bot.domain.permissions import Right
from bot.domain.repository import RepositoryName
from bot.messages import actions, choice, pause
from bot.messages.errors import BUSY
from bot.messages.text import clean
from bot.slack.background import Json, Work
from bot.slack.conversation import Answers
from bot.slack.handlers.home import publish
from bot.slack.handlers.registry import Bot, Call, OnClick, WrongField, handles
from bot.slack.payloads import HOME, TEXT_KEPT, Interaction, Said, SlashCommand

OURS = re.compile(f"^{re.escape(actions.PREFIX)}")


class Dispatch:
    """One Bolt listener for each kind of request."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot

    def register(self, app: AsyncApp) -> None:
        app.command(self._bot.command)(self.on_typed)
        app.action(OURS)(self.on_action)
        app.options(OURS)(self.on_suggestion)
        for callback_id in handles.form:
            app.view(callback_id)(self.on_form)
        for callback_id in handles.shortcut:
            app.shortcut(callback_id)(self.on_action)
        for event_type in handles.event:
            app.event(event_type)(self.on_event)
        app.event("app_mention")(self.on_message)
        app.event("message")(self.on_message)

    async def on_typed(self, ack: AsyncAck, body: Json) -> None:
        if self._bot.background.inbox.is_full:
            await ack(BUSY)
            return
        await ack()
        command = SlashCommand.model_validate(body)
        call = self._call(
            command.actor,
            Origin.COMMAND,
            trigger_id=command.trigger_id,
            channel_id=command.channel_id,
            response_url=command.response_url,
        )
        self._start(body, partial(run, call, command.typed), call, retry=command.typed)

    async def on_message(self, ack: AsyncAck, body: Json) -> None:
        """A mention and a direct message are commands; edits and what apps write are not.

        What a mention asks for is answered in its thread, where everybody sees it.
        """
        await ack()
        said = Said.model_validate(body["event"])
        if not said.is_a_persons or (said.type == "message" and not said.is_direct):
            return
        # https://docs.slack.dev/apis/events-api/#authorizations
        ours = next(iter(body.get("authorizations") or [{}])).get("user_id")
        typed = said.typed_to(str(ours))
        call = self._call(
            Actor(said.user, said.user, body.get("team_id")),
            Origin.COMMAND,
            channel_id=said.channel,
            asked=said,
            answers=Answers.TO_ACTOR if said.is_direct else Answers.TO_CHANNEL,
        )
        self._start(body, partial(_run_said, call, typed), call, retry=typed)

    async def on_action(self, ack: AsyncAck, body: Json) -> None:
        """A click, a choice in a menu, or a shortcut."""
        await ack()
        click = Interaction.model_validate(body)
        handler = handles.click.get(click.action_id) or handles.shortcut.get(click.callback_id)
        if handler is None:
            return
        origin = Origin.BUTTON if click.action_id else Origin.SHORTCUT
        call = self._call_of(click, Origin.HOME if click.view_type == HOME else origin)
        is_retried = click.action_id in actions.CARRY_COMMAND and call.origin is not Origin.HOME
        retry = click.chosen if is_retried else None
        self._start(body, partial(_click, handler, call, click), call, retry=retry)

    async def on_form(self, ack: AsyncAck, body: Json) -> None:
        form = Interaction.model_validate(body)
        call = self._call_of(form, Origin.MODAL)
        try:
            shown, work = await handles.form[form.callback_id](call, form)
        except WrongField as wrong:
            await ack(response_action="errors", errors=wrong.errors)
            return
        await ack(response_action="update", view=dict(shown.view))
        self._start(body, work, call)

    async def on_suggestion(self, ack: AsyncAck, body: Json) -> None:
        """Options for a menu while somebody types, if they may read."""
        asked = Interaction.model_validate(body)
        found: Sequence[Target] = ()
        if await self._bot.use.check_permission.may(asked.actor, Right.READ):
            is_any = asked.action_id == actions.PAUSE_TARGET
            found = self._bot.targets if is_any else self._bot.repositories.names
        await ack(options=[dict(one) for one in choice.suggestions(found, asked.typed)])

    async def on_event(self, ack: AsyncAck, body: Json) -> None:
        await ack()
        event = body["event"]
        # Events of channels have no user. An event doesn't name the person's team: Slack does.
        user_id = str(event.get("user") or "")
        call = self._call(Actor(user_id, user_id, body.get("team_id")), Origin.COMMAND)
        self._start(body, partial(handles.event[event["type"]], call, event), call)

    def _call_of(self, did: Interaction, origin: Origin) -> Call:
        """A modal answers to the channel in which it was opened."""
        modal_id = did.view_id if did.view_type != HOME else ""
        return self._call(
            did.actor,
            origin,
            trigger_id=did.trigger_id,
            channel_id=did.carried.channel if modal_id else did.channel_id,
            response_url=did.response_url,
            view_id=modal_id or None,
            in_channel_message=did.container_type == "message" and not did.is_ephemeral,
        )

    def _call(self, actor: Actor, origin: Origin, **where: Any) -> Call:  # noqa: ANN401 - checked by Call
        """`where` says where answers go."""
        return Call(self._bot.background.replies, actor, origin, bot=self._bot, **where)

    def _start(self, body: Json, work: Work, call: Call, retry: str | None = None) -> None:
        background = self._bot.background
        checked = partial(_do, work, call)
        background.inbox.hand_over(background.carry_out(body, checked, call, retry))


async def _do(work: Work, call: Call) -> None:
    """What explains a mistake may name other repositories: only for people who may read."""
    try:
        await work()
    except PermissionDenied:
        raise
    except UserError:
        await call.admit()
        raise


async def _click(handler: OnClick, call: Call, click: Interaction) -> None:
    """A click on the Home tab also draws it again."""
    typed = choice.asked_by(click.action_id, click.block_id)
    if typed is not None and click.age > choice.QUESTION_LASTS:
        await call.replace_message(choice.expired(typed, call.bot.command))
        return
    await handler(call, click)
    if call.origin is Origin.HOME:
        await publish(call)


async def _run_said(call: Call, typed: str) -> None:
    """Run a command from a message; what begins with nothing like a command gets help."""
    name = await call.bot.use.check_permission.name(call.actor.user_id)
    try:
        command_called(next(iter(typed.split()), "status"))
    except CommandSyntaxError as error:
        if not set(error.nearest) - {"help"}:
            typed = "help"
    await run(replace(call, actor=replace(call.actor, name=name)), typed)


async def run(call: Call, typed: str) -> None:
    """Run a command. Raises what parsing and the use cases raise.

    The right to read is checked here; the use case checks and records any other right.
    """
    typed = clean(typed, TEXT_KEPT)
    command, request = parse_command(typed, call.bot.repositories, call.bot.groups)
    if command.right is Right.READ:
        await call.admit()
    where = request.where
    if where is None and request.needs_repository:
        where = await _repository(call, request.action)
        if request.action == "resume":
            where = await _paused_one(call, where, typed)
        elif where is None:
            await _ask(call, call.bot.repositories.names, typed)
        if where is None:
            return
    await handles.command[request.action](call, where, **request.options)


async def _repository(call: Call, action: str) -> RepositoryName | None:
    """The repository meant when none is typed, if it is clear.

    That is the only one configured, the one whose board is ended, the channel's default, or the
    only one the channel is subscribed to.
    """
    configured, use = call.bot.repositories.names, call.bot.use
    if len(configured) == 1:
        return configured[0]
    if call.channel_id is None:
        return None
    if action == "board off":
        boards = await use.manage_boards.in_channel(call.channel_id, configured)
        if len(boards) == 1:
            return boards[0]
    default = await use.channel_settings.default(call.channel_id)
    if default in configured:
        return default
    heard = await use.channel_settings.subscriptions(call.channel_id)
    names = {one.repository for one in heard}.intersection(configured)
    return names.pop() if len(names) == 1 else None


async def _paused_one(
    call: Call, meant: RepositoryName | None, typed: str
) -> RepositoryName | None:
    """The queue to resume: the one `meant`, or the only paused one; None if the person is asked.

    They are asked before another queue than the one `meant` is resumed.
    """
    names = call.bot.repositories.names
    paused = await call.bot.use.resume_queue.paused_instead(meant, names)
    if not paused and meant is not None:
        return meant
    if len(paused) == 1:
        if meant is None:
            return paused[0].repository
        await call.admit()
        await call.reply(pause.resume_other(meant, paused[0]))
        return None
    await _ask(call, sorted(one.repository for one in paused) or names, typed, running=meant)
    return None


async def _ask(
    call: Call,
    names: Sequence[RepositoryName],
    typed: str,
    *,
    running: RepositoryName | None = None,
) -> None:
    """Ask which repository is meant; the names are only for people who may read."""
    await call.admit()
    if not names or not choice.can_carry(typed):
        raise RepositoryNotChosen(tuple(names))
    await call.reply(choice.which_repository(names, typed, running=running))


@handles.click(*actions.CARRY_COMMAND, actions.FREEZE_CONFIRMED, actions.FREEZE_FOR)
async def run_carried(call: Call, click: Interaction) -> None:
    answers = Answers.TO_ACTOR
    if click.action_id in actions.IN_PLACE:
        answers = Answers.IN_PLACE
    elif click.action_id == actions.SHARE:
        answers = Answers.TO_CHANNEL
    # After any click on the Home tab, all of it is drawn again.
    if answers is not Answers.IN_PLACE or call.origin is not Origin.HOME:
        await run(replace(call, answers=answers), click.chosen)


@handles.click(actions.CHOOSE)
async def choose_repository(call: Call, click: Interaction) -> None:
    """The menu goes once it is answered; after a failure another choice may do."""
    await run(call, choice.continued(click.block_id, click.chosen))
    await call.remove_message()
