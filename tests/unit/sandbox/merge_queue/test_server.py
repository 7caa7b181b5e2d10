"""The server: faults on the wire, control from outside, and a clock that runs."""

import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest

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
        self,
        sandbox: MergeQueueSandbox,
        http: aiohttp.ClientSession,
        fault: Fault,
        status: int,
        hint: str | None,
        body: str,
    ) -> None:
        sandbox.faults.arm(fault)
        async with http.get(f"{sandbox.base_url}/application") as response:
            assert (response.status, response.headers.get("Retry-After")) == (status, hint)
            assert body in await response.text()
            if fault.kind in {"malformed", "html_error"}:
                with pytest.raises(ValueError, match="Expecting"):
                    await response.json(content_type=None)

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
        _, third = await ask(http, "POST", pulls, {"conflict": "CONFLICT_WITH_BASE_BRANCH"})
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
            third["number"]: "CONFLICT_WITH_BASE_BRANCH",
        }

    async def test_outside_the_merge_hours_a_batch_waits_for_its_schedule(
        self, sandbox: MergeQueueSandbox, http: aiohttp.ClientSession
    ) -> None:
        control = f"{sandbox.control_url}{CONTROL}"
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
            (f"{CONTROL}/merge-hours", {"opens": 24, "closes": 1}, 400),
            (f"{CONTROL}/pull-requests", {"title": 7}, 400),
            (f"{CONTROL}/pull-requests", {"conflict": "WITH_EVERYBODY"}, 400),
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
