"""The ChannelPoster port: RecordingPoster, and SlackPoster against the local Slack workspace."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from aiohttp import ClientSession
from slack_sdk.web.async_client import AsyncWebClient

from bot.blocks import blocks
from bot.blocks.message import Message, Thread
from bot.kernel.clock import Clock
from bot.runtime.clock import SystemClock
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.state.seed import BOT_USER_ID
from bot.slack.errors import PostError, PostInDoubt, PostPostponed, PostRefused, Refusal
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.clients import Identity, identify, open_session
from bot.slack.web_api.failures import UNCLEAR_CODES
from bot.slack.web_api.poster import SlackPoster
from tests.support.clock import FakeClock
from tests.support.poster import RecordingPoster
from tests.support.slack_client import client_in, client_of, workspace

HERE = "C0MERGEQ"
PUBLIC = "C0RELEASE"
PRIVATE = "C0INCIDENT"
NOWHERE = "C0NOWHERE"
HELLO = Message("Queued #41", (blocks.section("*Queued* #41"), blocks.context("acme/site")))
PLAIN = Message("Queued #42")
BROKEN = Message("Queued #43", ({"type": "section"},))


async def refused(asked: Awaitable[object]) -> tuple[str, Refusal | None]:
    with pytest.raises(PostRefused) as refusal:
        await asked
    return refusal.value.code, refusal.value.refusal


def just_now() -> datetime:
    """The time at which the post to look up was sent."""
    return datetime.now(UTC)


class FakeWorld:
    """The port on lists, and ways to disturb it."""

    def __init__(self) -> None:
        self.fake = RecordingPoster(
            closed=dict.fromkeys([PRIVATE, NOWHERE], "channel_not_found"),
            refused_blocks=BROKEN.blocks,
        )
        self.poster = self.fake

    def lose_answer(self) -> None:
        """Let the next post succeed and lose its response."""
        self.fake.fail_next(PostInDoubt("ServerDisconnectedError"), after=True)

    def lose_request(self) -> None:
        """Lose the next post on its way."""
        self.fake.fail_next(PostInDoubt("ServerDisconnectedError"))

    def limit_rate(self, seconds: int) -> None:
        error = PostPostponed("ratelimited", retry_after=seconds)
        self.fake.fail_next(error)

    def hide_history(self) -> None:
        """Fail the next lookup in a channel."""
        self.fake.fail_next(PostInDoubt("http_500"), method="find")

    def refuse_edit(self, code: str) -> None:
        """Refuse the next edit with this code."""
        self.fake.fail_next(PostRefused(code, Refusal.EDIT), method="update")

    def delete(self, channel_id: str, ts: str) -> None:
        """Somebody deletes the message."""
        del channel_id
        self.fake.deleted.add(ts)

    def archive(self, channel_id: str) -> None:
        self.fake.closed[channel_id] = "is_archived"

    def shown(self, channel_id: str) -> list[str]:
        """The texts of the bot's messages in the channel, oldest first."""
        return self.fake.shown(channel_id)

    def posts_asked(self) -> int:
        """How many posts Slack was asked for."""
        return len(self.fake.called("post"))


