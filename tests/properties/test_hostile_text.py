"""Thousands of hostile strings in every message, in the strict workspace."""

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta

import pytest
from hypothesis import settings

from bot.domain.audit import Action, Actor
from bot.domain.boards import Board, seen as seen_by_boards
from bot.domain.errors import (
    CommandSyntaxError,
    InvalidConfiguration,
    InvalidRequest,
    PermissionDenied,
    RepositoryNotAllowed,
)
from bot.domain.event_log import Window
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.event_types import DEQUEUE_CODES, EVENT_TYPES
from bot.domain.message import Message, View
from bot.domain.permissions import DenialReason, Denied, Right, WhoCan
from bot.domain.queue import QueuedPullRequest, QueueRule
from bot.domain.queue_position import Explanation, InBatch, Left
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import (
    BranchActivity,
    BranchPage,
    LogPage,
    LogPlace,
    LogSelection,
    Snapshot,
)
from bot.messages import (
    board,
    branches,
    choice,
    errors,
    event_log,
    home,
    pause,
    pause_form,
    people,
    rules,
    statistics,
    status,
    subscriptions,
    why,
)
from bot.messages.events import event_posts
from bot.ports import ChannelAccess
from bot.sandbox.slack.server import SlackSandbox
from bot.sandbox.slack.state.mrkdwn import rich_text_from_person
from bot.sandbox.slack.web_api.request_bodies import Received
from bot.sandbox.slack.wire import Json
from tests.properties.test_text import HOSTILE, text_objects
from tests.support.clock import NOON
from tests.support.every_message import CALLED, ON_CALL, every_message
from tests.support.make import (
    SITE,
    make_act,
    make_batch,
    make_event_record,
    make_home,
    make_known_pause,
    make_outbox,
    make_person,
    make_pull_request_record,
    make_queued,
    make_snapshot,
    make_statistics,
    make_status,
    make_subscription,
    make_viewer,
)

STRINGS = 500 * settings().max_examples
"""25,000 on a developer's machine, a million in a long run."""
"""Each on whatever core is free, with strings of its own."""
API = RepositoryName("acme/api")
CHANNEL, READER = "C0MERGEQ", "U0ALICE"
OUR_CHANNELS = {CHANNEL, "C0OLD", "C0GONE", "C1"}
"""Those that our own messages refer to: outside text never names the others."""
WITHOUT_BLOCKS = {"a message that could not be rendered"}
"""Plain text stands in for it; every other message has blocks."""

ADDRESS = "https://code.example/"
NAMES = ("@alice", "@channel", "@here", "@everyone", "#general", "@releasers", "<!subteam^S0ALL>")
SIGNS = (
    "<",
    ">",
    "|",
    "&",
    "@",
    "!",
    "#",
    "^",
    "*",
    "_",
    "`",
    "\n",
    "\u202e",
    "\x00",
    "&lt;",
    "\\",
)
DATE = re.compile(r"date\^\d+\^\{[a-z_]+\}( at \{time\})?(\|.*)?")
MANIFEST: Mapping[str, object] = {
    "features": {"app_home": {"home_tab_enabled": True}, "bot_user": {"display_name": "mq"}},
    "oauth_config": {"scopes": {"bot": ["chat:write"]}},
    "settings": {"interactivity": {"is_enabled": True}},
}


class Outside:
    """Gives hostile strings, a new one each time, and counts them."""

    def __init__(self, seed: str) -> None:
        self._chance = random.Random(seed)
        self.given = 0

    def text(self) -> str:
        self.given += 1
        chance = self._chance
        parts = chance.choices((*HOSTILE, *NAMES, *SIGNS), k=chance.randint(1, 4))
        parts.insert(0, "".join(chance.choices(SIGNS, k=chance.randint(0, 6))))
        parts.append(chr(chance.choice((chance.randrange(0x300), chance.randrange(0xD800)))))
        return "".join(parts)

    def url(self) -> str:
        """An address on a host of ours with anything behind it, or no web address at all."""
        start = self._chance.choice((ADDRESS, ADDRESS, "javascript:", "&"))
        return start + self.text()

    def reason(self) -> str:
        return self.text()[:255]

    def actor(self) -> Actor:
        return Actor("U1", self.text(), "T0ACME")


Make = Callable[[Outside], Message | View]


def snapshot(outside: Outside) -> Snapshot:
    def queued(number: int) -> QueuedPullRequest:
        return make_queued(
            number,
            title=outside.text(),
            url=outside.url(),
            author=outside.text(),
            priority_alias=outside.text(),
        )

    batches = [
        make_batch(queued(number), name=outside.text(), code=outside.text()) for number in range(5)
    ]
    return make_snapshot(
        make_status(*batches, waiting=[queued(number) for number in range(10)]),
        pause=make_known_pause(outside.reason(), actor=outside.actor()),
        branch=outside.text()[:200] or None,
    )


