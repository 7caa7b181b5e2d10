"""The ChannelPoster port: RecordingPoster, and SlackPoster against the local Slack workspace."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import ClientSession
from pydantic import SecretStr
from typing_extensions import override

from bot.clock import SystemClock
from bot.domain.errors import PostError, PostInDoubt, PostPostponed, PostRefused, Refusal
from bot.domain.message import Message
from bot.messages import blocks
from bot.ports import ChannelPoster
from bot.sandbox.slack.server import SlackSandbox
from bot.slack.channels import SlackChannels
from bot.slack.clients import identify, open_session, web_client
from bot.slack.poster import SlackPoster
from tests.support.poster import RecordingPoster

MANIFEST = Path(__file__).parents[2] / "manifest.yml"
HERE, PUBLIC, PRIVATE, NOWHERE = "C0MERGEQ", "C0RELEASE", "C0INCIDENT", "C0NOWHERE"
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
HELLO = Message("Queued #41", (blocks.section("*Queued* #41"), blocks.context("acme/site")))
PLAIN = Message("Queued #42")
BROKEN = Message("Queued #43", ({"type": "section"},))


class World(ABC):
    """An implementation of the port, and what can happen to Slack."""

    poster: ChannelPoster

    @abstractmethod
    def lose_answer(self) -> None:
        """The next post is carried out and its answer lost."""

    @abstractmethod
    def lose_request(self) -> None:
        """The next post is lost on its way."""

    @abstractmethod
    def limit_rate(self, seconds: int) -> None: ...

    @abstractmethod
    def hide_history(self) -> None:
        """The next look into a channel fails."""

    @abstractmethod
    def archive(self, channel_id: str) -> None: ...

    @abstractmethod
    def shown(self, channel_id: str) -> list[str]:
        """The texts of the bot's messages in the channel, oldest first."""

    @abstractmethod
    def posts_asked(self) -> int:
        """How many posts were asked of Slack."""


class FakeWorld(World):
    def __init__(self) -> None:
        self.fake = RecordingPoster(
            closed=dict.fromkeys([PRIVATE, NOWHERE], "channel_not_found"),
            refused_blocks=BROKEN.blocks,
        )
        self.poster = self.fake

    @override
    def lose_answer(self) -> None:
        self.fake.fail_next(PostInDoubt("ServerDisconnectedError"), after=True)

    @override
    def lose_request(self) -> None:
        self.fake.fail_next(PostInDoubt("ServerDisconnectedError"))

    @override
    def limit_rate(self, seconds: int) -> None:
        error = PostPostponed("ratelimited", retry_after=seconds, workspace_wide=True)
        self.fake.fail_next(error)

    @override
    def hide_history(self) -> None:
        self.fake.fail_next(PostInDoubt("http_500"), method="find")

    @override
    def archive(self, channel_id: str) -> None:
        self.fake.closed[channel_id] = "is_archived"

    @override
    def shown(self, channel_id: str) -> list[str]:
        return self.fake.shown(channel_id)

    @override
    def posts_asked(self) -> int:
        return len(self.fake.called("post"))


class SlackWorld(World):
    def __init__(self, sandbox: SlackSandbox, poster: SlackPoster) -> None:
        self.sandbox = sandbox
        self.poster = poster

    def poster_over(self, session: ClientSession, token: str) -> SlackPoster:
        client = web_client(session, token=SecretStr(token), base_url=self.sandbox.api_url)
        return SlackPoster(client, SlackChannels(client, SystemClock()), "B0MQBOT")

    def arm(self, name: str, **settings: object) -> None:
        self.sandbox.faults.arm({"name": name, "method": "chat.postMessage", **settings})

    @override
    def lose_answer(self) -> None:
        self.arm("drop_after_accept")

    @override
    def lose_request(self) -> None:
        self.arm("drop_before")

    @override
    def limit_rate(self, seconds: int) -> None:
        self.arm("rate_limit", retry_after=seconds)

    @override
    def hide_history(self) -> None:
        self.arm("html_500", method="conversations.history")

    @override
    def archive(self, channel_id: str) -> None:
        self.sandbox.arrangement.change_channel(channel_id, {"is_archived": True})

    @override
    def shown(self, channel_id: str) -> list[str]:
        messages = self.sandbox.sight.messages("U0ALICE", channel_id, None, 100)["messages"]
        return [one["text"] for one in messages if one["is_bot"]]

    @override
    def posts_asked(self) -> int:
        return sum(call["method"] == "chat.postMessage" for call in self.sandbox.calls.since(0))


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorld]:
    sandbox = SlackSandbox(MANIFEST, rate_limits="off")
    await sandbox.start()
    try:
        async with open_session() as session:
            token = SecretStr(sandbox.bot_token)
            client = web_client(session, token=token, base_url=sandbox.api_url)
            clock = SystemClock()
            identity = await identify(client, clock)
            poster = SlackPoster(client, SlackChannels(client, clock), identity.bot_id)
            yield SlackWorld(sandbox, poster)
    finally:
        await sandbox.stop()


@pytest.fixture(params=["recording", "slack"])
def world(request: pytest.FixtureRequest) -> World:
    if request.param == "recording":
        return FakeWorld()
    found: SlackWorld = request.getfixturevalue("slack")
    return found


@pytest.mark.parametrize("message", [HELLO, PLAIN])
async def test_a_post_is_shown_once_and_found_by_its_delivery(
    world: World, message: Message
) -> None:
    ts = await world.poster.post(HERE, message, "d-1")

    assert world.shown(HERE) == [message.text]
    assert await world.poster.find(HERE, "d-1", LONG_AGO) == ts
    assert world.posts_asked() == 1


