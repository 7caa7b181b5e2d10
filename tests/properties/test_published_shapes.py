"""Everything that the vendor's published schemas allow is read in full."""

import json
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import httpx
import pytest
from hypothesis import given, strategies as st

from bot.merge_queue import models
from bot.merge_queue.models import read_event_page
from bot.merge_queue.queue import Application, PauseAnswer
from tests.properties.test_answers import steady
from tests.support import event_samples, published
from tests.support.make import SITE
from tests.support.samples import sample

NOW = datetime(2026, 7, 20, 12, 0, tzinfo=UTC)
ALL_EVENTS = [
    (vintage, event_type)
    for vintage in published.VINTAGES
    for event_type in published.event_shapes(vintage)
]


def answer(body: object) -> httpx.Response:
    return httpx.Response(HTTPStatus.OK, content=json.dumps(body))


@pytest.mark.parametrize(
    ("sample_name", "vintage", "shape"),
    [
        ("status", "april", "MergeQueueStatus"),
        ("status_live", "august", "MergeQueueStatus"),
        ("application_live", "august", "ApplicationResponse"),
        ("configuration", "april", "QueuesConfig"),
        ("queues", "april", "Queues"),
    ],
)
def test_our_samples_match_the_published_schema(sample_name: str, vintage: str, shape: str) -> None:
    assert published.problems(vintage, shape, sample(sample_name)) == []


@pytest.mark.parametrize(
    ("sample_name", "vintage"), [("event_log", "april"), ("event_log_live", "august")]
)
def test_our_logs_match_the_published_schema(sample_name: str, vintage: str) -> None:
    """But for the types that are in the document alone."""
    shapes = published.event_shapes(vintage)
    for sent in sample(sample_name)["events"]:
        if sent["type"] in shapes:
            assert published.problems(vintage, shapes[sent["type"]], sent) == [], sent["id"]


@pytest.mark.parametrize(
    ("vintage", "event_type"), [event for event in ALL_EVENTS if "github" not in event[1]]
)
def test_our_events_match_the_published_schema(vintage: str, event_type: str) -> None:
    era: event_samples.Era = "seed" if vintage == "april" else "full"
    sent = event_samples.metadata_of(event_type, era)
    name = published.metadata_shape(vintage, event_type)
    assert name is not None

    assert published.problems(vintage, name, sent) == []


@pytest.mark.parametrize(("vintage", "event_type"), ALL_EVENTS)
@steady
@given(st.data())
def test_every_event_is_read_in_full(vintage: str, event_type: str, data: st.DataObject) -> None:
    sent = data.draw(published.answers(vintage, published.event_shapes(vintage)[event_type]))
    body = {"size": 1, "per_page": 10, "events": [sent]}

    page = read_event_page(answer(body), SITE, asked_cursor=None)

    assert page.unreadable == ()
    assert page.incomplete == ()
    assert [event.type for event in page.events] == [event_type]


@pytest.mark.parametrize("vintage", published.VINTAGES)
@steady
@given(st.data())
def test_every_status_is_read_in_full(vintage: str, data: st.DataObject) -> None:
    sent = data.draw(published.answers(vintage, "MergeQueueStatus"))

    status = models.read_queue_status(answer(sent))

    assert [batch.id for batch in status.batches] == [one["id"] for one in sent["batches"]]
    assert [numbers(batch.pull_requests) for batch in status.batches] == [
        sent_numbers(one["pull_requests"]) for one in sent["batches"]
    ]
    waiting = sent["waiting_pull_requests"]
    assert numbers(status.waiting_pull_requests) == sent_numbers(waiting)


def numbers(pull_requests: Any) -> list[int]:
    return [pull_request.number for pull_request in pull_requests]


def sent_numbers(pull_requests: Any) -> list[int]:
    return [pull_request["number"] for pull_request in pull_requests]


@pytest.mark.parametrize("vintage", published.VINTAGES)
@steady
@given(st.data())
def test_every_other_response_is_read(vintage: str, data: st.DataObject) -> None:
    def draw(name: str) -> Any:
        return data.draw(published.answers(vintage, name))

    pause = draw("MergeQueuePauseResponse")
    read = models.read_answer(PauseAnswer, answer(pause)).in_force(NOW)
    assert (read is not None) == pause.get("paused", True)
    rules = draw("QueuesConfig")
    assert len(models.read_rules(answer(rules))) == len(rules["configuration"])
    queues = draw("Queues")
    assert len(models.read_queues(answer(queues))) == len(queues["queues"])
    application = draw("ApplicationResponse")
    assert (
        models.read_answer(Application, answer(application)).account.login
        == (application["account_scope"]["login"])
    )