def event(event_type: str, code: str | None = None) -> Make:
    def make(outside: Outside) -> Message:
        record = make_event_record(
            event_type,
            base_ref=outside.text(),
            reason=outside.text(),
            actor=outside.text(),
            conclusion=outside.text(),
            queue_name=outside.text(),
            trigger="@" + outside.text(),
            checks=[{"name": outside.text(), "url": outside.url()} for _ in range(3)],
            code=code,
            merged=False,
        )
        seen = make_pull_request_record(
            title=outside.text(), url=outside.url(), author=outside.text()
        )
        return event_posts.event(record, seen)

    return make


def error(make: Callable[[Outside], Exception]) -> Make:
    return lambda outside: errors.explain(
        make(outside),
        command="/mq",
        reference="0a1b2c3d",
        repository=outside.text(),
        retry=outside.text(),
    )


def denial(right: Right, reason: DenialReason) -> Make:
    return error(
        lambda outside: PermissionDenied(
            right,
            Denied(reason, outside.text()),
            WhoCan((outside.text(), outside.text()), (outside.text(), outside.text()), 2),
        )
    )


def act(of: Callable[..., Message], action: Action) -> Make:
    return lambda outside: of(
        make_act(
            action,
            actor=outside.actor(),
            reason=outside.reason(),
            previous_reason=outside.reason(),
            previous_paused_at=NOON - timedelta(hours=2),
        )
    )


def leave(outside: Outside) -> EventRecord:
    return make_event_record(
        "action.queue.leave", base_ref=outside.text(), reason=outside.text(), merged=False
    )


def seen(outside: Outside) -> PullRequestRecord:
    return make_pull_request_record(title=outside.text(), url=outside.url(), author=outside.text())


def explained(outside: Outside) -> Message:
    shown = snapshot(outside)
    place = InBatch(shown.status.waiting_pull_requests[0], shown.status.batches[0], 1)
    return why.why(Explanation(41, shown, place, [leave(outside)] * 9, {}, seen(outside)))


def explained_after_it_left(outside: Outside) -> Message:
    place = Left(leave(outside))
    return why.why(Explanation(41, snapshot(outside), place, [], {}, seen(outside)))


def log_page(outside: Outside) -> Message:
    window = Window(NOON - timedelta(days=1), NOON)
    place = LogPlace(LogSelection(SITE, window, branch=outside.text()[:255]), outside.text())
    records = [leave(outside) for _ in range(5)]
    return event_log.event_log(LogPage(place, records, {}, {41: seen(outside)}, place, place))


def queue_rules(outside: Outside) -> Message:
    rule = QueueRule(name=outside.text(), config={outside.text(): [outside.text()]})
    return rules.rules(SITE, (rule,))


def active_branch(outside: Outside) -> BranchActivity:
    return BranchActivity(outside.text(), 3, leave(outside), seen(outside))


MAKERS: list[Make] = [
    explained,
    explained_after_it_left,
    log_page,
    queue_rules,
    lambda outside: branches.branches(
        SITE, timedelta(days=7), BranchPage((active_branch(outside), active_branch(outside)), 0, 2)
    ),
    lambda outside: statistics.statistics(make_statistics(branch=outside.text())),
    lambda outside: status.status(snapshot(outside)),
    lambda outside: board.board(
        Board(CHANNEL, SITE, outside.text(), NOON), seen_by_boards(None, snapshot(outside))
    ),
    lambda outside: board.ended(
        Board(CHANNEL, SITE, outside.text(), NOON, ended_at=NOON, ended_by=outside.text())
    ),
    lambda outside: status.waiting_page(snapshot(outside), 0),
    lambda outside: home.home(
        make_home(
            snapshot(outside),
            API,
            subscriptions=[make_subscription(outside.text()[:200] or "enter")],
            outbox=make_outbox(suspended=[("C0OLD", outside.text())]),
        ),
        make_viewer(outside.text()),
        "/mq",
    ),
    lambda outside: people.me(make_person(outside.text()), "/mq"),
    lambda outside: people.linked(make_person(outside.text()), "/mq"),
    lambda outside: people.linked(make_person(outside.text()), "/mq", is_first=True),
    lambda outside: home.refused(
        PermissionDenied(Right.READ, Denied(DenialReason.UNVERIFIABLE, outside.text()), WhoCan())
    ),
    lambda outside: choice.which_repository([SITE], outside.text()[:240]),
    lambda outside: pause.already_paused(
        SITE, make_known_pause(outside.reason(), actor=outside.actor()), outside.reason()
    ),
    lambda outside: pause.other_pause(
        SITE, make_known_pause(outside.reason(), actor=outside.actor())
    ),
    lambda outside: pause_form.form(
        [SITE], chosen=SITE, channel_id=CHANNEL, notes=pause_form.queue_notes(snapshot(outside))
    ),
    *(act(each, Action.PAUSE) for each in (pause.act, pause.paused_reply, pause.replaced)),
    *(denial(right, reason) for right in Right for reason in DenialReason),
    *(event(each) for each in sorted(EVENT_TYPES)),
    *(event("action.queue.leave", each) for each in sorted(DEQUEUE_CODES)),
    lambda outside: event(outside.text(), outside.text())(outside),
    lambda outside: subscriptions.subscribed(
        SITE,
        [make_subscription(outside.text())],
        ChannelAccess.INVITE,
        command="/mq",
        bot_name=outside.text(),
    ),
    error(lambda outside: CommandSyntaxError(outside.text(), usage=outside.text())),
    error(lambda outside: RepositoryNotAllowed(outside.text(), (outside.text(),))),
    error(lambda outside: InvalidRequest(422, outside.text(), field=outside.text())),
    error(lambda outside: InvalidConfiguration(422, outside.text())),
    error(lambda outside: ValueError(outside.text())),
]


