"""The server: faults on the wire, control from outside, and a clock that runs."""

import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import pytest

from bot.sandbox.merge_queue.controls import NewPullRequest, SentEvent
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.server import MergeQueueSandbox

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SITE = "acme/site"
REPO = f"/repos/{SITE}"
CONTROL = f"/repositories/{SITE}"
PULLS = f"{CONTROL}/pull-requests"

Answer = tuple[int, Any]


@dataclass
class Wire:
    """A sandbox as its clients see it."""

    sandbox: MergeQueueSandbox
    http: aiohttp.ClientSession

    async def ask(self, method: str, path: str, json: object = None) -> Answer:
        """The API."""
        return await self._send(method, f"{self.sandbox.base_url}{path}", json)

    async def control(
        self, method: str, path: str, json: object = None, headers: dict[str, str] | None = None
    ) -> Answer:
        return await self._send(method, f"{self.sandbox.control_url}{path}", json, headers)

    async def _send(
        self, method: str, url: str, json: object, headers: dict[str, str] | None = None
    ) -> Answer:
        async with self.http.request(method, url, json=json, headers=headers) as response:
            return response.status, await response.json()


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(headers={"Authorization": "Bearer key"}) as session:
        yield session


@pytest.fixture
async def wire(http: aiohttp.ClientSession) -> AsyncIterator[Wire]:
    made = MergeQueueSandbox(
        repositories={SITE: "quiet"}, token="key", real_time=False, start_at=START
    )
    await made.start()
    yield Wire(made, http)
    await made.stop()


@pytest.mark.parametrize(
    ("kind", "is_carried_out"), [("drop_after_accept", True), ("drop_before", False)]
)
async def test_a_dropped_request_has_no_answer(
    wire: Wire, kind: str, *, is_carried_out: bool
) -> None:
    # Always armed, because this client tries a dropped PUT again by itself.
    wire.sandbox.faults.arm(Fault(kind, method="PUT", times=None))
    with pytest.raises(aiohttp.ClientConnectionError):
        await wire.ask("PUT", f"{REPO}/merge-queue/pause", {"reason": "x"})
    assert (wire.sandbox.repository(SITE).pause is not None) is is_carried_out
    assert wire.sandbox.requests[-1].status == 0


@pytest.mark.parametrize(
    ("fault", "status", "hint", "body"),
    [
        (Fault("error", status=409), 409, None, '{"detail": "Armed failure"}'),
        (Fault("html_error", status=502), 502, None, "<h1>"),
        (Fault("rate_limit"), 429, None, '"detail"'),
        (Fault("rate_limit", retry_after="7"), 429, "7", '"detail"'),
        (Fault("malformed"), 200, None, ""),
    ],
)
async def test_a_fault_has_its_status_and_body(
    wire: Wire, fault: Fault, status: int, hint: str | None, body: str
) -> None:
    wire.sandbox.faults.arm(fault)
    async with wire.http.get(f"{wire.sandbox.base_url}/application") as response:
        assert (response.status, response.headers.get("Retry-After")) == (status, hint)
        assert body in await response.text()
        if fault.kind in {"malformed", "html_error"}:
            with pytest.raises(ValueError, match="Expecting"):
                await response.json(content_type=None)


@pytest.mark.parametrize("is_carried_out", [True, False])
@pytest.mark.parametrize("kind", ["error", "html_error", "malformed"])
async def test_a_request_with_a_false_answer_may_have_been_carried_out(
    wire: Wire, kind: str, *, is_carried_out: bool
) -> None:
    fault = Fault(kind, method="PUT", status=502, carried_out=is_carried_out)
    wire.sandbox.faults.arm(fault)
    address = f"{wire.sandbox.base_url}{REPO}/merge-queue/pause"
    async with wire.http.put(address, json={"reason": "x"}) as response:
        assert response.status == (200 if kind == "malformed" else 502)
    assert (wire.sandbox.repository(SITE).pause is not None) is is_carried_out


@pytest.mark.parametrize("kind", ["drop_before", "rate_limit", "slow"])
def test_only_a_false_answer_can_be_said_to_be_carried_out(kind: str) -> None:
    with pytest.raises(ValueError, match="carried_out is a field of: error, html_error"):
        Fault(kind, carried_out=True)


