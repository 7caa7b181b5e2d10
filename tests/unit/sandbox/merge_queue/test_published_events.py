"""Events, simulated or sent with their type alone, are of the shapes that the vendor publishes."""

import pytest

from bot.sandbox.merge_queue.controls import Controls, SentEvent
from bot.sandbox.merge_queue.payloads import Dialect, Json, event
from bot.sandbox.merge_queue.simulation.vocabulary import event_types
from tests.support import published
from tests.unit.sandbox.merge_queue.story import REPOSITORY, Story

LIVE = Dialect(live=True)
OF_THE_DOCUMENT = Dialect(metadata="seed")


@pytest.fixture(scope="module")
def story() -> Story:
    """Pull requests that merge, fail alone and in a batch, wait for a pause, and are taken out."""
    story = Story(batch_size=6, parallel=3)
    for place in range(6):
        story.one(broken_check="unit tests" if place == 5 else None)
    story.pass_time(400)
    story.one(broken_check="lint", optional_check="docs preview")
    story.pass_time(400)
    story.one()
    story.pass_time(40)
    story.controls.pause(REPOSITORY, "CI is down", by="carol")
    story.controls.dequeue(REPOSITORY, story.one())
    story.pass_time(100)
    story.controls.resume(REPOSITORY, by="carol")
    story.pass_time(400)
    return story


def written(story: Story, dialect: Dialect, *types: str) -> list[Json]:
    return [event(record, REPOSITORY, dialect) for record in story.log(*types)]


@pytest.mark.parametrize(("vintage", "dialect"), [("august", LIVE), ("april", OF_THE_DOCUMENT)])
def test_every_event_of_a_simulated_queue_matches_the_published_schema(
    story: Story, vintage: str, dialect: Dialect
) -> None:
    shapes = published.event_shapes(vintage)
    found = {
        str(one["type"]): problems
        for one in written(story, dialect)
        if one["type"] in shapes
        and (problems := published.problems(vintage, shapes[str(one["type"])], one))
    }

    assert found == {}


def test_the_live_dialect_names_the_batch_and_whether_all_scopes_are_in_it(story: Story) -> None:
    leaves = [record["metadata"] for record in written(story, LIVE, "leave")]
    ends = [record["metadata"] for record in written(story, LIVE, "checks_end")]

    assert ends
    assert {isinstance(leave, dict) and leave["batch_id"] is None for leave in leaves} == {
        True,
        False,
    }
    for metadata in (*leaves, *ends):
        assert isinstance(metadata, dict)
        in_batch = metadata["batch_id"] is not None
        assert isinstance(metadata["all_scopes"], bool) is in_batch
    for metadata in ends:
        assert isinstance(metadata, dict)
        assert metadata["batch_name"]


TYPES = event_types("github")
VINTAGES = {"document": "april", "live": "august"}


def send(dialect: str, *sent: SentEvent) -> list[Json]:
    """What the service then shows in its log, oldest first."""
    controls = Controls(repositories={"acme/site": "quiet"}, real_time=False, dialect=dialect)
    for one in sent:
        controls.emit("acme/site", one)
    logged = controls.events("acme/site")
    return [event(record, "acme/site", controls.speaks) for record in logged]


@pytest.mark.parametrize("event_type", TYPES)
@pytest.mark.parametrize("dialect", VINTAGES)
def test_an_event_matches_the_published_schema(dialect: str, event_type: str) -> None:
    (shown,) = send(dialect, SentEvent(event_type))
    shape = published.event_shapes(VINTAGES[dialect]).get(event_type)
    assert shape is None or published.problems(VINTAGES[dialect], shape, shown) == []


def test_types_without_a_published_schema_are_few_and_known() -> None:
    shaped = set(published.event_shapes("april")) | set(published.event_shapes("august"))
    left = {kind for kind in TYPES if kind not in shaped and not kind.startswith("ci_issue.")}
    assert left == {"action.requeue", "command.requeue"}


def test_events_of_one_pull_request_belong_together() -> None:
    entered, left, other = send(
        "live",
        SentEvent("action.queue.enter", pull_request=7),
        SentEvent("action.queue.leave", pull_request=7),
        SentEvent("action.queue.enter"),
    )
    sessions = [record["metadata"]["session_id"] for record in (entered, left, other)]  # type: ignore[index]  # an object
    assert sessions[0] == sessions[1] != sessions[2]
    assert other["pull_request"] not in {None, 7}


def test_given_metadata_is_unchanged() -> None:
    (shown,) = send("live", SentEvent("action.queue.leave", metadata={}))
    assert (shown["metadata"], shown["pull_request"]) == ({}, None)
