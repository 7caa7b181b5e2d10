"""Every table and limit of the API document, tested on the sandbox over HTTP."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings, strategies as st
from jsonschema_rs import Draft202012Validator
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import positive_data_acceptance

from bot.sandbox.merge_queue.controls import NewPullRequest, SentEvent
from bot.sandbox.merge_queue.credentials import Credential
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from tests.support import published

REPO = "/repos/acme/site"
PAUSE = f"{REPO}/merge-queue/pause"
OLD_PAUSE = f"{REPO}/queue/pause"
# Made once: httpx would load all certificates of the machine for each client.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

# Section Endpoints: number, method, path, body.
ENDPOINTS = [
    (1, "GET", f"{REPO}/merge-queue/status", None),
    (2, "PUT", PAUSE, {"reason": "deploy"}),
    (3, "DELETE", PAUSE, None),
    (4, "GET", PAUSE, None),
    (5, "GET", f"{REPO}/queues/configuration", None),
    (6, "GET", f"{REPO}/logs", None),
    (7, "GET", f"{REPO}/queues/branches", None),
    (8, "GET", "/application", None),
    (9, "PUT", OLD_PAUSE, {"reason": "deploy"}),
    (10, "DELETE", OLD_PAUSE, None),
    (11, "GET", OLD_PAUSE, None),
    (12, "POST", f"{OLD_PAUSE}/delete", None),
    (13, "GET", f"{REPO}/queues", None),
]
ONE = f"{REPO}/merge-queue/pull/7"
FREEZE = f"{REPO}/scheduled_freeze"
NO_ONE = "00000000-0000-4000-8000-000000000000"
BEYOND = [
    ("GET", f"{REPO}/merge-queue/branches"),
    ("GET", ONE),
    ("GET", f"{ONE}/dequeue-impact"),
    ("POST", f"{ONE}/dequeue"),
    ("GET", FREEZE),
    ("POST", FREEZE),
    ("PATCH", f"{FREEZE}/{NO_ONE}"),
    ("DELETE", f"{FREEZE}/{NO_ONE}"),
    ("POST", f"{FREEZE}/{NO_ONE}/delete"),
]
"""What the hosted service has beyond the document."""

OF_A_REPOSITORY = [row for row in ENDPOINTS if row[0] != 8]
RESUME = [("DELETE", PAUSE), ("DELETE", OLD_PAUSE), ("POST", f"{OLD_PAUSE}/delete")]

CREDENTIALS = (
    Credential("ci-key", scope="ci", name="uploader"),
    Credential("other-key", account="globex", owners=frozenset({"globex"})),
    Credential("one-key", repositories=frozenset({"acme/api"})),
    Credential("person", kind="personal", name="bob", id=10_402),
    Credential("reader", kind="personal", name="dave", id=10_404, may_write=False),
)


@pytest.fixture
def scenario() -> str:
    """The sandbox's scenario; test classes that need a busy queue override it."""
    return "quiet"


@pytest.fixture
async def sandbox(scenario: str) -> AsyncIterator[MergeQueueSandbox]:
    made = MergeQueueSandbox(
        repositories={"acme/site": scenario, "acme/api": "quiet"},
        token="key",
        seed=3,
        real_time=False,
        start_at=START,
        credentials=CREDENTIALS,
    )
    await made.start()
    yield made
    await made.stop()


def connect(sandbox: MergeQueueSandbox, headers: dict[str, str]) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=sandbox.base_url, headers=headers, verify=NO_TLS)


@pytest.fixture
async def client(sandbox: MergeQueueSandbox) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": "Bearer key"}
    async with connect(sandbox, headers) as made:
        yield made


