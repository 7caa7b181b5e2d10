"""Where a pull request is, what it waits for or why it left, and the next step."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from bot.acts.reason import REASON_LIMIT
from bot.blocks import blocks, controls
from bot.blocks.message import Message
from bot.blocks.text import (
    by,
    clock_time,
    code,
    duration,
    escape,
    listed,
    literal,
    local_time,
    person,
    plural,
    pull_request,
    quote,
    since,
)
from bot.feed.texts.event_posts import asking, in_words
from bot.freezes.freeze import Freeze
from bot.freezes.texts.cards import freeze_period, freeze_reason
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import CodeClass, Turn, class_of, turn_of
from bot.merge_queue.position import InBatch, InQueue, NotQueued
from bot.merge_queue.queue import Batch, Checks, ObstacleKind, QueueMode
from bot.pauses.texts.card import by_whom
from bot.people.texts import mute_button
from bot.queues.estimate import Estimate
from bot.queues.position import Explanation, base_branch
from bot.queues.texts.parts import filling, lately, obstacle, placed, roughly
from bot.verdicts.texts.leaving import NO_STEP
from bot.verdicts.texts.verdict import remover_of, said
from bot.verdicts.verdict import Facts, judge

CHECKS_SHOWN = 5
EVENTS_SHOWN = 8

NO_ACTION = "*Next step:* no action needed"

PUT_BACK_SOON = "The service puts it back by itself, but hasn't yet."

_BATCH_WAITS = {
    "bisecting": "the bisection of {batch}, which is finding what broke it",
    "preparing": "{batch} to be prepared",
    "waiting_for_merge": "the batches ahead of it to merge: its own checks passed",
    "waiting_for_previous_batches": "a batch ahead of it, which failed",
    "waiting_for_requeue": "its checks to start again: a batch ahead of it failed",
    "waiting_schedule": "its schedule",
    "waiting_for_checks_slot": "a free slot for its checks",
    "frozen": "{freeze} to end: its checks passed",
    "failed": "the service to remove it: {batch} failed",
    "merged": "nothing more: {batch} merged",
}
_BATCH_WAITS_BEHIND = {
    "waiting_for_merge": "{ahead} to merge: its own checks passed",
    "waiting_for_previous_batches": "{ahead} ahead of it, which failed",
    "waiting_for_requeue": "its checks to start again: {ahead} failed",
}
"""The same, if the batches ahead that it waits for are known."""


class _Said(NamedTuple):
    """The parts of an explanation, safe to show; `waits` is empty when it waits for nothing."""

    mark: str
    word: str
    next_step: str = ""  #: the whole line, with who has to act
    waits: str = ""
    verdict: str = ""
    cause: str = ""  #: why it left, for the headline
    left: str = ""  #: when
    aside: str = ""  #: for the grey line
    has_failed: bool = False  #: it left, and nobody took it out


def why(explanation: Explanation) -> Message:
    """The reply to `why`, for the caller only."""
    number = explanation.number
    seen = explanation.seen
    name = escape(explanation.repository)
    answer = _said(explanation)
    if answer is None:
        return blocks.sentence(
            f"#{number} is not in the merge queue of {name}, and "
            "the event log doesn't mention it. Is the number right?"
        )
    linked = pull_request(number, seen.title, seen.url) if seen is not None else f"#{number}"
    author = person(seen.author) if seen is not None else ""
    # On a phone the cause is in the first lines.
    cause = f": {answer.cause}" if answer.cause else ""
    headline = f"{answer.mark} *{answer.word}* {name} {linked}{cause}"
    waits = f"*Waits for:* {answer.waits}" if answer.waits else ""
    below = (answer.verdict, waits, _failed(explanation), _unmet(explanation), answer.next_step)
    read = f"Updated {clock_time(explanation.snapshot.read_at)}"
    unread = _missing_entries(explanation) if isinstance(explanation.position, NotQueued) else ""
    shown = [
        blocks.section(headline),
        *blocks.lines([*filter(None, below)]),
        *blocks.facts(("Author", author), *_facts_about(explanation), ("Left", answer.left)),
        blocks.context(answer.aside, unread, read),
    ]
    recent = _recent(explanation)
    if recent:
        shown += blocks.lines(["*Recent events*", *recent])
    if not explanation.is_log_read:
        missing = "The event log can't be read right now, so past events are missing"
        shown.append(blocks.context(missing))
    buttons = _why_buttons(explanation, has_failed=answer.has_failed)
    return blocks.message(*shown, blocks.actions(buttons))


def _why_buttons(explanation: Explanation, *, has_failed: bool) -> list[blocks.Element]:
    again, log = asking(explanation.repository, explanation.number)
    buttons = [
        blocks.button("Refresh", action_id=controls.REFRESH, value=again),
        blocks.button("Its event log", action_id=controls.LOG_OF, value=log),
    ]
    if has_failed:
        buttons.append(mute_button(explanation.repository, explanation.number))
    return buttons


def _said(explanation: Explanation) -> _Said | None:
    pause = explanation.snapshot.pause
    step = NO_ACTION
    if pause is not None:
        who = f" for {quote(pause.line.by.name)}" if pause.line.by is not None else ""
        step = f"*Next step{who}:* resume the queue"
    match explanation.position:
        case InBatch(batch=batch) as place:
            waits = _held(explanation, place) or _batch_waits(explanation, batch)
            return _Said(":hourglass_flowing_sand:", "In a batch", step, waits)
        case InQueue() as place:
            return _in_line(explanation, place, step)
        case NotQueued(end=EventRecord() as end, has_merged=True):
            merged = since(end.received_at)
            return _Said(":white_check_mark:", "Merged", left=merged)
        case NotQueued(end=EventRecord() as end):
            return _left(explanation, end)
        case NotQueued():
            return _not_found(explanation)


def _not_found(explanation: Explanation) -> _Said | None:
    """Of one that no event says to have left; None if nothing knows it."""
    word = "Not in the queue"
    verdict = "Its events don't show that it left"
    if _missing_entries(explanation):
        word = "Maybe in the queue"
        verdict = "I can't tell: it may be in a part of the queue that could not be read"
    elif not explanation.records:
        return None
    step = "*Next step:* see the pull request"
    return _Said(":grey_question:", word, step, verdict=verdict)


def _missing_entries(explanation: Explanation) -> str:
    """How many entries of the queue are missing; empty for none."""
    count = explanation.snapshot.status.unreadable
    entries = plural(count, "entry", "entries")
    return f":warning: {entries} of the queue could not be read" if count else ""


def _in_line(explanation: Explanation, waiting: InQueue, step: str) -> _Said:
    verdict = "In no batch yet"
    ahead = ""
    place = waiting.place
    if place is not None:
        verdict = f"Place {place.number:,} of {place.length:,} in line, in no batch yet"
        if place.number > 1:
            ahead = f"; {plural(place.number - 1, 'is', 'are')} ahead of it"
    waits = _held(explanation, waiting) or f"room in a batch{ahead}"
    return _Said(":inbox_tray:", "Waiting in line", step, waits, verdict)


def _left(explanation: Explanation, record: EventRecord) -> _Said:
    """The verdict, as posts say it."""
    code = record.details.code
    verdict = explanation.verdict or judge(Facts(record))
    why_left = said(verdict)
    if class_of(code) is CodeClass.REQUEUED:
        return _Said(
            ":arrows_counterclockwise:",
            "Out of the queue",
            verdict=PUT_BACK_SOON,
            cause=why_left.cause,
            left=since(record.received_at),
        )
    is_removal = class_of(code) is CodeClass.HUMAN
    remover = by(remover_of(record)) if is_removal else ""
    cause = ", ".join(filter(None, [why_left.cause, remover]))
    return _Said(
        ":leftwards_arrow_with_hook:" if is_removal else ":x:",
        "Removed from the queue" if is_removal else "Left the queue",
        ""
        if why_left.next_step == NO_STEP
        else f"{_whose(explanation, code)} {why_left.next_step}",
        verdict="\n".join(filter(None, [" ".join(why_left.evidence), *why_left.checks])),
        cause=f"{cause} · {why_left.run}" if why_left.run else cause,
        left=since(record.received_at),
        aside=why_left.aside,
        has_failed=not is_removal,
    )


def _whose(explanation: Explanation, code: str | None) -> str:
    """Who has to take the next step."""
    seen = explanation.seen
    if turn_of(code) is not Turn.AUTHOR:
        return "*Next step:*"
    author = seen.author if seen is not None else "the author"
    whose = quote(author if explanation.asked is None else explanation.asked)
    return f"*Next step for {whose}:*" if whose else "*Next step:*"


def _held(explanation: Explanation, place: InBatch | InQueue) -> str:
    """What holds it back, regardless of its batch."""
    known = place.pull_request.obstacle
    pause = explanation.snapshot.pause
    if pause is not None:
        since = local_time(pause.line.paused_at)
        reason = literal(pause.line.reason, REASON_LIMIT)
        return f"the pause{by_whom(pause)} to end, since {since}: {reason}"
    if known is not None and known.kind is ObstacleKind.FREEZE:
        return f"{_name_of_freeze(_freezes(explanation))} to end"
    return obstacle(known) if known is not None else ""


def _freezes(explanation: Explanation) -> Sequence[Freeze]:
    """Those in force that may hold it."""
    branch = base_branch(explanation.records)
    return [freeze for freeze in explanation.snapshot.freezes if freeze.concerns(branch)]


def _name_of_freeze(freezes: Sequence[Freeze]) -> str:
    """The freeze by its reason, if only one is in force."""
    if len(freezes) != 1:
        return "a scheduled freeze"
    (freeze,) = freezes
    reason = freeze_reason(freeze)
    name = f"the scheduled freeze “{reason}”" if reason else "a scheduled freeze"
    facts = filter(None, (by(freeze.by), freeze_period(freeze.terms)))
    return f"{name} ({', '.join(facts)})"


def _batch_waits(explanation: Explanation, batch: Batch) -> str:
    queue = explanation.snapshot.status
    place = queue.place_of(batch)
    name = f"its batch (batch {place:,} of {len(queue.batches):,})" if place else "its batch"
    status = batch.status.code
    ahead = queue.places_ahead_of(batch)
    if status == "running":
        # The running checks, or else the open conditions, if the service names them.
        found = explanation.checks or Checks()
        total = batch.checks_summary
        if found.unmet and not found.running:
            word = "conditions"
            names = found.unmet
        else:
            word = "checks"
            names = found.running
        checks = f"the {word} {listed([*map(code, names)], most=CHECKS_SHOWN)}".rstrip()
        passed = f": {total.passed} of {total.total} passed" if total.total else ""
        return f"{checks} of {name}{passed}"
    if status == "waiting_for_batch":
        return ": ".join(filter(None, [f"{name} to fill", filling(batch)]))
    if ahead and status in _BATCH_WAITS_BEHIND:
        return _BATCH_WAITS_BEHIND[status].format(ahead=placed(ahead))
    words = _BATCH_WAITS.get(status)
    if words is None:
        return quote(status.replace("_", " "), 60)
    return words.format(batch=name, freeze=_name_of_freeze(_freezes(explanation)))


def _failed(explanation: Explanation) -> str:
    """The failed checks of a queued pull request, those first that can throw it out."""
    found = explanation.checks or Checks()
    required = [code(name) for name in found.failed if found.requires(name) is not False]
    others = [code(name) for name in found.failed if found.requires(name) is False]
    parts = []
    if required:
        parts.append(f"*Failed checks:* {listed(required, most=CHECKS_SHOWN)}")
    if others:
        parts.append(f"Failed, not required: {listed(others, most=CHECKS_SHOWN)}")
    return "\n".join(parts)


def _unmet(explanation: Explanation) -> str:
    """The open conditions besides those of its running checks."""
    found = explanation.checks or Checks()
    if not found.running:
        return ""
    others = [
        condition
        for condition in found.unmet
        if not any(name in condition for name in found.running)
    ]
    names = listed([*map(code, others)], most=CHECKS_SHOWN)
    return f"*Not met yet:* {names}" if names else ""


def _facts_about(explanation: Explanation) -> list[tuple[str, str]]:
    place = explanation.position
    if isinstance(place, NotQueued):
        base = base_branch(explanation.records)
        return [("Branch", code(base) if base else "")]
    queued = place.pull_request
    details = explanation.details
    ahead = place.ahead if isinstance(place, InBatch) else 0
    before = details.position
    timeout = details.checks_timeout_at
    if explanation.snapshot.status.mode in {QueueMode.PARALLEL, QueueMode.ISOLATED}:
        # The service's position counts those of all lines.
        before = None
    before_it = [
        plural(ahead, "batch", "batches") if ahead else "",
        plural(before, "pull request") if before else "",
    ]
    due = _due(explanation, place)
    return [
        ("Queued for", duration(explanation.snapshot.read_at - queued.queued_at)),
        ("Ahead", ", ".join(filter(None, before_it))),
        ("Merge expected", local_time(due) if due is not None else ""),
        ("By this queue's past", _by_past(explanation.estimate)),
        ("Checks time out", local_time(timeout) if timeout is not None else ""),
    ]


def _due(explanation: Explanation, place: InBatch | InQueue) -> datetime | None:
    """When it is expected to merge; None while a pause or a freeze keeps it from merging."""
    snapshot = explanation.snapshot
    if snapshot.pause is not None or _is_frozen(explanation, place):
        return None
    known = place.pull_request.estimated_merge_at or explanation.details.estimated_time_of_merge
    if known is None and isinstance(place, InBatch):
        known = place.batch.estimated_merge_at
    return known if known is None or known > snapshot.read_at else None


def _is_frozen(explanation: Explanation, place: InBatch | InQueue) -> bool:
    """Whether a freeze keeps it from merging, as far as known."""
    said = place.pull_request.is_frozen
    return bool(_freezes(explanation)) if said is None else said


def _by_past(estimate: Estimate | None) -> str:
    """Our own estimate, and how wrong the last ones were."""
    if estimate is None:
        return ""
    return f"in about {roughly(estimate.remaining)}{lately(estimate)}"


def _recent(explanation: Explanation) -> list[str]:
    """Its last events, newest first."""
    last = explanation.records[: -EVENTS_SHOWN - 1 : -1]
    lines = [
        f"• {local_time(record.received_at)} {_event_line(explanation, record)}" for record in last
    ]
    left = len(explanation.records) - len(last)
    return [*lines, f"and {left} earlier"] if left > 0 else lines


def _event_line(explanation: Explanation, record: EventRecord) -> str:
    """What happened; of its end, the verdict."""
    verdict = explanation.verdict
    is_judged = verdict is not None and verdict.record.event_id == record.event_id
    kind = explanation.kinds.get(record.event_id)
    return in_words(record, kind, verdict=verdict if is_judged else None)
