"""`mqbot check` asks Slack about each subscribed channel, however many Slack answers for."""

from typing import Any

from slack_sdk.web.async_slack_response import AsyncSlackResponse
from typing_extensions import override

from bot.inspection.results import Area, CheckStatus
from bot.inspection.slack import inspect_slack
from tests.support.clock import FakeClock
from tests.unit.slack.web_api.scripted_client import ScriptedClient, failed

A_MINUTE = 50
"""Questions about channels that Slack grants."""

PAGE = 100


class BusySlack(ScriptedClient):
    """Lists the channels that the bot is in page by page, and tells of so many others a minute.

    `archived` is the one that is.
    """

    def __init__(self, joined: list[str], archived: str, clock: FakeClock) -> None:
        super().__init__()
        self.joined = joined
        self.archived = archived
        self.clock = clock
        self.asked: list[float] = []

    @override
    async def api_call(self, api_method: str, **how: Any) -> AsyncSlackResponse:
        given = how.get("params") or {}
        if api_method == "users.conversations":
            first = int(given.get("cursor") or 0)
            page = [{"id": one, "is_channel": True} for one in self.joined[first : first + PAGE]]
            following = first + PAGE if first + PAGE < len(self.joined) else ""
            self.answers.append(
                {"channels": page, "response_metadata": {"next_cursor": str(following)}}
            )
        elif api_method == "conversations.info":
            now = self.clock.monotonic()
            recent = [at for at in self.asked if at > now - 60]
            if len(recent) >= A_MINUTE:
                raise failed("ratelimited", status=429, headers={"Retry-After": "60"})
            self.asked.append(now)
            channel_id = given["channel"]
            reported = {"id": channel_id, "is_archived": channel_id == self.archived}
            self.answers.append({"channel": {**reported, "is_channel": True}})
        else:
            self.answers.append("not_in_this_test")
        return await super().api_call(api_method, **how)


async def test_a_bad_channel_beyond_the_first_page_and_minute_is_named() -> None:
    joined = [f"C1{number:03}" for number in range(PAGE * 2 + 50)]
    others = [f"C2{number:03}" for number in range(A_MINUTE * 2 + 20)]
    clock = FakeClock()
    slack = BusySlack(joined, others[-1], clock)

    found = await inspect_slack(slack, None, clock, (), [*joined, *others])

    total, *of_channels = [one for one in found if one.area is Area.CHANNEL]
    assert total.sentence.startswith("369 of 370 channels can be posted to: C1000, ")
    assert len(of_channels) == len(joined) + len(others)
    (bad,) = [channel for channel in of_channels if channel.standing is not CheckStatus.OK]
    assert bad.subject == others[-1]
    assert bad.sentence == "It is archived."
    assert bad.fix is not None
    # Such a channel may be one of either kind.
    assert "mqbot unsubscribe" in bad.fix
    assert "MQBOT_CHANNELS" in bad.fix
    # Of those that are listed Slack is not asked one by one.
    assert len(slack.asked) == len(others)