def as_(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
async def schemas(client: httpx.AsyncClient) -> dict[str, Any]:
    document: dict[str, Any] = (await client.get("/openapi.json")).json()
    return document


def follows(document: dict[str, Any], component: str, body: object) -> None:
    schema = {"$ref": f"#/components/schemas/{component}", **document}
    Draft202012Validator(schema, validate_formats=True).validate(body)


async def test_no_endpoint_answers_without_a_known_bearer_token(sandbox: MergeQueueSandbox) -> None:
    for header in (None, "Bearer wrong", "Basic key", "Bearer"):
        headers: dict[str, str] = {} if header is None else {"Authorization": header}
        async with connect(sandbox, headers) as client:
            for number, method, path, body in ENDPOINTS:
                response = await client.request(method, path, json=body)
                assert response.status_code == 401, (header, number)
                assert isinstance(response.json()["detail"], str)


async def test_a_key_without_permission_gets_403(client: httpx.AsyncClient) -> None:
    for token in ("ci-key", "other-key", "one-key"):
        for number, method, path, body in OF_A_REPOSITORY:
            response = await client.request(method, path, json=body, headers=as_(token))
            assert response.status_code == 403, (token, number)
            assert isinstance(response.json()["detail"], str)


async def test_both_kinds_of_credential_are_accepted(client: httpx.AsyncClient) -> None:
    for token in ("key", "person"):
        for number, method, path, body in OF_A_REPOSITORY:
            await client.put(PAUSE, json={"reason": "before"})
            response = await client.request(method, path, json=body, headers=as_(token))
            assert response.status_code in (200, 204), (token, number)


async def test_application_accepts_keys_of_any_scope_but_no_person(
    client: httpx.AsyncClient,
) -> None:
    for token, status in (("key", 200), ("ci-key", 200), ("person", 403)):
        response = await client.get("/application", headers=as_(token))
        assert response.status_code == status


class TestResources:
    @pytest.fixture
    def scenario(self) -> str:
        return "busy"

    async def test_fields_are_exactly_those_documented(
        self, client: httpx.AsyncClient, schemas: dict[str, Any]
    ) -> None:
        await client.put(PAUSE, json={"reason": "look"})
        for path, component in (
            (f"{REPO}/merge-queue/status", "Status"),
            (PAUSE, "Pause"),
            (f"{REPO}/queues/configuration", "QueueRules"),
            (f"{REPO}/logs", "EventLog"),
            (f"{REPO}/queues/branches", "Branches"),
            ("/application", "Application"),
            (OLD_PAUSE, "QueuePauses"),
            (f"{REPO}/queues", "Queues"),
        ):
            follows(schemas, component, (await client.get(path)).json())

    async def test_application_names_the_host_account(self, client: httpx.AsyncClient) -> None:
        body = (await client.get("/application")).json()
        assert isinstance(body["id"], int)
        assert body["github_account"] == {"id": 90_001, "login": "acme", "type": "Organization"}

    async def test_status_has_batches_with_slots_checks_and_pull_requests_by_scope(
        self, client: httpx.AsyncClient
    ) -> None:
        body = (await client.get(f"{REPO}/merge-queue/status")).json()
        assert body["batches"]
        for batch in body["batches"]:
            assert batch["batch_filled_slots"] == len(batch["pull_requests"]) > 0
            assert batch["batch_filled_slots"] <= batch["max_batch_slots"]
            assert 0 <= batch["checks_summary"]["passed"] <= batch["checks_summary"]["total"]
            for pull in batch["pull_requests"]:
                assert [label["name"] for label in pull["github_labels"]] == pull["labels"]
        ids = {batch["id"] for batch in body["batches"]}
        assert body["scope_queues"]
        assert {number for ids_of in body["scope_queues"].values() for number in ids_of} <= ids

    async def test_branch_narrows_the_status(self, client: httpx.AsyncClient) -> None:
        path = f"{REPO}/merge-queue/status"
        whole = (await client.get(path)).json()
        main = (await client.get(path, params={"branch": "main"})).json()
        release = (await client.get(path, params={"branch": "release/4.2"})).json()
        ids = [[batch["id"] for batch in body["batches"]] for body in (main, release, whole)]
        assert ids[0] + ids[1] == ids[2]
        none = (await client.get(path, params={"branch": "gone"})).json()
        assert (none["batches"], none["waiting_pull_requests"]) == ([], [])

    async def test_configuration_lists_rules_in_processing_order_with_the_keys_seen(
        self, client: httpx.AsyncClient
    ) -> None:
        rules = (await client.get(f"{REPO}/queues/configuration")).json()["configuration"]
        assert [rule["name"] for rule in rules] == ["hotfix", "release", "default"]
        assert set(rules[0]["config"]) == {
            *("priority", "batch_size", "batch_max_wait_time", "checks_timeout"),
            *("allow_inplace_checks", "allow_queue_branch_edit", "queue_branch_prefix"),
            *("queue_branch_merge_method", "batch_max_failure_resolution_attempts"),
            *("commit_message_template", "merge_method", "update_method"),
            *("draft_bot_account", "merge_bot_account", "update_bot_account"),
        }

    async def test_an_invalid_configuration_file_is_422(
        self, client: httpx.AsyncClient, sandbox: MergeQueueSandbox
    ) -> None:
        control = f"{sandbox.control_url}/repositories/acme/site/configuration"
        await client.post(control, json={"problem": "queue_rules[0]: unknown key"})
        response = await client.get(f"{REPO}/queues/configuration")
        assert response.status_code == 422
        assert response.json() == {"detail": "queue_rules[0]: unknown key"}
        await client.post(control, json={"problem": None})
        assert (await client.get(f"{REPO}/queues/configuration")).is_success

    async def test_branches_are_those_touched_in_the_window(
        self, client: httpx.AsyncClient, sandbox: MergeQueueSandbox
    ) -> None:
        path = "/repos/acme/api/queues/branches"
        assert (await client.get(path)).json() == {"base_refs": []}
        for days, base_ref in ((3, "old"), (0.5, "fresh")):
            at = START - timedelta(days=days)
            sent = SentEvent("action.queue.enter", base_ref=base_ref, received_at=at)
            sandbox.emit("acme/api", sent)
        assert (await client.get(path)).json() == {"base_refs": ["fresh"]}
        window = {"end_at": (START - timedelta(days=2.5)).isoformat()}
        assert (await client.get(path, params=window)).json() == {"base_refs": ["old"]}
        window = {"start_at": (START - timedelta(days=9)).isoformat()}
        assert (await client.get(path, params=window)).json() == {"base_refs": ["fresh", "old"]}

    async def test_the_deprecated_listing_counts_positions_from_0(
        self, client: httpx.AsyncClient
    ) -> None:
        queues = (await client.get(f"{REPO}/queues")).json()["queues"]
        assert {queue["branch"]["name"] for queue in queues} <= {"main", "release/4.2"}
        for queue in queues:
            positions = [pull["position"] for pull in queue["pull_requests"]]
            assert positions == list(range(len(positions)))
        checked = [
            pull["mergeability_check"]
            for queue in queues
            for pull in queue["pull_requests"]
            if pull["mergeability_check"]
        ]
        assert checked
        assert {check["check_type"] for check in checked} == {"draft_pr"}


async def test_pausing_and_resuming_and_404_when_not_paused(client: httpx.AsyncClient) -> None:
    detail = "The merge queue is not currently paused on this repository"
    for method, path in RESUME:
        for asked_for in (*RESUME, ("GET", PAUSE), ("GET", OLD_PAUSE)):
            refused = await client.request(*asked_for)
            assert (refused.status_code, refused.json()) == (404, {"detail": detail}), asked_for
        made = (await client.put(PAUSE, json={"reason": "deploying 4.2"})).json()
        assert made == {"reason": "deploying 4.2", "paused_at": "2026-03-02T09:00:00.000000Z"}
        assert (await client.get(PAUSE)).json() == made
        removed = await client.request(method, path)
        assert (removed.status_code, removed.content) == (204, b""), (method, path)
        assert (await client.get(PAUSE)).status_code == 404


async def test_pausing_again_changes_the_reason_on_both_endpoints_of_one_repository(
    client: httpx.AsyncClient,
) -> None:
    assert (await client.put(PAUSE, json={"reason": "first"})).is_success
    made = (await client.put(OLD_PAUSE, json={"reason": "second"})).json()
    (record,) = made["queue_pause"]
    assert (await client.get(OLD_PAUSE)).json() == made
    assert (await client.get(PAUSE)).json() == {
        "reason": "second",
        "paused_at": record["pause_date"],
    }
    assert (await client.get("/repos/acme/api/merge-queue/pause")).status_code == 404
    params = {"event_type": ["queue.pause.create", "queue.pause.update"]}
    events = (await client.get(f"{REPO}/logs", params=params)).json()["events"]
    assert [event["type"] for event in events] == ["queue.pause.update", "queue.pause.create"]
    assert events[0]["metadata"]["updated_by"]["type"] == "application"
    assert [event["metadata"]["reason"] for event in events] == ["second", "first"]
    # Events of the whole repository have no pull request.
    for event in events:
        assert (event["pull_request"], event["base_ref"]) == (None, None)
        assert event["repository"] == "acme/site"


async def test_reason(client: httpx.AsyncClient) -> None:
    for body, status in (
        ({"reason": ""}, 200),
        ({"reason": "x" * 255}, 200),
        ({"reason": "é" * 255}, 200),
        ({"reason": "x" * 256}, 422),
        ({"reason": None}, 422),
        ({"reason": 5}, 422),
        ({}, 422),
        (["reason"], 422),
    ):
        for path in (PAUSE, OLD_PAUSE):
            assert (await client.put(path, json=body)).status_code == status, (path, body)


async def test_a_body_that_is_not_json_is_422(client: httpx.AsyncClient) -> None:
    for content, kind in (
        (b"", "application/json"),
        (b"{", "application/json"),
        (b"[" * 100_000, "application/json"),
        ('{"reason":"x"}'.encode("utf-16"), "application/json"),
        (b'{"reason":"x"}', "text/plain"),
    ):
        response = await client.put(PAUSE, content=content, headers={"Content-Type": kind})
        assert response.status_code == 422, content[:20]


async def test_owner_and_repository(client: httpx.AsyncClient) -> None:
    for name, status in (
        *(("a" * 40 + "/site", 403), ("a" * 41 + "/site", 422), ("a_b/site", 422)),
        *(("a.b/site", 422), ("a%20b/site", 422)),
        *(("acme/a.b-c_d", 404), ("acme/" + "a" * 300, 404), ("acme/a%20b", 422)),
        *(("acme/a%0A", 422), ("acme/a@b", 422)),
    ):
        assert (await client.get(f"/repos/{name}/logs")).status_code == status, name


QUERIES = (
    ("per_page", "1", 200),
    ("per_page", "100", 200),
    ("per_page", "0", 422),
    ("per_page", "101", 422),
    ("per_page", "ten", 422),
    ("pull_request", "1", 200),
    ("pull_request", "2147483646", 200),
    ("pull_request", "2147483647", 422),
    ("pull_request", "0", 422),
    ("pull_request", "-1", 422),
    ("base_ref", "m", 200),
    ("base_ref", "m" * 255, 200),
    ("base_ref", "m" * 256, 422),
    ("base_ref", "", 422),
    ("event_type", "action.queue.enter", 200),
    ("event_type", "action.github_actions", 200),
    ("event_type", "action.gitlab_actions", 422),
    ("event_type", "no.such.event", 422),
    ("received_from", "2026-03-02T08:00:00Z", 200),
    ("received_from", "2026-03-02T08:00:00.123456+02:00", 200),
    ("received_from", "yesterday", 422),
    ("received_from", "2026-03-02", 422),
    ("received_from", "2026-03-02T09:00:00", 422),
    ("received_from", "2026-02-30T09:00:00Z", 422),
    ("received_from", "1772442000", 422),
    ("received_from", "٢026-03-02T09:00:00Z", 422),
    ("received_from", "", 422),
    ("received_to", "2026-13-02T08:00:00Z", 422),
    ("cursor", "made-up", 422),
)


async def test_log_query(client: httpx.AsyncClient) -> None:
    for name, value, status in QUERIES:
        response = await client.get(f"{REPO}/logs", params={name: value})
        assert response.status_code == status, (name, value, response.text)
        if status == 422:
            assert name in str(response.json()["detail"])


async def test_unknown_event_types_are_refused_by_their_indexes_and_the_rule_is_named(
    client: httpx.AsyncClient,
) -> None:
    sent = ["action.queue.enter", "no.such", "action.queue.leave", "action.dequeue"]
    response = await client.get(f"{REPO}/logs", params={"event_type": sent})

    assert response.status_code == 422
    wrong = response.json()["detail"]
    assert [problem["loc"] for problem in wrong] == [["query", "event_type", at] for at in (1, 3)]
    assert all("Input should be 'action.assign', " in problem["msg"] for problem in wrong)


async def test_a_renamed_repository_redirects_to_its_new_name(
    client: httpx.AsyncClient, sandbox: MergeQueueSandbox
) -> None:
    sandbox.rename("acme/site", "acme/website")
    response = await client.get(f"{REPO}/merge-queue/status", params={"branch": "main"})
    assert response.status_code == 301
    new = "/v1/repos/acme/website/merge-queue/status?branch=main"
    assert response.headers["Location"].endswith(new)


async def test_the_widest_window_is_93_days(client: httpx.AsyncClient) -> None:
    async def read_from(begin: datetime) -> httpx.Response:
        window = {"received_from": begin.isoformat(), "received_to": START.isoformat()}
        return await client.get(f"{REPO}/logs", params=window)

    widest = START - timedelta(days=93)
    assert (await read_from(widest)).is_success
    refused = await read_from(widest - timedelta(seconds=1))
    text = "'received_from' and 'received_to' cannot span more than 93 days"
    assert (refused.status_code, refused.json()) == (422, {"detail": text})


async def test_unknown_paths_and_methods_have_a_detail(client: httpx.AsyncClient) -> None:
    nowhere = await client.get(f"{REPO}/nowhere")
    assert (nowhere.status_code, list(nowhere.json())) == (404, ["detail"])
    wrong = await client.patch(PAUSE)
    assert (wrong.status_code, list(wrong.json())) == (405, ["detail"])
    assert set(wrong.headers["Allow"].split(",")) >= {"GET", "PUT", "DELETE"}


async def read_all(
    client: httpx.AsyncClient, per_page: int, between: Callable[[], object] = lambda: None
) -> list[dict[str, Any]]:
    """Follow `next` to the end, as pagination rule 4 says; `between` pages, do this."""
    response = await client.get(f"{REPO}/logs", params={"per_page": per_page})
    events = response.json()["events"]
    while "next" in response.links:
        between()
        response = await client.get(response.links["next"]["url"])
        assert response.json()["size"] == len(response.json()["events"])
        events += response.json()["events"]
    return list(events)


class TestEventLog:
    @pytest.fixture
    def scenario(self) -> str:
        return "busy"

    async def test_ten_a_page_newest_first(self, client: httpx.AsyncClient) -> None:
        body = (await client.get(f"{REPO}/logs")).json()
        assert (body["size"], body["per_page"]) == (10, 10)
        times = [event["received_at"] for event in body["events"]]
        assert times == sorted(times, reverse=True)
        ids = [event["id"] for event in body["events"]]
        assert ids == sorted(ids, reverse=True)
        for time in times:
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", time)

    async def test_following_next_links_reads_everything_once_also_while_events_arrive(
        self, client: httpx.AsyncClient, sandbox: MergeQueueSandbox
    ) -> None:
        for per_page, seconds in ((7, 0), (100, 0), (100, 20)):
            true = [event.id for event in sandbox.events("acme/site")][::-1]
            read = await read_all(client, per_page, partial(sandbox.advance, seconds))
            assert [event["id"] for event in read] == true

    async def test_links_are_absolute_at_the_address_that_was_asked(
        self, client: httpx.AsyncClient, sandbox: MergeQueueSandbox
    ) -> None:
        response = await client.get(
            f"{REPO}/logs",
            params={"base_ref": "main", "per_page": 3},
            headers={"Host": "queue.example.com:8080"},
        )
        assert set(response.links) == {"next", "first", "last"}
        url = httpx.URL(response.links["next"]["url"])
        assert (url.scheme, url.netloc) == ("http", b"queue.example.com:8080")
        assert url.path == f"/v1{REPO}/logs"
        assert (url.params["per_page"], url.params["base_ref"]) == ("3", "main")
        assert url.params["cursor"]
        assert sandbox.base_url.endswith("/v1")
        assert sandbox.base_url not in response.headers["Link"]

    async def test_first_prev_and_last_lead_back(self, client: httpx.AsyncClient) -> None:
        first = await client.get(f"{REPO}/logs", params={"per_page": 9})
        second = await client.get(first.links["next"]["url"])
        for relation in ("prev", "first"):
            again = await client.get(second.links[relation]["url"])
            assert again.json() == first.json()
        last = await client.get(second.links["last"]["url"])
        assert "next" not in last.links
        everything = await read_all(client, 9)
        assert last.json()["events"] == everything[-last.json()["size"] :]

    async def test_one_page_has_no_link_header(self, client: httpx.AsyncClient) -> None:
        response = await client.get("/repos/acme/api/logs")
        assert response.json() == {"size": 0, "per_page": 10, "events": []}
        assert "Link" not in response.headers

    async def test_a_cursor_of_another_repository_is_refused(
        self, client: httpx.AsyncClient
    ) -> None:
        url = (await client.get(f"{REPO}/logs")).links["next"]["url"]
        cursor = httpx.URL(url).params["cursor"]
        response = await client.get("/repos/acme/api/logs", params={"cursor": cursor})
        assert response.status_code == 422

    async def test_the_window_includes_both_ends_and_is_one_day_by_default(
        self, client: httpx.AsyncClient, sandbox: MergeQueueSandbox
    ) -> None:
        day = timedelta(days=1)
        for at in (START - day, START - day - timedelta(microseconds=1), START):
            sandbox.emit("acme/api", SentEvent("action.refresh", received_at=at))
        path = "/repos/acme/api/logs"
        ids = [event["id"] for event in (await client.get(path)).json()["events"]]
        assert len(ids) == 2
        older = {"received_to": (START - day).isoformat()}
        assert (await client.get(path, params=older)).json()["size"] == 2


ONE = f"{REPO}/merge-queue/pull/{{}}"


async def test_a_queued_pull_request_shows_its_place_and_its_checks(
    client: httpx.AsyncClient, sandbox: MergeQueueSandbox
) -> None:
    first, second = (
        sandbox.enqueue("acme/site", NewPullRequest(base_ref=base, hangs=True))
        for base in ("main", "release/4.2")
    )
    sandbox.advance(60)
    assert (await client.get(f"{REPO}/merge-queue/branches")).json() == {
        "branches": ["main", "release/4.2"]
    }
    body = (await client.get(ONE.format(first))).json()
    assert (body["number"], body["position"], body["queue_rule_name"]) == (first, 0, "default")
    assert body["checks_timeout_at"] > body["mergeability_check"]["started_at"]
    assert {check["state"] for check in body["mergeability_check"]["checks"]} == {"pending"}
    assert body["mergeability_check"]["conditions_evaluation"]["match"] is False
    assert set(body) == {
        *("number", "queued_at", "estimated_time_of_merge", "position", "checks_timeout_at"),
        *("priority_rule_name", "queue_rule_name", "queue_rule", "mergeability_check"),
    }
    assert (await client.get(ONE.format(second))).json()["position"] == 0


async def test_a_removal_has_the_impact_announced(
    client: httpx.AsyncClient, sandbox: MergeQueueSandbox
) -> None:
    numbers = [sandbox.enqueue("acme/site", NewPullRequest(hangs=True)) for _ in range(4)]
    stacked = sandbox.enqueue("acme/site", NewPullRequest(stacked_on=numbers[0], hangs=True))
    sandbox.advance(120)
    running = (await client.get(f"{REPO}/merge-queue/status")).json()["batches"]
    impact = (await client.get(f"{ONE.format(numbers[0])}/dequeue-impact")).json()
    assert impact == {
        "interrupted_batches": len(running),
        "rechecked_pull_requests": len(numbers) - 1,
        "cascaded_pull_requests": 1,
    }
    removed = await client.post(f"{ONE.format(numbers[0])}/dequeue")
    assert (removed.status_code, removed.content) == (204, b"")
    left = {"event_type": "action.queue.leave"}
    events = (await client.get(f"{REPO}/logs", params=left)).json()["events"]
    assert {event["pull_request"]: event["metadata"]["dequeue_code"] for event in events} == {
        numbers[0]: "PR_MANUALLY_DEQUEUED",
        stacked: "STACK_PREDECESSOR_DEQUEUED",
    }
    stopped = {"event_type": "action.queue.checks_end"}
    events = (await client.get(f"{REPO}/logs", params=stopped)).json()["events"]
    assert {event["pull_request"] for event in events} == {*numbers, stacked}


@pytest.mark.parametrize(
    ("number", "status"), [("7", 404), ("0", 422), ("x", 422), (str(2**31 - 1), 422)]
)
async def test_what_is_not_queued_or_no_number_is_refused(
    client: httpx.AsyncClient, number: str, status: int
) -> None:
    one = ONE.format(number)
    for method, path in (("GET", one), ("GET", f"{one}/dequeue-impact")):
        assert (await client.request(method, path)).status_code == status
    refused = await client.post(f"{one}/dequeue")
    assert (refused.status_code, list(refused.json())) == (status, ["detail"])


async def test_who_may_only_read_cannot_pause_or_remove(
    client: httpx.AsyncClient, sandbox: MergeQueueSandbox
) -> None:
    one = ONE.format(sandbox.enqueue("acme/site"))
    reads = [f"{REPO}/merge-queue/status", one, f"{one}/dequeue-impact"]
    for token, of_reads in (("reader", 200), ("ci-key", 403)):
        for path in reads:
            assert (await client.get(path, headers=as_(token))).status_code == of_reads
        for method, path in (("POST", f"{one}/dequeue"), ("PUT", PAUSE)):
            refused = await client.request(method, path, json={"reason": "x"}, headers=as_(token))
            assert refused.status_code == 403


@asynccontextmanager
async def asked(
    scenario: str = "busy", **options: Any
) -> AsyncIterator[tuple[MergeQueueSandbox, Callable[..., Coroutine[Any, Any, Any]]]]:
    """A sandbox of its own, and what it answers to a path."""
    sandbox = MergeQueueSandbox(
        repositories={"acme/site": scenario},
        token="key",
        real_time=False,
        start_at=START,
        **options,
    )
    await sandbox.start()
    try:
        async with connect(sandbox, as_("key")) as client:

            async def get(path: str, **params: Any) -> Any:
                return (await client.get(path, params=params)).json()

            yield sandbox, get
    finally:
        await sandbox.stop()


async def test_a_service_may_lack_endpoints() -> None:
    lacks = ("queues", "merge-queue/pull")
    async with asked(lacks=lacks) as (sandbox, _), connect(sandbox, as_("key")) as client:
        for path in ("queues", "queues/configuration", "merge-queue/pull/1"):
            assert (await client.get(f"{REPO}/{path}")).status_code == 404
        assert (await client.get(f"{REPO}/merge-queue/branches")).is_success


async def test_another_host_names_its_fields() -> None:
    async with asked(host="gitlab") as (_, get):
        assert "gitlab_account" in await get("/application")
        status = await get(f"{REPO}/merge-queue/status")
        assert "gitlab_labels" in status["batches"][0]["pull_requests"][0]
        log = await get(f"{REPO}/logs", event_type="action.gitlab_actions")
        assert log["size"] == 0


async def test_the_live_dialect_adds_the_fields_of_the_hosted_service() -> None:
    async with asked(dialect="live") as (_, get):
        application = await get("/application")
        assert re.fullmatch(r"[0-9a-f-]{36}", application["id"])
        assert application["scope"] == "admin"
        status = await get(f"{REPO}/merge-queue/status")
        batch = status["batches"][0]
        assert "max_batch_slots" in batch["status"]
        assert "max_batch_slots" not in batch
        assert batch["queue_rule_name"]
        assert status["pause"] is None
        assert status["mode"] == "serial"
        log = await get(f"{REPO}/logs", event_type="action.queue.leave")
        assert {event["outcome"] for event in log["events"]} <= {"success", "failure"}
        assert await get(PAUSE) == {"paused": False, "reason": None, "paused_at": None}
        follows(await get("/openapi.json"), "Application", application)


@pytest.mark.parametrize(
    ("metadata", "fields"),
    [("full", {"dequeue_code", "merged"}), ("seed", {"merged"}), ("none", set())],
)
async def test_metadata_may_be_complete_or_absent(metadata: str, fields: set[str]) -> None:
    async with asked(metadata=metadata) as (_, get):
        log = await get(f"{REPO}/logs", event_type="action.queue.leave")
        assert log["events"]
        for event in log["events"]:
            assert event["metadata"].keys() & {"dequeue_code", "merged"} == fields


VENDORS = {
    f"{REPO}/merge-queue/status": "MergeQueueStatus",
    f"{REPO}/merge-queue/branches": "MergeQueueBranches",
    f"{REPO}/queues/configuration": "QueuesConfig",
    f"{REPO}/queues/branches": "BaseRefsResponse",
    f"{REPO}/queues": "Queues",
    f"{REPO}/scheduled_freeze": "GetScheduledFreezesResponse",
    "/application": "ApplicationResponse",
    PAUSE: "MergeQueuePauseResponse",
}


@pytest.mark.parametrize("scenario", ["busy", "bisecting", "frozen", "paused", "failing"])
async def test_the_live_dialect_answers_by_the_vendors_newest_schema(scenario: str) -> None:
    async with asked(dialect="live", scenario=scenario) as (sandbox, get):
        for _ in range(3):
            for path, shape in VENDORS.items():
                assert published.problems("august", shape, await get(path)) == [], path
            page = await get(f"{REPO}/logs", per_page=100)
            for event in page["events"]:
                kind = published.event_shapes("august")[event["type"]]
                assert published.problems("august", kind, event) == [], event["type"]
            for number in numbers_of(await get(f"{REPO}/merge-queue/status"))[:5]:
                one = f"{REPO}/merge-queue/pull/{number}"
                found = await get(one)
                impact = await get(f"{one}/dequeue-impact")
                assert published.problems("august", "MergeQueuePullRequest", found) == []
                assert published.problems("august", "MergeQueueDequeueImpact", impact) == []
            sandbox.advance(45)


def numbers_of(status: dict[str, Any]) -> list[int]:
    return [pull_request["number"] for pull_request in status["waiting_pull_requests"]]


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
async def test_schemathesis_finds_nothing_against_the_published_document(
    mode: schemathesis.GenerationMode,
) -> None:
    sandbox = MergeQueueSandbox(repositories={"acme/site": "busy"}, token="key", speed=20)
    await sandbox.start()
    try:
        # Its client blocks.
        await asyncio.to_thread(try_every_operation, sandbox, mode)
    finally:
        await sandbox.stop()
    assert sandbox.request_count > 100


def try_every_operation(sandbox: MergeQueueSandbox, mode: schemathesis.GenerationMode) -> None:
    schema = schemathesis.openapi.from_url(f"{sandbox.base_url}/openapi.json")
    # A window over 93 days, a made-up cursor, a time zone and a condition of a freeze that don't
    # exist are refused, which JSON Schema cannot say.
    beyond_json_schema: list[Any] = [positive_data_acceptance]
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    assert len(operations) == len(ENDPOINTS) + len(BEYOND)
    for operation in operations:

        @given(case=operation.as_strategy(generation_mode=mode), known=st.booleans())
        @settings(
            max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), database=None
        )
        def hold(case: schemathesis.Case[Any], *, known: bool) -> None:
            if known and mode is schemathesis.GenerationMode.POSITIVE:
                case.path_parameters |= {"owner": "acme", "repository": "site"}
            is_beyond = case.path.endswith("/logs") or "scheduled_freeze" in case.path
            excluded = beyond_json_schema if is_beyond else None
            case.call_and_validate(headers=as_("key"), excluded_checks=excluded)

        hold()