class SlackWorld:
    """The port on the local Slack workspace, and the same ways to disturb it."""

    def __init__(self, sandbox: SlackSandbox, poster: SlackPoster) -> None:
        self.sandbox = sandbox
        self.poster = poster

    def poster_over(self, session: ClientSession, token: str) -> SlackPoster:
        return slack_poster(client_in(session, self.sandbox, token=token))

    def poster_on(self, session: ClientSession, clock: Clock) -> SlackPoster:
        """The poster of a newly started bot with its own clock."""
        return slack_poster(client_in(session, self.sandbox), clock)

    def arm(self, name: str, **settings: object) -> None:
        self.sandbox.faults.arm({"name": name, "method": "chat.postMessage", **settings})

    def lose_answer(self) -> None:
        self.arm("drop_after_accept")

    def lose_request(self) -> None:
        self.arm("drop_before")

    def limit_rate(self, seconds: int) -> None:
        self.arm("rate_limit", retry_after=seconds)

    def hide_history(self) -> None:
        self.arm("html_500", method="conversations.history")

    def refuse_edit(self, code: str) -> None:
        self.arm("refuse", method="chat.update", code=code)

    def delete(self, channel_id: str, ts: str) -> None:
        workspace = self.sandbox.installation.workspace
        message = workspace.channels[channel_id].messages.get(ts)
        assert message is not None
        workspace.delete(message)

    def archive(self, channel_id: str) -> None:
        self.sandbox.arrangement.change_channel(channel_id, {"is_archived": True})

    def shown(self, channel_id: str) -> list[str]:
        viewer = "U0ALICE"
        if channel_id.startswith("U"):
            installation = self.sandbox.installation
            viewer = channel_id
            workspace = installation.workspace
            channel_id = workspace.direct_channel(installation.bot_user_id, viewer).id
        messages = self.sandbox.sight.messages(viewer, channel_id, None, 100)["messages"]
        return [message["text"] for message in messages if message["is_bot"]]

    def posts_asked(self) -> int:
        return sum(call["method"] == "chat.postMessage" for call in self.sandbox.calls.since(0))


World = FakeWorld | SlackWorld


def slack_poster(client: AsyncWebClient, clock: Clock | None = None) -> SlackPoster:
    clock = clock or SystemClock()
    channels = SlackChannels(client, clock)
    identity = Identity("T0ACME", None, BOT_USER_ID, "B0MQBOT", "merge-queue")
    return SlackPoster(client, channels, clock, identity)


@pytest.fixture
async def slack() -> AsyncIterator[SlackWorld]:
    async with workspace(rate_limits="off") as sandbox, client_of(sandbox) as client:
        identity = await identify(client, SystemClock())
        assert (identity.bot_id, identity.user_id) == ("B0MQBOT", BOT_USER_ID)
        yield SlackWorld(sandbox, slack_poster(client))


@pytest.fixture(params=["recording", "slack"])
def world(request: pytest.FixtureRequest) -> World:
    if request.param == "recording":
        return FakeWorld()
    found: SlackWorld = request.getfixturevalue("slack")
    return found


async def test_a_post_is_shown_once_and_found_by_its_delivery_and_channel(world: World) -> None:
    poster = world.poster
    first = (await poster.post(HERE, HELLO, "d-1")).ts

    assert world.shown(HERE) == [HELLO.text]
    assert world.posts_asked() == 1
    second = (await poster.post(HERE, PLAIN, "d-2")).ts
    assert first != second
    assert world.shown(HERE) == [HELLO.text, PLAIN.text]
    assert await poster.find(HERE, "d-1", just_now()) == first
    assert await poster.find(HERE, "d-2", just_now()) == second
    assert await poster.find(HERE, "d-3", just_now()) is None
    assert await poster.find(PUBLIC, "d-1", just_now()) is None


async def test_a_post_is_found_among_many(world: World) -> None:
    just_before = datetime.now(UTC) - timedelta(seconds=5)
    stamps = [(await world.poster.post(HERE, PLAIN, f"d-{number}")).ts for number in range(30)]

    assert await world.poster.find(HERE, "d-0", just_before) == stamps[0]
    assert await world.poster.find(HERE, "d-29", just_before) == stamps[29]


@pytest.mark.parametrize("is_posted", [True, False])
async def test_a_lost_post_is_in_doubt_and_a_lookup_finds_it_if_it_arrived(
    world: World, *, is_posted: bool
) -> None:
    if is_posted:
        world.lose_answer()
    else:
        world.lose_request()

    with pytest.raises(PostInDoubt):
        await world.poster.post(HERE, HELLO, "d-1")

    assert world.shown(HERE) == [HELLO.text] * is_posted
    found = await world.poster.find(HERE, "d-1", just_now())
    assert (found is not None) is is_posted
    assert world.posts_asked() == 1


