"""What is sent with nothing but its type is of the shape that the vendor publishes for it."""

import pytest

from bot.sandbox.merge_queue import payloads
from bot.sandbox.merge_queue.controls import Controls, SentEvent
from bot.sandbox.merge_queue.simulation.vocabulary import event_types
from tests.support import published

TYPES = event_types("github")
VINTAGES = {"document": "april", "live": "august"}


def send(dialect: str, *sent: SentEvent) -> list[payloads.Json]:
    """What the service then shows in its log, oldest first."""
    controls = Controls(repositories={"acme/site": "quiet"}, real_time=False, dialect=dialect)
    for one in sent:
        controls.emit("acme/site", one)
    logged = controls.events("acme/site")
    return [payloads.event(one, "acme/site", controls.speaks) for one in logged]


@pytest.mark.parametrize("event_type", TYPES)
@pytest.mark.parametrize("dialect", VINTAGES)
def test_an_event_matches_the_published_schema(dialect: str, event_type: str) -> None:
    (shown,) = send(dialect, SentEvent(event_type))
    shape = published.event_shapes(VINTAGES[dialect]).get(event_type)
    assert shape is None or published.problems(VINTAGES[dialect], shape, shown) == []


def test_types_without_a_published_schema_are_few_and_known() -> None:
    shaped = set(published.event_shapes("april")) | set(published.event_shapes("august"))
    left = {one for one in TYPES if one not in shaped and not one.startswith("ci_issue.")}
    assert left == {"action.requeue", "command.requeue"}


def test_events_of_one_pull_request_belong_together() -> None:
    entered, left, other = send(
        "live",
        SentEvent("action.queue.enter", pull_request=7),
        SentEvent("action.queue.leave", pull_request=7),
        SentEvent("action.queue.enter"),
    )
    sessions = [one["metadata"]["session_id"] for one in (entered, left, other)]  # type: ignore[index]  # an object
    assert sessions[0] == sessions[1] != sessions[2]
    assert other["pull_request"] not in {None, 7}


def test_given_metadata_is_unchanged() -> None:
    (shown,) = send("live", SentEvent("action.queue.leave", metadata={}))
    assert (shown["metadata"], shown["pull_request"]) == ({}, None)
