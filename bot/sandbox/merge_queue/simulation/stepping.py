"""Time passing over the simulated service: `step` moves its clock and lets everything happen."""

from random import Random

from bot.sandbox.merge_queue.simulation import (
    batching,
    bisection,
    checks,
    entering,
    freezing,
    merging,
)
from bot.sandbox.merge_queue.simulation.event_log import Event
from bot.sandbox.merge_queue.simulation.moments import SECOND, Moment, next_hour
from bot.sandbox.merge_queue.simulation.state import Batch, Line, Repository, Service
from bot.sandbox.merge_queue.simulation.turn import Turn

_FAR = 10**15


def step(service: Service, elapsed: float, random: Random) -> list[Event]:
    """Let `elapsed` seconds of the service's clock pass and return the events, oldest first.

    Pure but for the state it is given: no clock is read and all chance comes from `random`.
    Every change happens at its own moment, so many short steps give the same events as a long
    one.
    """
    end = service.now + round(elapsed * SECOND)
    if service.nothing_until is not None and end < service.nothing_until:
        # Each request steps, and one of a thousand repositories need not ask all of them.
        service.now = end
        return []
    events: list[Event] = []
    while True:
        due = {
            name: _next_moment(service, repository)
            for name, repository in service.repositories.items()
            if _is_moving(repository)
        }
        moment = min(due.values(), default=end + _FAR)
        if moment > end:
            break
        service.now = moment
        for name, repository in service.repositories.items():
            if due.get(name) == moment:
                turn = Turn(service, repository, random)
                _happen(turn)
                events += turn.events
    service.now = end
    service.nothing_until = moment
    return events


def settle(turn: Turn) -> None:
    """Draw the consequences of what was done to a repository at this moment."""
    turn.service.nothing_until = None
    for line in list(turn.repository.lines.values()):
        while _react(turn, line):
            pass


def _happen(turn: Turn) -> None:
    freezing.forget_ended(turn.repository, turn.now)
    for line in turn.repository.lines.values():
        line.gone = [batch for batch in line.gone if (batch.shown_until or 0) > turn.now]
        for run in list(line.runs()):
            if run.is_running and checks.next_moment(turn.service, run) <= turn.now:
                checks.pass_time(turn, line, run)
                while _react(turn, line):
                    pass
    entering.carry_out_plans(turn)
    entering.arrive(turn)
    settle(turn)


def _react(turn: Turn, line: Line) -> bool:
    return (
        merging.let_unfrozen_pass(turn, line)
        or _judge(turn, line)
        or merging.merge_head(turn, line)
        or batching.start_prepared(turn, line)
        or batching.form(turn, line)
    )


def _judge(turn: Turn, line: Line) -> bool:
    """Act on runs that failed: try again, hold until it is the first in line, split or dismiss."""
    for place, batch in enumerate(line.batches):
        if batch.retrying:
            batching.retry(turn, line, batch)
            return True
        if place == 0 and batch.sub_batches is not None:
            if bisection.advance(turn, line, batch):
                return True
        elif batch.has_failed:
            if place == 0:
                _judge_head(turn, line, batch)
                return True
            batch.code = "waiting_for_previous_batches"
    return False


def _judge_head(turn: Turn, line: Line, batch: Batch) -> None:
    if len(batch.members) == 1:
        members = list(batch.members)
        bisection.dismiss(turn, line, batch, members, checks.failure_code(batch))
    elif batch.rule.max_splits == 0:
        code = "BATCH_MAX_FAILURE_RESOLUTION_ATTEMPTS"
        bisection.dismiss(turn, line, batch, list(batch.members), code)
    else:
        bisection.split(turn, line, batch)


def _is_moving(repository: Repository) -> bool:
    """Whether time alone can change anything."""
    if repository.plans or repository.freezes or repository.next_arrival_at is not None:
        return True
    for line in repository.lines.values():  # noqa: SIM110 - a generator takes twice the time
        if line.batches or line.gone:
            return True
    return False


def _next_moment(service: Service, repository: Repository) -> Moment:
    """Give the next moment at which something happens; far away when nothing will.

    Whatever was due until now has happened: what is still overdue waits for something else.
    """
    moments = [plan.at for plan in repository.plans]
    moments += _present(repository.next_arrival_at)
    for freeze in repository.freezes:
        moments += _present(freeze.start, freeze.end)
    for line in repository.lines.values():
        moments += _line_moments(service, line)
    return min((at for at in moments if at > service.now), default=service.now + _FAR)


def _present(*moments: Moment | None) -> list[Moment]:
    return [moment for moment in moments if moment is not None]


def _line_moments(service: Service, line: Line) -> list[Moment]:
    moments = _present(*(batch.shown_until for batch in line.gone))
    for batch in line.batches:
        for part in (batch, *(batch.sub_batches or ())):
            moments += _present(part.ready_at, part.max_start_at, part.merge_at)
            if part.code == "waiting_schedule":
                moments.append(next_hour(service.now))
    moments += [checks.next_moment(service, run) for run in line.runs()]
    return moments
