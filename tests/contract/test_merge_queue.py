"""The MergeQueue port: FakeMergeQueue, and MergeQueueClient against the sandbox."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pydantic import SecretStr

from bot.acts.asked import number_condition
from bot.freezes.outcomes import with_exception
from bot.kernel.errors import InvalidRequest
from bot.kernel.metrics import Metrics
from bot.kernel.pacing import Patience
from bot.kernel.repository import RepositoryName
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.errors import EventTypesRefused, MergeQueueUnavailable, ResourceNotFound
from bot.merge_queue.event_records import EventPage, EventRecord
from bot.merge_queue.event_types import EVENT_TYPES, is_known_event_type
from bot.merge_queue.freezes import FreezeChange, FreezeTerms, ends_as, moment
from bot.merge_queue.http import Http
from bot.merge_queue.port import UnclearChange
from bot.merge_queue.queue import Pause, QueueRule, QueueStatus
from bot.merge_queue.window import Window
from bot.sandbox.merge_queue import payloads
from bot.sandbox.merge_queue.controls import NewPullRequest, SentEvent
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.payloads import Dialect
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from tests.support import published
from tests.support.clock import FakeClock
from tests.support.make import make_event_record
from tests.support.merge_queue import FakeMergeQueue
from tests.support.metrics import counted
from tests.support.samples import sample_bytes

SITE = RepositoryName.parse("acme/site")
UNKNOWN = RepositoryName.parse("acme/unknown")
SHOWN_IN_DETAIL = ("action.queue.", "queue.pause.", "scheduled_freeze.")
NOW = datetime(2026, 7, 20, 12, 0, tzinfo=UTC)
WINDOW = Window(NOW - timedelta(hours=2), NOW + timedelta(hours=1))

CHANGES = {
    "pause": ("/pause", "PUT"),
    "resume": ("/pause", "DELETE"),
    "create_freeze": ("/scheduled_freeze", "POST"),
    "change_freeze": ("/scheduled_freeze", "PATCH"),
    "delete_freeze": ("/delete", "POST"),
}
"""Path and method of the request for each method of the port."""


class FakeWorld:
    """The fake, and ways to change the service."""

    def __init__(self) -> None:
        self.fake = FakeMergeQueue(clock=FakeClock(), page_size=100)
        self.fake.all_rules[SITE] = (QueueRule(name="default", config={}),)
        self.fake.all_branches[SITE] = ("main",)
        self.merge_queue = self.fake
        self._next_id = 1

    def write(self, event_type: str, received_at: datetime, pull_request: int | None) -> int:
        """Write an event into the log and return its id."""
        event_id = self._next_id
        self._next_id = self._next_id + 1
        self.fake.log(
            SITE,
            make_event_record(
                event_type,
                event_id=event_id,
                received_at=received_at,
                pull_request=pull_request,
                merged=True,
            ),
        )
        return event_id

    def lose_next_answer(self, method: str, fault: Mapping[str, Any]) -> None:
        """Of freezes the adapter finds by itself what it did."""
        del fault
        if method in {"pause", "resume"}:
            self.fake.lose_next_answer(method)

    def be_down(self) -> None:
        self.fake.fail_next(MergeQueueUnavailable("down", status=503))

    def queue_some(self) -> None:
        """Put pull requests into the queue's status."""
        self.fake.statuses[SITE] = QueueStatus.model_validate_json(sample_bytes("status"))


class SandboxWorld:
    """The client on the sandbox, and the same ways to change the service."""

    def __init__(self, sandbox: MergeQueueSandbox, client: MergeQueueClient) -> None:
        self.sandbox = sandbox
        self.client = client
        self.merge_queue = client

    def write(self, event_type: str, received_at: datetime, pull_request: int | None) -> int:
        sent = SentEvent(event_type, {"merged": True}, pull_request, "main", "test", received_at)
        return self.sandbox.emit(SITE, sent)

    def lose_next_answer(self, method: str, fault: Mapping[str, Any]) -> None:
        """Carry out the next call of the port's method, then give no answer or a false one."""
        path, verb = CHANGES[method]
        self.sandbox.faults.arm(Fault(path=path, method=verb, **fault))

    def be_down(self) -> None:
        self.sandbox.faults.arm(Fault("error", status=503, times=None))

    def queue_some(self) -> None:
        for number in range(3):
            self.sandbox.enqueue(SITE, NewPullRequest(title=f"Change {number}"))


