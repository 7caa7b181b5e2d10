"""The App Home tab, published when somebody opens it."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.audit import Actor, Origin
from bot.domain.denials import Right
from bot.domain.errors import PermissionDenied
from bot.domain.repositories import Repositories
from bot.messages import home
from bot.slack.conversation import Conversation
from bot.slack.errors import ErrorBoundary
from bot.slack.inbox import Inbox
from bot.slack.once import Once
from bot.slack.payloads import HomeOpened
from bot.slack.replies import Replies
from bot.usecases.check_permission import CheckPermission
from bot.usecases.show_home import ShowHome

logger = logging.getLogger(__name__)

HOME = "home"


@dataclass(frozen=True, slots=True)
class HomeTab:
    """Slack sends `app_home_opened` for the messages tab as well; only the Home tab is drawn."""

    check_permission: CheckPermission
    show_home: ShowHome
    repositories: Repositories
    inbox: Inbox
    once: Once
    boundary: ErrorBoundary
    client: AsyncWebClient
    replies: Replies
    command: str

    def register(self, app: AsyncApp) -> None:
        app.event("app_home_opened")(self.on_opened)

    async def on_opened(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        opened = HomeOpened.model_validate(body["event"])
        if opened.tab != HOME:
            return
        conversation = Conversation(
            client=self.client,
            replies=self.replies,
            # The event names no team of the person's: Slack's answer about them decides.
            actor=Actor(opened.user, opened.user, body.get("team_id")),
            origin=Origin.HOME,
            trigger_id="",
        )
        work = self.once.act(body, self.publish(conversation))
        self.inbox.hand_over(self.boundary.guard(work, conversation))

    async def publish(self, conversation: Conversation) -> None:
        try:
            await self.check_permission.require(conversation.actor, Right.READ)
        except PermissionDenied as denied:
            logger.info(
                "a person was refused the Home tab",
                extra={
                    "action": "home_refused",
                    "actor": conversation.actor.user_id,
                    "detail": str(denied),
                },
            )
            await conversation.publish_home(home.refused(denied))
            return
        shown = self.repositories.names[: home.SHOWN]
        may_pause, snapshots = await asyncio.gather(
            self.check_permission.may(conversation.actor, Right.PAUSE), self.show_home.run(shown)
        )
        more = len(self.repositories.names) - len(shown)
        view = home.home(snapshots, more, self.command, may_pause=may_pause)
        await conversation.publish_home(view)
