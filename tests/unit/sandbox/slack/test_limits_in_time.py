"""Rate limits and response addresses, by a clock that the tests set."""

import pytest

from bot.sandbox.slack.acting.response_urls import ResponseUrls
from bot.sandbox.slack.fault_effects import Striker
from bot.sandbox.slack.faults import Faults
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.state.workspace import Message
from bot.sandbox.slack.web_api.methods.chat import METHODS
from bot.sandbox.slack.web_api.rate_limits import RateLimiter, RateLimits
from bot.sandbox.slack.wire import ControlRefusal, Json
from tests.support.block_kit import section
from tests.support.workspace_manifest import make_manifest
from tests.unit.sandbox.slack.conftest import Desk, refused

POST = "chat.postMessage"
UPDATE = "chat.update"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def spend(limiter: RateLimiter, name: str, count: int, channel: str = "C1") -> list[int]:
    return [limiter.seconds_to_wait(name, METHODS[name], channel) for _ in range(count)]


def test_posting_is_limited_for_each_channel_after_a_burst() -> None:
    clock = Clock()
    limiter = RateLimiter("posting", clock)
    assert spend(limiter, POST, 100) == [0] * 100
    assert spend(limiter, POST, 1) == [1]
    clock.now += 1
    assert spend(limiter, POST, 2) == [0, 1]
    assert spend(limiter, POST, 1, "C2") == [0]
    assert spend(limiter, UPDATE, 200) == [0] * 200


def test_posting_to_all_channels_together_is_limited_as_well() -> None:
    clock = Clock()
    limiter = RateLimiter("posting", clock)
    assert [spend(limiter, POST, 50, f"C{number}") for number in range(2)] == [[0] * 50] * 2
    assert spend(limiter, POST, 1, "C9") == [1]
    clock.now += 60
    assert spend(limiter, POST, 1, "C9") == [0]


def test_every_method_is_limited_by_its_tier_when_asked() -> None:
    clock = Clock()
    limiter = RateLimiter("all", clock)
    assert spend(limiter, UPDATE, 50) == [0] * 50
    assert spend(limiter, UPDATE, 1, "C2") == [2]
    clock.now += 60
    assert spend(limiter, UPDATE, 51) == [0] * 50 + [2]


@pytest.mark.parametrize("limits", ["posting", "off"])
def test_a_rate_limited_call_is_answered_429_and_logged(limits: RateLimits) -> None:
    desk = Desk(SlackSandbox(make_manifest(), rate_limits=limits))
    answers = [desk.call(POST, channel="C0MERGEQ", text="x")["ok"] for _ in range(101)]
    assert answers == [True] * 100 + [limits == "off"]
    assert desk.sandbox.calls.since(100)[0]["ok"] is (limits == "off")


def make_urls() -> tuple[ResponseUrls, Clock, Desk]:
    desk = Desk(SlackSandbox(make_manifest()))
    clock = Clock()
    striker = Striker(Faults())
    urls = ResponseUrls(desk.sandbox.installation, clock, striker, desk.sandbox.calls)
    return urls, clock, desk


def test_a_response_address_expires_after_half_an_hour() -> None:
    urls, clock, _ = make_urls()
    address, _ = urls.mint("U0ALICE", "C0MERGEQ")
    key = address.rpartition("/")[2]
    clock.now += 1800
    assert urls.use(key).uses == 1
    clock.now += 1
    with refused("expired_url"):
        urls.use(key)


def shown(desk: Desk, user: str = "U0ALICE", channel: str = "C0MERGEQ") -> list[Json]:
    messages: list[Json] = desk.sandbox.sight.messages(user, channel)["messages"]
    return messages


def test_a_response_to_a_command_always_posts_a_new_message() -> None:
    urls, _, desk = make_urls()
    _, target = urls.mint("U0ALICE", "C0MERGEQ", is_of_command=True)
    urls.respond(target, {"text": "One"})
    urls.respond(target, {"text": "Two", "replace_original": True})
    urls.respond(target, {"delete_original": True})
    # More text than a post may have.
    urls.respond(target, {"text": "Three", "blocks": [section("x" * 3000)] * 5})
    assert [each["text"] for each in shown(desk)] == ["One", "Two", "Three"]


def test_a_response_replaces_or_deletes_the_message_that_was_clicked() -> None:
    urls, _, desk = make_urls()
    ts = desk.post()
    source = desk.sandbox.installation.workspace.channels["C0MERGEQ"].messages.get(ts)
    assert isinstance(source, Message)
    _, target = urls.mint("U0ALICE", "C0MERGEQ", source=source)
    urls.respond(target, {"text": "Aside"})
    urls.respond(target, {"text": "New", "replace_original": "true"})
    assert [(each["text"], each["ephemeral"]) for each in shown(desk)] == [
        ("New", False),
        ("Aside", True),
    ]
    urls.respond(target, {"delete_original": True})
    assert [each["text"] for each in shown(desk)] == ["Aside"]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({}, "no_text"),
        ({"blocks": [{"type": "section"}]}, "invalid_blocks"),
        ({"text": "x", "thread_ts": "1.1"}, "thread_not_found"),
    ],
)
def test_a_bad_response_is_refused(body: Json, error: str) -> None:
    urls, _, _ = make_urls()
    _, target = urls.mint("U0ALICE", "C0MERGEQ")
    with refused(error):
        urls.respond(target, body)


@pytest.mark.parametrize(
    "wanted",
    [
        {"name": "earthquake"},
        {},
        {"name": "slow", "seconds": "long"},
        {"name": "http_500", "times": True},
        {"name": "http_500", "colour": "red"},
        {"name": "http_500", "carried_out": 1},
        {"name": "rate_limit", "carried_out": True},
        {"name": "disconnect", "reason": "boredom"},
    ],
)
def test_an_unknown_fault_or_setting_is_refused(wanted: Json) -> None:
    with pytest.raises(ControlRefusal):
        Faults().arm_from(wanted)