World = FakeWorld | SandboxWorld
WORLDS = ("fake", "sandbox", "live sandbox")
EVERYWHERE = pytest.mark.parametrize(
    "world",
    [*WORLDS, "other platform", "deprecated pauses", "only deprecated pauses"],
    indirect=True,
)
"""For what those services do in their own way: pauses, and what is named after the platform."""


@pytest.fixture(params=WORLDS)
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    if request.param == "fake":
        yield FakeWorld()
        return
    sandbox = MergeQueueSandbox(
        repositories={SITE: "quiet"},
        token="key",
        real_time=False,
        start_at=NOW,
        dialect="live" if request.param == "live sandbox" else "document",
        host="otherhost" if request.param == "other platform" else "github",
        pause_endpoints="deprecated" if request.param == "only deprecated pauses" else "both",
    )
    await sandbox.start()
    try:
        http = Http(
            base_url=sandbox.base_url,
            token=SecretStr("key"),
            clock=FakeClock(),
            patience=Patience(read=5, total=8),
        )
        deprecated = request.param == "deprecated pauses"
        async with MergeQueueClient(http, deprecated_pause=deprecated) as client:
            yield SandboxWorld(sandbox, client)
    finally:
        await sandbox.stop()


@EVERYWHERE
async def test_a_pause_is_in_force_until_it_is_resumed_once(world: World) -> None:
    queue = world.merge_queue
    assert await queue.current_pause(SITE) is None
    assert await queue.resume(SITE) is False

    paused = await queue.pause(SITE, "deploying 4.2, émoji 🚀")

    assert isinstance(paused, Pause)
    assert (paused.reason, paused.paused_at) == ("deploying 4.2, émoji 🚀", NOW)
    assert await queue.current_pause(SITE) == paused
    await queue.pause(SITE, "second")
    in_force = await queue.current_pause(SITE)
    assert in_force is not None
    assert in_force.reason == "second"
    assert await queue.resume(SITE) is True
    assert await queue.resume(SITE) is False
    assert await queue.current_pause(SITE) is None


@EVERYWHERE
async def test_a_reason_has_255_characters_at_most_or_names_its_field(world: World) -> None:
    queue = world.merge_queue
    with pytest.raises(InvalidRequest) as caught:
        await queue.pause(SITE, "x" * 256)

    assert caught.value.detail.startswith("reason: ")
    assert await queue.current_pause(SITE) is None
    for length in (1, 255):
        paused = await queue.pause(SITE, "é" * length)
        assert isinstance(paused, Pause)
        assert paused.reason == "é" * length


LOST: dict[str, dict[str, Any]] = {
    "no answer": {"kind": "drop_after_accept"},
    "502": {"kind": "html_error", "status": 502, "carried_out": True},
    "504": {"kind": "html_error", "status": 504, "carried_out": True},
    "500": {"kind": "error", "status": 500, "carried_out": True},
}
"""Failures after the change was made, by what the log says of them."""
LOST_IN_ANY_WAY = pytest.mark.parametrize("lost", LOST)


