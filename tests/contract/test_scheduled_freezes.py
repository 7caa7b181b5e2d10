"""The sandbox's freeze endpoints, as strict as the hosted service's, and their effect."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from bot.kernel.repository import RepositoryName
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.errors import FreezesNotOffered, ResourceNotFound
from bot.merge_queue.http import Http
from bot.merge_queue.offered import BELIEVED_SECONDS
from bot.merge_queue.port import FreezeSupport
from bot.sandbox.merge_queue.controls import NewPullRequest
from bot.sandbox.merge_queue.credentials import Credential
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from tests.support.clock import FakeClock

SITE = RepositoryName.parse("acme/site")
UNKNOWN = RepositoryName.parse("acme/unknown")
FREEZES = "/repos/acme/site/scheduled_freeze"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TERMS: dict[str, Any] = {
    "reason": "release",
    "start": None,
    "end": "2026-03-02T11:00:00",
    "timezone": "Europe/Paris",
}
NO_ONE = "00000000-0000-0000-0000-000000000000"


def _sandbox(**more: Any) -> MergeQueueSandbox:
    credentials = (
        Credential("ci-key", scope="ci"),
        Credential("reader", kind="personal", may_write=False),
    )
    return MergeQueueSandbox(
        repositories={SITE: "quiet"},
        token="key",
        real_time=False,
        start_at=START,
        credentials=credentials,
        **more,
    )


@pytest.fixture
async def sandbox() -> AsyncIterator[MergeQueueSandbox]:
    made = _sandbox()
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
async def client(sandbox: MergeQueueSandbox) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": "Bearer key"}
    async with httpx.AsyncClient(base_url=sandbox.base_url, headers=headers) as made:
        yield made


async def test_a_freeze_is_created_listed_changed_and_deleted_and_the_log_tells(
    client: httpx.AsyncClient,
) -> None:
    made = await client.post(FREEZES, json=TERMS)
    one = f"{FREEZES}/{made.json()['id']}"
    assert made.status_code == 201
    assert made.json()["start"] == "2026-03-02T10:00:00"
    assert (await client.get(FREEZES)).json() == {"scheduled_freezes": [made.json()]}
    changed = await client.patch(one, json={"end": None})
    assert (changed.status_code, changed.json()["end"]) == (200, None)
    assert changed.json()["reason"] == "release"
    gone = await client.post(f"{one}/delete", json={"delete_reason": "released"})
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await client.get(FREEZES)).json() == {"scheduled_freezes": []}
    other = f"{FREEZES}/{(await client.post(FREEZES, json=TERMS)).json()['id']}"
    assert (await client.delete(other)).status_code == 204
    events = (await client.get("/repos/acme/site/logs")).json()["events"]
    told = [event["type"].removeprefix("scheduled_freeze.") for event in events]
    assert told == ["delete", "create", "delete", "update", "create"]
    delete, update, create = (event["metadata"] for event in events[2:])
    assert delete["reason"] == "released"
    attributes = "scheduled_freeze_attributes"
    assert update[f"{attributes}_before"] == create[attributes]
    assert update[f"{attributes}_after"] == delete[attributes]


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"reason": None}, "reason"),
    ({"reason": "x" * 10_001}, "reason"),
    ({"timezone": "Mars/Olympus"}, "timezone"),
    ({"start": "2026-03-02T10:00:00Z"}, "start"),
    ({"end": "tomorrow"}, "end"),
    ({"end": "2026-03-02T09:59:00"}, "body"),
    ({"matching_conditions": "base=main"}, "matching_conditions"),
    ({"exclude_conditions": ["moon=full"]}, "body"),
    ({"ends": None}, "ends"),
]


async def test_invalid_and_missing_fields_are_refused(client: httpx.AsyncClient) -> None:
    one = f"{FREEZES}/{(await client.post(FREEZES, json=TERMS)).json()['id']}"
    for change, field in INVALID:
        answers = [await client.post(FREEZES, json={**TERMS, **change})]
        # In a change, null leaves a field as it is.
        if change != {"reason": None}:
            answers.append(await client.patch(one, json=change))
        for refused in answers:
            assert refused.status_code == 422, change
            assert refused.json()["detail"].startswith(f"{field}: ")
    for left_out in ("reason", "start", "timezone"):
        sent = {name: value for name, value in TERMS.items() if name != left_out}
        refused = await client.post(FREEZES, json=sent)
        assert (refused.status_code, refused.json()["detail"]) == (422, f"{left_out}: is required")


async def test_the_start_changes_only_before_it_and_an_end_needs_a_reason(
    client: httpx.AsyncClient,
) -> None:
    later = {**TERMS, "start": "2026-03-02T10:30:00"}
    planned = f"{FREEZES}/{(await client.post(FREEZES, json=later)).json()['id']}"
    begun = f"{FREEZES}/{(await client.post(FREEZES, json=TERMS)).json()['id']}"
    new_start = {"start": "2026-03-02T10:45:00"}
    assert (await client.patch(planned, json=new_start)).status_code == 200
    assert (await client.patch(begun, json=new_start)).status_code == 400
    for sent in (None, {}, {"delete_reason": " "}):
        for freeze in (planned, begun):
            assert (await client.post(f"{freeze}/delete", json=sent)).status_code == 422
    missing = f"{FREEZES}/{NO_ONE}"
    assert (await client.patch(missing, json={})).status_code == 404
    assert (await client.post(f"{missing}/delete", json={"delete_reason": "x"})).status_code == 404
    assert (await client.delete(f"{FREEZES}/7")).status_code == 422


async def test_a_change_may_null_what_it_leaves(client: httpx.AsyncClient) -> None:
    """As the vendor publishes `UpdateScheduledFreezePayload`."""
    later = {**TERMS, "start": "2026-03-02T10:30:00"}
    planned = f"{FREEZES}/{(await client.post(FREEZES, json=later)).json()['id']}"
    nothing = dict.fromkeys(("reason", "timezone", "matching_conditions"))
    changed = await client.patch(planned, json={**nothing, "end": None})
    assert (changed.status_code, changed.json()["end"]) == (200, None)
    assert (changed.json()["reason"], changed.json()["timezone"]) == ("release", "Europe/Paris")


@pytest.mark.parametrize(
    ("condition", "rule"),
    [
        ("numbre=7", "the attribute must be one of base, label, author, number"),
        ("approved", "a condition compares an attribute with = or !="),
        ({"xor": ["base=main"]}, "and, or take a list of conditions, not takes one"),
        ({"not": ["base=main"]}, "and, or take a list of conditions, not takes one"),
        ({"and": ["base=main"], "or": ["base=main"]}, "one key: and, or, not"),
        ({}, "one key: and, or, not"),
    ],
)
async def test_a_refused_condition_names_the_rule(
    client: httpx.AsyncClient, condition: object, rule: str
) -> None:
    refused = await client.post(FREEZES, json={**TERMS, "matching_conditions": [condition]})
    assert refused.status_code == 422
    assert rule in refused.json()["detail"]


async def test_freezes_need_the_same_credentials_as_pauses(client: httpx.AsyncClient) -> None:
    one = f"{FREEZES}/{(await client.post(FREEZES, json=TERMS)).json()['id']}"
    writes = (("POST", FREEZES), ("PATCH", one), ("POST", f"{one}/delete"), ("DELETE", one))
    for token, read, written in (("none", 401, 401), ("ci-key", 403, 403), ("reader", 200, 403)):
        headers = {"Authorization": f"Bearer {token}"}
        assert (await client.get(FREEZES, headers=headers)).status_code == read, token
        for method, path in writes:
            refused = await client.request(method, path, json=TERMS, headers=headers)
            assert refused.status_code == written, (token, method)


async def test_merging_waits_for_the_freeze_except_for_an_excluded_pull_request(
    sandbox: MergeQueueSandbox, client: httpx.AsyncClient
) -> None:
    held, let_through = (
        sandbox.enqueue(SITE, NewPullRequest(title=title)) for title in ("Held", "Let through")
    )
    excluded = {"exclude_conditions": [f"number={let_through}"]}
    made = await client.post(FREEZES, json={**TERMS, **excluded})

    def merged_within(seconds: float) -> set[int | None]:
        events = sandbox.advance(seconds)
        return {event.pull_request for event in events if event.type == "action.queue.merged"}

    assert merged_within(3_000) == {let_through}
    one = f"{FREEZES}/{made.json()['id']}"
    assert (await client.post(f"{one}/delete", json={"delete_reason": "done"})).is_success
    assert merged_within(600) == {held}


async def test_a_service_without_freezes_is_asked_once() -> None:
    sandbox = _sandbox(lacks=["scheduled_freeze"])
    await sandbox.start()
    http = Http(base_url=sandbox.base_url, token=SecretStr("key"), clock=FakeClock())
    try:
        async with MergeQueueClient(http) as client:
            with pytest.raises(ResourceNotFound):
                await client.freezes(UNKNOWN)
            for _ in range(2):
                with pytest.raises(FreezesNotOffered):
                    await client.freezes(SITE)
            assert client.freeze_support is FreezeSupport.NOT_OFFERED
        asked = [
            request.path
            for request in sandbox.requests
            if request.path.endswith("scheduled_freeze")
        ]
        assert len(asked) == 2
    finally:
        await sandbox.stop()


@pytest.mark.parametrize("status", [404, 405, 410, 501])
async def test_an_odd_answer_means_no_freezes_for_some_minutes_only(
    sandbox: MergeQueueSandbox, status: int
) -> None:
    sandbox.faults.arm(Fault("error", path="scheduled_freeze", status=status))
    clock = FakeClock()
    http = Http(base_url=sandbox.base_url, token=SecretStr("key"), clock=clock)
    async with MergeQueueClient(http) as client:
        with pytest.raises(FreezesNotOffered):
            await client.scheduled.freezes(SITE)
        clock.advance(BELIEVED_SECONDS - 1)
        with pytest.raises(FreezesNotOffered):
            await client.freezes(SITE)
        support = [client.freeze_support]
        clock.advance(1)
        support.append(client.freeze_support)
        assert not (await client.freezes(SITE)).freezes
        clock.advance(BELIEVED_SECONDS)
        support += [client.freeze_support, client.scheduled.freeze_support]
    assert support == [
        FreezeSupport.NOT_OFFERED,
        FreezeSupport.UNKNOWN,
        FreezeSupport.OFFERED,
        FreezeSupport.OFFERED,
    ]