async def test_a_rate_limited_post_is_postponed_and_other_channels_are_not(world: World) -> None:
    world.limit_rate(17)

    with pytest.raises(PostPostponed) as postponed:
        await world.poster.post(HERE, HELLO, "d-1")

    assert (postponed.value.retry_after, postponed.value.workspace_wide) == (17, False)
    assert world.shown(HERE) == []
    assert world.posts_asked() == 1


async def test_a_refusal_is_the_channels_or_the_messages(world: World) -> None:
    poster = world.poster
    for channel_id in (NOWHERE, PRIVATE):
        posting = poster.post(channel_id, HELLO, "d-1")
        assert await refused(posting) == ("channel_not_found", Refusal.CHANNEL)
    in_blocks = ("invalid_blocks", Refusal.MESSAGE)
    assert await refused(poster.post(HERE, BROKEN, "d-1")) == in_blocks
    assert world.shown(HERE) == []
    ts = (await poster.post(HERE, HELLO, "d-1")).ts
    assert await refused(poster.update(HERE, ts, BROKEN)) == in_blocks
    world.archive(HERE)
    assert await refused(poster.post(HERE, HELLO, "d-2")) == ("is_archived", Refusal.CHANNEL)
    assert (await refused(poster.update(HERE, ts, PLAIN)))[1] is Refusal.CHANNEL


async def test_an_unreadable_history_does_not_mean_the_post_is_missing(world: World) -> None:
    await world.poster.post(HERE, HELLO, "d-1")
    world.hide_history()

    with pytest.raises(PostError):
        await world.poster.find(HERE, "d-1", just_now())

    assert await world.poster.find(HERE, "d-1", just_now()) is not None


async def test_an_edit_changes_a_messages_text_and_may_be_repeated(world: World) -> None:
    ts = (await world.poster.post(HERE, HELLO, "d-1")).ts
    for _ in range(2):
        await world.poster.update(HERE, ts, PLAIN)

    assert world.shown(HERE) == [PLAIN.text]
    assert await world.poster.find(HERE, "d-1", just_now()) == ts


async def test_a_message_that_cannot_be_edited_is_recognised(world: World) -> None:
    ts = (await world.poster.post(HERE, HELLO, "d-1")).ts
    for code in ("edit_window_closed", "cant_update_message", "block_mismatch"):
        world.refuse_edit(code)
        assert await refused(world.poster.update(HERE, ts, PLAIN)) == (code, Refusal.EDIT)
        assert world.shown(HERE) == [HELLO.text]

    world.delete(HERE, ts)
    gone = ("message_not_found", Refusal.EDIT)
    assert await refused(world.poster.update(HERE, ts, PLAIN)) == gone
    assert await world.poster.find(HERE, "d-1", just_now()) is None


async def test_a_direct_message_is_found_and_edited(world: World) -> None:
    ts = (await world.poster.post("U0BOB", HELLO, "d-1")).ts

    assert await world.poster.find("U0BOB", "d-1", just_now()) == ts
    await world.poster.update("U0BOB", ts, PLAIN)
    assert world.shown("U0BOB") == [PLAIN.text]


async def test_an_unclear_response_leaves_the_post_in_doubt(slack: SlackWorld) -> None:
    for number, (fault, settings, is_posted) in enumerate(UNCLEAR, 1):
        slack.arm(fault, **settings)

        with pytest.raises(PostInDoubt):
            await slack.poster.post(HERE, HELLO, f"d-{number}")

        found = await slack.poster.find(HERE, f"d-{number}", just_now())
        assert (found is not None) is is_posted, fault
        assert slack.posts_asked() == number


@pytest.mark.parametrize(
    "code",
    ["as_user_not_supported", "slack_connect_canvas_sharing_blocked", "made_up_next_year", "X"],
)
async def test_an_answer_with_a_code_that_nobody_knows_is_a_refusal(
    slack: SlackWorld, code: str
) -> None:
    """With `ok: false` and 200, Slack says that it didn't do it."""
    slack.arm("refuse", code=code)
    assert await refused(slack.poster.post(HERE, HELLO, "d-1")) == (code, Refusal.MESSAGE)
    ts = (await slack.poster.post(HERE, HELLO, "d-2")).ts
    slack.arm("refuse", method="chat.update", code=code)
    assert await refused(slack.poster.update(HERE, ts, PLAIN)) == (code, Refusal.MESSAGE)
    assert slack.shown(HERE) == [HELLO.text]


