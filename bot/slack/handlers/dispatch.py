"""Acknowledges what Slack sends, reads it, and runs its handler in the inbox."""

import re
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.audit import Actor, Origin
from bot.domain.commands import COMMANDS, parse_command
from bot.domain.commands.readers import Request
from bot.domain.errors import (
    InvalidDuration,
    InvalidReason,
    PermissionDenied,
    RepositoryNotAllowed,
    RepositoryNotChosen,
    UnknownGroup,
    UserError,
)
from bot.domain.permissions import Right
from bot.domain.repository import RepositoryName
from bot.messages import actions, choice
from bot.messages.errors import BUSY, beside_field
from bot.slack.handlers.home import publish
from bot.slack.handlers.registry import Bot, Call, OnClick, handles
from bot.slack.payloads import HOME, Interaction, SlashCommand

OURS = re.compile(f"^{re.escape(actions.PREFIX)}")


class Dispatch:
    """One Bolt listener for each kind of request."""

    def __init__(self, bot: Bot) -> None:
        """Raises TypeError when a command has no handler."""
        self._bot = bot
        self._background = bot.background
        unanswered = {one.name for one in COMMANDS}.difference(handles.commands)
        if unanswered:
            raise TypeError(unanswered)

    def register(self, app: AsyncApp) -> None:
        app.command(self._bot.command)(self.on_typed)
        app.action(OURS)(self.on_action)
        app.options(OURS)(self.on_suggestion)
        for callback_id in handles.forms:
            app.view(callback_id)(self.on_form)
        for callback_id in handles.shortcuts:
            app.shortcut(callback_id)(self.on_shortcut)
        for event_type in handles.events:
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
        handler = handles.clicks.get(click.action.action_id)
        if handler is None:
            return
        in_home = click.view is not None and click.view.type == HOME
        call = self._call_of(click, Origin.HOME if in_home else Origin.BUTTON)
        self._background.start(body, _click(handler, call, click), call)

    async def on_shortcut(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        shortcut = Interaction.model_validate(body)
        call = self._call_of(shortcut, Origin.SHORTCUT)
        work = handles.shortcuts[shortcut.callback_id](call, shortcut)
        self._background.start(body, work, call)

    async def on_form(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        form = Interaction.model_validate(body)
        call = self._call_of(form, Origin.MODAL)
        handler, mistakes_at = handles.forms[body["view"]["callback_id"]]
        try:
            accepted = handler(call, form)
        except (InvalidReason, InvalidDuration, RepositoryNotAllowed, UnknownGroup) as error:
            await ack(response_action="errors", errors={mistakes_at: beside_field(error)})
            return
        await ack(response_action="update", view=dict(accepted.shows.view))
        self._background.start(body, accepted.work, call, repository=accepted.repository)

    async def on_suggestion(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """Options for a menu of repositories while somebody types, if they may read."""
        asked = Interaction.model_validate(body)
        may = await self._bot.use.check_permission.may(asked.user.actor, Right.READ)
        names = self._bot.repositories.names if may else ()
        await ack(options=[dict(one) for one in choice.suggestions(names, asked.value)])

    async def on_event(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        user_id = str(body["event"].get("user"))
        # The event names no team of the person's: Slack's answer about them decides.
        call = self._call(Actor(user_id, user_id, body.get("team_id")), Origin.COMMAND)
        handles.events[body["event"]["type"]](call, body)

    def _call_of(self, did: Interaction, origin: Origin) -> Call:
        """A modal answers to the channel in which it was opened."""
        modal = did.view if did.view is not None and did.view.type != HOME else None
        return self._call(
            did.user.actor,
            origin,
            trigger_id=did.trigger_id,
            channel_id=did.channel_id if modal is None else modal.carried.channel,
            response_url=did.response_url,
            view_id=modal.id if modal is not None else None,
            in_channel_message=did.container.type == "message" and not did.container.is_ephemeral,
        )

    def _call(self, actor: Actor, origin: Origin, **where: Any) -> Call:  # noqa: ANN401 - checked by Call
        """`where` says where answers go."""
        background = self._background
        return Call(background.client, background.replies, actor, origin, bot=self._bot, **where)


async def _click(handler: OnClick, call: Call, click: Interaction) -> None:
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
        if where is None:
            await call.admit()
            await _ask(call, typed)
            return
    await handles.commands[request.action](call, where, **request.options)


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

    That is the only one configured, the one whose board is ended, the channel's default, the only
    one the channel is subscribed to or, to resume, the only one paused.
    """
    configured, use = call.bot.repositories.names, call.bot.use
    if len(configured) == 1:
        return configured[0]
    if call.channel_id is None:
        return None
    if action == "board off":
        boards = await use.manage_boards.kept_here(call.channel_id, configured)
        if len(boards) == 1:
            return boards[0]
    default = await use.channel_default.of(call.channel_id)
    if default in configured:
        return default
    heard = await use.manage_subscriptions.subscriptions(call.channel_id)
    names = {one.repository for one in heard}.intersection(configured)
    if len(names) != 1 and action == "resume":
        names = await use.resume_queue.paused(configured)
    return names.pop() if len(names) == 1 else None


async def _ask(call: Call, typed: str) -> None:
    names = call.bot.repositories.names
    if not names or not choice.can_carry(typed):
        raise RepositoryNotChosen(names)
    await call.tell_actor(choice.which_repository(names, typed))
