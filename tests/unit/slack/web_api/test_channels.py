"""Whether the bot can post in a channel, and how long answers about it are remembered."""

import asyncio
from typing import Any

import pytest
from typing_extensions import override

from bot.kernel.bounded import Bounded
from bot.kernel.sharing import ChannelSharing
from bot.slack.ports import Audience, ChannelAccess
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.remembered import REMEMBERED_FOR, Remembered
from tests.support.clock import FakeClock
from tests.unit.slack.web_api.scripted_client import Answer, ScriptedClient, failed

A_DAY = 86400
PUBLIC = {"channel": {"id": "C1", "is_channel": True, "is_member": False}}
JOINED = {"channel": {"id": "C1", "is_channel": True, "is_member": True}}
PRIVATE = {"channel": {"id": "C1", "is_private": True, "is_member": False}}


@pytest.mark.parametrize(
    ("answers", "access"),
    [
        ([JOINED], ChannelAccess.OPEN),
        ([{"channel": {"id": "D1", "is_im": True}}], ChannelAccess.OPEN),
        ([PUBLIC, {}], ChannelAccess.OPEN),
        ([PUBLIC, "method_not_supported_for_channel_type"], ChannelAccess.INVITE),
        ([PRIVATE], ChannelAccess.INVITE),
        ([{"channel": {"id": "G1", "is_mpim": True}}], ChannelAccess.INVITE),
        ([{"channel": {"id": "C1", "is_archived": True}}], ChannelAccess.CLOSED),
        (["channel_not_found"], ChannelAccess.INVITE),
        (["missing_scope"], ChannelAccess.OPEN),
        ([TimeoutError()], ChannelAccess.UNKNOWN),
    ],
)
async def test_slacks_response_decides_whether_a_channel_is_open(
    answers: list[Answer], access: ChannelAccess
) -> None:
    client = ScriptedClient(*answers)
    assert await SlackChannels(client, FakeClock()).access("C1") is access
    assert not client.answers


async def test_a_conversation_between_people_is_known_by_its_id() -> None:
    channels = SlackChannels(ScriptedClient("channel_not_found"), FakeClock())
    assert await channels.access("D0ALICEBOB") is ChannelAccess.DIRECT


async def test_an_open_channel_is_remembered_for_a_minute() -> None:
    client = ScriptedClient(JOINED, PRIVATE)
    clock = FakeClock()
    channels = SlackChannels(client, clock)
    assert await channels.access("C1") is ChannelAccess.OPEN
    clock.advance(59)
    assert await channels.access("C1") is ChannelAccess.OPEN
    clock.advance(2)
    assert await channels.access("C1") is ChannelAccess.INVITE


async def test_a_closed_channel_is_tried_again_at_once() -> None:
    channels = SlackChannels(ScriptedClient("channel_not_found", JOINED), FakeClock())
    assert await channels.access("C1") is ChannelAccess.INVITE
    assert await channels.access("C1") is ChannelAccess.OPEN


SHARED: Answer = {"channel": {"id": "C1", "is_ext_shared": True}}


@pytest.mark.parametrize(
    ("answers", "shared"),
    [
        # A brief outage changes nothing.
        (
            [JOINED, "ratelimited", SHARED, TimeoutError()],
            [Audience.OWN, Audience.OWN, Audience.SHARED, Audience.SHARED],
        ),
        # What Slack hides counts as shared.
        (
            [JOINED, "channel_not_found", "ratelimited"],
            [Audience.OWN, Audience.SHARED, Audience.UNKNOWN],
        ),
    ],
    ids=["outage", "hidden"],
)
async def test_a_channel_is_shared_as_slack_said_last(
    answers: list[Answer], shared: list[Audience]
) -> None:
    clock = FakeClock()
    channels = SlackChannels(ScriptedClient(*answers), clock)
    seen = []
    for _ in answers:
        seen.append(await channels.audience("C1"))
        clock.advance(A_DAY)
    assert seen == shared


