"""The server: faults on the wire, control from outside, and a clock that runs."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import pytest

from bot.sandbox.merge_queue.controls import NewPullRequest, SentEvent
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.server import MergeQueueSandbox

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
REPO = "/repos/acme/site"
CONTROL = "/repositories/acme/site"


@pytest.fixture
async def sandbox() -> AsyncIterator[MergeQueueSandbox]:
    made = MergeQueueSandbox(
        repositories={"acme/site": "quiet"},
        token="key",
        real_time=False,
        start_at=START,
    )
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(headers={"Authorization": "Bearer key"}) as session:
        yield session


Answer = tuple[int, Any]


async def ask(
    http: aiohttp.ClientSession,
    method: str,
    url: str,
    json: object = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    async with http.request(method, url, json=json, headers=headers) as response:
        return response.status, await response.json()


class TestFaults:
    @pytest.mark.parametrize(
        ("kind", "is_carried_out"), [("drop_after_accept", True), ("drop_before", False)]
    )
    async def test_a_dropped_request_has_no_answer(
        self,
        sandbox: MergeQueueSandbox,
        http: aiohttp.ClientSession,
        kind: str,
        *,
        is_carried_out: bool,
    ) -> None:
        # Always armed, because this client tries a dropped PUT again by itself.
        sandbox.faults.arm(Fault(kind, method="PUT", times=None))
        with pytest.raises(aiohttp.ClientConnectionError):
            await ask(http, "PUT", f"{sandbox.base_url}{REPO}/merge-queue/pause", {"reason": "x"})
        assert (sandbox.repository("acme/site").pause is not None) is is_carried_out
        assert sandbox.requests[-1].status == 0

    async def test_a_fault_affects_a_given_number_of_requests_to_its_path(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        fault = Fault("error", path="/logs", times=2, status=503)
        sandbox.faults.arm(fault)
        logs, status = (f"{sandbox.base_url}{REPO}/{end}" for end in ("logs", "merge-queue/status"))
        answers = [(await ask(http, "GET", url))[0] for url in (logs, status, logs, logs)]
        assert answers == [503, 200, 503, 200]
        assert fault.hits == 2

    async def test_errors_come_as_json_or_as_a_page(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        url = f"{sandbox.base_url}/application"
        sandbox.faults.arm(Fault("error", status=409))
        assert await ask(http, "GET", url) == (409, {"detail": "Armed failure"})
        sandbox.faults.arm(Fault("html_error", status=502))
        async with http.get(url) as response:
            assert (response.status, response.content_type) == (502, "text/html")
            assert "<h1>" in await response.text()

    @pytest.mark.parametrize("hint", [None, "7", "Mon, 02 Mar 2026 09:00:30 GMT"])
    async def test_rate_limits_come_with_seconds_a_date_or_no_hint(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession, hint: str | None
    ) -> None:
        sandbox.faults.arm(Fault("rate_limit", retry_after=hint))
        async with http.get(f"{sandbox.base_url}{REPO}/logs") as response:
            assert (response.status, response.headers.get("Retry-After")) == (429, hint)

    async def test_a_malformed_body_is_not_json(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        sandbox.faults.arm(Fault("malformed"))
        with pytest.raises(ValueError, match="Expecting"):
            await ask(http, "GET", f"{sandbox.base_url}{REPO}/logs")

    async def test_a_truncated_body_is_shorter_than_announced(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        sandbox.faults.arm(Fault("truncate"))
        async with http.get(f"{sandbox.base_url}{REPO}/logs") as response:
            assert response.status == 200
            with pytest.raises(aiohttp.ClientPayloadError):
                await response.read()

    async def test_slow_gives_a_late_but_correct_response(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        sandbox.faults.arm(Fault("slow", seconds=0.2))
        began = time.monotonic()
        status, _ = await ask(http, "GET", f"{sandbox.base_url}/application")
        assert status == 200
        assert time.monotonic() - began >= 0.2

    async def test_a_stale_cursor_fault_affects_only_requests_with_a_cursor(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        for _ in range(3):
            sandbox.emit("acme/site", SentEvent("action.refresh"))
        sandbox.faults.arm(Fault("stale_cursor"))
        async with http.get(f"{sandbox.base_url}{REPO}/logs?per_page=2") as response:
            assert response.status == 200
            following = response.links["next"]["url"]
        status, body = await ask(http, "GET", str(following))
        assert (status, body) == (422, {"detail": "cursor: no longer valid"})
        assert (await ask(http, "GET", str(following)))[0] == 200
        sandbox.faults.arm(Fault("stale_cursor", status=410))
        assert (await ask(http, "GET", str(following)))[0] == 410

    async def test_a_wrong_date_comes_with_the_correct_response(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        sandbox.faults.arm(Fault("wrong_date", seconds=86400))
        async with http.get(f"{sandbox.base_url}{REPO}/logs") as response:
            date = parsedate_to_datetime(response.headers["Date"])
            assert response.status == 200
        assert date - datetime.now(UTC) > timedelta(hours=23)

    async def test_endless_links_lead_to_the_first_page_with_ever_new_cursors(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        event_id = sandbox.emit("acme/site", SentEvent("action.refresh"))
        sandbox.faults.arm(Fault("endless_links", times=None))
        following, seen = f"{sandbox.base_url}{REPO}/logs", set[str]()
        for _ in range(4):
            async with http.get(following) as response:
                assert [one["id"] for one in (await response.json())["events"]] == [event_id]
                following = str(response.links["next"]["url"])
                seen.add(following)
        assert len(seen) == 4

    def test_an_unknown_fault_is_refused(self) -> None:
        with pytest.raises(ValueError, match="unknown fault 'meteor'"):
            Fault("meteor")


class TestControl:
    async def test_faults_can_be_armed_listed_and_disarmed(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        url = f"{sandbox.control_url}/faults"
        assert (await ask(http, "POST", url, {"kind": "error", "times": None}))[0] == 200
        assert (await ask(http, "GET", f"{sandbox.base_url}/application"))[0] == 500
        _, listed = await ask(http, "GET", url)
        assert [(fault["kind"], fault["hits"]) for fault in listed["faults"]] == [("error", 1)]
        assert (await ask(http, "DELETE", url))[0] == 200
        assert (await ask(http, "GET", f"{sandbox.base_url}/application"))[0] == 200

    async def test_a_pull_request_can_be_queued_failed_and_dequeued(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        pulls = f"{sandbox.control_url}{CONTROL}/pull-requests"
        new = {"title": "Fix the lift", "author": "bob", "by": "bob"}
        _, first = await ask(http, "POST", pulls, new)
        _, second = await ask(http, "POST", pulls, {})
        assert sandbox.queued("acme/site", first["number"]).title == "Fix the lift"
        assert (await ask(http, "POST", f"{pulls}/{first['number']}/fail", {}))[0] == 200
        assert (await ask(http, "POST", f"{pulls}/{second['number']}/dequeue", {}))[0] == 200
        advance = f"{sandbox.control_url}/advance"
        _, advanced = await ask(http, "POST", advance, {"seconds": 300})
        assert advanced["now"] == "2026-03-02T09:05:00.000000Z"
        left = {
            event.pull_request: event.metadata["dequeue_code"]
            for event in sandbox.events("acme/site")
            if event.type == "action.queue.leave"
        }
        assert left == {
            first["number"]: "CHECKS_FAILED",
            second["number"]: "PR_MANUALLY_DEQUEUED",
        }

    async def test_an_unknown_conflict_is_refused_and_a_known_one_takes_effect(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        pulls = f"{sandbox.control_url}{CONTROL}/pull-requests"
        status, refused = await ask(http, "POST", pulls, {"conflict": "WITH_EVERYBODY"})
        assert status == 400
        assert "conflict: choose one of" in refused["detail"]
        await ask(http, "POST", pulls, {"conflict": "CONFLICT_WITH_BASE_BRANCH"})
        sandbox.advance(300)
        types = [event.metadata.get("dequeue_code") for event in sandbox.events("acme/site")]
        assert "CONFLICT_WITH_BASE_BRANCH" in types

    async def test_outside_the_merge_hours_a_batch_waits_for_its_schedule(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        control = f"{sandbox.control_url}{CONTROL}"
        assert (await ask(http, "POST", f"{control}/merge-hours", {"opens": 24, "closes": 1}))[
            0
        ] == 400
        await ask(http, "POST", f"{control}/merge-hours", {"opens": 12, "closes": 14})
        await ask(http, "POST", f"{control}/pull-requests", {})
        sandbox.advance(1800)
        url = f"{sandbox.base_url}/repos/acme/site/merge-queue/status"
        _, status = await ask(http, "GET", url)
        assert [one["status"]["code"] for one in status["batches"]] == ["waiting_schedule"]

    async def test_a_dashboard_user_pauses_and_resumes(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        url = f"{sandbox.control_url}{CONTROL}/pause"
        assert (await ask(http, "POST", url, {"reason": "incident", "by": "dave"}))[0] == 200
        (event,) = sandbox.events("acme/site")
        assert event.metadata["created_by"] == {"type": "user", "id": 10_404, "name": "dave"}
        assert (await ask(http, "DELETE", url))[1]["was_paused"] is True
        assert (await ask(http, "DELETE", url))[1]["was_paused"] is False

    async def test_a_freeze_is_made_and_removed(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        url = f"{sandbox.control_url}{CONTROL}/freezes"
        terms = {
            "reason": "release",
            "end": "2026-03-03T00:00:00Z",
            "matching_conditions": ["base=main"],
        }
        _, made = await ask(http, "POST", url, terms)
        assert sandbox.repository("acme/site").freezes[0].id == made["id"]
        assert (await ask(http, "DELETE", f"{url}/{made['id']}?reason=done"))[0] == 200
        assert (await ask(http, "DELETE", f"{url}/{made['id']}"))[0] == 404
        wrong = terms | {"matching_conditions": ["weather=fine"]}
        assert (await ask(http, "POST", url, wrong))[0] == 400

    async def test_an_event_may_arrive_late(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        url = f"{sandbox.control_url}{CONTROL}/events"
        body = {"type": "action.refresh", "pull_request": 5, "base_ref": "main"}
        _, now = await ask(http, "POST", url, body)
        late = (START - timedelta(hours=1)).isoformat()
        _, then = await ask(http, "POST", url, body | {"received_at": late})
        assert then["id"] > now["id"]
        _, log = await ask(http, "GET", f"{sandbox.base_url}{REPO}/logs")
        assert [event["id"] for event in log["events"]] == [now["id"], then["id"]]

    async def test_the_configuration_file_is_broken_and_fixed(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        control = f"{sandbox.control_url}{CONTROL}/configuration"
        read = f"{sandbox.base_url}{REPO}/queues/configuration"
        await ask(http, "POST", control, {"problem": "bad indent"})
        assert await ask(http, "GET", read) == (422, {"detail": "bad indent"})
        await ask(http, "POST", control, {"problem": None})
        assert (await ask(http, "GET", read))[0] == 200

    async def test_requests_to_the_api_are_counted_and_control_is_not(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        await ask(http, "GET", f"{sandbox.base_url}{REPO}/logs?per_page=1")
        _, seen = await ask(http, "GET", f"{sandbox.control_url}/requests")
        assert seen["count"] == sandbox.request_count == 1
        assert seen["requests"] == [
            {"method": "GET", "path": f"/v1{REPO}/logs?per_page=1", "status": 200},
        ]
        _, summary = await ask(http, "GET", sandbox.control_url)
        assert summary["repositories"] == {"acme/site": "quiet"}

    @pytest.mark.parametrize(
        "headers",
        [{"Host": "evil.example.com"}, {"Origin": "http://evil.example.com"}],
    )
    async def test_control_requests_with_another_host_or_from_a_foreign_page_are_refused(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession, headers: dict[str, str]
    ) -> None:
        url = f"{sandbox.control_url}/faults"
        for method in ("GET", "POST", "DELETE"):
            status, _ = await ask(http, method, url, {"kind": "error"}, headers)
            assert status == 403
        assert sandbox.faults.armed == []

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
            (f"{CONTROL}/pull-requests", {"title": 7}, 400),
            (f"{CONTROL}/pull-requests/9/fail", {}, 404),
            (f"{CONTROL}/pull-requests/nine/fail", {}, 404),
            ("/repositories/acme/none/pause", {}, 404),
        ],
    )
    async def test_wrong_control_requests_get_a_clear_answer(
        self,
        sandbox: MergeQueueSandbox,
        http: aiohttp.ClientSession,
        path: str,
        body: object,
        status: int,
    ) -> None:
        answered, said = await ask(http, "POST", f"{sandbox.control_url}{path}", body)
        assert answered == status
        assert said["detail"]


class TestRealTime:
    async def test_events_come_by_themselves_with_true_times(self) -> None:
        sandbox = MergeQueueSandbox(
            repositories={"acme/site": "quiet"},
            speed=500,
        )
        await sandbox.start()
        try:
            number = sandbox.enqueue("acme/site", NewPullRequest(base_ref="main"))
            deadline = time.monotonic() + 10
            while not any("merged" in event.type for event in sandbox.events("acme/site")):
                assert time.monotonic() < deadline
                await asyncio.sleep(0.02)
            last = sandbox.events("acme/site")[-1]
            assert last.pull_request in (number, None)
            assert abs(last.received_at / 1e6 - time.time()) < 2
        finally:
            await sandbox.stop()

    async def test_the_clock_cannot_be_moved_by_hand(self, http: aiohttp.ClientSession) -> None:
        sandbox = MergeQueueSandbox(repositories={"acme/site": "quiet"})
        await sandbox.start()
        try:
            with pytest.raises(RuntimeError, match="wall clock"):
                sandbox.advance(1)
            url = f"{sandbox.control_url}/advance"
            assert (await ask(http, "POST", url, {"seconds": 1}))[0] == 409
        finally:
            await sandbox.stop()

    async def test_a_taken_port_is_an_error_and_stopping_twice_is_not(self) -> None:
        first = MergeQueueSandbox(repositories={"acme/site": "quiet"})
        second = MergeQueueSandbox(repositories={"acme/site": "quiet"})
        await first.start()
        try:
            port = int(first.base_url.split(":")[2].split("/")[0])
            with pytest.raises(OSError, match="address already in use"):
                await second.start(port=port)
        finally:
            await first.stop()
            await first.stop()
            await second.stop()

    async def test_a_crashed_simulation_is_reported(self) -> None:
        sandbox = MergeQueueSandbox(repositories={"acme/site": "quiet"})
        await sandbox.start()
        sandbox.repository("acme/site").rules = ()
        with pytest.raises(IndexError):
            sandbox.enqueue("acme/site")
        await sandbox.stop()
