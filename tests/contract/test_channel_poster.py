"""The ChannelPoster port: RecordingPoster, and SlackPoster against the local Slack workspace."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import ClientSession
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.clock import SystemClock
from bot.domain.errors import PostError, PostInDoubt, PostPostponed, PostRefused, Refusal
from bot.domain.message import Message, Thread
from bot.messages import blocks
from bot.ports import ChannelPoster, Clock
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.state.seed import BOT_USER_ID
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.clients import identify, open_session, web_client
from bot.slack.web_api.poster import SlackPoster
from tests.support.clock import FakeClock
from tests.support.poster import RecordingPoster

MANIFEST = Path(__file__).parents[2] / "manifest.yml"
HERE, PUBLIC, PRIVATE, NOWHERE = "C0MERGEQ", "C0RELEASE", "C0INCIDENT", "C0NOWHERE"
HELLO = Message("Queued #41", (blocks.section("*Queued* #41"), blocks.context("acme/site")))
PLAIN = Message("Queued #42")
BROKEN = Message("Queued #43", ({"type": "section"},))


def just_now() -> datetime:
    """When a post was sent that is looked for."""
    return datetime.now(UTC)


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
    def refuse_edit(self, code: str) -> None:
        """The next edit is refused so."""

    @abstractmethod
    def delete(self, channel_id: str, ts: str) -> None:
        """Somebody deletes the message."""

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
        error = PostPostponed("ratelimited", retry_after=seconds)
        self.fake.fail_next(error)

    @override
    def hide_history(self) -> None:
        self.fake.fail_next(PostInDoubt("http_500"), method="find")

    @override
    def refuse_edit(self, code: str) -> None:
        self.fake.fail_next(PostRefused(code, Refusal.EDIT), method="update")

    @override
    def delete(self, channel_id: str, ts: str) -> None:
        self.fake.deleted.add(ts)

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
        return slack_poster(client)

    def poster_on(self, session: ClientSession, clock: Clock) -> SlackPoster:
        """A bot that was just started, with a clock of its own."""
        token = SecretStr(self.sandbox.bot_token)
        client = web_client(session, token=token, base_url=self.sandbox.api_url)
        return slack_poster(client, clock)

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
    def refuse_edit(self, code: str) -> None:
        self.arm("refuse", method="chat.update", code=code)

    @override
    def delete(self, channel_id: str, ts: str) -> None:
        workspace = self.sandbox.installation.workspace
        message = workspace.channels[channel_id].messages.get(ts)
        assert message is not None
        workspace.delete(message)

    @override
    def archive(self, channel_id: str) -> None:
        self.sandbox.arrangement.change_channel(channel_id, {"is_archived": True})

    @override
    def shown(self, channel_id: str) -> list[str]:
        viewer = "U0ALICE"
        if channel_id.startswith("U"):
            installation = self.sandbox.installation
            viewer, workspace = channel_id, installation.workspace
            channel_id = workspace.direct_channel(installation.bot_user_id, viewer).id
        messages = self.sandbox.sight.messages(viewer, channel_id, None, 100)["messages"]
        return [one["text"] for one in messages if one["is_bot"]]

    @override
    def posts_asked(self) -> int:
        return sum(call["method"] == "chat.postMessage" for call in self.sandbox.calls.since(0))


def slack_poster(client: AsyncWebClient, clock: Clock | None = None) -> SlackPoster:
    clock = clock or SystemClock()
    return SlackPoster(client, SlackChannels(client, clock), clock, "B0MQBOT", BOT_USER_ID)


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorld]:
    sandbox = SlackSandbox(MANIFEST, rate_limits="off")
    await sandbox.start()
    try:
        async with open_session() as session:
            token = SecretStr(sandbox.bot_token)
            client = web_client(session, token=token, base_url=sandbox.api_url)
            identity = await identify(client, SystemClock())
            assert (identity.bot_id, identity.user_id) == ("B0MQBOT", BOT_USER_ID)
            yield SlackWorld(sandbox, slack_poster(client))
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
    assert await world.poster.find(HERE, "d-1", just_now()) == ts
    assert world.posts_asked() == 1


async def test_posts_of_other_deliveries_and_channels_are_not_taken_for_it(world: World) -> None:
    first = await world.poster.post(HERE, HELLO, "d-1")
    second = await world.poster.post(HERE, HELLO, "d-2")

    assert first != second
    assert await world.poster.find(HERE, "d-2", just_now()) == second
    assert await world.poster.find(HERE, "d-3", just_now()) is None
    assert await world.poster.find(PUBLIC, "d-1", just_now()) is None


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
    assert await world.poster.find(HERE, "d-1", just_now()) is not None
    assert world.posts_asked() == 1


async def test_a_lost_request_leaves_it_in_doubt_and_a_look_finds_nothing(world: World) -> None:
    world.lose_request()

    with pytest.raises(PostInDoubt):
        await world.poster.post(HERE, HELLO, "d-1")

    assert world.shown(HERE) == []
    assert await world.poster.find(HERE, "d-1", just_now()) is None
    assert world.posts_asked() == 1


async def test_a_rate_limit_of_a_post_postpones_it_and_says_nothing_of_other_channels(
    world: World,
) -> None:
    world.limit_rate(17)

    with pytest.raises(PostPostponed) as postponed:
        await world.poster.post(HERE, HELLO, "d-1")

    assert (postponed.value.retry_after, postponed.value.workspace_wide) == (17, False)
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
        await world.poster.find(HERE, "d-1", just_now())

    assert await world.poster.find(HERE, "d-1", just_now()) is not None


async def test_an_edit_changes_what_a_message_says_and_may_be_repeated(world: World) -> None:
    ts = await world.poster.post(HERE, HELLO, "d-1")
    for _ in range(2):
        await world.poster.update(HERE, ts, PLAIN)

    assert world.shown(HERE) == [PLAIN.text]
    assert await world.poster.find(HERE, "d-1", just_now()) == ts


async def test_a_deleted_message_can_be_edited_no_more(world: World) -> None:
    ts = await world.poster.post(HERE, HELLO, "d-1")
    world.delete(HERE, ts)

    with pytest.raises(PostRefused) as refused:
        await world.poster.update(HERE, ts, PLAIN)

    assert (refused.value.code, refused.value.refusal) == ("message_not_found", Refusal.EDIT)


@pytest.mark.parametrize("code", ["edit_window_closed", "cant_update_message", "block_mismatch"])
async def test_a_message_that_slack_lets_nobody_edit_is_told_apart(world: World, code: str) -> None:
    ts = await world.poster.post(HERE, HELLO, "d-1")
    world.refuse_edit(code)

    with pytest.raises(PostRefused) as refused:
        await world.poster.update(HERE, ts, PLAIN)

    assert (refused.value.code, refused.value.refusal) == (code, Refusal.EDIT)
    assert world.shown(HERE) == [HELLO.text]


async def test_an_edit_with_refused_blocks_is_about_the_message(world: World) -> None:
    ts = await world.poster.post(HERE, HELLO, "d-1")

    with pytest.raises(PostRefused) as refused:
        await world.poster.update(HERE, ts, BROKEN)

    assert (refused.value.code, refused.value.refusal) == ("invalid_blocks", Refusal.MESSAGE)


async def test_an_edit_in_an_archived_channel_is_about_the_channel(world: World) -> None:
    ts = await world.poster.post(HERE, HELLO, "d-1")
    world.archive(HERE)

    with pytest.raises(PostRefused) as refused:
        await world.poster.update(HERE, ts, PLAIN)

    assert refused.value.refusal is Refusal.CHANNEL


async def test_what_is_addressed_to_a_person_is_found_and_edited_there(world: World) -> None:
    ts = await world.poster.post("U0BOB", HELLO, "d-1")

    assert await world.poster.find("U0BOB", "d-1", just_now()) == ts
    await world.poster.update("U0BOB", ts, PLAIN)
    assert world.shown("U0BOB") == [PLAIN.text]


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

    found = await slack.poster.find(HERE, "d-1", just_now())
    assert (found is not None) is is_posted
    assert slack.posts_asked() == 1


async def test_a_public_channel_is_posted_to_unasked_and_joined_to_look(slack: SlackWorld) -> None:
    ts = await slack.poster.post(PUBLIC, HELLO, "d-1")

    assert await slack.poster.find(PUBLIC, "d-1", just_now()) == ts
    called = [call["method"] for call in slack.sandbox.calls.since(0)]
    assert "conversations.join" in called


async def test_a_post_is_found_behind_a_page_of_what_people_wrote(slack: SlackWorld) -> None:
    ts = await slack.poster.post(HERE, HELLO, "d-1")
    for number in range(230):
        slack.sandbox.people.message("U0ALICE", HERE, f"chatter {number}")

    assert await slack.poster.find(HERE, "d-1", just_now()) == ts


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


async def test_somebody_elses_message_is_not_edited(slack: SlackWorld) -> None:
    slack.sandbox.people.message("U0ALICE", HERE, "chatter")
    (written,) = slack.sandbox.sight.messages("U0ALICE", HERE, None, 100)["messages"]

    with pytest.raises(PostRefused) as refused:
        await slack.poster.update(HERE, written["ts"], PLAIN)

    assert (refused.value.code, refused.value.refusal) == ("cant_update_message", Refusal.EDIT)


async def test_an_edit_links_no_names(slack: SlackWorld) -> None:
    """chat.update would parse a text as a person's words unless it is told otherwise."""
    ts = await slack.poster.post(HERE, HELLO, "d-1")
    await slack.poster.update(HERE, ts, Message("@here #mergeq"))

    assert slack.shown(HERE) == ["@here #mergeq"]