async def test_the_bots_channels_are_learned_with_few_calls() -> None:
    pages: list[Answer] = [
        {
            "channels": [{"id": "C1"}, {"id": "C2", "is_ext_shared": True}],
            "response_metadata": {"next_cursor": "more"},
        },
        {"channels": [{"id": "C3", "is_archived": True}]},
    ]
    client = ScriptedClient(*pages)
    channels = SlackChannels(client, FakeClock())
    await channels.learn()
    assert [await channels.audience(word) for word in ("C1", "C2", "C3")] == [
        Audience.OWN,
        Audience.SHARED,
        Audience.OWN,
    ]
    assert await channels.access("C1") is ChannelAccess.OPEN
    assert [name for name, _ in client.calls] == ["users.conversations"] * 2
    assert channels.wait("C1") == 0


async def test_events_from_slack_count_immediately() -> None:
    clock = FakeClock()
    channels = SlackChannels(ScriptedClient(JOINED, JOINED), clock)
    assert await channels.audience("C1") is Audience.OWN
    shared = {"C1": ChannelSharing(clock.now(), is_shared=True)}
    assert set(channels.learn_sharing(shared)) == {"C1"}
    assert await channels.audience("C1") is Audience.SHARED
    assert set(channels.learn_sharing(shared)) == set()
    clock.advance(1)
    assert set(channels.learn_sharing({"C1": ChannelSharing(clock.now(), is_shared=False)})) == {
        "C1"
    }
    assert await channels.audience("C1") is Audience.OWN


async def test_an_event_wins_over_an_answer_that_was_asked_for_before_it() -> None:
    """Of conversations.info and of the list of all channels."""
    clock = FakeClock()
    asked = asyncio.Event()
    may_answer = asyncio.Event()

    class SlowClient(ScriptedClient):
        @override
        async def api_call(self, api_method: str, **others: Any) -> Any:
            asked.set()
            await may_answer.wait()
            return await super().api_call(api_method, **others)

    listed: Answer = {"channels": [{"id": "C1"}]}
    for answer in (JOINED, listed):
        asked.clear()
        may_answer.clear()
        channels = SlackChannels(SlowClient(answer), clock)
        asking = channels.learn() if answer is listed else channels.access("C1")
        task = asyncio.ensure_future(asking)
        await asked.wait()
        clock.advance(1)
        channels.learn_sharing({"C1": ChannelSharing(clock.now(), is_shared=True)})
        may_answer.set()
        await task
        assert await channels.audience("C1") is Audience.SHARED


async def test_channel_lookups_stay_within_slacks_limit() -> None:
    client = ScriptedClient(*[JOINED] * 100)
    clock = FakeClock()
    channels = SlackChannels(client, clock)
    for _ in range(60):
        for number in range(100):
            await channels.audience(f"C{number}")
        clock.advance(1)
    assert len(client.calls) <= 50
    assert channels.wait("C99") > 0


async def test_lookups_wait_for_a_rate_limit_to_pass() -> None:
    client = ScriptedClient("ratelimited", JOINED)
    clock = FakeClock()
    channels = SlackChannels(client, clock)
    assert channels.wait("C1") == 0
    assert await channels.access("C1") is ChannelAccess.UNKNOWN
    await clock.sleep(channels.wait("C1"))
    assert await channels.access("C1") is ChannelAccess.OPEN


async def test_a_corrected_clock_does_not_extend_a_rate_limit() -> None:
    clock = FakeClock()
    limited = failed("ratelimited", status=429, headers={"Retry-After": "30"})
    channels = SlackChannels(ScriptedClient(limited), clock)
    await channels.access("C1")
    before = channels.wait("C1")
    clock.jump(-3600)
    assert 0 < channels.wait("C1") <= before


async def test_an_answer_is_as_old_as_its_question_and_the_oldest_is_dropped() -> None:
    clock = FakeClock()
    asked = list[str]()

    async def ask(key: str) -> str:
        asked.append(key)
        clock.advance(10)
        return key

    answers = Remembered(ask, clock, most=2)
    await answers.get("U1")
    clock.advance(REMEMBERED_FOR.total_seconds() - 11)
    await answers.get("U1")
    assert asked == ["U1"]
    clock.advance(1)
    for user in ("U1", "U2", "U3", "U2", "U1"):
        await answers.get(user)
    assert asked == ["U1", "U1", "U2", "U3", "U1"]


def test_setting_renews_an_entry() -> None:
    kept = Bounded[str, int](2)
    kept["a"] = 1
    kept["b"] = 2
    kept["a"] = 3
    kept["c"] = 4
    assert kept == {"a": 3, "c": 4}
