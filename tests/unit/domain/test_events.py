"""Events of every type, read from what a service sends: enough for their words, and bounded."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from bot.merge_queue.event_records import (
    EVENT_TEXT_KEPT,
    LIST_KEPT,
    NUMBERS_KEPT,
    EventDetails,
    EventRecord,
    FailedCheck,
    read_event,
)
from bot.merge_queue.event_types import EVENT_TYPES, LIVE_EVENT_TYPES, is_known_event_type
from tests.support.make import SITE, make_event
from tests.support.samples import sample

TYPED_GROUPS = ("action.queue.", "queue.pause.", "scheduled_freeze.", "command.")
LONG = "x" * (EVENT_TEXT_KEPT * 3)
LARGEST = 25_000
"""Characters of the details as JSON; the longest have seven texts and five checks of two."""

EVENTS = [
    pytest.param(sent, id=f"{log}:{sent['type']}")
    for log in ("event_log", "event_log_live")
    for sent in sample(log)["events"]
]


def details_of(event_type: str, log: str = "event_log") -> EventDetails:
    sent = next(event for event in sample(log)["events"] if event["type"] == event_type)
    return read_event(sent, SITE).record.details


def make(event_type: str, metadata: Any = None) -> tuple[EventRecord, bool]:
    return read_event(
        {"id": 1, "received_at": "2026-07-20T23:25:11Z", "type": event_type, "metadata": metadata},
        SITE,
    )


def swollen(value: Any, times: int = 60) -> Any:
    """The same shape with every text long and the outer lists many times as long."""
    if isinstance(value, str):
        return value if value[:2] == "20" or len(value) == 36 else LONG
    if isinstance(value, list):
        return [swollen(one, 1) for one in value] * times
    if isinstance(value, dict):
        return {name: swollen(one, times) for name, one in value.items()}
    return value


@pytest.mark.parametrize("sent", EVENTS)
def test_every_sample_event_is_read_and_survives_the_database(sent: dict[str, Any]) -> None:
    event, is_complete = read_event(sent, SITE)

    assert is_complete
    assert is_known_event_type(event.type)
    assert (event.event_id, event.pull_request, event.base_ref) == (
        sent["id"],
        sent["pull_request"],
        sent["base_ref"],
    )
    assert event.details.trigger == sent["trigger"]
    stored = event.details.stored()
    assert EventDetails.model_validate_json(stored).stored() == stored
    if event.type.startswith(TYPED_GROUPS):
        assert len(json.loads(stored)) > 1


@pytest.mark.parametrize("sent", EVENTS)
def test_memory_is_bounded_for_any_input(sent: dict[str, Any]) -> None:
    swelled = {**sent, "metadata": swollen(sent["metadata"]), "trigger": LONG, "base_ref": LONG}

    event, _ = read_event(swelled, SITE)

    assert len(event.details.stored()) < LARGEST
    assert len(event.base_ref or "") <= EVENT_TEXT_KEPT
    assert len(event.session_id or "") <= EVENT_TEXT_KEPT
    for value in json.loads(event.details.stored()).values():
        assert not isinstance(value, list) or len(value) <= max(NUMBERS_KEPT, LIST_KEPT)


def test_samples_show_every_type_of_the_document() -> None:
    shown = {sent["type"] for sent in sample("event_log")["events"]}

    assert shown - {"action.somehost_actions"} == EVENT_TYPES
    assert not EVENT_TYPES & LIVE_EVENT_TYPES


def test_platform_actions_are_known_for_any_platform() -> None:
    assert is_known_event_type("action.anyhost_actions")
    assert not is_known_event_type("action._actions.more")
    assert not is_known_event_type("action.of_tomorrow")


def test_each_group_of_types_has_its_own_fields() -> None:
    left = details_of("action.queue.leave", "event_log_live")
    assert (left.merged, left.code) == (True, "PR_MERGED")
    assert details_of("action.queue.leave").merged is False
    assert details_of("action.queue.checks_start").members == (41, 42)
    ended = details_of("action.queue.checks_end")
    assert (ended.code, [check.name for check in ended.checks]) == ("CHECKS_FAILED", ["unit"])
    assert details_of("action.queue.batch_bisection_end").culprits == (42,)
    assert details_of("action.queue.change").size == 3
    assert details_of("action.queue.merged").queue_name == "default"
    frozen = details_of("scheduled_freeze.update").freeze
    assert frozen is not None
    assert frozen.end == "2027-01-02T00:00:00"
    # A user, an application, and a login.
    assert details_of("queue.pause.create").actor == "ana"
    assert details_of("queue.pause.update").actor == "control room"
    assert details_of("command.queue").actor == "ana"


def test_a_leave_keeps_its_reason_and_the_failing_checks_with_links() -> None:
    checks = [
        {"name": "unit", "state": "failure", "url": "https://ci.example/1", "details_url": None},
        {"name": "lint", "state": "success", "url": "https://ci.example/2"},
        {"name": "e2e", "state": "timed_out", "details_url": "https://ci.example/3", "url": "x"},
    ]
    metadata = {"merged": False, "dequeue_code": "CHECKS_FAILED", "reason": "no", "checks": checks}

    details = make_event(1, "action.queue.leave", metadata=metadata).details

    assert (details.merged, details.code, details.reason) == (False, "CHECKS_FAILED", "no")
    assert details.checks == (
        FailedCheck(name="unit", url="https://ci.example/1", state="failure"),
        FailedCheck(name="e2e", url="https://ci.example/3", state="timed_out"),
    )
    assert details.checks_passed == 1


@pytest.mark.parametrize("state", ["success", "neutral", "skipped"])
def test_a_check_that_passed_did_not_fail_in_whichever_list_it_stands(state: str) -> None:
    checks = [{"name": "docs", "state": state}, {"name": "lint", "state": "failure"}]
    of_leave = {"merged": False, "unsuccessful_checks": checks}
    of_checks = {"speculative_check_pull_request": {"unsuccessful_checks": checks}}
    for event_type, metadata in (
        ("action.queue.leave", of_leave),
        ("action.queue.checks_end", of_checks),
    ):
        details = make_event(1, event_type, metadata=metadata).details
        assert [check.name for check in details.checks] == ["lint"]
        assert details.checks_left_out == 0


def condition(label: str, *, match: bool, **fields: Any) -> dict[str, Any]:
    return {"match": match, "label": label, "subconditions": [], "evaluations": [], **fields}


def related(*checks: str, match: bool = False) -> list[dict[str, Any]]:
    return [{"pull_request": 41, "match": match, "related_checks": list(checks)}]


def failed_of(tree: object, *names: str) -> dict[str | None, bool | None]:
    """Which of the failed checks are required, in the order in which they are kept."""
    checks = [{"name": name, "state": "failure"} for name in names]
    metadata = {"unsuccessful_checks": checks, "conditions_evaluation": tree}
    details = make_event(1, "action.queue.leave", metadata=metadata).details
    return {check.name: check.is_required for check in details.checks}


def test_a_check_is_required_if_a_condition_that_is_not_met_names_it() -> None:
    lint = condition("check-success=lint", match=False)
    unit = condition("all unit tests", match=False, evaluations=related("unit"))
    either = condition(
        "any of",
        match=True,
        subconditions=[
            condition("check-success=ios", match=False),
            condition("check-success=android", match=True),
        ],
    )
    whole = condition(
        "all of",
        match=False,
        subconditions=[lint, unit, either],
        evaluations=related("lint", "unit", "ios", "docs"),
    )

    assert failed_of(whole, "ios", "docs", "unit", "lint") == {
        "unit": True,
        "lint": True,
        "ios": False,
        "docs": False,
    }
    assert list(failed_of(whole, "ios", "docs", "unit", "lint")) == ["unit", "lint", "ios", "docs"]


def test_without_readable_conditions_nobody_knows_which_checks_are_required() -> None:
    deep: dict[str, Any] = condition("check-success=lint", match=False)
    for _ in range(3000):
        deep = condition("all of", match=False, subconditions=[deep])
    odd = {"match": False, "label": ["x"], "subconditions": "none", "evaluations": [3, {}]}
    of_labels = condition("label=ready", match=False)
    trees: list[Any] = [None, {}, [], "no", odd, of_labels, deep]
    for tree in trees:
        assert failed_of(tree, "lint") == {"lint": None}


def test_required_checks_are_the_last_to_be_left_out() -> None:
    tree = condition("check-success=lint", match=False)
    names = [f"docs {number}" for number in range(9)]

    assert failed_of(tree, *names, "lint")["lint"] is True


def test_the_unmet_conditions_of_a_leave_are_kept() -> None:
    tree = condition(
        "all of",
        match=False,
        subconditions=[condition("label=ready", match=False), condition("base=main", match=True)],
    )
    metadata = {"conditions_evaluation": tree}
    assert make_event(1, "action.queue.leave", metadata=metadata).details.unmet == ("label=ready",)


def test_the_older_name_of_a_batch_is_read_too() -> None:
    for metadata in ({"train_car_id": "b1"}, {"train_car_id": "b1", "batch_id": None}):
        assert make("action.queue.checks_end", metadata)[0].details.batch == "b1"


def test_event_of_an_unknown_type_keeps_its_type() -> None:
    event, is_complete = make("action.of_tomorrow", {"any": [1, {"thing": None}]})

    assert event.type == "action.of_tomorrow"
    assert event.details == EventDetails()
    assert is_complete


@pytest.mark.parametrize(
    "change",
    [{"id": None}, {"id": -1}, {"id": 2**63}, {"received_at": "soon"}, {"type": None}],
)
def test_an_event_without_required_fields_is_unreadable(change: dict[str, Any]) -> None:
    sent = {"id": 1, "received_at": "2026-07-20T23:25:11Z", "type": "action.merge"} | change
    with pytest.raises(ValidationError):
        read_event(sent, SITE)
