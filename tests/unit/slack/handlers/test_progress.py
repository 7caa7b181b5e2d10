"""The progress of a long action: never more replies than Slack allows."""

from dataclasses import dataclass, field, replace

import pytest
from aiohttp import ClientSession
from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.acts.group_act import GroupAct
from bot.acts.record import Action
from bot.blocks.message import Message
from bot.groups.handlers import progress_line
from bot.kernel.actor import Origin
from bot.kernel.repository import RepositoryName
from bot.slack.conversation import Conversation, Replies
from tests.support.clock import NOON, FakeClock
from tests.support.directories import FakeChannels
from tests.support.make import ALICE

REPLIES_TAKEN = 5
"""https://docs.slack.dev/interactivity/handling-user-interaction#message_responses"""


@dataclass(frozen=True, slots=True)
class KeptReplies(Replies):
    """Keeps what would be sent."""

    sent: list[tuple[str, str]] = field(default_factory=list)

    @override
    async def send(self, response_url: str, message: Message, **how: str | bool) -> None:
        self.sent.append(("in place" if how["replace_original"] else "new", message.text))


@pytest.fixture
async def conversation() -> Conversation:
    async with ClientSession() as session:
        return Conversation(
            replies=KeptReplies(
                AsyncWebClient(session=session), session, FakeChannels(), FakeClock()
            ),
            actor=ALICE,
            origin=Origin.BUTTON,
            trigger_id="",
            channel_id="C1",
            response_url="https://hooks.example/1",
        )


def act_on(count: int) -> GroupAct:
    names = tuple(RepositoryName(f"acme/repo-{number}") for number in range(count))
    return GroupAct("release", Action.PAUSE, NOON, ALICE, Origin.BUTTON, names)


async def sent_by(conversation: Conversation, clock: FakeClock) -> list[tuple[str, str]]:
    """What is sent while two hundred queues take 200 ms each."""
    line = progress_line(conversation, clock)
    act = act_on(200)
    for done in range(1, 201):
        clock.advance(0.2)
        await line(act, done)
    assert isinstance(conversation.replies, KeptReplies)
    return conversation.replies.sent


async def test_an_ephemeral_button_shows_its_progress_in_place(conversation: Conversation) -> None:
    sent = await sent_by(conversation, FakeClock())

    assert [how for how, _ in sent] == ["in place"] * 2
    shown = [text.rpartition(": ")[2] for _, text in sent]
    assert shown == ["5 of 200 queues so far …", "20 of 200 queues so far …"]
    # The line at the beginning, the answer, and what a channel without the bot is told.
    assert len(sent) + 3 <= REPLIES_TAKEN


@pytest.mark.parametrize("origin", [Origin.COMMAND, Origin.BUTTON])
async def test_elsewhere_one_line_shows_that_the_action_continues(
    conversation: Conversation, origin: Origin
) -> None:
    elsewhere = replace(conversation, origin=origin, in_channel_message=origin is Origin.BUTTON)

    sent = await sent_by(elsewhere, FakeClock())

    assert [how for how, _ in sent] == ["new"]


async def test_an_act_of_less_than_a_second_shows_no_progress(conversation: Conversation) -> None:
    clock = FakeClock()
    line = progress_line(conversation, clock)
    clock.advance(0.9)
    await line(act_on(2), 1)
    clock.advance(5)
    await line(act_on(2), 2)

    assert isinstance(conversation.replies, KeptReplies)
    assert conversation.replies.sent == []