@pytest.mark.parametrize("code", ["team_added_to_org", "external_channel_migrating"])
async def test_while_slack_moves_a_workspace_or_channel_posts_wait(
    slack: SlackWorld, code: str
) -> None:
    slack.arm("refuse", code=code)
    with pytest.raises(PostPostponed):
        await slack.poster.post(HERE, HELLO, "d-1")


@pytest.mark.parametrize("is_posted", [True, False])
@pytest.mark.parametrize("code", sorted(UNCLEAR_CODES))
async def test_codes_of_slacks_own_failures_leave_the_post_in_doubt(
    slack: SlackWorld, code: str, *, is_posted: bool
) -> None:
    slack.arm("refuse", code=code, carried_out=is_posted)
    with pytest.raises(PostInDoubt):
        await slack.poster.post(HERE, HELLO, "d-1")

    assert slack.shown(HERE) == [HELLO.text] * is_posted
    assert (await slack.poster.find(HERE, "d-1", just_now()) is not None) is is_posted


async def test_a_person_whom_slack_refuses_to_open_a_conversation_with_gets_nothing(
    slack: SlackWorld,
) -> None:
    slack.arm("refuse", method="conversations.open", code="made_up_next_year")
    refusal = await refused(slack.poster.post("U0BOB", HELLO, "d-1"))
    assert refusal == ("made_up_next_year", Refusal.PERSON)


MADE = {"carried_out": True}
UNCLEAR: list[tuple[str, dict[str, bool], bool]] = [
    ("internal_error", {}, False),
    ("internal_error", MADE, True),
    ("http_500", {}, False),
    ("http_500", MADE, True),
    ("html_500", {}, False),
    ("html_500", MADE, True),
    ("invalid_json", {}, True),
    ("truncate", {}, True),
]
"""Faults with their settings, and whether the post is made."""


async def test_a_public_channel_needs_no_invitation_to_post_and_is_joined_for_lookups(
    slack: SlackWorld,
) -> None:
    ts = (await slack.poster.post(PUBLIC, HELLO, "d-1")).ts

    assert await slack.poster.find(PUBLIC, "d-1", just_now()) == ts
    called = [call["method"] for call in slack.sandbox.calls.since(0)]
    assert "conversations.join" in called


async def test_an_unreachable_slack_means_the_post_was_not_made(slack: SlackWorld) -> None:
    await slack.sandbox.stop()

    # On a connection of its own: one that was open before may break after a request was sent.
    async with open_session() as session:
        with pytest.raises(PostPostponed) as postponed:
            await slack.poster_over(session, slack.sandbox.bot_token).post(HERE, HELLO, "d-1")

    assert (postponed.value.code, postponed.value.retry_after) == ("not_connected", None)


async def test_a_rejected_token_is_a_credential_problem(slack: SlackWorld) -> None:
    async with open_session() as session:
        posting = slack.poster_over(session, "xoxb-unknown").post(HERE, HELLO, "d-1")
        assert await refused(posting) == ("invalid_auth", Refusal.CREDENTIAL)


async def test_an_edit_does_not_link_names(slack: SlackWorld) -> None:
    """By default, chat.update parses a text like a person's message."""
    ts = (await slack.poster.post(HERE, HELLO, "d-1")).ts
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


async def test_nobody_edits_anothers_message_or_writes_to_a_person_who_left(
    slack: SlackWorld,
) -> None:
    slack.sandbox.people.message("U0ALICE", HERE, "chatter")
    (written,) = slack.sandbox.sight.messages("U0ALICE", HERE, None, 100)["messages"]

    editing = slack.poster.update(HERE, written["ts"], PLAIN)
    assert await refused(editing) == ("cant_update_message", Refusal.EDIT)
    assert (await refused(slack.poster.post("U0GONE", HELLO, "d-1")))[1] is Refusal.PERSON