async def test_posts_of_other_deliveries_and_channels_are_not_taken_for_it(world: World) -> None:
    first = await world.poster.post(HERE, HELLO, "d-1")
    second = await world.poster.post(HERE, HELLO, "d-2")

    assert first != second
    assert await world.poster.find(HERE, "d-2", LONG_AGO) == second
    assert await world.poster.find(HERE, "d-3", LONG_AGO) is None
    assert await world.poster.find(PUBLIC, "d-1", LONG_AGO) is None


async def test_a_post_is_found_among_many(world: World) -> None:
    just_before = datetime.now(UTC) - timedelta(seconds=5)
    stamps = [await world.poster.post(HERE, PLAIN, f"d-{number}") for number in range(30)]

    assert await world.poster.find(HERE, "d-0", just_before) == stamps[0]
    assert await world.poster.find(HERE, "d-29", just_before) == stamps[29]


async def test_a_lost_answer_leaves_it_in_doubt_and_a_look_finds_the_post(world: World) -> None:
    world.lose_answer()

    with pytest.raises(PostInDoubt):
        await world.poster.post(HERE, HELLO, "d-1")

    assert world.shown(HERE) == [HELLO.text]
    assert await world.poster.find(HERE, "d-1", LONG_AGO) is not None
    assert world.posts_asked() == 1


async def test_a_lost_request_leaves_it_in_doubt_and_a_look_finds_nothing(world: World) -> None:
    world.lose_request()

    with pytest.raises(PostInDoubt):
        await world.poster.post(HERE, HELLO, "d-1")

    assert world.shown(HERE) == []
    assert await world.poster.find(HERE, "d-1", LONG_AGO) is None
    assert world.posts_asked() == 1


async def test_a_rate_limit_postpones_for_the_whole_workspace(world: World) -> None:
    world.limit_rate(17)

    with pytest.raises(PostPostponed) as postponed:
        await world.poster.post(HERE, HELLO, "d-1")

    assert (postponed.value.retry_after, postponed.value.workspace_wide) == (17, True)
    assert world.shown(HERE) == []
    assert world.posts_asked() == 1


@pytest.mark.parametrize("channel_id", [NOWHERE, PRIVATE])
async def test_a_channel_that_is_not_there_for_us_refuses(world: World, channel_id: str) -> None:
    with pytest.raises(PostRefused) as refused:
        await world.poster.post(channel_id, HELLO, "d-1")

    assert (refused.value.code, refused.value.refusal) == ("channel_not_found", Refusal.CHANNEL)


async def test_an_archived_channel_refuses(world: World) -> None:
    world.archive(HERE)

    with pytest.raises(PostRefused) as refused:
        await world.poster.post(HERE, HELLO, "d-1")

    assert (refused.value.code, refused.value.refusal) == ("is_archived", Refusal.CHANNEL)


async def test_refused_blocks_are_about_the_message(world: World) -> None:
    with pytest.raises(PostRefused) as refused:
        await world.poster.post(HERE, BROKEN, "d-1")

    assert (refused.value.code, refused.value.refusal) == ("invalid_blocks", Refusal.MESSAGE)
    assert world.shown(HERE) == []


async def test_a_history_that_cannot_be_read_is_no_absence(world: World) -> None:
    await world.poster.post(HERE, HELLO, "d-1")
    world.hide_history()

    with pytest.raises(PostError):
        await world.poster.find(HERE, "d-1", LONG_AGO)

    assert await world.poster.find(HERE, "d-1", LONG_AGO) is not None


@pytest.mark.parametrize(
    ("fault", "is_posted"),
    [
        ("internal_error", False),
        ("http_500", False),
        ("html_500", False),
        ("invalid_json", True),
        ("truncate", True),
    ],
)
async def test_an_answer_that_says_nothing_certain_leaves_it_in_doubt(
    slack: SlackWorld,
    fault: str,
    is_posted: bool,  # noqa: FBT001 - a case of the table
) -> None:
    slack.arm(fault)

    with pytest.raises(PostInDoubt):
        await slack.poster.post(HERE, HELLO, "d-1")

    found = await slack.poster.find(HERE, "d-1", LONG_AGO)
    assert (found is not None) is is_posted
    assert slack.posts_asked() == 1


async def test_a_public_channel_is_posted_to_unasked_and_joined_to_look(slack: SlackWorld) -> None:
    ts = await slack.poster.post(PUBLIC, HELLO, "d-1")

    assert await slack.poster.find(PUBLIC, "d-1", LONG_AGO) == ts
    called = [call["method"] for call in slack.sandbox.calls.since(0)]
    assert "conversations.join" in called


async def test_a_post_is_found_behind_a_page_of_what_people_wrote(slack: SlackWorld) -> None:
    ts = await slack.poster.post(HERE, HELLO, "d-1")
    for number in range(230):
        slack.sandbox.people.message("U0ALICE", HERE, f"chatter {number}")

    assert await slack.poster.find(HERE, "d-1", LONG_AGO) == ts


async def test_a_slack_that_is_not_there_has_certainly_not_posted(slack: SlackWorld) -> None:
    await slack.sandbox.stop()

    # On a connection of its own: one that was open before may break after a request was sent.
    async with open_session() as session:
        with pytest.raises(PostPostponed) as postponed:
            await slack.poster_over(session, slack.sandbox.bot_token).post(HERE, HELLO, "d-1")

    assert (postponed.value.code, postponed.value.retry_after) == ("not_connected", None)


async def test_a_refused_token_is_about_our_credential(slack: SlackWorld) -> None:
    async with open_session() as session:
        with pytest.raises(PostRefused) as refused:
            await slack.poster_over(session, "xoxb-unknown").post(HERE, HELLO, "d-1")

    assert (refused.value.code, refused.value.refusal) == ("invalid_auth", Refusal.CREDENTIAL)
