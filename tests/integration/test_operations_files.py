"""Dashboard and alert rules use metrics that the bot exports, and each alert is documented."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.kernel.metrics import Metrics
from tests.documentation import ROOT, every_metric
from tests.support.bot_tester import BotTester
from tests.support.watched_bot import WatchedBot, family_names, sample_labels

OPERATIONS = ROOT / "docs" / "operations"
FILES = ("alerts.yml", "dashboard.json")
OF_PROMETHEUS = {"up"}
"""What Prometheus itself adds to every target, and to every series."""

OF_THE_TARGET = {"job", "instance"}
NAME = re.compile(r"\b(?:mqbot|process|python)_[a-z_]+\b|\bup\b")
SELECTOR = re.compile(r"\b((?:mqbot|process)_[a-z_]+)\{([^}]*)\}")
GROUPED = re.compile(r"\bby \(([^)]*)\)")


def alerts() -> list[dict[str, Any]]:
    document = yaml.safe_load((OPERATIONS / "alerts.yml").read_text())
    return [rule for group in document["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((OPERATIONS / "dashboard.json").read_text())["panels"]
    return found


def expressions(path: Path) -> Iterator[str]:
    if path.suffix == ".yml":
        yield from (rule["expr"] for rule in alerts())
        return
    yield from (target["expr"] for panel in panels() for target in panel["targets"])
    for variable in json.loads(path.read_text())["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]


def asked_by(name: str) -> set[str]:
    """The metrics in the expressions of a file."""
    return {one for expr in expressions(OPERATIONS / name) for one in NAME.findall(expr)}


async def test_rules_and_dashboard_have_the_metrics_that_a_running_bot_exports(
    sqlite_url: str,
) -> None:
    async with BotTester(sqlite_url, environment={"MQBOT_HEALTH_PORT": "0"}) as bot:
        await bot.ask("/mq status")
        exported = await WatchedBot(bot).families()
    shown = set()
    for name in FILES:
        asked = asked_by(name)
        assert len(asked) > 10
        assert asked - exported - OF_PROMETHEUS == set(), name
        shown |= asked
    ends = r"_(total|created|bucket|sum|count|info)$"
    missing = {re.sub(ends, "", text) for text in exported if text.startswith("mqbot_")}
    missing -= {re.sub(ends, "", one) for one in shown}
    assert missing == ONLY_FOR_LOOKING_CLOSER
    documented = family_names(every_metric())
    assert {text for text in exported if text.startswith("mqbot_")} - documented == set()


ONLY_FOR_LOOKING_CLOSER = {
    "mqbot_oldest_poll_seconds",
    "mqbot_service_rate_limit_waits",
    "mqbot_slack_rate_limit_waits",
}


@pytest.mark.parametrize("name", FILES)
def test_every_label_in_the_rules_belongs_to_its_metric(name: str) -> None:
    labels = sample_labels(every_metric())
    wrong = []
    for expr in expressions(OPERATIONS / name):
        for metric, selector in SELECTOR.findall(expr):
            asked = set(re.findall(r"(\w+)\s*[=!]~?", selector))
            wrong += [(metric, one) for one in asked - labels.get(metric, set()) - OF_THE_TARGET]
        known = {label for metric in NAME.findall(expr) for label in labels.get(metric, set())}
        for group in GROUPED.findall(expr):
            asked = {word.strip() for word in group.split(",")}
            wrong += [(expr, one) for one in asked - known - OF_THE_TARGET]
    assert wrong == []


def test_alerts_on_a_first_occurrence_see_a_new_counter() -> None:
    fresh = Metrics()
    fresh.job_failures.labels("prune history")
    there = sample_labels(fresh.render().decode())
    blind = []
    for rule in alerts():
        if rule["alert"] in FOR_SEVERAL:
            continue
        for metric, window in re.findall(r"increase\((\w+)(?:\{[^}]*\})?\[(\w+)\]\)", rule["expr"]):
            is_seen = f"unless {metric} offset {window})" in rule["expr"]
            if metric not in there and not is_seen:
                blind.append(rule["alert"])
    assert blind == []


FOR_SEVERAL = {"MqbotServiceRefusesCredential", "MqbotServiceRefusesSome"}
"""One occurrence is none for them."""


def test_no_metric_has_a_label_that_the_scrape_adds() -> None:
    named = sample_labels(every_metric())
    assert [name for name, labels in named.items() if labels & OF_THE_TARGET] == []


def test_every_alert_has_a_severity_and_an_instruction() -> None:
    page = (OPERATIONS / "README.md").read_text()
    explained = re.findall(r"^\| `(Mqbot\w+)` \| (page|ticket) \|", page, re.MULTILINE)
    assert explained == [(rule["alert"], rule["labels"]["severity"]) for rule in alerts()]
    for rule in alerts():
        annotations = rule["annotations"]
        assert annotations["summary"], rule["alert"]
        assert annotations["description"], rule["alert"]


GRAFANA_COLUMNS = 24


def _cells(place: dict[str, int]) -> Iterator[tuple[int, int]]:
    for x in range(place["x"], place["x"] + place["w"]):
        for y in range(place["y"], place["y"] + place["h"]):
            yield x, y


def test_dashboard_panels_do_not_overlap_and_have_unique_ids() -> None:
    cells = [cell for panel in panels() for cell in _cells(panel["gridPos"])]
    assert len(set(cells)) == len(cells)
    assert {x for x, _ in cells} == set(range(GRAFANA_COLUMNS))
    assert len({panel["id"] for panel in panels()}) == len(panels())
    assert {panel["datasource"]["uid"] for panel in panels()} == {"${datasource}"}
