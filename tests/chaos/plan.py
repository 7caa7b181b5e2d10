"""The steps of a chaos run, all drawn from one seed beforehand."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeVar

from bot.sandbox.merge_queue.faults import ANSWERED_FALSELY, Fault as ServiceFault
from bot.sandbox.slack.faults import ERRORS, Fault as SlackFault

DatabaseKind = Literal["sqlite", "postgres"]
Moment = Literal["any", "accepted", "looking", "polling", "starting"]

ROUND_SECONDS = 60.0
"""A killed process leaves leases of 30 seconds. Kills come in rounds, so that between two of them
somebody holds the leases long enough to post, and is killed while it does."""

LONGER_THAN_LEASES = (33.0, 50.0)
LONGER_THAN_THE_POLLS_LEASE = (16.0, 35.0)


@dataclass(frozen=True, slots=True)
class Options:
    """How long, how hard and on what; `event_seconds` is the mean time between two events."""

    seed: int = 1
    minutes: float = 30.0
    kills: int = 200
    database: DatabaseKind = "sqlite"
    processes: int = 1
    event_seconds: float = 1.5
    long_freezes: int = 3
    drain_seconds: float = 600.0

    @property
    def seconds(self) -> float:
        return self.minutes * 60


@dataclass(frozen=True, slots=True)
class Kill:
    """`kill -9` at a `moment`: immediately, just after Slack accepted a post, …"""

    moment: Moment


@dataclass(frozen=True, slots=True)
class Restart:
    """A clean stop with SIGTERM and a new start."""


@dataclass(frozen=True, slots=True)
class Freeze:
    """SIGSTOP, and SIGCONT after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Outage:
    """One of the two services is down: connections are refused."""

    service: Literal["slack", "merge queue"]
    seconds: float


@dataclass(frozen=True, slots=True)
class KillDatabase:
    """The PostgreSQL server is killed, and started again after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class CutOff:
    """The process that polls loses its way to the database for so many seconds."""

    seconds: float


Act = Kill | Restart | Freeze | SlackFault | ServiceFault | Outage | KillDatabase | CutOff


@dataclass(frozen=True, slots=True)
class Step:
    """An action, with its time in seconds since the start of the run."""

    at: float
    act: Act


SLACK_CALLS = (
    "drop_after_accept",
    "drop_before",
    "http_500",
    "html_500",
    "internal_error",
    "rate_limit",
    "slow",
    "invalid_json",
    "truncate",
)
SLACK_SOCKETS = ("disconnect", "drop_connections", "refuse_handshake", "lose_payload")
SERVICE_FAULTS = (
    "drop_after_accept",
    "drop_before",
    "error",
    "html_error",
    "slow",
    "rate_limit",
    "malformed",
    "truncate",
    "stale_cursor",
)
MOMENTS: tuple[Moment, ...] = ("any", "starting", "polling", "any", "looking", "accepted")

T = TypeVar("T")


def make_plan(options: Options) -> list[Step]:
    """The steps in order; the same for the same options."""
    random = Random(options.seed)
    steps = [
        *_kills(options, random),
        *_spread(random, options, _freezes(options, random)),
        *_spread(random, options, [Restart()] * max(1, round(options.seconds / 300))),
        *_spread(random, options, _slack_faults(random, round(options.seconds / 5))),
        *_spread(random, options, _service_faults(random, round(options.seconds / 6))),
        *_spread(random, options, _outages(random, max(2, round(options.seconds / 100)))),
    ]
    if options.database == "postgres":
        count = max(1, round(options.seconds / 200))
        server = [KillDatabase(random.uniform(0.5, 8)) for _ in range(count)]
        steps += _spread(random, options, server)
    if options.database == "postgres" and options.processes > 1:
        cut_offs = [
            CutOff(random.uniform(*LONGER_THAN_THE_POLLS_LEASE))
            for _ in range(max(1, round(options.seconds / 150)))
        ]
        steps += _spread(random, options, cut_offs)
    return sorted(steps, key=lambda step: step.at)


def _kills(options: Options, random: Random) -> list[Step]:
    rounds = max(1, round(options.seconds / ROUND_SECONDS))
    length = options.seconds / rounds
    shares = [options.kills // rounds + (n < options.kills % rounds) for n in range(rounds)]
    steps: list[Step] = []
    for number, share in enumerate(shares):
        begins = number * length
        if share:
            steps.append(Step(begins + random.uniform(2, 10), Kill("accepted")))
        moments = _cycled(random, MOMENTS, share - 1)
        steps += [
            Step(begins + random.uniform(5, length * 0.7), Kill(moment)) for moment in moments
        ]
    return steps


def _freezes(options: Options, random: Random) -> list[Freeze]:
    shorter = [Freeze(random.uniform(0.5, 9)) for _ in range(max(2, round(options.seconds / 90)))]
    return shorter + [
        Freeze(random.uniform(*LONGER_THAN_LEASES)) for _ in range(options.long_freezes)
    ]


def _slack_faults(random: Random, count: int) -> list[SlackFault]:
    calls = _cycled(random, SLACK_CALLS, count)
    found = [_slack_call(random, name) for name in calls]
    sockets = _cycled(random, SLACK_SOCKETS, max(len(SLACK_SOCKETS), count // 4))
    return found + [SlackFault(name) for name in sockets]


def _slack_call(random: Random, name: str) -> SlackFault:
    method = random.choices(["chat.postMessage", "conversations.history", None], weights=[7, 2, 1])[
        0
    ]
    return SlackFault(
        name,
        method,
        times=random.randint(3, 8) if name == "rate_limit" else random.choice([1, 1, 2, 3]),
        # Up to longer than the bot waits for an answer.
        seconds=random.uniform(0.5, 14),
        retry_after=random.choice([1, 1, 2, 4]),
        carried_out=name in ERRORS and random.random() < 0.5,
    )


def _service_faults(random: Random, count: int) -> list[ServiceFault]:
    return [
        ServiceFault(
            kind,
            times=random.randint(3, 10) if kind == "rate_limit" else random.choice([1, 2, 4]),
            status=random.choice([500, 502, 503]),
            seconds=random.uniform(0.5, 14),
            retry_after=random.choice([None, "1", "3"]),
            carried_out=kind in ANSWERED_FALSELY and random.random() < 0.5,
        )
        for kind in _cycled(random, SERVICE_FAULTS, count)
    ]


def _outages(random: Random, count: int) -> list[Outage]:
    services: tuple[Literal["slack", "merge queue"], ...] = ("slack", "merge queue")
    return [Outage(one, random.uniform(2, 15)) for one in _cycled(random, services, count)]


def _cycled(random: Random, kinds: Sequence[T], count: int) -> list[T]:
    """A number of `kinds`, each equally often, in random order."""
    rounds = -(-count // len(kinds)) if count > 0 else 0
    found = [one for _ in range(rounds) for one in random.sample(kinds, len(kinds))]
    return found[: max(0, count)]


def _spread(random: Random, options: Options, acts: Sequence[Act]) -> list[Step]:
    return [Step(random.uniform(3, max(4.0, options.seconds)), act) for act in acts]
