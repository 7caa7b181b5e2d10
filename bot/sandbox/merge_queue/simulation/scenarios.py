"""Named starts of a repository: how lively it is and what is already going on."""

from collections.abc import Callable
from dataclasses import replace

from bot.sandbox.merge_queue.simulation import authorship, entering, freezing, pausing
from bot.sandbox.merge_queue.simulation.event_log import EventLog
from bot.sandbox.merge_queue.simulation.moments import SECOND
from bot.sandbox.merge_queue.simulation.state import (
    Actor,
    CheckPlan,
    Freeze,
    Line,
    Plan,
    PriorityRule,
    PullRequest,
    QueueRule,
    Repository,
    Tempo,
)
from bot.sandbox.merge_queue.simulation.turn import Turn

CAROL = Actor("user", 10_403, "carol")

_CHECKS = (
    CheckPlan("lint", 15, 30),
    CheckPlan("unit tests", 40, 80),
    CheckPlan("end-to-end tests", 60, 120),
)
_CHECKS_AS_IN_LIFE = (
    CheckPlan("lint", 45, 80),
    CheckPlan("unit tests", 150, 260),
    CheckPlan("end-to-end tests", 280, 460),
)

_RULES = (
    QueueRule("hotfix", batch_size=1, batch_max_wait=0, checks_timeout=240),
    QueueRule("release", batch_size=1, batch_max_wait=0, checks_timeout=240),
    QueueRule("default", batch_size=3, batch_max_wait=30, checks_timeout=240),
)
_PRIORITY_RULES = (
    PriorityRule("hotfixes first", "hotfix", 3000, interrupts=True),
    PriorityRule("dependencies last", "dependencies", 1000),
)
_LIVELY = Tempo(
    arrival=25,
    checks=_CHECKS,
    broken=0.1,
    hanging=0.005,
    conflicting=0.03,
    flaky=0.01,
    urgent=0.04,
    regretted=0.03,
    pushed=0.04,
    hiccups=0.02,
    release=0.1,
)
_TEMPOS = {
    "calm": replace(_LIVELY, arrival=600, broken=0.08),
    "busy": _LIVELY,
    "demo": replace(_LIVELY, arrival=200, broken=0.12, checks=_CHECKS_AS_IN_LIFE),
    "failing": replace(_LIVELY, arrival=45, broken=0.6, release=0.5),
    "bisecting": replace(_LIVELY, arrival=60, broken=0.3, release=0.0),
    "paused": replace(_LIVELY, arrival=60),
    "frozen": replace(_LIVELY, arrival=60, release=0.4),
    "quiet": Tempo(arrival=None, checks=_CHECKS, fixed=0.0),
    "staged": Tempo(arrival=None, checks=_CHECKS_AS_IN_LIFE, fixed=0.0),
}
ALIASES = {"empty": "quiet"}
NAMES = (*_TEMPOS, *ALIASES)


def tempo(scenario: str) -> Tempo:
    """How lively a scenario makes a repository; raise ValueError for an unknown one."""
    scenario = ALIASES.get(scenario, scenario)
    if scenario not in _TEMPOS:
        raise ValueError(f"unknown scenario {scenario!r}; choose one of {', '.join(NAMES)}")
    return _TEMPOS[scenario]


def make_repository(name: str, scenario: str, host: str, log_limit: int) -> Repository:
    """Make a repository at rest, with the tempo of a scenario; raise ValueError for an unknown."""
    known = tempo(scenario)
    scenario = ALIASES.get(scenario, scenario)
    rules: tuple[QueueRule, ...] = _RULES
    if scenario == "bisecting":
        rules = (*_RULES[:2], replace(_RULES[2], batch_size=6))
    if scenario in ("demo", "staged"):
        rules = tuple(replace(rule, checks_timeout=1_800) for rule in _RULES)
    repository = Repository(
        name=name,
        host=host,
        tempo=known,
        rules=rules,
        priority_rules=_PRIORITY_RULES,
        rule_of_branch={"main": "default", "release/4.2": "release"},
        log=EventLog(log_limit),
    )
    repository.lines = {base_ref: Line(base_ref) for base_ref in ("main", "release/4.2")}
    return repository


def begin(turn: Turn, scenario: str) -> None:
    """Set the scene at the present moment; consequences follow with the next step."""
    repository = turn.repository
    repository.next_number = turn.random.randrange(1200, 4800)
    arrival = repository.tempo.arrival
    if arrival is not None:
        first = turn.random.expovariate(1 / min(arrival, 60))
        repository.next_arrival_at = turn.after(first)
    opening = _OPENINGS.get(ALIASES.get(scenario, scenario))
    if opening is not None:
        opening(turn)


def history_seconds(scenario: str) -> float:
    """Give the simulated time that is played before the start, so that a log is there to read."""
    lively = {"busy": 1_800.0, "demo": 1_800.0, "calm": 7_200.0, "failing": 1_800.0}
    return lively.get(ALIASES.get(scenario, scenario), 0.0)


def prologue(turn: Turn, scenario: str) -> None:
    """Arrange what a person sees in the first seconds after the start.

    On the release branch, where nothing ahead is in the way, one pull request will merge and the
    one behind it fail, both about two simulated minutes after the start.
    """
    if scenario not in ("busy", "demo", "failing"):
        return
    # In the demo the reader starts a moment after the service and is to see the entries too.
    curtain = 40 if scenario == "demo" else 1
    for queued in turn.repository.line("release/4.2").queued():
        pull = queued.pull
        pull.broken_check = None
        pull.hangs = False
        pull.conflict = None
        pull.steady = True
    scene = (("release/4.2", None), ("release/4.2", "lint"), ("main", None))
    for place, (base_ref, broken) in enumerate(scene):
        pull = _pull_request(turn, base_ref, broken)
        pull.steady = True
        plan = Plan(turn.after(curtain + 2 * place), "enter", pull.number, pull)
        turn.repository.plans.append(plan)


def _pull_request(turn: Turn, base_ref: str, broken: str | None = None) -> PullRequest:
    pull = authorship.write_pull_request(turn)
    pull.base_ref = base_ref
    pull.broken_check = broken
    pull.hangs = False
    pull.conflict = None
    pull.labels = ("enhancement",)
    return pull


def _bisecting(turn: Turn) -> None:
    culprit = turn.random.randrange(6)
    for place in range(6):
        broken = "unit tests" if place == culprit else None
        entering.enter(turn, _pull_request(turn, "main", broken))


def _paused(turn: Turn) -> None:
    for _ in range(4):
        entering.enter(turn, _pull_request(turn, "main"))
    pausing.pause(turn, "Investigating flaky database tests", CAROL)


def _frozen(turn: Turn) -> None:
    for base_ref in ("main", "release/4.2", "main"):
        entering.enter(turn, _pull_request(turn, base_ref))
    freeze = Freeze(
        id=turn.uuid(),
        reason="Release 4.2 is being cut",
        start=turn.now - 600 * SECOND,
        timezone="Europe/Paris",
        matching_conditions=("base=main",),
        exclude_conditions=("label=hotfix",),
    )
    freezing.create(turn, freeze, CAROL)


_OPENINGS: dict[str, Callable[[Turn], None]] = {
    "bisecting": _bisecting,
    "paused": _paused,
    "frozen": _frozen,
}
