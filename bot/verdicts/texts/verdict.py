"""The words of a verdict: the same in posts, threads, direct messages and the answer to `why`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.blocks.text import code, link, listed, plural, quote
from bot.merge_queue.event_records import EventRecord
from bot.verdicts.texts.leaving import (
    FIND_HANGING,
    FIX,
    Leaving,
    is_vague,
    leaving,
    then_queue,
)
from bot.verdicts.verdict import (
    BatchVerdict,
    Cause,
    CheckRecord,
    FailedChecks,
    Hold,
    Step,
    Storm,
    Verdict,
)

CHECKS_IN_SENTENCE = 2
CHECKS_LISTED = 3
NUMBERS_LISTED = 5
SAID_LIMIT = 200
ENOUGH_OTHERS = 3
"""Fewer others without the failure don't show that it is this pull request's own."""

OPEN_RUN = "open the run"


@dataclass(frozen=True, slots=True)
class VerdictParts:
    """The parts of a verdict, each safe to show."""

    cause: str
    run: str  #: a link to the one failed run, empty if there are several or none
    evidence: tuple[str, ...]  #: sentences
    checks: tuple[str, ...]  #: a line for each failed check, if there are several
    aside: str  #: what else failed or passed, for the grey line
    next_step: str


_HOLD_ALONE = {
    Hold.PAUSE: "queue it again once the queue has resumed",
    Hold.FREEZE: "queue it again after the freeze",
    Hold.STORM: "don't queue it again yet: wait until other pull requests merge",
}
_HOLDS_AFTERWARDS = {
    Hold.PAUSE: "then queue it again once the queue has resumed",
    Hold.FREEZE: "then queue it again after the freeze",
    Hold.STORM: "but don't queue it again yet: wait until other pull requests merge",
}
"""The same, after something else to do."""


def said(verdict: Verdict) -> VerdictParts:
    """The one wording of a verdict."""
    checks = verdict.found.checks
    return VerdictParts(
        _cause_in_words(verdict),
        _run(checks) if verdict.cause in _NAMES_CHECKS else "",
        tuple(_evidence(verdict)),
        _check_lines(verdict),
        _aside(verdict),
        _next_step(verdict),
    )


def remover_of(record: EventRecord) -> str | None:
    """Who asked for a removal, from the command that triggered it or from an earlier event."""
    trigger = record.details.trigger
    return trigger if trigger.startswith("@") else record.details.actor


_BY_CHECKS = frozenset({Cause.FAILS_FOR_OTHERS, Cause.FAILED, Cause.TIMED_OUT, Cause.CANCELLED})
_NAMES_CHECKS = _BY_CHECKS | {Cause.OTHER_OF_BATCH}
"""The causes that are said with the names of the failed checks."""


def _cause_in_words(verdict: Verdict) -> str:
    found = verdict.found
    has_code = verdict.record.details.code is not None
    match verdict.cause:
        case Cause.OTHER_OF_BATCH:
            words = f"{_numbered(found.batch.broken_by)} broke its batch"
        case Cause.STORM:
            words = "checks failed for many pull requests"
        case Cause.NOT_STARTED if not has_code:
            words = "its checks never started"
        case Cause.REMOVED if found.rule:
            words = f"removed by the rule “{quote(found.rule)}”"
        case Cause.CHANGED if found.is_closed and not has_code:
            words = "it was closed"
        case Cause.CONFLICT if found.blocking:
            words = f"it conflicts with {_numbered(found.blocking)}, ahead of it"
        case _:
            words = _cause_in_checks(verdict) if verdict.cause in _BY_CHECKS else ""
    return words or _of_code(verdict.record).cause


def _cause_in_checks(verdict: Verdict) -> str:
    """What became of the named checks; empty if the service names none."""
    checks = verdict.found.checks
    names = _check_names(checks)
    is_one = len(checks.named) == 1 and not checks.left_out
    match verdict.cause:
        case _ if not names:
            return ""
        case Cause.TIMED_OUT:
            return f"{names} timed out"
        case Cause.CANCELLED:
            return f"{names} was cancelled" if is_one else f"{names} were cancelled"
        case _ if checks.are_required:
            return f"{names} failed"
        case _:
            return f"check {names} failed" if is_one else f"checks {names} failed"


def _of_code(record: EventRecord) -> Leaving:
    return leaving(record.details.code, record.details.reason)


def _check_names(checks: FailedChecks) -> str:
    """The named checks; empty if the service names none."""
    names = [quote(check.name) for check in checks.named if check.name]
    if len(names) == CHECKS_IN_SENTENCE and not checks.left_out:
        return " and ".join(names)
    return listed(names, most=CHECKS_LISTED, besides=checks.left_out) if names else ""


def _numbered(numbers: Sequence[int]) -> str:
    return listed([f"#{number}" for number in numbers], most=NUMBERS_LISTED)


def _run(checks: FailedChecks) -> str:
    """A link to the run of the only failed check."""
    if len(checks.named) != 1 or checks.left_out:
        return ""
    (check,) = checks.named
    linked = link(check.url or "", OPEN_RUN)
    return linked if linked != OPEN_RUN else ""


def _check_lines(verdict: Verdict) -> tuple[str, ...]:
    """A line for each failed check, unless the cause names the only one."""
    checks = verdict.found.checks
    count = len(checks.named) + checks.left_out
    if not checks.named or (count == 1 and verdict.cause in _NAMES_CHECKS):
        return ()
    head = "Required checks that failed:" if checks.are_required else "Failed checks:"
    lines = [f"• {link(check.url or '', quote(check.name or 'a check'))}" for check in checks.named]
    return (head, listed(lines, "\n", most=CHECKS_LISTED, besides=checks.left_out))


def _evidence(verdict: Verdict) -> Iterator[str]:
    found = verdict.found
    checks = found.checks
    yield from _of_batch(verdict.cause, found.batch, checks)
    if verdict.cause is not Cause.OTHER_OF_BATCH and checks.record is not None:
        yield from _of_record(checks.record, verdict.record.base_ref)
    if found.storm is not None:
        yield _of_storm(found.storm)
    if found.retries and checks.named:
        yield f"It failed again after {plural(found.retries, 'retry', 'retries')}."
    if verdict.cause is Cause.NOT_STARTED:
        yield from _in_its_words(found.start_problem)
        yield "There is no run to open."
    elif verdict.cause is Cause.AS_SAID and is_vague(verdict.record.details.code):
        yield from _in_its_words(verdict.record.details.reason)
    elif verdict.cause in _BY_CHECKS:
        yield from _missing(checks)
    unmet = verdict.record.details.unmet if verdict.cause is Cause.REMOVED else ()
    if unmet:
        yield f"Not met: {listed([code(label) for label in unmet])}."


def _in_its_words(reason: str | None) -> Iterator[str]:
    words = quote((reason or "").strip().rstrip("."), SAID_LIMIT)
    if words:
        yield f"The service says: {words}."


def _missing(checks: FailedChecks) -> Iterator[str]:
    """What the service doesn't say, so that nobody looks for it."""
    if not checks.named:
        yield "The service names no failed check."
    elif not _has_run(checks):
        yield "The service gives no link to a run."