async def test_a_conversation_is_opened_once_and_its_buttons_stay(slack: SlackWorld) -> None:
    button = blocks.button("Snooze", action_id="mq:x", value="1")
    asking = Message("Still paused", (blocks.actions([button]),))
    for number in range(3):
        await slack.poster.post("U0BOB", asking, f"d-{number}")

    called = [call["method"] for call in slack.sandbox.calls.since(0)]
    assert called.count("conversations.open") == 1
    assert "conversations.info" not in called


async def test_somebody_who_has_left_is_not_waited_for(slack: SlackWorld) -> None:
    with pytest.raises(PostRefused) as refused:
        await slack.poster.post("U0GONE", HELLO, "d-1")

    assert refused.value.refusal is Refusal.PERSON


async def test_a_conversation_that_cannot_be_opened_now_leaves_nothing_in_doubt(
    slack: SlackWorld,
) -> None:
    slack.arm("html_500", method="conversations.open")

    with pytest.raises(PostPostponed):
        await slack.poster.post("U0BOB", HELLO, "d-1")

    assert slack.posts_asked() == 0
    await slack.poster.post("U0BOB", HELLO, "d-1")
    assert slack.shown("U0BOB") == [HELLO.text]


async def test_a_reply_stands_in_its_thread_and_is_found_there_alone(world: World) -> None:
    root = await world.poster.post(HERE, HELLO, "d1")
    reply = await world.poster.post(HERE, PLAIN, "d2", Thread(root))
    assert reply != root
    assert await world.poster.find(HERE, "d2", just_now()) is None
    assert await world.poster.find(HERE, "d2", just_now(), root) == reply


