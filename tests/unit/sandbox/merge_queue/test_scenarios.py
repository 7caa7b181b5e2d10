"""Scenarios: what a person sees at the start, and after hours; old events are forgotten."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from bot.sandbox.merge_queue.controls import Controls, NewPullRequest
from bot.sandbox.merge_queue.simulation.event_log import Event, EventLog, Selection
from bot.sandbox.merge_queue.simulation.vocabulary import BATCH_STATUS_CODES

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def start(scenario: str, seed: int = 1, speed: float = 1.0) -> Controls:
    return Controls(
        repositories={"acme/site": scenario},
        seed=seed,
        speed=speed,
        real_time=False,
        start_at=NOW,
    )


def kinds(events: list[Event]) -> Counter[str]:
    counted = Counter(event.type.removeprefix("action.queue.") for event in events)
    leaves = (event for event in events if event.type == "action.queue.leave")
    counted["failure"] += sum(not event.metadata["merged"] for event in leaves)
    return +counted


def queued(controls: Controls) -> int:
    lines = controls.repository("acme/site").lines.values()
    return sum(1 for line in lines for _ in line.queued())


def test_the_queue_of_the_demo_is_seldom_empty() -> None:
    controls = start("demo", speed=6)
    looks = 900
    found = 0
    for _ in range(looks):
        controls.advance(1)
        found += queued(controls) > 0
    assert found > 0.85 * looks


def test_the_busy_scenario_runs_for_hours_without_growing() -> None:
    controls = start("busy", seed=4)
    repository = controls.repository("acme/site")
    for _ in range(12):
        counted = kinds(controls.advance(1_800))
        assert counted["enter"] > 40
        assert counted["merged"] > 20
        assert queued(controls) <= repository.tempo.queue_limit + 10
        assert len(repository.plans) < 60
        assert sum(len(line.gone) for line in repository.lines.values()) < 20


def test_calm_is_quieter_than_busy_failing_fails_often_and_bisecting_finds_a_culprit() -> None:
    calm, busy, failing, bisecting = (
        kinds(start(name).advance(7_200)) for name in ("calm", "busy", "failing", "bisecting")
    )
    assert 0 < calm["enter"] < busy["enter"] / 5
    assert failing["failure"] > failing["merged"] / 2 > 0
    assert bisecting["batch_bisection_end"] >= 1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"repositories": {}}, "at least one repository"),
        ({"repositories": {"acme/site": "wild"}}, "unknown scenario 'wild'; choose one of calm, b"),
        ({"speed": 0}, "speed must be positive"),
        ({"dialect": "klingon"}, "dialect: choose one of document, live"),
        ({"metadata": "some"}, "metadata: choose one of"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, object], sentence: str) -> None:
    given = {"repositories": {"acme/site": "quiet"}} | options
    with pytest.raises(ValueError, match=sentence):
        Controls(**given)  # type: ignore[arg-type]  # wrong on purpose


def test_the_same_seed_gives_the_same_events_and_another_seed_others() -> None:
    first, again, other = (start("busy", seed) for seed in (7, 7, 8))
    reported = [controls.advance(600) for controls in (first, again, other)]
    assert reported[0] == reported[1] != reported[2]


def test_the_scenarios_together_show_nearly_every_batch_code() -> None:
    seen: set[str] = set()
    for scenario in ("busy", "failing", "bisecting", "frozen"):
        controls = start(scenario, seed=2)
        for _ in range(400):
            controls.advance(3)
            for line in controls.repository("acme/site").lines.values():
                for batch in (*line.gone, *line.batches):
                    seen |= {batch.code, *(part.code for part in batch.sub_batches or ())}
    # A schedule needs a rule with merging hours, which no scenario has.
    assert seen == set(BATCH_STATUS_CODES) - {"waiting_schedule"}


EVERYTHING = Selection(-(2**62), 2**62)


def an_event(number: int, at: int | None = None, kind: str = "action.queue.enter") -> Event:
    return Event(number, number if at is None else at, "t", number % 50, "main", kind, {})


def test_the_oldest_events_are_forgotten_beyond_the_limit() -> None:
    log = EventLog(limit=100)
    for number in range(1, 1_001):
        log.append(an_event(number, kind=f"action.{number}"))
        assert len(log) <= 106
    kept = [event.id for event in log.oldest_first(EVERYTHING)]
    assert kept == list(range(kept[0], 1_001))
    assert len(kept) >= 100
    assert log.count(Selection(0, 2_000, types=("action.5",))) == 0
    assert log.count(Selection(0, 2_000, types=("action.1000",))) == 1
    of_one = Selection(0, 2_000, pull_request=0)
    assert [event.id for event in log.newest_first(of_one)] == [
        number for number in reversed(kept) if number % 50 == 0
    ]


def test_pull_requests_that_enter_one_after_another_have_different_titles() -> None:
    controls = start("quiet")
    named = NewPullRequest("Let guests save an address")
    for new in (named, *[None] * 20):
        controls.enqueue("acme/site", new)
    line = controls.repository("acme/site").line("main")
    titles = [entry.pull.title for entry in line.queued()]
    assert len(titles) == 21
    assert len({*titles}) == 21
