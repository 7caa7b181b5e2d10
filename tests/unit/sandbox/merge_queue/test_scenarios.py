"""Scenarios: what a person sees at the start, and after hours."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.cli import demo
from bot.sandbox.merge_queue.controls import Controls
from bot.sandbox.merge_queue.simulation import scenarios
from bot.sandbox.merge_queue.simulation.event_log import Event
from bot.sandbox.merge_queue.simulation.vocabulary import BATCH_STATUS_CODES, event_types

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SEEN_SOON = {"enter", "merged", "failure"}


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


@pytest.mark.parametrize("seed", range(1, 13))
def test_busy_shows_entries_merges_and_failures_within_ten_seconds_at_speed_20(seed: int) -> None:
    assert kinds(start("busy", seed, speed=20).advance(10)).keys() >= SEEN_SOON


def test_mqbot_demo_shows_all_three_within_eight_seconds() -> None:
    defaults: dict[str | None, Any] = {one.name: one.default for one in demo.demo.params}
    controls = Controls(
        repositories=demo.REPOSITORIES,
        seed=defaults["seed"],
        speed=defaults["speed"],
        real_time=False,
        start_at=NOW,
    )
    assert kinds(controls.advance(8)).keys() >= SEEN_SOON


def test_the_queue_of_the_demo_is_seldom_empty() -> None:
    controls = start("demo", speed=24)
    looks = 300
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


def test_paused_accepts_pull_requests_and_merges_none() -> None:
    controls = start("paused")
    counted = kinds(controls.advance(3_600))
    assert counted["enter"] > 10
    assert (counted["merged"], counted["checks_start"]) == (0, 0)
    pause = controls.repository("acme/site").pause
    assert pause is not None
    assert pause.reason
    assert queued(controls) <= controls.repository("acme/site").tempo.queue_limit + 5


def test_frozen_merges_only_pull_requests_outside_the_freeze() -> None:
    controls = start("frozen")
    codes: set[str] = set()
    merged: list[Event] = []
    for _ in range(60):
        events = controls.advance(60)
        merged += [event for event in events if event.type == "action.queue.merged"]
        codes |= {batch.code for batch in controls.repository("acme/site").line("main").batches}
    assert "frozen" in codes
    assert {event.base_ref for event in merged} >= {"release/4.2"}
    on_main = [event for event in merged if event.base_ref == "main"]
    assert {event.metadata["queue_name"] for event in on_main} <= {"hotfix"}


@pytest.mark.parametrize("name", ["quiet", "empty"])
def test_quiet_is_empty_until_someone_acts(name: str) -> None:
    controls = start(name)
    assert controls.advance(86_400) == []
    number = controls.enqueue("acme/site")
    controls.advance(600)
    assert [event.pull_request for event in controls.events("acme/site")].count(number) > 4


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


def test_speed_shortens_durations_but_not_the_clock() -> None:
    slow, fast = start("quiet"), start("quiet", speed=20)
    for controls, seconds in ((slow, 200), (fast, 10)):
        number = controls.enqueue("acme/site")
        events = controls.advance(seconds)
        assert [event.pull_request for event in events if "merged" in event.type] == [number]
        assert max(event.received_at for event in events) <= controls.service.now
    assert fast.service.now - slow.service.now == -190_000_000


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


def test_every_event_is_of_a_documented_type() -> None:
    known = set(event_types("github"))
    assert len(known) == 47
    for scenario in scenarios.NAMES:
        controls = start(scenario)
        controls.advance(3_600)
        assert {event.type for event in controls.events("acme/site")} <= known
