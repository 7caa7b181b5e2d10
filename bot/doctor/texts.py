"""The words of a diagnosis: the same in answers, alerts, Home and the shell."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import singledispatch
from html import unescape

from bot.acts.reason import REASON_LIMIT
from bot.blocks import blocks, controls
from bot.blocks.message import Block, Message
from bot.blocks.text import (
    by_count,
    clean,
    clock_time,
    code,
    cut_markup,
    duration,
    escape,
    link,
    listed,
    literal,
    local_time,
    plural,
    quote,
    within,
    without_markup,
)
from bot.doctor import actions as doctor_actions
from bot.doctor.diagnosis import (
    Cause,
    ComesBack,
    Diagnosis,
    Done,
    Empty,
    Finding,
    Frozen,
    Hangs,
    Held,
    ManyChecks,
    Misconfigured,
    NeverStart,
    Normal,
    NoStatus,
    NotStarted,
    Paused,
    Restart,
    Restarted,
    SameCheck,
    StartLate,
    Unknown,
    Verdict,
)
from bot.doctor.facts import NoAnswer
from bot.doctor.past import Usual
from bot.freezes.texts.cards import FREEZES_LISTED, freeze_line
from bot.merge_queue.queue import BatchStatusCode
from bot.pauses.pause import PauseRecord
from bot.pauses.texts.card import by_whom, resume_button
from bot.queues.texts.parts import batch_state, obstacle, pause_button

CHECKS_NAMED = 3
NUMBERS_NAMED = 5
SAID_LIMIT = 200
CAUSES_SHOWN = 3
EVIDENCE_LIMIT = 1500
ALERT_EVIDENCE = 500
MARK = ":mag_right:"
OPEN_LAST_RUN = "open the last run"


@dataclass(frozen=True, slots=True)
class Told:
    """One cause in words, each part safe to show."""

    cause: str  #: a clause, to follow what has not merged for how long
    evidence: tuple[str, ...] = ()  #: sentences that somebody can check
    who: str = ""  #: the sentence that says who can act


def headline(diagnosis: Diagnosis) -> str:
    """The verdict in one line, without a mark and without a full stop."""
    name = escape(diagnosis.facts.repository)
    match diagnosis.first:
        case Paused(pause=PauseRecord() as pause):
            words = f"{name} is paused: {literal(pause.stored_reason, REASON_LIMIT)}"
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
    Verdict.PAUSED: "is paused",
    Verdict.FROZEN: "is frozen",
    Verdict.NORMAL: "is merging normally",
}


def cause_of(diagnosis: Diagnosis) -> Cause | None:
    """The cause for an alert; None if nobody can tell, or if there is nothing to explain."""
    no_cause = {Verdict.UNKNOWN, Verdict.NORMAL, Verdict.EMPTY}
    causes = [finding for finding in diagnosis.findings if finding.verdict not in no_cause]
    if not causes:
        return None
    said = told(causes[0], diagnosis)
    evidence = (cut_markup(sentence, ALERT_EVIDENCE) for sentence in said.evidence if sentence)
    return Cause(causes[0].verdict, said.cause, " ".join(evidence))


def _unknown(diagnosis: Diagnosis) -> str:
    name = escape(diagnosis.facts.repository)
    waited = _waited(diagnosis)
    if not waited:
        return f"I can't tell how {name} is doing"
    return f"{name} has merged nothing for {waited}, and I can't tell why"


def _waited(diagnosis: Diagnosis) -> str:
    """How long nothing has merged; empty if nobody knows."""
    seen = diagnosis.seen
    waited = max(seen.waited or timedelta(), _failing_for(diagnosis))
    if waited < timedelta(minutes=1):
        return ""
    return duration(waited) if seen.is_wait_known else f"at least {duration(waited)}"


def _failing_for(diagnosis: Diagnosis) -> timedelta:
    """How long nothing has merged since pull requests began to fail, which may have left since."""
    match diagnosis.first:
        case SameCheck(since=since) | ManyChecks(since=since) | ComesBack(since=since):
            return diagnosis.at - max(since, diagnosis.seen.merged_at or since)
        case _:
            return timedelta()


@singledispatch
def told(finding: Finding, diagnosis: Diagnosis) -> Told:
    """One cause in words; raises TypeError for what is no finding."""
    raise TypeError(finding, diagnosis)


_WHO_RESUMES = "anyone who may resume this queue."
_WHO_ADMINISTERS = "an administrator of the repository."
_WHO_LOOKS = "look at the pull request at the head, then ask the service's support."

_NO_STATUS = {
    NoAnswer.SILENT: "the merge queue service isn't responding",
    NoAnswer.FAILING: "the merge queue service has a problem",
    NoAnswer.REFUSED: "the merge queue service refuses the request",
    NoAnswer.INVALID: "the merge queue service says that the configuration is invalid",
    NoAnswer.UNREADABLE: "I can't read the merge queue service's answers",
}


@told.register
def _no_status(found: NoStatus, _: Diagnosis) -> Told:
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
    return Told(_NO_STATUS[problem.kind], tuple(evidence), who)


@told.register
def _paused(found: Paused, _: Diagnosis) -> Told:
    pause = found.pause
    if pause is None:
        return Told("it is paused", ("The service says that it is paused, and not why.",))
    paused = f"It was paused{by_whom(pause)} {local_time(pause.since)}."
    return Told("it is paused", (paused,), _WHO_RESUMES)


@told.register
def _frozen(found: Frozen, _: Diagnosis) -> Told:
    lines = listed([freeze_line(freeze) for freeze in found.freezes], "\n", most=FREEZES_LISTED)
    if found.is_outside_hours:
        lines = "The service holds it until the hours in which it merges."
    return Told("it is frozen", (lines or "The service holds it for a freeze.",))


@told.register
def _empty(_found: Empty, _: Diagnosis) -> Told:
    return Told("nothing is queued")


@told.register
def _unknown_cause(_found: Unknown, diagnosis: Diagnosis) -> Told:
    return Told("I can't tell why", tuple(_looked_at(diagnosis)), _WHO_LOOKS)


@told.register
def _misconfigured(found: Misconfigured, _: Diagnosis) -> Told:
    cause = "the configuration is invalid"
    said = f"The service says: {quote(found.said.rstrip('.'), SAID_LIMIT)}." if found.said else ""
    if not found.left or found.since is None:
        return Told(cause, (said,), _WHO_ADMINISTERS)
    left = f"{_numbers(found.left)} left the queue for it since {local_time(found.since)}."
    return Told(cause, (left, said), _WHO_ADMINISTERS)


@told.register
def _same_check(found: SameCheck, _: Diagnosis) -> Told:
    names = _checks(found.names)
    cause = by_count(
        len(found.names),
        "the same check fails in every batch",
        "the same checks fail in every batch",
    )
    batches = f"{found.batches:,} of {found.batches:,} batches"
    others = plural(found.pull_requests, "different pull request")
    failed = f"{names} failed in {batches} since {local_time(found.since)}, with {others}."
    evidence = [_linked(failed, found.run)]
    owner = f"the owners of {names}"
    if found.passed is None or found.passed_at is None:
        return Told(cause, tuple(evidence), f"{owner}.")
    evidence.append(f"Checks last passed {local_time(found.passed_at)}, on #{found.passed}.")
    who = f"{owner}, or the author of #{found.passed} if that broke it."
    return Told(cause, tuple(evidence), who)


def _linked(sentence: str, run: str) -> str:
    linked = link(run, OPEN_LAST_RUN)
    return f"{sentence} ({linked})" if linked != OPEN_LAST_RUN else sentence


@told.register
def _many_checks(found: ManyChecks, _: Diagnosis) -> Told:
    failed = (
        f"{plural(found.pull_requests, 'pull request')} failed since {local_time(found.since)}, "
        f"at {plural(len(found.names), 'check')}: {_checks(found.names)}."
    )
    merged = by_count(
        found.merged, "1 merged in the same time.", "{count} merged in the same time."
    )
    who = "the people who run CI. Queue nothing again until pull requests merge."
    return Told("many different checks fail", (failed, merged), who)


@told.register
def _comes_back(found: ComesBack, _: Diagnosis) -> Told:
    at_checks = f", each time at {_checks(found.names)}" if found.names else ""
    since = local_time(found.since)
    failed = f"Its checks have failed {found.times:,} times since {since}{at_checks}."
    now = "It is in the queue again." if found.is_queued else "It isn't in the queue right now."
    who = f"the author of #{found.number}, by fixing it before it is queued again."
    return Told(f"#{found.number} comes back again and again", (failed, now), who)


@told.register
def _held(found: Held, diagnosis: Diagnosis) -> Told:
    waits = f"#{found.number} waits for {obstacle(found.obstacle)}."
    who = f"the author of #{found.number}, or anyone who may remove it from the queue."
    if not found.blocked:
        only = "Nothing else is queued." if diagnosis.seen.queued == 1 else ""
        return Told(f"#{found.number} can't advance", (waits, only), who)
    blocked = by_count(
        len(found.blocked), "{count} other waits for it", "{count} others wait for it"
    )
    cause = f"#{found.number} can't advance, and {blocked}"
    return Told(cause, (waits, f"Behind it: {_numbers(found.blocked)}."), who)


@told.register
def _never_start(found: NeverStart, diagnosis: Diagnosis) -> Told:
    since = local_time(found.since)
    match found.how:
        case NotStarted.REFUSED:
            said = quote(found.said.strip().rstrip("."), SAID_LIMIT)
            tried = f"The service has tried {found.times:,} times since {since}."
            words = f"It says: {said}." if said else ""
            who = "an administrator of the repository, then the service's support."
            return Told(f"the checks of #{found.number} don't start", (tried, words), who)
        case NotStarted.NO_CHECK:
            shown = f"Its batch has been in testing since {since}, and no check has shown up."
            usual = _usual("The first check", diagnosis.seen.past.first_check, "comes after")
            who = "the people who run CI: does it run on the queue's branches?"
            return Told(f"no check of #{found.number} has started", (shown, usual), who)
        case NotStarted.NO_BATCH:
            nothing = f"No checks have started or ended since {since}."
            who = "an administrator, who can check the queue rules, then the service's support."
            return Told("nothing is being tested", (nothing,), who)


@told.register
def _start_late(found: StartLate, _: Diagnosis) -> Told:
    who = "the people who run CI: are runners missing or busy?"
    waited = within(found.waited)
    usual = within(found.usual)
    if found.is_over:
        late = f"The last {found.batches:,} runs waited {waited} for their first check."
        return Told("checks start late", (late, f"Usual is {usual}."), who)
    none = f"No check has passed in any of {found.batches:,} batches for {waited}."
    whole = f"A whole run usually takes {usual}."
    return Told("checks don't get anywhere in any batch", (none, whole), who)


@told.register
def _hangs(found: Hangs, diagnosis: Diagnosis) -> Told:
    names = _checks(found.names)
    since = local_time(found.since)
    running = f"The run began {since}. Without a result: {names}."
    usual = _usual("A whole run", diagnosis.seen.past.check_run, "takes")
    end = f"The run times out {local_time(found.times_out_at)}." if found.times_out_at else ""
    cause = f"the checks of #{found.number} take far longer than usual"
    return Told(cause, (running, usual, end), f"the owners of {names}.")


def _usual(what: str, usual: Usual, verb: str) -> str:
    if usual.is_known:
        return f"{what} usually {verb} {within(usual.median)}."
    return f"I have seen too few runs to know what is usual; {duration(usual.default)} is long."


@told.register
def _done(found: Done, _: Diagnosis) -> Told:
    cause = f"the checks of #{found.number} are done and it isn't merged"
    ended = "All its checks have passed."
    if found.since is not None:
        ended = f"They passed {local_time(found.since)}."
    if not found.unmet:
        return Told(cause, (ended,), "the service's support.")
    unmet = f"Not met: {listed([code(label) for label in found.unmet], most=CHECKS_NAMED)}."
    who = f"the author of #{found.number}, or its reviewers."
    return Told(cause, (ended, unmet), who)


_RESTART_WORDS = {
    Restart.PUSH: ("1 push to a queued pull request", "{count} pushes to queued pull requests"),
    Restart.REMOVAL: ("1 removal ahead", "{count} removals ahead"),
    Restart.PRIORITY: (
        "1 pull request with a higher priority",
        "{count} pull requests with a higher priority",
    ),
    Restart.MERGE: (
        "1 merge or push around the queue",
        "{count} merges or pushes around the queue",
    ),
}


@told.register
def _restarted(found: Restarted, _: Diagnosis) -> Told:
    causes = [by_count(count, *_RESTART_WORDS[cause]) for cause, count in found.causes]
    since = f"Since {local_time(found.since)}: {listed(causes)}."
    who = "the people who push and merge around the queue, by letting it finish."
    return Told(f"checks have started over {found.times:,} times", (since,), who)


@told.register
def _normal(found: Normal, diagnosis: Diagnosis) -> Told:
    usual = diagnosis.seen.past.merge
    evidence = []
    if found.pace is not None and found.estimate is not None:
        evidence.append(f"One merges every {within(found.pace)}, over the last three hours.")
        evidence.append(f"At that pace the last one queued merges in {within(found.estimate)}.")
    if not usual.is_known:
        length = duration(usual.default)
        evidence.append(f"I have seen too few merges to know what is usual; {length} is long.")
    return Told("it is merging normally", tuple(evidence))


def _looked_at(diagnosis: Diagnosis) -> Iterator[str]:
    """What a person would look at first."""
    facts = diagnosis.facts
    if facts.status is not None and facts.status.unreadable:
        yield "Some entries of the queue can't be read."
    if not facts.is_pause_known:
        yield "The service doesn't say whether the queue is paused."
    if facts.details is None and diagnosis.seen.head_code is not None:
        yield "The service doesn't say which checks the head waits for."
    elif facts.details is not None and facts.details.mergeability_check is not None:
        running = facts.details.mergeability_check.running
        if running:
            yield f"Checks without a result: {_checks(running)}."


def _checks(names: Sequence[str]) -> str:
    return listed([code(name) for name in names], most=CHECKS_NAMED)


def _numbers(numbers: Sequence[int]) -> str:
    return listed([f"#{number}" for number in numbers], most=NUMBERS_NAMED)


def _standing(diagnosis: Diagnosis) -> str:
    """How many are queued, what is at the head, and what merged last."""
    seen = diagnosis.seen
    parts = []
    if seen.queued:
        parts.append(by_count(seen.queued, "1 is queued.", "{count} are queued."))
    if seen.head is not None:
        parts.append(_of_head(diagnosis))
    if seen.merged_at is not None:
        parts.append(f"The last merge was #{seen.merged}, {local_time(seen.merged_at)}.")
    return " ".join(parts)


def _of_head(diagnosis: Diagnosis) -> str:
    seen = diagnosis.seen
    if seen.head is None:
        return ""
    head = link(seen.head.url, f"#{seen.head.number}")
    if seen.head_code is None:
        return f"At the head: {head}, in no batch yet."
    state = batch_state(seen.head_code)
    tested = ""
    if seen.tested_since is not None and seen.head_code == BatchStatusCode.RUNNING:
        tested = f" for {within(diagnosis.at - seen.tested_since)}"
    checks = f", {seen.passed:,} of {seen.total:,} checks passed" if seen.total else ""
    return f"At the head: {head}, {state}{tested}{checks}."


def _reading(diagnosis: Diagnosis) -> str:
    """Whether the figures can be relied on."""
    facts = diagnosis.facts
    read_at = facts.log.read_at
    if facts.status is None:
        return f"Log read {local_time(read_at)}" if read_at is not None else ""
    if read_at is None:
        return "The event log hasn't been read"
    if not diagnosis.seen.is_log_fresh:
        return f"The event log was last read {local_time(read_at)}"
    return "Service and log answer normally"


def why_queue(diagnosis: Diagnosis) -> Message:
    """The answer to `why` without a number, for the caller only."""
    said = [told(finding, diagnosis) for finding in diagnosis.findings[:CAUSES_SHOWN]]
    shown = [blocks.section(f"{MARK} *{headline(diagnosis)}*")]
    for place, cause in enumerate(said):
        also = f"*Also:* {cause.cause}." if place else ""
        evidence = " ".join(filter(None, [also, *cause.evidence]))
        who = f"*Who can act:* {cause.who}" if cause.who else ""
        shown += blocks.lines(
            [cut_markup(line, EVIDENCE_LIMIT) for line in (evidence, who) if line]
        )
    standing = _standing(diagnosis)
    if standing:
        shown.append(blocks.section(standing))
    shown.append(blocks.context(_reading(diagnosis), f"Updated {clock_time(diagnosis.at)}"))
    shown.append(_buttons(diagnosis))
    return blocks.message(*shown)


_FOR_PAUSE = {
    Verdict.SAME_CHECK,
    Verdict.MANY_CHECKS,
    Verdict.START_LATE,
    Verdict.NEVER_START,
    Verdict.HANGS,
    Verdict.RESTARTED,
}
_FOR_SUPPORT = {
    Verdict.NO_ANSWER,
    Verdict.NEVER_START,
    Verdict.HANGS,
    Verdict.DONE,
    Verdict.UNKNOWN,
}


def _buttons(diagnosis: Diagnosis) -> Block:
    repository = diagnosis.facts.repository
    value = f"why {repository}"
    verdicts = set(diagnosis.verdicts)
    pause = diagnosis.facts.pause
    shown = []
    if pause is not None:
        queued = diagnosis.seen.queued
        shown.append(resume_button(repository, pause.line, pause.reason, pause.by_name, queued))
    elif verdicts & _FOR_PAUSE:
        shown.append(pause_button(repository))
    if verdicts & _FOR_SUPPORT:
        shown.append(
            blocks.button(
                "For the service's support", action_id=doctor_actions.SUPPORT, value=str(repository)
            )
        )
    shown.append(blocks.button("Refresh", action_id=controls.REFRESH, value=value))
    shown.append(blocks.button("Share in channel", action_id=controls.SHARE, value=value))
    return blocks.actions(shown)


def support(diagnosis: Diagnosis) -> str:
    """The same as plain text for the service's support, with ids of batches and events."""
    facts = diagnosis.facts
    lines = [_plain(headline(diagnosis)), f"At: {_exact(diagnosis.at)}"]
    for finding in diagnosis.findings:
        said = told(finding, diagnosis)
        lines += [f"- {_plain(sentence)}" for sentence in said.evidence if sentence]
    lines.append(f"- {_plain(_standing(diagnosis))}")
    if facts.status is not None:
        for batch in facts.status.batches[:BATCHES_LISTED]:
            members = ", ".join(f"#{member.number}" for member in batch.members[:NUMBERS_NAMED])
            started = _exact(batch.started_at) if batch.started_at is not None else "not started"
            summary = batch.checks_summary
            lines.append(
                f"Batch {clean(batch.id, ID_LIMIT)}: {clean(batch.status.code, ID_LIMIT)}, "
                f"{started}, {summary.passed}/{summary.total} checks, {members}"
            )
    newest = sorted(
        (event for events in facts.log.events.values() for event in events[-EVENTS_LISTED:]),
        key=lambda event: (event.received_at, event.event_id),
    )
    for event in newest[-EVENTS_LISTED:]:
        about = [
            f"Event {event.event_id}: {_exact(event.received_at)}",
            clean(event.type, ID_LIMIT),
            f"#{event.pull_request}" if event.pull_request is not None else "",
            clean(event.details.code or "", ID_LIMIT),
            clean(event.details.batch or "", ID_LIMIT),
        ]
        lines.append(" ".join(filter(None, about)))
    return "\n".join(lines)


BATCHES_LISTED = 5
EVENTS_LISTED = 10
ID_LIMIT = 60


_SLACK_TIME = re.compile(r"<!date\^(\d+)\^[^>]*>")


def _plain(text: str) -> str:
    """Without markup, with exact times: the reader's zone isn't known."""
    return unescape(without_markup(_SLACK_TIME.sub(_in_figures, text)))


def _in_figures(time: re.Match[str]) -> str:
    return _exact(datetime.fromtimestamp(int(time[1]), UTC))


def _exact(at: datetime) -> str:
    return at.isoformat(timespec="seconds")


def for_support(diagnosis: Diagnosis) -> Message:
    """What to copy and send; only the person who asked sees it."""
    plain = escape(support(diagnosis)).replace("`", "'")
    head = f"*{escape(diagnosis.facts.repository)}: copy this for the service's support*"
    return blocks.message(
        blocks.section(head), blocks.section(f"```\n{plain[:SUPPORT_LIMIT]}\n```")
    )


SUPPORT_LIMIT = 2_800