def _of_batch(cause: Cause, batch: BatchVerdict, checks: FailedChecks) -> Iterator[str]:
    names = _check_names(checks)
    size = len(batch.members)
    if cause is Cause.OTHER_OF_BATCH:
        if names and size:
            yield f"{names} failed in their batch of {size}."
        yield f"The bisection found {_numbered(batch.broken_by)}; this one was only in its batch."
    elif batch.is_culprit and size:
        yield f"It broke its batch of {size}: the bisection found it."
    elif (batch.is_unverified or cause is Cause.AS_SAID) and size:
        yield f"It was tested only in a batch of {size}, never alone."


def _of_record(record: CheckRecord, branch: str | None) -> Iterator[str]:
    where = f" on {code(branch)}" if branch else ""
    others = plural(record.total, "other pull request")
    name = quote(record.name)
    if record.failed:
        yield f"{name} also failed for {record.failed:,} of {others}{where} within a day of it."
    elif record.total >= ENOUGH_OTHERS:
        yield f"{name} failed for none of {others}{where} within a day of it."


def _of_storm(storm: Storm) -> str:
    failed = f"{plural(storm.pull_requests, 'other pull request')} failed within 30 minutes of it"
    if storm.checks == 1:
        return f"{failed}, all by the same check."
    return f"{failed}, by {storm.checks:,} different checks."


def _aside(verdict: Verdict) -> str:
    checks = verdict.found.checks
    passed = verdict.record.details.checks_passed
    parts: list[str] = []
    names = [quote(check.name) for check in checks.not_required if check.name]
    if names:
        parts.append(f"Failed too, not required: {listed(names, most=CHECKS_LISTED)}")
    if checks.named and passed:
        parts.append(f"{plural(passed, 'other check')} passed")
    return " · ".join(parts)


def _next_step(verdict: Verdict) -> str:
    then = verdict.next
    of_code = _of_code(verdict.record)
    first = _first(verdict, of_code)
    if first is None:
        return of_code.next_step
    if then.hold is None:
        return then_queue(first)
    return f"{first}, {_HOLDS_AFTERWARDS[then.hold]}" if first else _HOLD_ALONE[then.hold]


def _first(verdict: Verdict, of_code: Leaving) -> str | None:
    """What to do before it is queued again, empty for nothing; None if that isn't the next step."""
    match verdict.next.step:
        case Step.QUEUE_AGAIN:
            return ""
        case Step.FIX:
            return FIX
        case Step.FIND_HANGING:
            return "find out why it hangs" if verdict.found.checks.named else FIND_HANGING
        case Step.LOOK:
            return "look at the run" if _has_run(verdict.found.checks) else "see what failed"
        case Step.AS_CODE:
            return of_code.first if of_code.is_queued_again else None


def _has_run(checks: FailedChecks) -> bool:
    return any(link(check.url or "", OPEN_RUN) != OPEN_RUN for check in checks.named)