async def test_a_conversation_that_cannot_be_opened_now_leaves_nothing_in_doubt(
    slack: SlackWorld,
) -> None:
    slack.arm("html_500", method="conversations.open")

    with pytest.raises(PostPostponed):
        await slack.poster.post("U0BOB", HELLO, "d-1")

    assert slack.posts_asked() == 0
    await slack.poster.post("U0BOB", HELLO, "d-1")
    assert slack.shown("U0BOB") == [HELLO.text]


async def test_a_reply_is_found_in_its_thread_and_if_broadcast_in_the_channel(world: World) -> None:
    poster = world.poster
    root = (await poster.post(HERE, HELLO, "d1")).ts
    reply = (await poster.post(HERE, PLAIN, "d2", Thread(root))).ts
    loud = (await poster.post(HERE, PLAIN, "d3", Thread(root, broadcast=True))).ts
    plain = (await poster.post(HERE, PLAIN, "d4")).ts
    assert len({root, reply, loud, plain}) == 4
    for delivery_id, in_channel, in_thread in (
        ("d2", None, reply),
        ("d3", loud, loud),
        ("d4", plain, plain),
    ):
        assert await poster.find(HERE, delivery_id, just_now()) == in_channel
        assert await poster.find(HERE, delivery_id, just_now(), root) == in_thread


async def test_a_reply_to_a_deleted_message_appears_in_the_channel_and_is_found_there(
    world: World,
) -> None:
    root = (await world.poster.post(HERE, HELLO, "d1")).ts
    world.delete(HERE, root)
    posted = await world.poster.post(HERE, PLAIN, "d2", Thread(root))
    assert world.shown(HERE) == [PLAIN.text]
    assert await world.poster.find(HERE, "d2", just_now(), root) == posted.ts


@pytest.mark.parametrize("hours", [-30, -2, 2, 30])
async def test_a_post_is_found_with_any_clock(slack: SlackWorld, hours: int) -> None:
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
        ts = (await poster.post(HERE, HELLO, "d-1")).ts
        clock.advance(-2 * 3600)

        assert await poster.find(HERE, "d-1", since) == ts


async def found_at_last(slack: SlackWorld, since: datetime) -> tuple[str | None, int]:
    """The final result of a lookup, and how many calls of the port it took."""
    for calls in range(1, 100):
        with suppress(PostPostponed):
            return await slack.poster.find(HERE, "d-1", since), calls
    raise AssertionError("the lookup does not end")


async def test_a_lookup_among_thousands_of_messages_continues_where_it_stopped(
    slack: SlackWorld,
) -> None:
    slack.sandbox.installation.history_most = 15
    ts = (await slack.poster.post(HERE, HELLO, "d-1")).ts
    for number in range(400):
        slack.sandbox.people.message("U0ALICE", HERE, f"chatter {number}")
    slack.sandbox.faults.arm(
        {"name": "rate_limit", "method": "conversations.history", "retry_after": 0, "times": 3}
    )

    found, calls = await found_at_last(slack, just_now())

    read = [
        call for call in slack.sandbox.calls.since(0) if call["method"] == "conversations.history"
    ]
    assert found == ts
    assert calls <= 10
    # 401 messages are 27 pages, each read once; three calls were refused.
    assert len([call for call in read if call["ok"]]) == 27


async def test_a_lookup_of_many_pages_that_began_early_reads_the_newest_again(
    slack: SlackWorld,
) -> None:
    """The post may appear late: a lookup counts only half a minute after it was sent."""
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


async def test_history_long_after_the_post_is_not_read(slack: SlackWorld) -> None:
    two_hours_ago = just_now() - timedelta(hours=2)
    for number in range(300):
        slack.sandbox.people.message("U0ALICE", HERE, f"chatter {number}")

    assert await slack.poster.find(HERE, "d-1", two_hours_ago) is None

    read = [
        call for call in slack.sandbox.calls.since(0) if call["method"] == "conversations.history"
    ]
    assert len(read) == 1
