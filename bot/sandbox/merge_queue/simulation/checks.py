"""Runs of checks: starting them, letting time pass over them, ending them."""

from bot.sandbox.merge_queue.simulation import records
from bot.sandbox.merge_queue.simulation.moments import SECOND, Moment
from bot.sandbox.merge_queue.simulation.state import Batch, Check, Line, QueuedPullRequest, Service
from bot.sandbox.merge_queue.simulation.turn import Turn

_OPTIONAL_SECONDS = 5.0


def start(turn: Turn, line: Line, batch: Batch, ahead: list[QueuedPullRequest]) -> None:
    """Start the checks of a batch; `ahead` are members of earlier parts tested along with it."""
    batch.code = "running"
    batch.ready_at = None
    batch.started_at = turn.now
    batch.ended_at = None
    batch.verdict = None
    batch.tested = [*ahead, *batch.members]
    batch.check_pull_request = batch.members[0].number if batch.in_place else turn.new_number()
    batch.checks = _checks(turn, batch)
    for queued in batch.members:
        queued.runs += 1
        records.checks_start(turn, batch, queued)
    records.running(turn, line, batch.rule)


def _checks(turn: Turn, batch: Batch) -> list[Check]:
    """The required checks of the repository, then the optional ones of its pull requests."""
    jobs = f"https://ci.example.com/{turn.repository.name}/jobs"
    required = []
    for plan in turn.repository.tempo.checks:
        ends_at = turn.after(turn.random.uniform(plan.shortest, plan.longest))
        job = turn.random.randrange(10**9, 10**10)
        required.append(Check(plan.name, f"{jobs}/{job}", ends_at))
    if any(queued.pull.hangs for queued in batch.tested):
        required[-1].ends_at = None

    names = {check.name for check in required}
    optional = []
    for queued in batch.tested:
        name = queued.pull.optional_check
        if name is None or name in names:
            continue
        names.add(name)
        ends_at = turn.after(_OPTIONAL_SECONDS)
        optional.append(Check(name, f"{jobs}/{queued.number}", ends_at, is_required=False))
    return required + optional


def next_moment(service: Service, batch: Batch) -> Moment:
    """Give the moment when a running batch needs attention: a check ends or time runs out."""
    ends = [check.ends_at for check in batch.checks if check.state == "pending"]
    known = [ends_at for ends_at in ends if ends_at is not None]
    return min([_deadline(service, batch), *known])


def _deadline(service: Service, batch: Batch) -> Moment:
    allowed = round(batch.rule.checks_timeout * SECOND / service.speed)
    return (batch.started_at or service.now) + allowed


def pass_time(turn: Turn, line: Line, batch: Batch) -> None:
    """Let the checks of a running batch end that are due.

    The first required one that fails ends the run.
    """
    due = [check for check in batch.checks if _is_due(check, turn.now)]
    for check in sorted(due, key=lambda check: (check.ends_at, check.name)):
        check.state = _ends(turn, batch, check)
        if check.is_required and check.state != "success":
            verdict = "cancelled" if check.state == "cancelled" else "failure"
            _finish(turn, line, batch, verdict)
            return
    if all(check.state == "success" for check in batch.checks if check.is_required):
        _finish(turn, line, batch, "success")
    elif turn.now >= _deadline(turn.service, batch):
        _finish(turn, line, batch, "timed_out")


def _is_due(check: Check, now: Moment) -> bool:
    return check.state == "pending" and check.ends_at is not None and check.ends_at <= now


def _ends(turn: Turn, batch: Batch, check: Check) -> str:
    """Say in which state a check ends."""
    if not check.is_required:
        return "failure"
    for queued in batch.tested:
        pull = queued.pull
        if pull.broken_check == check.name and pull.broken_runs != 0:
            if pull.broken_runs is not None:
                pull.broken_runs -= 1
            return pull.broken_state
    if any(queued.pull.steady for queued in batch.tested):
        return "success"
    flaky = turn.repository.tempo.flaky
    if flaky > 0 and turn.random.random() < flaky / len(batch.checks):
        return "failure"
    return "success"


def _may_retry(batch: Batch) -> bool:
    """Tell whether a failed batch of one has a retry left (`max_checks_retries`)."""
    if len(batch.members) != 1 or not batch.has_failed:
        return False
    return batch.members[0].retries < batch.rule.max_retries


def failure_code(batch: Batch) -> str:
    codes = {"timed_out": "CHECKS_TIMEOUT", "cancelled": "CHECKS_INTERRUPTED"}
    return codes.get(batch.verdict or "", "CHECKS_FAILED")


def _finish(turn: Turn, line: Line, batch: Batch, verdict: str) -> None:
    batch.ended_at = turn.now
    batch.verdict = verdict
    code = None if verdict == "success" else failure_code(batch)
    if _may_retry(batch):
        batch.members[0].retries += 1
        batch.retrying = True
        code = "CHECKS_RETRIED"
    for queued in batch.members:
        records.checks_end(turn, batch, queued, code)
    records.running(turn, line, batch.rule)


def abort(turn: Turn, line: Line, batch: Batch, codes: dict[int, str], code: str) -> None:
    """Stop a running batch; `codes` names the members (by number) with a code of their own."""
    if not batch.is_running:
        return
    batch.ended_at = turn.now
    for queued in batch.members:
        records.checks_end(turn, batch, queued, codes.get(queued.number, code))
    records.running(turn, line, batch.rule)
