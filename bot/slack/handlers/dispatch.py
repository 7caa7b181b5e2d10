"""Acknowledges what Slack sends, reads it, and runs its handler in the inbox."""

import re
from collections.abc import Sequence
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.audit import Actor, Origin
from bot.domain.commands import COMMANDS, parse_command
from bot.domain.commands.readers import Request
from bot.domain.errors import PermissionDenied, RepositoryNotChosen, UserError
from bot.domain.groups import Target
from bot.domain.permissions import Right
from bot.domain.repository import RepositoryName
from bot.messages import actions, choice, pause
from bot.messages.errors import BUSY
from bot.slack.handlers.home import publish
from bot.slack.handlers.registry import Bot, Call, OnClick, WrongField, handles
from bot.slack.payloads import HOME, Interaction, SlashCommand

OURS = re.compile(f"^{re.escape(actions.PREFIX)}")


class Dispatch:
    """One Bolt listener for each kind of request."""

    def __init__(self, bot: Bot) -> None:
        """Raises TypeError when a command has no handler."""
        self._bot = bot
        self._background = bot.background
        unanswered = {one.name for one in COMMANDS}.difference(handles.command)
        if unanswered:
            raise TypeError(unanswered)

    def register(self, app: AsyncApp) -> None:
        app.command(self._bot.command)(self.on_typed)
        app.action(OURS)(self.on_action)
        app.options(OURS)(self.on_suggestion)
        for callback_id in handles.form:
            app.view(callback_id)(self.on_form)
        for callback_id in handles.shortcut:
            app.shortcut(callback_id)(self.on_shortcut)
        for event_type in handles.event:
            app.event(event_type)(self.on_event)

    async def on_typed(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        if self._background.inbox.is_full:
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
        self._background.start(body, run(call, command.typed), call, retry=command.typed)

    async def on_action(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """A click on the Home tab also draws it again."""
        await ack()
        click = Interaction.model_validate(body)
        handler = handles.click.get(click.action_id)
        if handler is None:
            return
        in_home = click.view_type == HOME
        call = self._call_of(click, Origin.HOME if in_home else Origin.BUTTON)
        carries = click.action_id in actions.CARRY_COMMAND
        retry = click.chosen if carries and not in_home else None
        self._background.start(body, _click(handler, call, click), call, retry=retry)

    async def on_shortcut(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        shortcut = Interaction.model_validate(body)
        call = self._call_of(shortcut, Origin.SHORTCUT)
        work = handles.shortcut[shortcut.callback_id](call, shortcut)
        self._background.start(body, work, call)

    async def on_form(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        form = Interaction.model_validate(body)
        call = self._call_of(form, Origin.MODAL)
        try:
            accepted = await handles.form[form.callback_id](call, form)
        except WrongField as wrong:
            await ack(response_action="errors", errors={wrong.block_id: wrong.sentence})
            return
        await ack(response_action="update", view=dict(accepted.shows.view))
        self._background.start(body, accepted.work, call, repository=accepted.repository)

    async def on_suggestion(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Options for a menu while somebody types, if they may read."""
        asked = Interaction.model_validate(body)
        may = await self._bot.use.check_permission.may(asked.actor, Right.READ)
        found: Sequence[Target] = self._bot.repositories.names if may else ()
        if may and asked.action_id == actions.PAUSE_TARGET:
            found = self._bot.targets
        await ack(options=[dict(one) for one in choice.suggestions(found, asked.typed)])

    async def on_event(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        # Events of channels have no user. An event doesn't name the person's team: Slack does.
        user_id = str(body["event"].get("user") or "")
        call = self._call(Actor(user_id, user_id, body.get("team_id")), Origin.COMMAND)
        work = handles.event[body["event"]["type"]](call, body)
        if work is not None:
            self._background.start(body, work, call)

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
        background = self._background
        return Call(background.client, background.replies, actor, origin, bot=self._bot, **where)


async def _click(handler: OnClick, call: Call, click: Interaction) -> None:
    typed = choice.asked_by(click.action_id, click.block_id)
    if typed is not None and click.age > choice.QUESTION_LASTS:
        await call.replace_message(choice.expired(typed, call.bot.command))
        return
    try:
        await handler(call, click)
    except PermissionDenied:
        raise
    except UserError:
        # The fix may name other repositories: only for people who may read.
        await call.admit()
        raise
    if call.origin is Origin.HOME:
        await publish(call)


async def run(call: Call, typed: str) -> None:
    """Run a command. Raises what parsing and the use cases raise."""
    request = await _parse(call, typed)
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


async def _parse(call: Call, typed: str) -> Request:
    """Check the right to read here. The use case checks and records any other right."""
    try:
        command, request = parse_command(typed, call.bot.repositories, call.bot.groups)
    except UserError:
        await call.admit()
        raise
    if command.right is Right.READ:
        await call.admit()
    return request


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
