"""A cause in words, and the headline: the same in answers, alerts, Home and the shell."""

from datetime import datetime, timedelta
from functools import singledispatch

from bot.acts.reason import REASON_LIMIT
from bot.blocks.text import cut_markup, duration, escape, literal
from bot.doctor.diagnosis import (
    ComesBack,
    Diagnosis,
    Empty,
    Finding,
    Frozen,
    ManyChecks,
    Misconfigured,
    Normal,
    NoStatus,
    Paused,
    QueueCause,
    QueueVerdict,
    Restarted,
    SameCheck,
    Unknown,
)
from bot.doctor.texts import advancing, failing, standing, testing
from bot.doctor.texts.parts import CauseInWords
from bot.pauses.pause import PauseRecord

MARK = ":mag_right:"
ALERT_EVIDENCE = 500


@singledispatch
def told(finding: Finding, diagnosis: Diagnosis) -> CauseInWords:
    """One cause in words; raises TypeError for what is no finding."""
    raise TypeError(finding, diagnosis)


told.register(standing.no_answer)
told.register(standing.paused)
told.register(standing.frozen)
told.register(standing.misconfigured)
told.register(standing.empty)
told.register(standing.normal)
told.register(standing.unknown)
told.register(failing.same_check)
told.register(failing.many_checks)
told.register(failing.comes_back)
told.register(testing.never_start)
told.register(testing.start_late)
told.register(testing.hangs)
told.register(testing.done)
told.register(advancing.held)
told.register(advancing.restarted)


def cause_headline(diagnosis: Diagnosis) -> str:
    """The verdict in one line, without a mark and without a full stop."""
    name = escape(diagnosis.facts.repository)
    match diagnosis.first:
        case Paused(pause=PauseRecord() as pause):
            reason = literal(pause.line.stored_reason, REASON_LIMIT)
            words = f"{name} is paused: {reason}" if reason else f"{name} is paused"
        case Frozen(is_outside_hours=True):
            words = f"{name} is outside the hours in which it merges"
        case Paused() | Frozen() | Normal() as state:
            words = f"{name} {_STATE_WORDS[state.verdict]}"
        case Empty():
            words = f"Nothing is queued in {name}"
        case NoStatus() as problem:
            words = f"I can't see {name}: {told(problem, diagnosis).cause}"
        case Unknown():
            words = _unknown(diagnosis)
        case cause:
            waited = _waited(diagnosis)
            since = f"{name} has merged nothing for {waited}" if waited else name
            words = f"{since}: {told(cause, diagnosis).cause}"
    return words


_STATE_WORDS = {
    QueueVerdict.PAUSED: "is paused",
    QueueVerdict.FROZEN: "is frozen",
    QueueVerdict.NORMAL: "is merging normally",
}


def cause_of(diagnosis: Diagnosis) -> QueueCause | None:
    """The cause for an alert; None if nobody can tell, or if there is nothing to explain."""
    no_cause = {QueueVerdict.UNKNOWN, QueueVerdict.NORMAL, QueueVerdict.EMPTY}
    causes = [finding for finding in diagnosis.findings if finding.verdict not in no_cause]
    if not causes:
        return None
    said = told(causes[0], diagnosis)
    evidence = (cut_markup(sentence, ALERT_EVIDENCE) for sentence in said.evidence if sentence)
    return QueueCause(causes[0].verdict, said.cause, " ".join(evidence))


def _unknown(diagnosis: Diagnosis) -> str:
    name = escape(diagnosis.facts.repository)
    waited = _waited(diagnosis)
    if not waited:
        return f"I can't tell how {name} is doing"
    return f"{name} has merged nothing for {waited}, and I can't tell why"


def _waited(diagnosis: Diagnosis) -> str:
    """How long nothing has merged; empty if nobody knows."""
    seen = diagnosis.seen
    if not seen.are_merges_read:
        return ""
    waited = max(seen.waited or timedelta(), _in_trouble_for(diagnosis))
    if waited < timedelta(minutes=1):
        return ""
    return duration(waited) if seen.is_wait_known else f"at least {duration(waited)}"


def _in_trouble_for(diagnosis: Diagnosis) -> timedelta:
    """How long nothing has merged since pull requests began to fail, to leave or to start over.

    The head may have been queued later, once they had left.
    """
    match diagnosis.first:
        case SameCheck(since=since) | ManyChecks(since=since) | ComesBack(since=since):
            began_at = since
        case Restarted(since=since) | Misconfigured(since=datetime() as since):
            began_at = since
        case _:
            return timedelta()
    return diagnosis.at - max(began_at, diagnosis.seen.merged_at or began_at)
