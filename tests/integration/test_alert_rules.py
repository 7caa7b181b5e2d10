"""Each alert fires for its own fault and no other, according to Prometheus's rule tester."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documentation import ROOT

RULES = ROOT / "docs" / "operations" / "alerts.yml"
MINUTES = 120
"""So long every series is, with a value a minute."""

LATE = 100
"""The minute at which alerts are looked at: all of them have had time to fire by then."""

pytestmark = pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool")

JOB = 'job="mqbot"'
RUN = f'{JOB},instance="a"'
WORKER = f'{JOB},instance="b"'


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
    shown = {bucket(name, bound): always(0) for bound in within}
    return shown | {bucket(name, one): grows(60) for one in (*beyond, "+Inf")}


def service(outcome: str) -> str:
    return f'mqbot_service_requests_total{{{RUN},endpoint="status",outcome="{outcome}"}}'


PRUNING = f'mqbot_job_failures_total{{{RUN},task="prune history"}}'


def unreadable(what: str) -> str:
    return f"mqbot_service_unreadable_{what}_total{{{RUN}}}"


def slack_error(code: str) -> str:
    return f'mqbot_slack_errors_total{{{RUN},method="chat.postMessage",code="{code}"}}'


def slack_request(outcome: str) -> str:
    return f'mqbot_slack_requests_total{{{RUN},outcome="{outcome}"}}'


WELL: Mapping[str, str] = {
    f"up{{{RUN}}}": always(1),
    f"up{{{WORKER}}}": always(1),
    f"process_start_time_seconds{{{RUN}}}": always(0),
    f"mqbot_database_up{{{RUN}}}": always(1),
    f"mqbot_database_up{{{WORKER}}}": always(1),
    f"mqbot_database_bytes{{{RUN}}}": always(200e6),
    f"mqbot_disk_free_bytes{{{RUN}}}": always(1e9),
    f"mqbot_settings_valid{{{RUN}}}": always(1),
    f"mqbot_settings_waiting{{{RUN}}}": always(0),
    f"mqbot_slack_sockets{{{RUN}}}": always(2),
    f"mqbot_slack_sockets_counted{{{RUN}}}": always(2),
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
    slack_request("secret"): always(0),
    f"mqbot_clock_ahead_seconds{{{RUN}}}": always(1),
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
    "MqbotDiskNearlyFull": {f"mqbot_disk_free_bytes{{{RUN}}}": always(300e6)},
    "MqbotSocketsDeaf": {f"mqbot_slack_sockets{{{RUN}}}": always(0)},
    "MqbotAnotherConnected": {f"mqbot_slack_sockets_counted{{{RUN}}}": always(4)},
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
    "MqbotSlackRequestsRefused": {slack_request("secret"): grows(1)},
    "MqbotClockWrong": {f"mqbot_clock_ahead_seconds{{{RUN}}}": always(-90)},
    "MqbotSlackRateLimited": {f"mqbot_slack_rate_limit_wait_seconds_total{{{RUN}}}": grows(20)},
    "MqbotServiceFails": {service("503"): grows(300)},
    "MqbotServiceRefusesCredential": {service("401"): grows(300), service("200"): always(9)},
    "MqbotServiceRefusesSome": {service("403"): grows(6)},
    "MqbotServiceRateLimited": {f"mqbot_service_rate_limit_wait_seconds_total{{{RUN}}}": grows(20)},
    "MqbotServiceUnreadable": {
        f'mqbot_service_unreadable_answers_total{{{RUN},endpoint="status"}}': occurs(LATE - 5)
    },
    "MqbotJobsFail": {PRUNING: grows(1)},
    "MqbotSettingsInvalid": {f"mqbot_settings_valid{{{RUN}}}": always(0)},
    "MqbotRestartNeeded": {f"mqbot_settings_waiting{{{RUN}}}": always(2)},
}
"""What has to be otherwise for the alert."""


def names() -> list[str]:
    document = yaml.safe_load(RULES.read_text())
    return [rule["alert"] for group in document["groups"] for rule in group["rules"]]


def promtool(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["promtool", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_prometheus_accepts_the_rules() -> None:
    done = promtool("check", "rules", str(RULES))
    assert (done.returncode, done.stderr) == (0, "")


@dataclass(frozen=True)
class Case:
    """The only alerts that should fire at a minute in an installation with these series."""

    name: str
    series: Mapping[str, str]
    firing: Sequence[str] = ()
    minute: int = LATE

    def as_job(self) -> tuple[dict[str, str], dict[str, Any]]:
        """The series and the question, under a job that has the name of the case."""
        job = f'job="mqbot: {self.name}"'
        series = {one.replace(JOB, job): values for one, values in self.series.items()}
        return series, self._asked(f'alertstate="firing",{job}')

    def alone(self) -> dict[str, Any]:
        """A test of this installation in a Prometheus that knows no other."""
        return rule_test(self.name, self.series, [self._asked('alertstate="firing"')])

    def _asked(self, labels: str) -> dict[str, Any]:
        expected = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in self.firing]
        return {
            "expr": f"count by (alertname) (ALERTS{{{labels}}})",
            "eval_time": f"{self.minute}m",
            "exp_samples": expected,
        }


def rule_test(
    name: str, series: Mapping[str, str], asked: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """As promtool reads it."""
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": one, "values": values} for one, values in series.items()],
        "promql_expr_test": list(asked),
    }


def without_polling(series: Mapping[str, str]) -> dict[str, str]:
    """The series where no process that polls is scraped."""
    return {name: values for name, values in series.items() if "_repositories_" not in name}


DEAD = 10
"""The minute at which a process dies."""

ALIVE = {name: f"{values.split('x')[0]}x{DEAD} stale" for name, values in WELL.items()}
"""What all the series look like whose process dies."""

ALL_STALE = {f"mqbot_repositories_stale{{{RUN}}}": always(10)}
NO_POSTS = {f"mqbot_outbox_oldest_seconds{{{RUN}}}": f"0+60x{MINUTES}"}

NOBODY_POLLS = (
    Case(
        "the only process is dead",
        {name: values for name, values in ALIVE.items() if WORKER not in name}
        | {f"up{{{RUN}}}": f"1x{DEAD} {always(0)}"},
        ["MqbotDown"],
    ),
    Case(
        "the only worker is dead, and nobody posts",
        without_polling(WELL) | {f"up{{{WORKER}}}": always(0), **NO_POSTS},
        ["MqbotDown"],
    ),
    # No process is down for long.
    Case(
        "a crash loop",
        {f"up{{{RUN}}}": " ".join(["0", "1"] * (MINUTES // 2))},
        ["MqbotNothingPolled"],
    ),
    Case("only web is scraped", without_polling(WELL), ["MqbotNothingPolled"]),
)
"""Installations whose alert says that a series is absent from all of Prometheus."""

ONE_FAULT = (
    Case(
        "a process does not reach its database",
        {**WELL, **ALL_STALE, PRUNING: grows(60), f"mqbot_database_up{{{RUN}}}": always(0)},
        ["MqbotDatabaseAway"],
    ),
    Case(
        "the database was away a moment ago",
        {**WELL, f"mqbot_database_up{{{RUN}}}": f"0x{LATE - 10} {always(1)}"}
        | {PRUNING: f"0+60x{LATE - 10} {60 * (LATE - 10)}x{MINUTES}"},
    ),
    Case(
        "Slack is away",
        {**WELL, **NO_POSTS, f"mqbot_slack_sockets{{{RUN}}}": always(0)},
        ["MqbotSocketsDeaf"],
    ),
    # It is in doubt for seconds only, then it waits to be posted again.
    Case(
        "Slack never says whether it took a post",
        {**WELL, **NO_POSTS}
        | {f'mqbot_outbox_deliveries{{{RUN},state="in_doubt"}}': "1x3 " + "0x9 1 " * 12},
        ["MqbotOutboxOld"],
    ),
    Case(
        "Slack refuses the token in every channel",
        {**WELL, slack_error("token_revoked"): grows(1)}
        | {f"mqbot_outbox_suspended_channels{{{RUN}}}": always(3)},
        ["MqbotSlackRefusesToken"],
    ),
    Case(
        "the clock is six minutes off, so all that Slack sends is refused",
        {**WELL, slack_request("clock"): grows(1)}
        | {f"mqbot_clock_ahead_seconds{{{RUN}}}": always(-360)},
        ["MqbotClockWrong", "MqbotSlackRequestsRefused"],
    ),
    Case(
        "Slack signs with a secret whose last day is over",
        {**WELL, slack_request("ended"): grows(1)},
        ["MqbotSlackRequestsRefused"],
    ),
    # Anybody can send these.
    *(
        Case(
            f"at night, strangers send requests that are refused: {outcome}",
            {**WELL, slack_request(outcome): grows(60)},
        )
        for outcome in ("unsigned", "clock", "foreign")
    ),
    Case(
        "the service refuses the credential",
        {**WELL, **ALL_STALE, service("401"): grows(300), service("200"): always(9)},
        ["MqbotServiceRefusesCredential"],
    ),
    Case(
        "a small database on a disk that is nearly full",
        {**WELL, f"mqbot_database_bytes{{{RUN}}}": always(1e6)}
        | {f"mqbot_disk_free_bytes{{{RUN}}}": always(50e6)},
        ["MqbotDiskNearlyFull"],
    ),
    Case(
        "a small database on a small disk",
        {**WELL, f"mqbot_database_bytes{{{RUN}}}": always(20e6)}
        | {f"mqbot_disk_free_bytes{{{RUN}}}": always(200e6)},
    ),
    Case("the service refuses one single request", {**WELL, service("401"): occurs(LATE - 5)}),
    Case(
        "the service refuses a request now and then",
        {**WELL, service("403"): "0x9 1 " * 12},
    ),
    Case(
        "the service is away",
        {**WELL, **ALL_STALE, service("503"): grows(300)}
        | histogram("mqbot_poll_lateness_seconds", "0.1", "5", beyond=("10",)),
        ["MqbotPollsStale", "MqbotServiceFails"],
    ),
    *(
        Case(
            f"some {what} were unreadable",
            {**WELL, unreadable(what): f"0x{LATE - 5} {always(1)}"},
            ["MqbotServiceUnreadable"],
        )
        for what in ("events", "metadata")
    ),
)

GAP = range(30, 70)
"""The minutes in which nothing was scraped."""


def occurrences(name: str) -> Iterator[Case]:
    """A single one, of an alert whose counter does not exist before it."""
    once = {**WELL, **{series: occurs(10) for series in ILL[name]}}
    yield Case(f"{name} right after it occurred", once, [name], minute=12)
    yield Case(f"{name} does not fire for ever", once)

    polled = {f"mqbot_repositories_polled{{{RUN}}}": always(10)}
    up = f"up{{{RUN}}}"
    started = f"process_start_time_seconds{{{RUN}}}"
    scraped = {up: 1, started: 0, **dict.fromkeys(ILL[name], 1)}
    series = polled | {
        one: f"{value}x{GAP.start} _x{len(GAP)} {always(value)}" for one, value in scraped.items()
    }
    for minute in (GAP.stop + 2, GAP.stop + 8, GAP.stop + 40):
        yield Case(f"{name} before a gap in the scrapes, at {minute}", series, minute=minute)

    begins = LATE - 5
    series = {up: f"_x{begins} {always(1)}", started: f"_x{begins} {always(begins * 60)}"}
    series |= polled | dict.fromkeys(ILL[name], occurs(begins + 1))
    yield Case(f"{name} right after a start", series, [name])


COUNTED_FROM_ONE = (
    "MqbotSlackRefusesToken",
    "MqbotServiceUnreadable",
)


def test_each_alert_fires_for_its_own_fault_and_one_fault_fires_no_other(tmp_path: Path) -> None:
    cases = [
        Case("normal operation", WELL),
        *(Case(f"only {name}", {**WELL, **ILL[name]}, [name]) for name in names()),
        *ONE_FAULT,
        *(case for name in COUNTED_FROM_ONE for case in occurrences(name)),
    ]
    jobs = [case.as_job() for case in cases]
    series = {name: values for one, _ in jobs for name, values in one.items()}
    together = rule_test("one Prometheus for all", series, [asked for _, asked in jobs])
    tests = [together, *(case.alone() for case in NOBODY_POLLS)]
    document = {"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": tests}
    plan = tmp_path / "plan.yml"
    plan.write_text(yaml.safe_dump(document))

    done = promtool("test", "rules", str(plan))

    assert done.returncode == 0, done.stdout + done.stderr
