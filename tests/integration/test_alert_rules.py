"""Each alert fires for its own fault and no other, according to Prometheus's rule tester."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.documentation import ROOT

RULES = ROOT / "docs" / "operations" / "alerts.yml"
FIRING = 'count by (alertname) (ALERTS{alertstate="firing"})'
MINUTES = 120
"""So long every series is, with a value a minute."""

LATE = 100
"""The minute at which alerts are looked at: all of them have had time to fire by then."""

pytestmark = pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool")

RUN = 'job="mqbot",instance="a"'
WORKER = 'job="mqbot",instance="b"'


def always(value: float) -> str:
    return f"{value}+0x{MINUTES}"


def grows(each_minute: float) -> str:
    return f"0+{each_minute}x{MINUTES}"


def occurs(at: int) -> str:
    """A counter that doesn't exist before its first occurrence."""
    return f"_x{at} {always(1)}"


def bucket(name: str, at_most: str) -> str:
    return f'{name}_bucket{{{RUN},le="{at_most}"}}'


def histogram(name: str, *within: str, beyond: tuple[str, ...] = ()) -> dict[str, str]:
    """Sixty a minute: none in the buckets `within`, all of them in those `beyond`."""
    shown = {bucket(name, one): always(0) for one in within}
    return shown | {bucket(name, one): grows(60) for one in (*beyond, "+Inf")}


def service(outcome: str) -> str:
    return f'mqbot_service_requests_total{{{RUN},endpoint="status",outcome="{outcome}"}}'


PRUNING = f'mqbot_job_failures_total{{{RUN},task="prune history"}}'


def unreadable(what: str) -> str:
    return f"mqbot_service_unreadable_{what}_total{{{RUN}}}"


def slack_error(code: str) -> str:
    return f'mqbot_slack_errors_total{{{RUN},method="chat.postMessage",code="{code}"}}'


WELL: Mapping[str, str] = {
    f"up{{{RUN}}}": always(1),
    f"up{{{WORKER}}}": always(1),
    f"process_start_time_seconds{{{RUN}}}": always(0),
    f"mqbot_database_up{{{RUN}}}": always(1),
    f"mqbot_database_up{{{WORKER}}}": always(1),
    f"mqbot_settings_valid{{{RUN}}}": always(1),
    f"mqbot_slack_sockets{{{RUN}}}": always(2),
    f"mqbot_repositories_polled{{{RUN}}}": always(10),
    f"mqbot_repositories_polled{{{WORKER}}}": always(0),
    f"mqbot_repositories_stale{{{RUN}}}": always(0),
    f"mqbot_outbox_oldest_seconds{{{RUN}}}": always(30),
    f'mqbot_outbox_deliveries{{{RUN},state="in_doubt"}}': always(0),
    f"mqbot_outbox_suspended_channels{{{RUN}}}": always(0),
    f"mqbot_slack_rate_limit_wait_seconds_total{{{RUN}}}": grows(1),
    f"mqbot_service_rate_limit_wait_seconds_total{{{RUN}}}": grows(1),
    PRUNING: always(0),
    slack_error("ratelimited"): grows(1),
    service("200"): grows(600),
    unreadable("events"): always(0),
    unreadable("metadata"): always(0),
    service("503"): grows(1),
    **histogram("mqbot_slack_ack_seconds", beyond=("0.005", "1", "3")),
    **histogram("mqbot_poll_lateness_seconds", beyond=("0.1", "5", "10")),
    **histogram("mqbot_event_to_post_seconds", "1", beyond=("10", "120", "300")),
}
"""A process of the whole bot and a worker, nothing wrong with either."""