@LOST_IN_ANY_WAY
@EVERYWHERE
async def test_changes_whose_answers_are_lost_are_unclear_and_the_pause_is_read_afterwards(
    world: World, lost: str
) -> None:
    queue = world.merge_queue
    # As each act does before its request.
    assert await queue.current_pause(SITE) is None
    answers: list[str] = []
    world.lose_next_answer("pause", LOST[lost])
    paused = await queue.pause(SITE, "deploying", on_answer=answers.append)
    assert isinstance(paused, UnclearChange)
    assert paused.pause == await queue.current_pause(SITE)
    assert paused.pause is not None
    assert paused.pause.reason == "deploying"

    world.lose_next_answer("resume", LOST[lost])
    resumed = await queue.resume(SITE, on_answer=answers.append)
    assert isinstance(resumed, UnclearChange)
    assert resumed.pause is None
    assert await queue.current_pause(SITE) is None
    # The fake has lost answers of one kind only.
    recorded = ("no answer", lost)
    assert [answer.startswith(recorded) for answer in answers] == [True, True]
    assert (paused.lost.repository, resumed.lost.repository) == (SITE, SITE)


@EVERYWHERE
async def test_responses_to_changes_are_recorded(world: World) -> None:
    answers: list[str] = []
    await world.merge_queue.pause(SITE, "CI is down", on_answer=answers.append)
    await world.merge_queue.resume(SITE, on_answer=answers.append)
    assert answers == ["200", "204"]
    await world.merge_queue.resume(SITE, on_answer=answers.append)
    assert answers[2].startswith("404 not found: ")


@pytest.mark.parametrize("world", ["live sandbox"], indirect=True)
async def test_a_newer_service_names_the_event_types_that_it_does_not_know(world: World) -> None:
    window = Window(NOW - timedelta(days=1), NOW)
    asked = [*EVENT_TYPES, "action.github_actions"]
    with pytest.raises(EventTypesRefused) as caught:
        await world.merge_queue.event_page(SITE, window, types=asked)

    gone = {"action.requeue", "action.unqueue", "command.requeue"}
    issues = {name for name in asked if name.startswith("ci_issue.")}
    assert caught.value.types == gone | issues
    assert caught.value.repository == SITE
    rest = set(asked) - caught.value.types
    assert await world.merge_queue.event_page(SITE, window, types=rest)


FREEZE = FreezeTerms(
    "release day (by alice via Slack)",
    None,
    NOW + timedelta(hours=2),
    ZoneInfo("Europe/Paris"),
    ("base=main",),
    ("label=hotfix",),
)


async def test_a_freeze_is_listed_changed_and_deleted(world: World) -> None:
    queue = world.merge_queue
    assert (await queue.freezes(SITE)).freezes == ()

    made = await queue.create_freeze(SITE, FREEZE)

    assert (made.reason, moment(made.start, made)) == (FREEZE.reason, NOW)
    assert ends_as(made, FREEZE.end)
    assert made.matching_conditions == FREEZE.matching
    assert made.excluded == FREEZE.excluded
    assert (await queue.freezes(SITE)).freezes == (made,)
    allowed = with_exception(made.excluded, number_condition(41))
    change = FreezeChange(NOW + timedelta(hours=3), ZoneInfo("Europe/Paris"), allowed)
    changed = await queue.change_freeze(SITE, made.id, change)
    assert changed.id == made.id
    assert ends_as(changed, NOW + timedelta(hours=3))
    assert changed.excluded == ({"or": ["label=hotfix", "number=41"]},)
    assert await queue.delete_freeze(SITE, made.id, "all done") is True
    assert await queue.delete_freeze(SITE, made.id, "all done") is False
    with pytest.raises(ResourceNotFound):
        await queue.change_freeze(SITE, made.id, change)


@LOST_IN_ANY_WAY
async def test_changes_of_a_freeze_whose_answers_are_lost_are_found(
    world: World, lost: str
) -> None:
    queue = world.merge_queue
    world.lose_next_answer("create_freeze", LOST[lost])
    made = await queue.create_freeze(SITE, FREEZE)
    world.lose_next_answer("change_freeze", LOST[lost])
    later = FreezeChange(NOW + timedelta(hours=5), ZoneInfo("Europe/Paris"))
    changed = await queue.change_freeze(SITE, made.id, later)
    assert ends_as(changed, NOW + timedelta(hours=5))
    world.lose_next_answer("delete_freeze", LOST[lost])
    assert await queue.delete_freeze(SITE, made.id, "done") is True
    assert (await queue.freezes(SITE)).freezes == ()


