"""The words of what people and the service want of a queue, and of one that is fine."""

from collections.abc import Iterator

from bot.blocks.text import duration, listed, local_time, quote
from bot.doctor.diagnosis import (
    Diagnosis,
    Empty,
    Frozen,
    Misconfigured,
    Normal,
    NoStatus,
    Paused,
    Unknown,
)
from bot.doctor.facts import NoAnswer
from bot.doctor.rules.limits import IN_A_ROW
from bot.doctor.texts.parts import SAID_LIMIT, CauseInWords, checks, numbers
from bot.freezes.texts.cards import FREEZES_LISTED, freeze_line
from bot.pauses.texts.card import by_whom
from bot.queues.texts.parts import by_past

_WHO_RESUMES = "anyone who may resume this queue."

_WHO_ADMINISTERS = "an administrator of the repository."

_WHO_LOOKS = "anyone, by looking at the pull request at the head; then the service's support."

_NO_STATUS = {
    NoAnswer.SILENT: "the merge queue service isn't responding",
    NoAnswer.FAILING: "the merge queue service has a problem",
    NoAnswer.REFUSED: "the merge queue service refuses the request",
    NoAnswer.INVALID: "the merge queue service says that the configuration is invalid",
    NoAnswer.UNREADABLE: "I can't read the merge queue service's answers",
}


def no_answer(found: NoStatus, _: Diagnosis) -> CauseInWords:
    problem = found.problem
    evidence = []
    if problem.last_answer_at is not None:
        evidence.append(f"Its last good answer came {local_time(problem.last_answer_at)}.")
    if problem.said:
        evidence.append(f"It says: {quote(problem.said, SAID_LIMIT)}.")
    evidence.append("So nobody can tell from here whether pull requests merge.")
    who = "the service's support. I keep trying."
    if problem.kind in {NoAnswer.REFUSED, NoAnswer.UNREADABLE}:
        who = "the person who runs the bot: `mqbot check` says more."
    return CauseInWords(_NO_STATUS[problem.kind], tuple(evidence), who)


def paused(found: Paused, _: Diagnosis) -> CauseInWords:
    pause = found.pause
    if pause is None:
        return CauseInWords("it is paused", ("The service says that it is paused, and not why.",))
    paused = f"It was paused{by_whom(pause)} {local_time(pause.since)}."
    return CauseInWords("it is paused", (paused,), _WHO_RESUMES)


def frozen(found: Frozen, _: Diagnosis) -> CauseInWords:
    lines = listed([freeze_line(freeze) for freeze in found.freezes], "\n", most=FREEZES_LISTED)
    if found.is_outside_hours:
        lines = "The service holds it until the hours in which it merges."
    return CauseInWords("it is frozen", (lines or "The service holds it for a freeze.",))


def misconfigured(found: Misconfigured, _: Diagnosis) -> CauseInWords:
    cause = "the configuration is invalid"
    said = f"The service says: {quote(found.said.rstrip('.'), SAID_LIMIT)}." if found.said else ""
    if not found.left or found.since is None:
        return CauseInWords(cause, (said,), _WHO_ADMINISTERS)
    left = f"{numbers(found.left)} left the queue for it since {local_time(found.since)}."
    return CauseInWords(cause, (left, said), _WHO_ADMINISTERS)


def empty(_found: Empty, diagnosis: Diagnosis) -> CauseInWords:
    is_all = len(diagnosis.findings) == 1
    return CauseInWords("nothing is queued", tuple(_failures(diagnosis)) if is_all else ())


def normal(_: Normal, diagnosis: Diagnosis) -> CauseInWords:
    usual = diagnosis.seen.past.merge
    evidence = []
    expected = by_past(diagnosis.outlook, diagnosis.at)
    if expected:
        evidence.append(f"{expected}.")
    elif not usual.is_known:
        length = duration(usual.default)
        evidence.append(
            "I've seen too few merges to know what is usual, "
            f"so more than {length} without one counts as long."
        )
    return CauseInWords("it is merging normally", tuple(evidence))


def unknown(_found: Unknown, diagnosis: Diagnosis) -> CauseInWords:
    return CauseInWords("I can't tell why", tuple(_looked_at(diagnosis)), _WHO_LOOKS)


def _failures(diagnosis: Diagnosis) -> Iterator[str]:
    """That checks fail, where nobody knows of one cause for that."""
    seen = diagnosis.seen
    if seen.failed_runs < IN_A_ROW:
        return
    runs = f"The last {seen.failed_runs} runs of checks failed"
    yield f"{runs}: {checks(seen.failed_checks)}." if seen.failed_checks else f"{runs}."


def _looked_at(diagnosis: Diagnosis) -> Iterator[str]:
    """What a person would look at first."""
    facts = diagnosis.facts
    yield from _failures(diagnosis)
    if facts.status is not None and facts.status.unreadable:
        yield "Some entries of the queue can't be read."
    if not diagnosis.seen.are_merges_read:
        yield "The event log may lack the latest merges."
    if not facts.is_pause_known:
        yield "The service doesn't say whether the queue is paused."
    if facts.details is None and diagnosis.seen.head_code is not None:
        yield "The service doesn't say which checks the head waits for."
    elif facts.details is not None and facts.details.mergeability_check is not None:
        running = facts.details.mergeability_check.running
        if running:
            yield f"Checks without a result: {checks(running)}."