async def test_a_reply_that_the_channel_shows_too_is_found_in_either(world: World) -> None:
    root = await world.poster.post(HERE, HELLO, "d1")
    reply = await world.poster.post(HERE, PLAIN, "d2", Thread(root, broadcast=True))
    assert await world.poster.find(HERE, "d2", just_now()) == reply
    assert await world.poster.find(HERE, "d2", just_now(), root) == reply


async def test_what_went_to_the_channel_is_found_though_a_thread_is_given(world: World) -> None:
    root = await world.poster.post(HERE, HELLO, "d1")
    plain = await world.poster.post(HERE, PLAIN, "d2")
    assert await world.poster.find(HERE, "d2", just_now(), root) == plain


async def test_a_thread_whose_first_message_is_gone_takes_no_replies(world: World) -> None:
    root = await world.poster.post(HERE, HELLO, "d1")
    world.delete(HERE, root)
    with pytest.raises(PostRefused) as refused:
        await world.poster.post(HERE, PLAIN, "d2", Thread(root))
    assert refused.value.refusal is Refusal.THREAD
    assert await world.poster.find(HERE, "d2", just_now(), root) is None


async def test_a_message_that_somebody_deleted_before_the_lookup_is_not_found(
    world: World,
) -> None:
    ts = await world.poster.post(HERE, HELLO, "d-1")
    world.delete(HERE, ts)

    assert await world.poster.find(HERE, "d-1", just_now()) is None


