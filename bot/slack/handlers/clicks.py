"""Buttons and menus: acknowledged at once, told apart by their action id, acted on behind that."""

import re
from collections.abc import Iterable
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from typing_extensions import override

from bot.domain.audit import Origin
from bot.domain.errors import PermissionDenied, UserError
from bot.domain.permissions import Right
from bot.messages import actions, choice
from bot.slack.conversation import Conversation
from bot.slack.handlers.home import HOME, HomeTab
from bot.slack.handlers.subject import OnClick, Shared, Subject
from bot.slack.payloads import BlockActions, Form, Suggestion


class Clicks(Subject):
    """One listener for all our elements; the Home tab is drawn again after a click on it."""

    def __init__(self, shared: Shared, subjects: Iterable[Subject], home: HomeTab) -> None:
        super().__init__(shared)
        self._home = home
        self._clicks = {k: v for one in subjects for k, v in one.on_click().items()}

    @override
    def register(self, app: AsyncApp) -> None:
        ours = re.compile(f"^{re.escape(actions.PREFIX)}")
        app.action(ours)(self.on_action)
        app.options(ours)(self.on_suggestion)

    async def on_action(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        click = BlockActions.model_validate(body)
        on_click = self._clicks.get(click.action.action_id)
        if on_click is None:
            return
        conversation = self._conversation(click)
        self.background.start(body, self._run(on_click, click, conversation), conversation)

    async def on_suggestion(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """The options of a menu of repositories, while somebody types; only for who may read."""
        asked = Suggestion.model_validate(body)
        may = await self.use.check_permission.may(asked.user.actor, Right.READ)
        names = self.repositories.names if may else ()
        await ack(options=[dict(one) for one in choice.suggestions(names, asked.value)])

    def _conversation(self, click: BlockActions) -> Conversation:
        in_home = click.view is not None and click.view.type == HOME
        modal = None if in_home else click.view
        return self.background.conversation(
            actor=click.user.actor,
            origin=Origin.HOME if in_home else Origin.BUTTON,
            trigger_id=click.trigger_id,
            channel_id=click.channel_id if modal is None else Form.of(modal).channel,
            response_url=click.response_url,
            view_id=modal.id if modal is not None else None,
            in_channel_message=click.container.type == "message"
            and not click.container.is_ephemeral,
        )

    async def _run(
        self, on_click: OnClick, click: BlockActions, conversation: Conversation
    ) -> None:
        try:
            await on_click(click, conversation)
        except PermissionDenied:
            raise
        except UserError:
            # What mends it may name what else is looked after: not for everybody who can click.
            await self.admit(conversation)
            raise
        if conversation.origin is Origin.HOME:
            await self._home.publish(conversation)