ILL: Mapping[str, Mapping[str, str]] = {
    "MqbotDown": {f"up{{{WORKER}}}": always(0)},
    "MqbotDatabaseAway": {f"mqbot_database_up{{{WORKER}}}": always(0)},
    "MqbotSocketsDeaf": {f"mqbot_slack_sockets{{{RUN}}}": always(0)},
    "MqbotAcknowledgesSlowly": histogram(
        "mqbot_slack_ack_seconds", "0.005", "1", beyond=("2", "3")
    ),
    "MqbotPollsStale": {f"mqbot_repositories_stale{{{RUN}}}": always(6)},
    "MqbotRepositoriesStale": {f"mqbot_repositories_stale{{{RUN}}}": always(1)},
    "MqbotNothingPolled": {f"mqbot_repositories_polled{{{RUN}}}": always(0)},
    "MqbotPollsLate": histogram("mqbot_poll_lateness_seconds", "0.1", "5", beyond=("10",)),
    "MqbotPostsLate": histogram("mqbot_event_to_post_seconds", "1", "10", "120", beyond=("300",)),
    "MqbotOutboxOld": {f"mqbot_outbox_oldest_seconds{{{RUN}}}": always(700)},
    "MqbotInDoubt": {f'mqbot_outbox_deliveries{{{RUN},state="in_doubt"}}': always(1)},
    "MqbotChannelsSuspended": {f"mqbot_outbox_suspended_channels{{{RUN}}}": always(1)},
    "MqbotSlackRefusesToken": {slack_error("token_revoked"): occurs(LATE - 5)},
    "MqbotSlackRateLimited": {f"mqbot_slack_rate_limit_wait_seconds_total{{{RUN}}}": grows(20)},
    "MqbotServiceFails": {service("503"): grows(300)},
    "MqbotServiceRefusesCredential": {service("401"): occurs(LATE - 5)},
    "MqbotServiceRateLimited": {f"mqbot_service_rate_limit_wait_seconds_total{{{RUN}}}": grows(20)},
    "MqbotServiceUnreadable": {
        f'mqbot_service_unreadable_answers_total{{{RUN},endpoint="status"}}': occurs(LATE - 5)
    },
    "MqbotJobsFail": {PRUNING: grows(1)},
    "MqbotSettingsInvalid": {f"mqbot_settings_valid{{{RUN}}}": always(0)},
}
"""What has to be otherwise for the alert."""


def names() -> list[str]:
    document = yaml.safe_load(RULES.read_text())
    return [rule["alert"] for group in document["groups"] for rule in group["rules"]]


def wrong(folder: Path, series: Mapping[str, str], firing: list[str], minute: int = LATE) -> str:
    """Promtool's complaints if exactly these alerts should fire at that minute."""
    expected = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in firing]
    asked = {"expr": FIRING, "eval_time": f"{minute}m", "exp_samples": expected}
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "promql_expr_test": [asked],
    }
    plan = folder / "plan.yml"
    plan.write_text(
        yaml.safe_dump(
            {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]},
        )
    )
    done = promtool("test", "rules", str(plan))
    return done.stdout + done.stderr if done.returncode else ""


def promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["promtool", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_prometheus_accepts_the_rules() -> None:
    done = promtool("check", "rules", str(RULES))
    assert (done.returncode, done.stderr) == (0, "")


def test_nothing_fires_in_normal_operation(tmp_path: Path) -> None:
    assert wrong(tmp_path, WELL, []) == ""


@pytest.mark.parametrize("name", names())
def test_each_alert_fires_for_its_own_fault_and_no_other(name: str, tmp_path: Path) -> None:
    assert wrong(tmp_path, {**WELL, **ILL[name]}, [name]) == ""


@pytest.mark.parametrize("what", ["events", "metadata"])
def test_partly_unreadable_events_raise_an_alert(what: str, tmp_path: Path) -> None:
    read_before = {unreadable(what): f"0x{LATE - 5} {always(1)}"}
    assert wrong(tmp_path, {**WELL, **read_before}, ["MqbotServiceUnreadable"]) == ""


def test_missing_polling_processes_raise_an_alert_where_only_web_is_scraped(tmp_path: Path) -> None:
    web = {name: values for name, values in WELL.items() if "_repositories_" not in name}
    assert wrong(tmp_path, web, ["MqbotNothingPolled"]) == ""


DEAD = 10
"""The minute at which a process dies."""

ALIVE = {name: f"{values.split('x')[0]}x{DEAD} stale" for name, values in WELL.items()}
"""What all the series look like whose process dies."""

ALL_STALE = {f"mqbot_repositories_stale{{{RUN}}}": always(10)}
NO_POSTS = {f"mqbot_outbox_oldest_seconds{{{RUN}}}": f"0+60x{MINUTES}"}

ONE_FAULT: Mapping[str, tuple[Mapping[str, str], list[str]]] = {
    "the only process is dead": (
        {name: values for name, values in ALIVE.items() if WORKER not in name}
        | {f"up{{{RUN}}}": f"1x{DEAD} {always(0)}"},
        ["MqbotDown"],
    ),
    "the only worker is dead, and nobody posts": (
        {name: values for name, values in WELL.items() if "_repositories_" not in name}
        | {f"up{{{WORKER}}}": always(0), **NO_POSTS},
        ["MqbotDown"],
    ),
    "a process does not reach its database": (
        {**WELL, **ALL_STALE, PRUNING: grows(60), f"mqbot_database_up{{{RUN}}}": always(0)},
        ["MqbotDatabaseAway"],
    ),
    "the database was away a moment ago": (
        {**WELL, f"mqbot_database_up{{{RUN}}}": f"0x{LATE - 10} {always(1)}"}
        | {PRUNING: f"0+60x{LATE - 10} {60 * (LATE - 10)}x{MINUTES}"},
        [],
    ),
    "Slack is away": (
        {**WELL, **NO_POSTS, f"mqbot_slack_sockets{{{RUN}}}": always(0)},
        ["MqbotSocketsDeaf"],
    ),
    # It is in doubt for seconds only, then it waits to be posted again.
    "Slack never says whether it took a post": (
        {**WELL, **NO_POSTS}
        | {f'mqbot_outbox_deliveries{{{RUN},state="in_doubt"}}': "1x3 " + "0x9 1 " * 12},
        ["MqbotOutboxOld"],
    ),
    "the service refuses the credential": (
        {**WELL, **ALL_STALE, service("401"): grows(300)},
        ["MqbotServiceRefusesCredential"],
    ),
    "the service is away": (
        {**WELL, **ALL_STALE, service("503"): grows(300)},
        ["MqbotPollsStale", "MqbotServiceFails"],
    ),
}


@pytest.mark.parametrize("fault", ONE_FAULT)
def test_one_fault_pages_once(fault: str, tmp_path: Path) -> None:
    series, firing = ONE_FAULT[fault]
    assert wrong(tmp_path, series, firing) == ""


def test_a_crash_loop_raises_an_alert_even_when_no_process_is_down_for_long(tmp_path: Path) -> None:
    series = {f"up{{{RUN}}}": " ".join(["0", "1"] * (MINUTES // 2))}
    assert wrong(tmp_path, series, ["MqbotNothingPolled"]) == ""


FIRST_OCCURRENCES = pytest.mark.parametrize(
    "name",
    ["MqbotSlackRefusesToken", "MqbotServiceRefusesCredential", "MqbotServiceUnreadable"],
)


@FIRST_OCCURRENCES
def test_a_single_occurrence_does_not_fire_for_ever(name: str, tmp_path: Path) -> None:
    once = {series: occurs(10) for series in ILL[name]}
    assert wrong(tmp_path, {**WELL, **once}, [name], minute=12) == ""
    assert wrong(tmp_path, {**WELL, **once}, []) == ""


GAP = range(30, 70)
"""The minutes in which nothing was scraped."""


@FIRST_OCCURRENCES
def test_old_occurrences_do_not_fire_after_a_gap_in_the_scrapes(name: str, tmp_path: Path) -> None:
    here = {
        f"up{{{RUN}}}": 1,
        f"process_start_time_seconds{{{RUN}}}": 0,
        **dict.fromkeys(ILL[name], 1),
    }
    series = {
        one: f"{value}x{GAP.start} _x{len(GAP)} {always(value)}" for one, value in here.items()
    }
    polled = {f"mqbot_repositories_polled{{{RUN}}}": always(10)}
    for minute in (GAP.stop + 2, GAP.stop + 8, GAP.stop + 40):
        assert wrong(tmp_path, {**polled, **series}, [], minute) == ""


@FIRST_OCCURRENCES
def test_occurrences_right_after_a_start_fire(name: str, tmp_path: Path) -> None:
    begins = LATE - 5
    here = {f"up{{{RUN}}}": 1, f"process_start_time_seconds{{{RUN}}}": begins * 60}
    series = {one: f"_x{begins} {always(value)}" for one, value in here.items()}
    series |= dict.fromkeys(ILL[name], occurs(begins + 1))
    series[f"mqbot_repositories_polled{{{RUN}}}"] = always(10)
    assert wrong(tmp_path, series, [name]) == ""
