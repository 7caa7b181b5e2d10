"""Where a pull request is, what it waits for or why it left, and whose turn it is."""

from dataclasses import dataclass

from bot.domain.dequeue_codes import Turn, turn_of
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.message import Message
from bot.domain.pause_records import PauseRecord
from bot.domain.pauses import REASON_LIMIT
from bot.domain.queue import SubBatch
from bot.domain.queue_position import (
    Explanation,
    InBatch,
    InLine,
    Left,
    Merged,
    NeverSeen,
    OutOfSight,
)
from bot.messages import actions, blocks
from bot.messages.events.event_posts import in_words
from bot.messages.events.leaving import leaving
from bot.messages.pause_card import by_whom
from bot.messages.text import (
    NAME_LIMIT,
    code,
    duration,
    escape,
    link,
    listed,
    local_time,
    plural,
    quote,
)

TITLE_LIMIT = 80
NUMBERS_SHOWN = 5
EVENTS_SHOWN = 8

NOBODY = "No action needed"
ADMINISTRATOR = "an administrator's"
DONE = "No action needed"

_BATCH_WAITS = {
    "bisecting": "the bisection of its batch, which looks for what broke it",
    "preparing": "its batch to be prepared",
    "waiting_for_merge": "what is ahead of it to merge: its own checks passed",
    "waiting_for_previous_batches": "a batch ahead of it, which failed",
    "waiting_for_requeue": "its checks to start again: a batch ahead of it failed",
    "waiting_schedule": "its schedule",
    "waiting_for_checks_slot": "a free place to run its checks",
    "frozen": "a scheduled freeze to end: its checks passed",
    "failed": "the service to take it out: its batch failed",
    "merged": "nothing more: its batch merged",
}


@dataclass(frozen=True, slots=True)
class _Said:
    """The parts of an explanation, safe to show; `waits` is empty when it waits for nothing."""

    mark: str
    word: str
    turn: str
    waits: str = ""
    verdict: str = ""


def why(explanation: Explanation) -> Message:
    """For the caller alone."""
    if isinstance(explanation.position, NeverSeen):
        return _unknown(explanation)
    said = _said(explanation)
    name = escape(explanation.repository)
    head = f"{said.mark} *{said.word}* {_subject(explanation)}"
    facts = [line for line in (said.verdict, _waits(said), f"*Whose turn:* {said.turn}") if line]
    shown = [
        blocks.section(head),
        blocks.section("\n".join(facts)),
        blocks.context(name, *_facts(explanation)),
    ]
    recent = _recent(explanation)
    if recent:
        shown += blocks.lines(["*Lately*", *recent])
    if not explanation.whole_log:
        shown.append(
            blocks.context("The event log cannot be read now, so what happened is left out")
        )
    number, repository = explanation.number, explanation.repository
    again, log = f"why {number} {repository}", f"log {repository} pr:{number}"
    shown.append(
        blocks.actions(
            [
                blocks.button("Refresh", action_id=actions.REFRESH, value=again),
                blocks.button("Its event log", action_id=actions.LOG_OF, value=log),
            ]
        )
    )
    plain = [f"#{explanation.number} of {name}: {said.word}", said.verdict]
    plain += [f"Waits for {said.waits}" if said.waits else "", f"Whose turn: {said.turn}"]
    text = ". ".join(part for part in plain if part)
    return Message(text=f"{text}.", blocks=tuple(shown))


def _unknown(explanation: Explanation) -> Message:
    text = (
        f"#{explanation.number} is not in the merge queue of {escape(explanation.repository)}, and "
        "the event log doesn't mention it. Is the number right?"
    )
    return blocks.sentence(text)


def _subject(explanation: Explanation) -> str:
    seen = explanation.seen
    if seen is None:
        return f"#{explanation.number}"
    label = f"#{explanation.number} {quote(seen.title, TITLE_LIMIT)}"
    return f"{link(seen.url, label)} by {quote(seen.author, NAME_LIMIT)}"


def _waits(said: _Said) -> str:
    return f"*Waits for:* {said.waits}" if said.waits else ""


def _said(explanation: Explanation) -> _Said:
    match explanation.position:
        case InBatch(batch=batch) as place:
            waits = _held(explanation, place) or _batch_waits(batch)
            return _Said(":hourglass_flowing_sand:", "In a batch", _turn(explanation), waits)
        case InLine(place=at, length=length) as place:
            waits = _held(explanation, place) or _room(at)
            verdict = f"Place {at:,} of {length:,} in line, in no batch yet"
            return _Said(":inbox_tray:", "Waiting in line", _turn(explanation), waits, verdict)
        case Merged(record=record):
            return _Said(":white_check_mark:", "Merged", DONE, verdict=_when("Merged", record))
        case Left(record=record):
            return _left(record, explanation.seen)
        case OutOfSight():
            return _Said(
                ":grey_question:",
                "Not in the queue",
                "see the pull request",
                verdict="Its events do not tell that it left",
            )
        case NeverSeen():
            msg = "nothing is known of it"
            raise ValueError(msg)


