"""Entering the queue, and the plans that people have with their pull requests."""

from dataclasses import replace
from typing import NamedTuple

from bot.sandbox.merge_queue.simulation import authorship, leaving, records
from bot.sandbox.merge_queue.simulation.state import (
    MEDIUM_PRIORITY,
    Line,
    Person,
    Plan,
    PullRequest,
    QueuedPullRequest,
)
from bot.sandbox.merge_queue.simulation.turn import Subject, Turn

_BY_COMMAND = 0.4
_RULE_TRIGGER = "Rule: merge when approved"


class InLine(NamedTuple):
    """A queued pull request and its line."""

    line: Line
    queued: QueuedPullRequest


def find(turn: Turn, number: int) -> InLine | None:
    """Find a queued pull request by its number."""
    for line in turn.repository.lines.values():
        for queued in line.queued():
            if queued.number == number:
                return InLine(line, queued)
    return None


def command(turn: Turn, name: str, pull: PullRequest, by: Person, session: str | None) -> None:
    """Record that somebody wrote a command in a comment of the pull request."""
    comment = turn.random.randrange(10**9, 10**10)
    account = {"login": by.login, "id": by.id, "type": "User", "avatar_url": None}
    if by.login.endswith("[bot]"):
        account["type"] = "Bot"
    url = f"https://{turn.repository.host}.example.com/{turn.repository.name}/pull/{pull.number}"
    metadata = {
        "author": account,
        "comment_id": comment,
        "session_id": session,
        "command_trigger": "comment",
        "trigger_comment_url": f"{url}#comment-{comment}",
    }
    about = Subject(pull.number, pull.base_ref)
    turn.record(f"command.{name}", metadata, about, f"@{by.login}")


def enter(turn: Turn, pull: PullRequest, *, by: Person | None = None) -> QueuedPullRequest:
    """Put a pull request in line, also while paused; `by` is who asked for it by command."""
    repository = turn.repository
    line = repository.line_for(pull)
    queued = QueuedPullRequest(
        pull=pull,
        session_id=turn.uuid(),
        queued_at=turn.now,
        rule=repository.rule_for(pull.base_ref, pull.labels),
    )
    rule = next(
        (
            priority_rule
            for priority_rule in repository.priority_rules
            if priority_rule.label in pull.labels
        ),
        None,
    )
    queued.priority = MEDIUM_PRIORITY if rule is None else rule.priority
    queued.priority_rule_name = None if rule is None else rule.name
    if by is not None:
        command(turn, "queue", pull, by, queued.session_id)
    line.waiting.append(queued)
    leaving.sort_waiting(turn, line)
    records.enter(turn, queued, _RULE_TRIGGER if by is None else f"@{by.login}")
    records.size(turn, line, queued)
    kept = tuple(name for name in pull.labels if name not in ("queued", "dequeued"))
    records.label(turn, queued, "queued", "dequeued" if "dequeued" in pull.labels else None)
    pull.labels = (*kept, "queued")
    if rule is not None and rule.interrupts:
        _interrupt(turn, line, queued)
    return queued


def _interrupt(turn: Turn, line: Line, queued: QueuedPullRequest) -> None:
    """Stop the checks of what has a lower priority, as `allow_checks_interruption` says."""
    for place, batch in enumerate(line.batches):
        untouchable = batch.sub_batches is not None or batch.verdict is not None
        if untouchable or batch.code == "waiting_for_batch":
            continue
        if all(member.priority < queued.priority for member in batch.members):
            leaving.requeue(turn, line, place, "PR_WITH_HIGHER_PRIORITY_QUEUED")
            return


def set_pace(turn: Turn, arrival: float | None) -> None:
    """Let pull requests arrive by themselves, `arrival` seconds apart on average, or none."""
    repository = turn.repository
    repository.tempo = replace(repository.tempo, arrival=arrival)
    if arrival is None:
        repository.next_arrival_at = None
    elif repository.next_arrival_at is None:
        repository.next_arrival_at = turn.after(turn.random.expovariate(1 / arrival))


def arrive(turn: Turn) -> None:
    """Let the next pull request enter when its time has come, and draw when the one after does."""
    repository = turn.repository
    chance = turn.random
    at = repository.next_arrival_at
    arrival = repository.tempo.arrival
    if at is None or arrival is None or turn.now < at:
        return
    repository.next_arrival_at = turn.after(chance.expovariate(1 / arrival))
    if sum(1 for line in repository.lines.values() for _ in line.queued()) >= (
        repository.tempo.queue_limit
    ):
        return
    pull = authorship.write_pull_request(turn)
    enter(turn, pull, by=pull.author if chance.random() < _BY_COMMAND else None)
    _plan_second_thoughts(turn, pull)


def _plan_second_thoughts(turn: Turn, pull: PullRequest) -> None:
    draw = turn.random.random()
    tempo = turn.repository.tempo
    if draw < tempo.regretted + tempo.pushed:
        act = "dequeue" if draw < tempo.regretted else "push"
        at = turn.after(turn.random.uniform(20, 240))
        turn.repository.plans.append(Plan(at, act, pull.number, pull))


def carry_out_plans(turn: Turn) -> None:
    """Do what people planned for this moment; plans for who is not there any more are void."""
    repository = turn.repository
    due = sorted(
        (plan for plan in repository.plans if plan.at <= turn.now),
        key=lambda plan: (plan.at, plan.number),
    )
    repository.plans = [plan for plan in repository.plans if plan.at > turn.now]
    for plan in due:
        _carry_out(turn, plan)


def _carry_out(turn: Turn, plan: Plan) -> None:
    found = find(turn, plan.number)
    if plan.act == "enter":
        if found is None and plan.pull is not None:
            enter(turn, plan.pull, by=plan.pull.author)
    elif found is not None:
        if plan.act == "dequeue":
            dequeue(turn, plan.number, found[1].pull.author)
        elif plan.act == "leave":
            # A later stay was not asked to leave.
            if found.queued.dequeue_requested:
                leaving.withdraw_stack(turn, *found)
        else:
            leaving.withdraw(turn, *found, "PULL_REQUEST_UPDATED")
            plan_return(turn, found[1].pull)


def dequeue(turn: Turn, number: int, by: Person) -> bool:
    """Remove a pull request on request; return whether it was queued."""
    found = find(turn, number)
    if found is None:
        return False
    line, queued = found
    command(turn, "dequeue", queued.pull, by, queued.session_id)
    leaving.withdraw(turn, line, queued, "PR_MANUALLY_DEQUEUED")
    return True


def plan_return(turn: Turn, pull: PullRequest) -> None:
    """Sometimes let the author of a failed pull request fix it and queue it again."""
    if turn.random.random() < turn.repository.tempo.fixed:
        pull.broken_check = None
        pull.hangs = False
        pull.conflict = None
        pull.head_sha = turn.sha()
        at = turn.after(turn.random.uniform(120, 600))
        turn.repository.plans.append(Plan(at, "enter", pull.number, pull))