async def test_an_end_that_occurs_twice_on_the_clock_is_kept_exact(world: World) -> None:
    end = datetime(2026, 10, 25, 1, 30, tzinfo=UTC)  # The second 02:30 in Paris that day.

    made = await world.merge_queue.create_freeze(SITE, replace(FREEZE, end=end))

    assert moment(made.end, made) == end


@EVERYWHERE
async def test_unknown_repository_is_not_found(world: World) -> None:
    queue = world.merge_queue
    for call in (
        lambda: queue.status(UNKNOWN),
        lambda: queue.pause(UNKNOWN, "x"),
        lambda: queue.resume(UNKNOWN),
        lambda: queue.rules(UNKNOWN),
        lambda: queue.freezes(UNKNOWN),
        lambda: queue.event_page(UNKNOWN, WINDOW),
        lambda: queue.branches(UNKNOWN, WINDOW),
    ):
        with pytest.raises(ResourceNotFound) as caught:
            await call()
        assert caught.value.repository == UNKNOWN
    assert await queue.current_pause(UNKNOWN) is None


async def test_service_that_is_down_is_unavailable(world: World) -> None:
    world.be_down()

    with pytest.raises(MergeQueueUnavailable) as caught:
        await world.merge_queue.status(SITE)

    assert caught.value.status == 503


@EVERYWHERE
async def test_status_rules_branches_and_application_are_read(world: World) -> None:
    world.queue_some()

    status = await world.merge_queue.status(SITE)

    queued = [*status.waiting_pull_requests]
    queued += [pull_request for batch in status.batches for pull_request in batch.pull_requests]
    assert len(queued) >= 3
    assert all(
        pull_request.title and pull_request.url and pull_request.author.login
        for pull_request in queued
    )
    assert (await world.merge_queue.rules(SITE))[0].name
    assert "main" in await world.merge_queue.branches(SITE, WINDOW)
    assert (await world.merge_queue.application()).account.login == "acme"


async def test_event_log_is_read_page_by_page_without_gaps_or_duplicates(world: World) -> None:
    written = [
        world.write("action.queue.leave", NOW - timedelta(seconds=5 * number), 41)
        for number in range(250)
    ]

    read: list[int] = []
    cursor: str | None = None
    pages = 0
    while pages == 0 or cursor is not None:
        page = await world.merge_queue.event_page(
            SITE, WINDOW, types=["action.queue.leave"], cursor=cursor
        )
        assert page.unreadable == ()
        assert page.served_at is not None
        assert page.served_at.tzinfo is UTC
        assert page.next_cursor != cursor or cursor is None
        read += [event.event_id for event in page.events]
        cursor = page.next_cursor
        pages += 1
        if pages == 1:
            # What arrives during the walk moves nothing of it.
            world.write("action.queue.leave", NOW + timedelta(seconds=1), 42)

    assert pages == 3
    assert sorted(read) == sorted(written)


async def test_window_types_pull_request_and_base_branch_choose_the_events(world: World) -> None:
    leave = "action.queue.leave"
    merged = "action.queue.merged"
    early = world.write(leave, NOW - timedelta(hours=3), 4100)
    wanted = world.write(leave, NOW - timedelta(hours=1), 4100)
    other = world.write(merged, NOW - timedelta(hours=1), 4100)
    elsewhere = world.write(leave, NOW - timedelta(hours=1), 4200)

    async def read(**chosen: Any) -> dict[int, EventRecord]:
        page = await world.merge_queue.event_page(SITE, WINDOW, **chosen)
        return {event.event_id: event for event in page.events}

    leaves = await read(types=[leave])
    assert {wanted, elsewhere} <= leaves.keys()
    assert leaves.keys().isdisjoint({early, other})
    assert {wanted, other, elsewhere} <= (await read(types=(leave, merged))).keys()
    assert (await read(pull_request=4100)).keys() == {wanted, other}
    chosen = await read(pull_request=4100, base_ref="main", types=[leave])
    assert chosen.keys() == {wanted}
    assert (await read(base_ref="main")).keys() == {wanted, other, elsewhere}
    assert await read(base_ref="release") == {}
    found = leaves[wanted]
    assert (found.details.merged, found.pull_request, found.base_ref) == (True, 4100, "main")
    assert found.received_at == NOW - timedelta(hours=1)
    assert found.repository == SITE


