"""Buttons and menus: acknowledged at once, acted on from the inbox."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.audit import Origin
from bot.domain.denials import Right
from bot.domain.errors import PermissionDenied, UserError
from bot.messages import actions, choice
from bot.slack.listeners.actions.click import OnClick
from bot.slack.listeners.home import HomeTab
from bot.slack.payloads import BlockActions, Form, Suggestion
from bot.slack.receiving.inbox import Inbox
from bot.slack.receiving.once import Once
from bot.slack.replying.conversation import Conversation
from bot.slack.replying.errors import ErrorBoundary
from bot.slack.replying.replies import Replies

HOME = "home"


@dataclass(frozen=True, slots=True)
class ActionListeners:
    """One listener for all our elements, told apart by their action id."""

    clicks: Mapping[str, OnClick]
    home: HomeTab
    inbox: Inbox
    once: Once
    boundary: ErrorBoundary
    client: AsyncWebClient
    replies: Replies

    def register(self, app: AsyncApp) -> None:
        app.action(re.compile(f"^{re.escape(actions.PREFIX)}"))(self.on_action)
        app.options(re.compile(f"^{re.escape(actions.PREFIX)}"))(self.on_suggestion)

    async def on_action(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        click = BlockActions.model_validate(body)
        on_click = self.clicks.get(click.action.action_id)
        if on_click is None:
            return
        conversation = self._conversation(click)
        work = self.once.act(body, self._then_home(on_click, click, conversation))
        self.inbox.hand_over(self.boundary.guard(work, conversation))

    async def on_suggestion(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """The options of a menu of repositories, while somebody types; only for who may read."""
        asked = Suggestion.model_validate(body)
        may = await self.home.check_permission.may(asked.user.actor, Right.READ)
        names = self.home.repositories.names if may else ()
        await ack(options=[dict(one) for one in choice.suggestions(names, asked.value)])

    def _conversation(self, click: BlockActions) -> Conversation:
        in_home = click.view is not None and click.view.type == HOME
        modal = None if in_home else click.view
        return Conversation(
            client=self.client,
            replies=self.replies,
            actor=click.user.actor,
            origin=Origin.HOME if in_home else Origin.BUTTON,
            trigger_id=click.trigger_id,
            channel_id=click.channel_id if modal is None else Form.of(modal).channel,
            response_url=click.response_url,
            view_id=modal.id if modal is not None else None,
            in_channel_message=click.container.type == "message"
            and not click.container.is_ephemeral,
        )

    async def _then_home(
        self, on_click: OnClick, click: BlockActions, conversation: Conversation
    ) -> None:
        try:
            await on_click(click, conversation)
        except PermissionDenied:
            raise
        except UserError:
            # What mends it may name what else is looked after: not for everybody who can click.
            await self.home.check_permission.require(conversation.actor, Right.READ)
            raise
        if conversation.origin is Origin.HOME:
            await self.home.publish(conversation)
