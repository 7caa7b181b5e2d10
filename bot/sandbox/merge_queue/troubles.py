"""Troubles of a queue, played step by step: one for each cause that keeps it from merging."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.sandbox.merge_queue.controls import Controls, FreezeTerms, NewPullRequest, SentEvent
from bot.sandbox.merge_queue.faults import Fault
from bot.sandbox.merge_queue.simulation import entering, leaving
from bot.sandbox.merge_queue.simulation.state import CheckPlan, PullRequest

MINUTE = 60.0

_NEVER = 10**9
"""Seconds: no run times out."""

_QUICK = (
    CheckPlan("lint", 15, 30),
    CheckPlan("unit tests", 40, 80),
    CheckPlan("integration", 60, 120),
)
_FOR_HOURS = tuple(CheckPlan(check.name, 20_000, 30_000) for check in _QUICK)


@dataclass(frozen=True, slots=True)
class Act:
    """What happens to a repository, so many minutes after the beginning."""

    minute: float
    do: Callable[[Controls, str], object]


def play(controls: Controls, repositories: Sequence[str], name: str) -> None:
    """Play a trouble to its end; the service's clock moves ahead by as long as it lasts.

    Raise LookupError for an unknown repository or trouble.
    """
    minute = 0.0
    for act in TROUBLES[name]:
        controls.skip((act.minute - minute) * MINUTE)
        controls.catch_up()
        for repository in repositories:
            act.do(controls, repository)
        minute = act.minute


def length(name: str) -> float:
    """How many minutes a trouble lasts."""
    return TROUBLES[name][-1].minute


def _begin(checks: Sequence[CheckPlan] = _QUICK) -> Act:
    """A repository in which nothing happens but what is written here."""

    def begin(controls: Controls, repository: str) -> None:
        found = controls.repository(repository)
        found.tempo = replace(
            found.tempo, arrival=None, checks=tuple(checks), broken=0, hanging=0, flaky=0, fixed=0
        )
        found.rules = tuple(replace(rule, checks_timeout=_NEVER) for rule in found.rules)
        controls.set_pace(repository, None)

    return Act(0, begin)


def _end(minute: float) -> Act:
    return Act(minute, lambda controls, _: controls.catch_up())


def _enter(
    minute: float,
    *,
    broken_check: str | None = None,
    hangs: bool = False,
    waits_for: int | None = None,
    labels: Sequence[str] = ("hotfix",),
) -> Act:
    """A pull request enters the queue; with the label, it is tested alone."""
    new = NewPullRequest(labels=labels, broken_check=broken_check, hangs=hangs, waits_for=waits_for)
    return Act(minute, lambda controls, repository: controls.enqueue(repository, new))


def _failures(checks: Sequence[str], every: float) -> Iterator[Act]:
    for place, check in enumerate(checks):
        yield _enter(place * every, broken_check=check)


def _comes_back() -> Iterator[Act]:
    entered: dict[str, PullRequest] = {}

    def enter(controls: Controls, repository: str) -> None:
        new = NewPullRequest(labels=("hotfix",), broken_check="unit tests")
        number = controls.enqueue(repository, new)
        entered[repository] = controls.queued(repository, number)

    def again(controls: Controls, repository: str) -> None:
        turn = controls.turn(repository)
        entering.enter(turn, entered[repository])
        controls.settled(turn)

    def once_more(controls: Controls, repository: str) -> None:
        # Its last run must have ended before this changes.
        controls.catch_up()
        entered[repository].broken_check = None
        entered[repository].hangs = True
        again(controls, repository)

    yield Act(0, enter)
    for minute in (6, 12):
        yield Act(minute, again)
    yield Act(18, once_more)
    yield _end(19)


def _never_start() -> Iterator[Act]:
    def keep_batches_waiting(controls: Controls, repository: str) -> None:
        found = controls.repository(repository)
        found.rules = tuple(replace(rule, batch_max_wait=_NEVER) for rule in found.rules)

    def refuse(controls: Controls, repository: str) -> None:
        (queued,) = controls.repository(repository).line("main").queued()
        metadata = {"reason": "the service could not create the branch to test"}
        type_ = "action.queue.checks_not_started"
        sent = SentEvent(type_, metadata, queued.number, "main")
        controls.emit(repository, sent)

    yield Act(0, keep_batches_waiting)
    yield _enter(0, labels=())
    for minute in (5, 10, 15):
        yield Act(minute, refuse)
    yield _end(17)


def _hold_merges(controls: Controls, repository: str) -> None:
    for batch in controls.repository(repository).line("main").batches:
        batch.merge_at = controls.turn(repository).after(_NEVER)


def _push(controls: Controls, repository: str) -> None:
    controls.push_to(repository, "main")


def _push_to_head(controls: Controls, repository: str) -> None:
    turn = controls.turn(repository)
    line = turn.repository.line("main")
    leaving.withdraw(turn, line, line.batches[0].members[0], "PULL_REQUEST_UPDATED")
    controls.settled(turn)


def _requeue_head(controls: Controls, repository: str) -> None:
    """Its place goes to the one behind it, whose checks start over."""
    turn = controls.turn(repository)
    line = turn.repository.line("main")
    head = line.batches[0].members[0]
    leaving.withdraw(turn, line, head, "PR_MANUALLY_DEQUEUED")
    entering.enter(turn, head.pull)
    controls.settled(turn)


def _pause(controls: Controls, repository: str) -> None:
    controls.pause(repository, "CI runners are down", by="bob")


def _freeze(controls: Controls, repository: str) -> None:
    controls.freeze(repository, FreezeTerms("Release 4.2 is being cut"))


def _fall_silent(controls: Controls, repository: str) -> None:
    path = f"/repos/{repository}/merge-queue/status"
    controls.faults.arm(Fault("error", path=path, times=None, status=503))


def _break_configuration(controls: Controls, repository: str) -> None:
    controls.break_configuration(repository, "queue_rules: extra keys not allowed")


_DIFFERENT = ("lint", "unit tests", "integration") * 2

TROUBLES: Mapping[str, Sequence[Act]] = {
    "no-answer": (_begin(), _enter(0, hangs=True), Act(5, _fall_silent), _end(6)),
    "is-paused": (_begin(), _enter(0), _enter(0.1), Act(0.2, _pause), _end(12)),
    "is-frozen": (_begin(), Act(0, _freeze), _enter(1), _enter(2), _end(20)),
    "misconfigured": (_begin(), Act(0, _break_configuration), _end(1)),
    "nothing-queued": (_begin(), _end(1)),
    "same-check": (
        _begin(),
        *_failures(("integration",) * 5, every=5),
        _enter(26, hangs=True),
        _end(28),
    ),
    "many-checks": (_begin(), *_failures(_DIFFERENT, every=4), _enter(24, hangs=True), _end(26)),
    "comes-back": (_begin(), *_comes_back()),
    "held": (
        _begin(),
        _enter(0, waits_for=1),
        Act(0.1, _hold_merges),
        _enter(1, hangs=True),
        _end(75),
    ),
    "never-start": (_begin(), *_never_start()),
    "start-late": (_begin(_FOR_HOURS), _enter(0), _enter(1), _end(75)),
    "hangs": (_begin(), _enter(0, hangs=True), _end(100)),
    "done": (_begin(), _enter(0), Act(0.1, _hold_merges), _end(30)),
    "restarted": (
        _begin(),
        _enter(0, hangs=True),
        *(Act(minute, _push) for minute in (5, 10, 15, 20)),
        _end(22),
    ),
    "requeued": (
        _begin(),
        _enter(0, hangs=True),
        _enter(1, hangs=True),
        *(Act(minute, _requeue_head) for minute in (5, 10, 15, 20)),
        _end(22),
    ),
    "pushed": (
        _begin(),
        *(_enter(minute / 10, hangs=True) for minute in range(5)),
        *(Act(minute, _push_to_head) for minute in (5, 10, 15, 20)),
        _end(22),
    ),
    "merging": (_begin(), *(_enter(3 * n) for n in range(6)), _enter(18, hangs=True), _end(19)),
}
"""By name; each ends with the cause in force."""