async def test_a_truncated_body_is_shorter_than_announced(wire: Wire) -> None:
    wire.sandbox.faults.arm(Fault("truncate"))
    async with wire.http.get(f"{wire.sandbox.base_url}{REPO}/logs") as response:
        assert response.status == 200
        with pytest.raises(aiohttp.ClientPayloadError):
            await response.read()


async def test_slow_gives_a_late_but_correct_response(wire: Wire) -> None:
    wire.sandbox.faults.arm(Fault("slow", seconds=0.2))
    began = time.monotonic()
    assert (await wire.ask("GET", "/application"))[0] == 200
    assert time.monotonic() - began >= 0.2


async def test_time_that_is_skipped_has_passed_in_answers_and_events(
    http: aiohttp.ClientSession,
) -> None:
    hour = timedelta(hours=1)
    sandbox = MergeQueueSandbox(repositories={SITE: "quiet"}, token="key")
    await sandbox.start()
    try:
        begun = datetime.now(UTC).replace(microsecond=0)
        sandbox.skip(hour.total_seconds())
        sandbox.enqueue(SITE)
        async with http.get(f"{sandbox.base_url}{REPO}/logs") as response:
            assert parsedate_to_datetime(response.headers["Date"]) >= begun + hour
        received_at = sandbox.events(SITE)[-1].received_at
        assert received_at >= (begun + hour).timestamp() * 1_000_000
    finally:
        await sandbox.stop()


async def test_a_fault_affects_so_many_requests_to_its_path_or_all_until_disarmed(
    wire: Wire,
) -> None:
    twice = {"kind": "error", "path": "/logs", "times": 2, "status": 503}
    assert (await wire.control("POST", "/faults", twice))[0] == 200
    ends = ("logs", "merge-queue/status", "logs", "logs")
    answers = [(await wire.ask("GET", f"{REPO}/{end}"))[0] for end in ends]
    assert answers == [503, 200, 503, 200]
    assert (await wire.control("POST", "/faults", {"kind": "error", "times": None}))[0] == 200
    assert (await wire.ask("GET", "/application"))[0] == 500
    _, listed = await wire.control("GET", "/faults")
    hits = [(fault["kind"], fault["hits"]) for fault in listed["faults"]]
    assert hits == [("error", 2), ("error", 1)]
    assert (await wire.control("DELETE", "/faults"))[0] == 200
    assert (await wire.ask("GET", "/application"))[0] == 200


async def test_a_pull_request_can_be_queued_failed_and_dequeued(wire: Wire) -> None:
    new = {"title": "Fix the lift", "author": "bob", "by": "bob"}
    _, first = await wire.control("POST", PULLS, new)
    _, second = await wire.control("POST", PULLS, {})
    _, third = await wire.control("POST", PULLS, {"conflict": "CONFLICT_WITH_BASE_BRANCH"})
    assert wire.sandbox.queued(SITE, first["number"]).title == "Fix the lift"
    assert (await wire.control("POST", f"{PULLS}/{first['number']}/fail", {}))[0] == 200
    assert (await wire.control("POST", f"{PULLS}/{second['number']}/dequeue", {}))[0] == 200
    _, advanced = await wire.control("POST", "/advance", {"seconds": 300})
    assert advanced["now"] == "2026-03-02T09:05:00.000000Z"
    left = {
        event.pull_request: event.metadata["dequeue_code"]
        for event in wire.sandbox.events(SITE)
        if event.type == "action.queue.leave"
    }
    assert left == {
        first["number"]: "CHECKS_FAILED",
        second["number"]: "PR_MANUALLY_DEQUEUED",
        third["number"]: "CONFLICT_WITH_BASE_BRANCH",
    }


