"""Posts messages, each with at most one request, and edits them."""

from slack_sdk.web.async_client import AsyncWebClient
from structlog.contextvars import bound_contextvars
from typing_extensions import override

from bot.domain.deliveries import is_person
from bot.domain.errors import PostInDoubt, PostPostponed, PostRefused, Refusal
from bot.domain.message import Message, Thread
from bot.domain.permissions import DenialReason, Everyone, Evidence, decide
from bot.ports import Clock, PeopleDirectory
from bot.slack.web_api.channels import SlackChannels, fitted
from bot.slack.web_api.clients import Identity
from bot.slack.web_api.failures import FAILURES, post_error
from bot.slack.web_api.history import MARK, History

METADATA_TYPE = "mqbot_delivery"

ASKED_AGAIN_SECONDS = 20.0
"""The wait before another edit if Slack hasn't said who reads the channel."""


class SlackPoster(History):
    """The delivery id travels in the message's metadata and in its first block's id.

    https://docs.slack.dev/messaging/message-metadata
    """

    def __init__(
        self,
        client: AsyncWebClient,
        channels: SlackChannels,
        clock: Clock,
        identity: Identity,
        people: PeopleDirectory | None = None,
    ) -> None:
        """Only those of `people` who may read get direct messages; without it, everybody does."""
        super().__init__(client, channels, clock, identity)
        self._people = people
        self._without_buttons: set[tuple[str, str]] = set()

    @override
    async def post(
        self, channel_id: str, message: Message, delivery_id: str, thread: Thread | None = None
    ) -> str:
        with bound_contextvars(delivery_id=delivery_id):
            channel, message, is_whole = await self._addressed(channel_id, message)
            blocks = [dict(block) for block in message.blocks]
            if blocks:
                blocks[0]["block_id"] = f"{MARK}{delivery_id}"
            try:
                answer = await self._client.chat_postMessage(
                    channel=channel,
                    text=message.text,
                    blocks=blocks or None,
                    metadata={
                        "event_type": METADATA_TYPE,
                        "event_payload": {"delivery_id": delivery_id, "updates": message.updates},
                    },
                    unfurl_links=False,
                    unfurl_media=False,
                    thread_ts=thread.ts if thread is not None else None,
                    reply_broadcast=thread.broadcast if thread is not None else None,
                )
            except FAILURES as error:
                raise post_error(error) from error
            self.compare_clocks(answer)
        ts = answer.get("ts")
        if not isinstance(ts, str):
            raise PostInDoubt("answer_without_ts")
        if not is_whole:
            self._without_buttons.add((channel_id, ts))
        return ts

    @override
    def lacks_buttons(self, channel_id: str, message_ts: str) -> bool:
        lacking = (channel_id, message_ts) in self._without_buttons
        self._without_buttons.discard((channel_id, message_ts))
        return lacking

    @override
    async def update(self, channel_id: str, message_ts: str, message: Message) -> None:
        """The metadata stays. Without `parse`, chat.update would link names."""
        channel, message, is_whole = await self._addressed(channel_id, message)
        if not is_whole:
            raise PostPostponed("channel_not_known", retry_after=ASKED_AGAIN_SECONDS)
        try:
            await self._client.chat_update(
                channel=channel,
                ts=message_ts,
                text=message.text,
                blocks=[dict(block) for block in message.blocks],
                parse="none",
                link_names=False,
            )
        except FAILURES as error:
            raise post_error(error, workspace_wide=True) from error

    async def _addressed(self, channel_id: str, message: Message) -> tuple[str, Message, bool]:
        """The channel, the message that may be shown there, and whether it is whole.

        It is not whole if it lacks its buttons because Slack hasn't said who reads the channel.
        """
        if not is_person(channel_id):
            return channel_id, *await fitted(self._channels, channel_id, message)
        if self._people is not None:
            person = await self._people.person(channel_id)
            # The id is the bot's own record, so there is no claimed team to check.
            home_ids = self._identity.home_ids
            evidence = Evidence(channel_id, min(home_ids), person, {})
            denied = decide(evidence, home_ids, Everyone())
            if denied is not None and denied.reason is DenialReason.UNVERIFIABLE:
                raise PostPostponed("person_not_known")
            if denied is not None:
                raise PostRefused(denied.reason.value, Refusal.PERSON)
        # Nobody else reads a person's direct messages from the bot.
        return await self._channels.conversation(channel_id), message, True
