"""What Slack sends is acknowledged and read; its handler then runs in the inbox."""

import re
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp

from bot.domain.audit import Origin
from bot.domain.commands import COMMANDS
from bot.domain.errors import (
    InvalidDuration,
    InvalidReason,
    PermissionDenied,
    RepositoryNotAllowed,
    UnknownGroup,
    UserError,
)
from bot.domain.permissions import Right
from bot.messages import actions, choice
from bot.messages.errors import BUSY, beside_field
from bot.slack.handlers.commands import run
from bot.slack.handlers.home import publish
from bot.slack.handlers.registry import Bot, Call, OnClick, handles
from bot.slack.payloads import HOME, Interaction, SlashCommand

OURS = re.compile(f"^{re.escape(actions.PREFIX)}")


class Dispatch:
    """One Bolt listener for each kind of request."""

    def __init__(self, bot: Bot) -> None:
        """Raises TypeError when a command would have no answer."""
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
        call = self._bot.call(
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
        call = self._bot.call_of(click, Origin.HOME if in_home else Origin.BUTTON)
        self._background.start(body, _click(handler, call, click), call)

    async def on_shortcut(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        shortcut = Interaction.model_validate(body)
        call = self._bot.call_of(shortcut, Origin.SHORTCUT)
        work = handles.shortcuts[shortcut.callback_id](call, shortcut)
        self._background.start(body, work, call)

    async def on_form(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        form = Interaction.model_validate(body)
        call = self._bot.call_of(form, Origin.MODAL)
        handler, mistakes_at = handles.forms[body["view"]["callback_id"]]
        try:
            accepted = handler(call, form)
        except (InvalidReason, InvalidDuration, RepositoryNotAllowed, UnknownGroup) as error:
            await ack(response_action="errors", errors={mistakes_at: beside_field(error)})
            return
        await ack(response_action="update", view=dict(accepted.shows.view))
        self._background.start(body, accepted.work, call, repository=accepted.repository)

    async def on_suggestion(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """The options of a menu of repositories, while somebody types; only for who may read."""
        asked = Interaction.model_validate(body)
        may = await self._bot.use.check_permission.may(asked.user.actor, Right.READ)
        names = self._bot.repositories.names if may else ()
        await ack(options=[dict(one) for one in choice.suggestions(names, asked.value)])

    async def on_event(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        handles.events[body["event"]["type"]](self._bot, body)


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