def _left(record: EventRecord, seen: PullRequestRecord | None) -> _Said:
    code = record.details.code
    why_left = leaving(code, record.details.reason)
    verdict = f"{_when('Left', record)}: {why_left.verdict}"
    turn = turn_of(code)
    author = f"{quote(seen.author, NAME_LIMIT)}'s" if seen is not None else "the author's"
    whose = {Turn.NOBODY: "nobody's", Turn.AUTHOR: author, Turn.ADMINISTRATOR: ADMINISTRATOR}[turn]
    return _Said(":x:", "Left the queue", f"{whose} — {why_left.turn}", verdict=verdict)


def _when(word: str, record: EventRecord) -> str:
    return f"{word} {local_time(record.received_at)}"


def _held(explanation: Explanation, place: InBatch | InLine) -> str:
    """What holds it back, whatever its batch does."""
    queued = place.pull_request
    if explanation.snapshot.pause is not None:
        return _pause(explanation.snapshot.pause)
    if queued.dequeue_requested:
        return "its removal, which was asked for"
    if queued.conflict_with_pull_requests:
        ahead = _numbers(queued.conflict_with_pull_requests)
        return f"{ahead} to leave the queue: it conflicts with it"
    if queued.depends_on_pull_requests:
        return f"{_numbers(queued.depends_on_pull_requests)}, which it depends on"
    return "a scheduled freeze to end" if queued.is_frozen else ""


def _pause(known: PauseRecord) -> str:
    by = by_whom(known)
    since = local_time(known.paused_at)
    return f"the pause{by} to end, since {since}: {quote(known.reason, REASON_LIMIT)}"


def _turn(explanation: Explanation) -> str:
    known = explanation.snapshot.pause
    if known is None:
        return NOBODY
    who = f"{quote(known.by.name, NAME_LIMIT)}'s" if known.by is not None else "whoever paused it"
    return f"{who} — the queue has to be resumed"


def _batch_waits(batch: SubBatch) -> str:
    name = f"({quote(batch.name, 40)})"
    status, checks = batch.status.code, batch.checks_summary
    if status == "running":
        passed = f": {checks.passed} of {checks.total} passed" if checks.total else ""
        return f"the checks of its batch {name}{passed}"
    if status == "waiting_for_batch":
        slots = batch.max_batch_slots
        filled = f": {batch.batch_filled_slots or 0} of {slots} are there" if slots else ""
        return f"its batch {name} to fill{filled}"
    words = _BATCH_WAITS.get(status, quote(status.replace("_", " "), 60))
    return f"{words} {name}"


def _room(place: int) -> str:
    ahead = place - 1
    return (
        f"room in a batch; {plural(ahead, 'is', 'are')} ahead of it" if ahead else "room in a batch"
    )


def _numbers(numbers: tuple[int, ...]) -> str:
    return listed([f"#{number}" for number in numbers], most=NUMBERS_SHOWN)


def _facts(explanation: Explanation) -> list[str]:
    place, read_at = explanation.position, explanation.snapshot.read_at
    if not isinstance(place, (InBatch, InLine)):
        base = next((one.base_ref for one in reversed(explanation.records) if one.base_ref), None)
        return [code(base, NAME_LIMIT) if base else "", f"read {local_time(read_at)}"]
    queued = place.pull_request
    due = queued.estimated_merge_at
    if due is None and isinstance(place, InBatch):
        due = place.batch.estimated_merge_at
    ahead = place.ahead if isinstance(place, InBatch) else 0
    return [
        f"queued for {duration(read_at - queued.queued_at)}",
        f"{plural(ahead, 'batch', 'batches')} ahead" if ahead else "",
        f"merge due {local_time(due)}" if due is not None else "",
        f"read {local_time(read_at)}",
    ]


def _recent(explanation: Explanation) -> list[str]:
    """Its last events, newest first."""
    last = explanation.records[: -EVENTS_SHOWN - 1 : -1]
    lines = [_event(explanation, record) for record in last]
    left = len(explanation.records) - len(last)
    return [*lines, f"and {left} earlier"] if left > 0 else lines


def _event(explanation: Explanation, record: EventRecord) -> str:
    said = in_words(record, explanation.kinds.get(record.event_id))
    return f"• {local_time(record.received_at)} {said}"