async def test_a_removal_may_take_a_while_and_be_asked_for_again_meanwhile(
    http: aiohttp.ClientSession,
) -> None:
    sandbox = MergeQueueSandbox(
        repositories={SITE: "quiet"},
        token="key",
        real_time=False,
        start_at=START,
        dialect="live",
        removal_lag=30,
    )
    await sandbox.start()
    wire = Wire(sandbox, http)
    first = sandbox.enqueue(SITE, NewPullRequest(hangs=True))
    stacked = sandbox.enqueue(SITE, NewPullRequest(hangs=True, stacked_on=first))

    async def leaving() -> dict[int, bool]:
        _, status = await wire.ask("GET", f"{REPO}/merge-queue/status")
        queued = [pull for batch in status["batches"] for pull in batch["pull_requests"]]
        queued += status["waiting_pull_requests"]
        return {pull["number"]: pull["dequeue_requested"] for pull in queued}

    assert await leaving() == {first: False, stacked: False}
    removal = f"{REPO}/merge-queue/pull/{first}/dequeue"
    for _ in range(2):
        async with http.post(f"{sandbox.base_url}{removal}") as answer:
            assert answer.status == 204
        sandbox.advance(15)
        assert await leaving() in ({first: True, stacked: False}, {})
    assert await leaving() == {}
    left = {event.pull_request for event in sandbox.events(SITE) if "leave" in event.type}
    assert left == {first, stacked}
    assert (await wire.ask("POST", removal))[0] == 404
    await sandbox.stop()


async def test_events_older_than_90_days_are_left_out(wire: Wire) -> None:
    for days in (200, 91, 89):
        received_at = START - timedelta(days=days)
        sent = SentEvent("action.queue.enter", pull_request=days, received_at=received_at)
        wire.sandbox.emit(SITE, sent)
    for days, shown in ((210, []), (180, []), (93, [89])):
        begin = START - timedelta(days=days)
        window = {
            "received_from": begin.isoformat(),
            "received_to": (begin + timedelta(days=90)).isoformat(),
        }
        async with wire.http.get(f"{wire.sandbox.base_url}{REPO}/logs", params=window) as response:
            events = (await response.json())["events"]
        assert [event["pull_request"] for event in events] == shown


async def test_only_an_option_keeps_the_deprecated_endpoint_from_creating_a_pause(
    http: aiohttp.ClientSession,
) -> None:
    sandbox = MergeQueueSandbox(
        repositories={SITE: "quiet"}, token="key", real_time=False, deprecated_creates=False
    )
    await sandbox.start()
    wire = Wire(sandbox, http)
    reason = {"reason": "x"}
    status, body = await wire.ask("PUT", f"{REPO}/queue/pause", reason)
    assert (status, body["detail"]) == (404, "The pause does not exist")
    assert (await wire.ask("PUT", f"{REPO}/merge-queue/pause", reason))[0] == 200
    assert (await wire.ask("PUT", f"{REPO}/queue/pause", {"reason": "y"}))[0] == 200
    await sandbox.stop()


async def test_outside_the_merge_hours_a_batch_waits_for_its_schedule(wire: Wire) -> None:
    await wire.control("POST", f"{CONTROL}/merge-hours", {"opens": 12, "closes": 14})
    await wire.control("POST", PULLS, {})
    wire.sandbox.advance(1800)
    _, status = await wire.ask("GET", f"{REPO}/merge-queue/status")
    assert [batch["status"]["code"] for batch in status["batches"]] == ["waiting_schedule"]


async def test_a_dashboard_user_pauses_twice_and_resumes(wire: Wire) -> None:
    pause = f"{CONTROL}/pause"
    dave = {"type": "user", "id": 10_404, "name": "dave"}
    for reason in ("incident", "fire"):
        said = {"reason": reason, "by": "dave"}
        assert (await wire.control("POST", pause, said))[0] == 200
    assert (await wire.control("DELETE", f"{pause}?by=dave"))[1]["was_paused"] is True
    assert (await wire.control("DELETE", pause))[1]["was_paused"] is False
    logged = [(event.type, event.metadata) for event in wire.sandbox.events(SITE)]
    (create, made), (update, changed), (delete, ended) = logged
    assert [create, update, delete] == [
        f"queue.pause.{word}" for word in ("create", "update", "delete")
    ]
    assert (made["reason"], made["created_by"]) == ("incident", dave)
    assert (changed["reason"], changed["updated_by"]) == ("fire", dave)
    assert ("reason" in ended, ended["deleted_by"]) == (False, dave)


async def test_a_freeze_is_made_and_removed(wire: Wire) -> None:
    url = f"{CONTROL}/freezes"
    terms = {
        "reason": "release",
        "end": "2026-03-03T00:00:00Z",
        "matching_conditions": ["base=main"],
    }
    _, made = await wire.control("POST", url, terms)
    assert wire.sandbox.repository(SITE).freezes[0].id == made["id"]
    assert (await wire.control("DELETE", f"{url}/{made['id']}?reason=done"))[0] == 200
    assert (await wire.control("DELETE", f"{url}/{made['id']}"))[0] == 404
    wrong = terms | {"matching_conditions": ["weather=fine"]}
    assert (await wire.control("POST", url, wrong))[0] == 400