@pytest.mark.parametrize("hours", [-30, -2, 2, 30])
async def test_a_post_is_found_whatever_our_clock_says(slack: SlackWorld, hours: int) -> None:
    clock = FakeClock(just_now() + timedelta(hours=hours))
    async with open_session() as session:
        poster = slack.poster_on(session, clock)
        slack.lose_answer()
        since = clock.now()
        with pytest.raises(PostInDoubt):
            await poster.post(HERE, HELLO, "d-1")

        with pytest.raises(PostPostponed):
            await poster.find(HERE, "d-1", since)
        assert await poster.find(HERE, "d-1", since) is not None


async def test_a_clock_put_right_before_the_lookup_does_not_hide_the_post(
    slack: SlackWorld,
) -> None:
    clock = FakeClock(just_now() + timedelta(hours=2))
    async with open_session() as session:
        poster = slack.poster_on(session, clock)
        await poster.post(HERE, PLAIN, "d-0")
        since = clock.now()
        ts = await poster.post(HERE, HELLO, "d-1")
        clock.advance(-2 * 3600)

        assert await poster.find(HERE, "d-1", since) == ts


async def found_at_last(slack: SlackWorld, since: datetime) -> tuple[str | None, int]:
    """What a lookup finds in the end, and after how many calls of the port."""
    for calls in range(1, 100):
        with suppress(PostPostponed):
            return await slack.poster.find(HERE, "d-1", since), calls
    raise AssertionError("the lookup does not end")


async def test_a_lookup_among_thousands_of_messages_continues_where_it_stopped(
    slack: SlackWorld,
) -> None:
    slack.sandbox.installation.history_most = 15
    ts = await slack.poster.post(HERE, HELLO, "d-1")
    for number in range(400):
        slack.sandbox.people.message("U0ALICE", HERE, f"chatter {number}")
    slack.sandbox.faults.arm(
        {"name": "rate_limit", "method": "conversations.history", "retry_after": 0, "times": 3}
    )

    found, calls = await found_at_last(slack, just_now())

    read = [one for one in slack.sandbox.calls.since(0) if one["method"] == "conversations.history"]
    assert found == ts
    assert calls <= 10
    # 401 messages are 27 pages, each read once; three calls were refused.
    assert len([one for one in read if one["ok"]]) == 27


async def test_a_lookup_of_many_pages_that_began_early_reads_the_newest_again(
    slack: SlackWorld,
) -> None:
    """The post may show late: one look counts only half a minute after it was sent."""
    slack.sandbox.installation.history_most = 15
    for number in range(100):
        slack.sandbox.people.message("U0ALICE", HERE, f"chatter {number}")

    since = just_now()
    for code in ("history_goes_on", "history_read_early"):
        with pytest.raises(PostPostponed) as postponed:
            await slack.poster.find(HERE, "d-1", since)
        assert postponed.value.code == code

    since -= timedelta(seconds=40)
    assert await found_at_last(slack, since) == (None, 2)


async def test_what_was_written_long_after_the_post_is_not_read(slack: SlackWorld) -> None:
    two_hours_ago = just_now() - timedelta(hours=2)
    for number in range(300):
        slack.sandbox.people.message("U0ALICE", HERE, f"chatter {number}")

    assert await slack.poster.find(HERE, "d-1", two_hours_ago) is None

    read = [one for one in slack.sandbox.calls.since(0) if one["method"] == "conversations.history"]
    assert len(read) == 1
