"""The slash command, and direct messages: acknowledged at once, answered from the inbox."""

from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.audit import Actor, Origin
from bot.messages.errors import BUSY
from bot.slack.answers import Answers
from bot.slack.payloads import MessageSent, SlashCommand
from bot.slack.receiving.inbox import Inbox
from bot.slack.receiving.once import Once
from bot.slack.replying.conversation import Conversation
from bot.slack.replying.errors import ErrorBoundary
from bot.slack.replying.replies import Replies


@dataclass(frozen=True, slots=True)
class CommandListeners:
    """Translates a slash command; decides nothing. A direct message gets the list of commands."""

    command: str
    answers: Answers
    inbox: Inbox
    once: Once
    boundary: ErrorBoundary
    client: AsyncWebClient
    replies: Replies

    def register(self, app: AsyncApp) -> None:
        app.command(self.command)(self.on_command)
        app.event("message")(self.on_message)

    async def on_message(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        message = MessageSent.model_validate(body["event"])
        if not message.is_to_the_bot:
            return
        conversation = Conversation(
            client=self.client,
            replies=self.replies,
            # The event names no team of the person's: Slack's answer about them decides.
            actor=Actor(message.user, message.user, body.get("team_id")),
            origin=Origin.COMMAND,
            trigger_id="",
        )
        work = self.once.act(body, self.answers.run("help", conversation))
        self.inbox.hand_over(self.boundary.guard(work, conversation))

    async def on_command(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        if self.inbox.is_full:
            await ack(BUSY)
            return
        await ack()
        command = SlashCommand.model_validate(body)
        conversation = Conversation(
            client=self.client,
            replies=self.replies,
            actor=command.actor,
            origin=Origin.COMMAND,
            trigger_id=command.trigger_id,
            channel_id=command.channel_id,
            response_url=command.response_url,
        )
        work = self.once.act(body, self.answers.run(command.typed, conversation))
        self.inbox.hand_over(self.boundary.guard(work, conversation, retry=command.typed))