async def test_an_event_may_arrive_late(wire: Wire) -> None:
    body = {"type": "action.refresh", "pull_request": 5, "base_ref": "main"}
    _, now = await wire.control("POST", f"{CONTROL}/events", body)
    late = (START - timedelta(hours=1)).isoformat()
    _, then = await wire.control("POST", f"{CONTROL}/events", body | {"received_at": late})
    assert then["id"] > now["id"]
    _, log = await wire.ask("GET", f"{REPO}/logs")
    assert [event["id"] for event in log["events"]] == [now["id"], then["id"]]


async def test_requests_to_the_api_are_counted_and_control_is_not(wire: Wire) -> None:
    await wire.ask("GET", f"{REPO}/logs?per_page=1")
    _, seen = await wire.control("GET", "/requests")
    assert seen["count"] == wire.sandbox.request_count == 1
    assert seen["requests"] == [
        {"method": "GET", "path": f"/v1{REPO}/logs?per_page=1", "status": 200},
    ]
    _, summary = await wire.control("GET", "")
    assert summary["repositories"] == {SITE: "quiet"}


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example.com"}, {"Origin": "http://evil.example.com"}]
)
async def test_control_requests_with_another_host_or_from_a_foreign_page_are_refused(
    wire: Wire, headers: dict[str, str]
) -> None:
    for method in ("GET", "POST", "DELETE"):
        status, _ = await wire.control(method, "/faults", {"kind": "error"}, headers)
        assert status == 403
    assert wire.sandbox.faults.armed == []


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/faults", {"kind": "meteor"}, 400),
        ("/faults", {"kind": "error", "colour": "red"}, 400),
        ("/faults", {}, 400),
        ("/faults", ["error"], 400),
        ("/faults", {"kind": "error", "times": "often"}, 400),
        ("/advance", {"seconds": "ten"}, 400),
        ("/advance", {"seconds": -1}, 400),
        (f"{CONTROL}/events", {"type": "x", "received_at": "2026-03-02T09:00:00"}, 400),
        (f"{CONTROL}/events", {"type": "x", "pull_request": "7"}, 400),
        (f"{CONTROL}/merge-hours", {"opens": 24, "closes": 1}, 400),
        (f"{PULLS}", {"title": 7}, 400),
        (f"{PULLS}", {"conflict": "WITH_EVERYBODY"}, 400),
        (f"{PULLS}/9/fail", {}, 404),
        (f"{PULLS}/nine/fail", {}, 404),
        ("/repositories/acme/none/pause", {}, 404),
    ],
)
async def test_wrong_control_requests_get_a_clear_answer(
    wire: Wire, path: str, body: object, status: int
) -> None:
    answered, said = await wire.control("POST", path, body)
    assert answered == status
    assert said["detail"]


@pytest.fixture
async def by_the_wall_clock() -> AsyncIterator[MergeQueueSandbox]:
    made = MergeQueueSandbox(repositories={SITE: "quiet"})
    await made.start()
    yield made
    await made.stop()


async def test_the_wall_clock_cannot_be_moved_by_hand(
    by_the_wall_clock: MergeQueueSandbox, http: aiohttp.ClientSession
) -> None:
    with pytest.raises(RuntimeError, match="wall clock"):
        by_the_wall_clock.advance(1)
    wire = Wire(by_the_wall_clock, http)
    assert (await wire.control("POST", "/advance", {"seconds": 1}))[0] == 409


async def test_a_taken_port_is_an_error_and_stopping_twice_is_not(
    by_the_wall_clock: MergeQueueSandbox,
) -> None:
    port = int(by_the_wall_clock.base_url.split(":")[2].split("/")[0])
    second = MergeQueueSandbox(repositories={SITE: "quiet"})
    with pytest.raises(OSError, match="address already in use"):
        await second.start(port=port)
    await second.stop()
    await by_the_wall_clock.stop()


async def test_a_crashed_simulation_is_reported(by_the_wall_clock: MergeQueueSandbox) -> None:
    by_the_wall_clock.repository(SITE).rules = ()
    with pytest.raises(IndexError):
        by_the_wall_clock.enqueue(SITE)