async def test_pages_lead_back_to_the_newest(world: World) -> None:
    written = [
        world.write("action.queue.leave", NOW - timedelta(minutes=number), 4100)
        for number in range(1, 8)
    ]

    async def page(cursor: str | None = None) -> EventPage:
        return await world.merge_queue.event_page(
            SITE, WINDOW, pull_request=4100, per_page=3, cursor=cursor
        )

    def ids(read: EventPage) -> list[int]:
        return [event.event_id for event in read.events]

    first = await page()
    second = await page(first.next_cursor)
    third = await page(second.next_cursor)
    back = await page(third.previous_cursor)
    newest = await page(back.previous_cursor)

    assert (first.previous_cursor, third.next_cursor) == (None, None)
    assert (ids(first), ids(second), ids(third)) == (written[:3], written[3:6], written[6:])
    assert (ids(back), ids(newest)) == (written[3:6], written[:3])


@pytest.mark.parametrize(
    ("dialect", "metadata"), [("document", "seed"), ("live", "full"), ("document", "none")]
)
@pytest.mark.parametrize("scenario", ["busy", "bisecting", "paused", "frozen"])
async def test_all_data_of_the_sandbox_is_read_in_full(
    scenario: str, dialect: str, metadata: str
) -> None:
    sandbox = MergeQueueSandbox(
        repositories={SITE: scenario},
        token="key",
        real_time=False,
        start_at=NOW,
        dialect=dialect,
        metadata=metadata,
    )
    sandbox.advance(600)
    await sandbox.start()
    try:
        counts = Metrics()
        async with client_of(sandbox, counts) as client:
            window = Window(NOW - timedelta(days=90), NOW + timedelta(days=1))
            page = await client.event_page(SITE, window)
            events = list(page.events)
            while page.next_cursor is not None:
                page = await client.event_page(SITE, window, cursor=page.next_cursor)
                events += page.events
            status = await client.status(SITE)
            queues = await client.queues(SITE)
            await client.rules(SITE)
            await client.application()
    finally:
        await sandbox.stop()

    assert _unpublished(sandbox, dialect, metadata) == []
    assert counted(counts.service_unreadable_events) == {}
    assert counted(counts.service_unreadable_metadata) == {}
    assert len(events) == len(sandbox.events(SITE))
    for event in events:
        assert is_known_event_type(event.type), event.type
        if event.type.startswith(SHOWN_IN_DETAIL) and metadata != "none":
            assert len(json.loads(event.details.stored())) > 1, event.type
    # Some stand only in the pieces of a batch that is being bisected.
    assert {pull_request.number for pull_request in status.queued} == {
        pull_request.number for queue in queues for pull_request in queue.pull_requests
    }


def client_of(sandbox: MergeQueueSandbox, counts: Metrics) -> MergeQueueClient:
    token = SecretStr("key")
    http = Http(base_url=sandbox.base_url, token=token, clock=FakeClock(), metrics=counts)
    return MergeQueueClient(http)


def _unpublished(sandbox: MergeQueueSandbox, dialect: str, metadata: str) -> list[str]:
    """The problems of the sandbox's log with the vendor's published schemas."""
    vintage = {("live", "full"): "august", ("document", "seed"): "april"}.get((dialect, metadata))
    if vintage is None:
        return []
    speaks = Dialect(live=dialect == "live", metadata=metadata)
    return [
        f"{event.type} {problem}"
        for event in sandbox.events(SITE)
        if (shape := published.event_shapes(vintage).get(event.type)) is not None
        for problem in published.problems(vintage, shape, payloads.event(event, str(SITE), speaks))
    ]