class Workspace:
    """The strict workspace's Web API, in this process."""

    def __init__(self) -> None:
        self.sandbox = SlackSandbox(MANIFEST, rate_limits="off")

    def show(self, rendered: Message | View) -> Json:
        """What Slack keeps of it; fails when Slack refuses it, for whatever reason."""
        if isinstance(rendered, Message):
            blocks = [dict(block) for block in rendered.blocks]
            given: Json = {"channel": CHANNEL, "text": rendered.text, "blocks": blocks}
            return self._call("chat.postMessage", given, "message")
        if rendered.view["type"] == "home":
            given = {"user_id": READER, "view": dict(rendered.view)}
            return self._call("views.publish", given, "view")
        self.sandbox.installation.views.clear(READER)
        trigger = self.sandbox.installation.triggers.mint(READER)
        given = {"trigger_id": trigger, "view": dict(rendered.view)}
        return self._call("views.open", given, "view")

    def _call(self, method: str, given: Json, kept: str) -> Json:
        answer = self.sandbox.web_api.respond(method, Received(given, self.sandbox.bot_token))
        body: Json = json.loads(answer.text or "")
        assert body["ok"] is True, (body, given)
        stored: Json = body[kept]
        return stored


def read(text: str) -> Iterator[Json]:
    """The parts that Slack's own reader makes of stored text."""
    for section in rich_text_from_person(text)["elements"]:
        yield from section["elements"]


def assert_calls_nobody(text: str) -> None:
    for part in read(text):
        if part["type"] == "channel" and part["channel_id"] in OUR_CHANNELS:
            continue
        if part["type"] == "user" and part["user_id"] in CALLED:
            continue
        assert part["type"] in {"text", "link", "broadcast"}, (part, text)
        if part["type"] == "broadcast" and part["range"] != f"subteam^{ON_CALL}":
            assert DATE.fullmatch(part["range"]), (part, text)


def assert_leads_to_our_host(text: str) -> None:
    for part in read(text):
        if part["type"] == "link":
            assert part["url"].startswith(ADDRESS), (part, text)


def assert_can_do_nothing(stored: Json) -> None:
    for found in text_objects(stored.get("blocks", [])):
        if found["type"] == "mrkdwn":
            assert found["verbatim"] is True, found
            assert_calls_nobody(found["text"])
            assert_leads_to_our_host(found["text"])
    if "text" in stored:
        assert_calls_nobody(stored["text"])
        assert stored["text"].strip()


def test_hostile_strings_have_no_effect_in_slack(request: pytest.FixtureRequest) -> None:
    outside = Outside(request.config.getoption("--hypothesis-seed"))
    workspace = Workspace()
    rounds = 0
    while outside.given < STRINGS:
        for make in MAKERS:
            stored = workspace.show(make(outside))
            assert "blocks" in stored
            assert_can_do_nothing(stored)
        # Every message there is: each with a string for all that stands in it.
        for name, rendered in every_message(outside.text(), outside.url()).items():
            stored = workspace.show(rendered)
            assert ("blocks" in stored) == (name not in WITHOUT_BLOCKS), name
            assert_can_do_nothing(stored)
        rounds += 1
    assert rounds > STRINGS / 5_000
