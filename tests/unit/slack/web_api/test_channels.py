"""Whether the bot can post in a channel, and how long answers about it are remembered."""

import pytest

from bot.ports import ChannelAccess
from bot.slack.web_api import remembered
from bot.slack.web_api.channels import SlackChannels
from bot.slack.web_api.remembered import REMEMBERED, Bounded, Remembered
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
    client, clock = ScriptedClient(JOINED, PRIVATE), FakeClock()
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
        ([JOINED, "ratelimited", SHARED, TimeoutError()], [False, False, True, True]),
        # What Slack hides counts as shared.
        ([JOINED, "channel_not_found", "ratelimited"], [False, True, None]),
    ],
    ids=["outage", "hidden"],
)
async def test_a_channel_is_shared_as_slack_said_last(
    answers: list[Answer], shared: list[bool | None]
) -> None:
    clock = FakeClock()
    channels = SlackChannels(ScriptedClient(*answers), clock)
    seen = []
    for _ in answers:
        seen.append(await channels.is_shared("C1"))
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
    assert [await channels.is_shared(one) for one in ("C1", "C2", "C3")] == [False, True, False]
    assert await channels.access("C1") is ChannelAccess.OPEN
    assert [name for name, _ in client.calls] == ["users.conversations"] * 2
    assert channels.wait("C1") == 0


async def test_events_from_slack_count_immediately() -> None:
    channels = SlackChannels(ScriptedClient(JOINED), FakeClock())
    assert await channels.is_shared("C1") is False
    channels.remember_shared("C1", is_shared=True)
    assert await channels.is_shared("C1") is True
    channels.remember_shared("C1", is_shared=False)
    assert await channels.is_shared("C1") is False


async def test_channel_lookups_stay_within_slacks_limit() -> None:
    client, clock = ScriptedClient(*[JOINED] * 100), FakeClock()
    channels = SlackChannels(client, clock)
    for _ in range(60):
        for number in range(100):
            await channels.is_shared(f"C{number}")
        clock.advance(1)
    assert len(client.calls) <= 50
    assert channels.wait("C99") > 0


async def test_lookups_wait_for_a_rate_limit_to_pass() -> None:
    client, clock = ScriptedClient("ratelimited", JOINED), FakeClock()
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


async def test_an_answer_is_as_old_as_its_question_and_the_oldest_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remembered, "REMEMBERED_MOST", 2)
    clock, asked = FakeClock(), list[str]()

    async def ask(key: str) -> str:
        asked.append(key)
        clock.advance(10)
        return key

    answers = Remembered(ask, clock)
    await answers.get("U1")
    clock.advance(REMEMBERED.total_seconds() - 11)
    await answers.get("U1")
    assert asked == ["U1"]
    clock.advance(1)
    for user in ("U1", "U2", "U3", "U2", "U1"):
        await answers.get(user)
    assert asked == ["U1", "U1", "U2", "U3", "U1"]


def test_setting_renews_an_entry() -> None:
    kept = Bounded[str, int](2)
    kept["a"], kept["b"] = 1, 2
    kept["a"] = 3
    kept["c"] = 4
    assert kept == {"a": 3, "c": 4}
