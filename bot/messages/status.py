"""The live queue of a repository, with its buttons."""

from collections.abc import Sequence
from datetime import datetime

from bot.domain.event_records import FreezeAttributes
from bot.domain.message import MESSAGE_BLOCKS_TEXT_LIMIT, Block, Message, text_length
from bot.domain.pause_records import PauseRecord
from bot.domain.pauses import REASON_LIMIT
from bot.domain.queue import Batch, QueuedPullRequest
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import blocks
from bot.messages.actions import NEXT, PAUSE, REFRESH, SHARE
from bot.messages.events.freezes import freeze_period
from bot.messages.paging import from_place
from bot.messages.pause_card import by_whom, resume_button
from bot.messages.text import (
    NAME_LIMIT,
    clean,
    code,
    duration,
    link,
    listed,
    local_time,
    plural,
    portions,
    quote,
    utc_time,
)
from bot.messages.timers import lifts, lifts_text

PAGE_LENGTH = 8400
SHOWN_BATCHES = 5
SHOWN_IN_BATCH = 5
SHOWN_WAITING = 10
PAGE = 25
FREEZES_SHOWN = 3
TIGHT_LIMIT = 800
"""Characters of each list where the whole would be more than Slack takes."""

TITLE_LIMIT = 80

_BATCH_STATES = {
    "running": "checks are running",
    "bisecting": "bisecting: looking for the pull request that broke it",
    "preparing": "being prepared",
    "failed": "failed",
    "merged": "merged",
    "waiting_for_merge": "checks passed, waiting to merge",
    "waiting_for_previous_batches": "held: a batch ahead failed",
    "waiting_for_requeue": "a batch ahead failed, will be tested again",
    "waiting_schedule": "waiting for its schedule",
    "waiting_for_batch": "filling",
    "waiting_for_checks_slot": "waiting for a free place to run checks",
    "frozen": "checks passed, held by a scheduled freeze",
}


def status(snapshot: Snapshot) -> Message:
    """The whole answer to `status`; only the head of a long queue is shown."""
    shown = _status_blocks(snapshot, blocks.LINES_LENGTH)
    if text_length(shown) > MESSAGE_BLOCKS_TEXT_LIMIT:
        shown = _status_blocks(snapshot, TIGHT_LIMIT)
    return Message(text=status_text(snapshot), blocks=tuple(shown))


def _status_blocks(snapshot: Snapshot, room: int) -> list[Block]:
    return [
        blocks.section(_headline(snapshot)),
        blocks.context(*_facts(snapshot)),
        *_pause_blocks(snapshot.pause),
        *freeze_blocks([freeze_line(one) for one in snapshot.freezes]),
        *_batch_blocks(snapshot.status.batches, room),
        *_waiting_blocks(snapshot, room),
        _buttons(snapshot),
    ]


def waiting_page(snapshot: Snapshot, first: int) -> Message:
    """A page of the waiting pull requests; `first` counts from 0."""
    waiting = snapshot.status.waiting_pull_requests
    page = waiting[first : first + PAGE]
    lines = [_place(place, one, snapshot.read_at) for place, one in enumerate(page, first + 1)]
    lines = next(iter(portions(lines, PAGE_LENGTH)), [])
    last = first + len(lines)
    head = f"*{quote(snapshot.repository, 150)}*: waiting {first + 1} to {last} of {len(waiting):,}"
    if not page:
        return status(snapshot)
    shown = [blocks.section(head), *blocks.lines(lines)]
    value = _command(snapshot)
    buttons = [blocks.button("Back", action_id=REFRESH, value=value)]
    if last < len(waiting):
        buttons.append(_more_button(snapshot, last))
    return Message(text=head.replace("*", ""), blocks=(*shown, blocks.actions(buttons)))


def _more_button(snapshot: Snapshot, first: int) -> blocks.Element:
    value = from_place(_command(snapshot), first)
    return blocks.button("Show more", action_id=NEXT, value=value)


def _command(snapshot: Snapshot) -> str:
    branch = f" branch:{snapshot.branch}" if snapshot.branch is not None else ""
    return f"status {snapshot.repository}{branch}"


def _place(place: int, one: QueuedPullRequest, now: datetime) -> str:
    return f"{place}. {pull_request_link(one)} · {duration(now - one.queued_at)}{_priority(one)}"


def status_text(snapshot: Snapshot) -> str:
    """The same in one plain line, for screen readers and notifications."""
    branch = f" on {quote(snapshot.branch, NAME_LIMIT)}" if snapshot.branch else ""
    parts = [f"{snapshot.repository}{branch}: {_word(snapshot)}"]
    if snapshot.pause is not None:
        known = snapshot.pause
        by = by_whom(known)
        ends = lifts_text(known.lifts_at, is_overdue=known.is_overdue)
        parts.append(
            f"paused{by} since {utc_time(known.paused_at)}{ends}: "
            f"{quote(known.reason, REASON_LIMIT)}"
        )
    parts += [freeze_line(one) for one in snapshot.freezes[:FREEZES_SHOWN]]
    if not _is_idle(snapshot):
        parts.append(_counts(snapshot))
    due = snapshot.impact().next_merge_at
    if due is not None:
        parts.append(f"next merge due {utc_time(due)}")
    if snapshot.status.unreadable:
        parts.append(_unreadable(snapshot).removeprefix(":warning: "))
    return ". ".join(parts) + "."


def _word(snapshot: Snapshot) -> str:
    if snapshot.pause is not None:
        return "paused"
    if not snapshot.is_pause_known:
        return "running or paused: the merge queue service doesn't say which"
    if snapshot.freezes:
        return "frozen"
    return "running, the queue is empty" if _is_idle(snapshot) else "running"


def _is_idle(snapshot: Snapshot) -> bool:
    """Running and empty, as the headline says: no fact counts it once more."""
    queue = snapshot.status
    is_empty = not (queue.batches or queue.waiting_pull_requests or queue.unreadable)
    is_running = snapshot.pause is None and snapshot.is_pause_known and not snapshot.freezes
    return is_empty and is_running


def _headline(snapshot: Snapshot) -> str:
    branch = f" on {code(snapshot.branch, NAME_LIMIT)}" if snapshot.branch else ""
    word = _word(snapshot)
    return f"{_mark(snapshot)} *{quote(snapshot.repository, 150)}*{branch} is {word}"


def _mark(snapshot: Snapshot) -> str:
    if snapshot.pause is not None:
        return ":double_vertical_bar:"
    if snapshot.freezes:
        return ":snowflake:"
    return ":arrow_forward:" if snapshot.is_pause_known else ":grey_question:"


def _counts(snapshot: Snapshot) -> str:
    waiting = len(snapshot.status.waiting_pull_requests)
    batches = len(snapshot.status.batches)
    in_batches = len(snapshot.status.in_batches)
    tested = plural(in_batches, "pull request") + " in " + plural(batches, "batch", "batches")
    return f"{tested}, {waiting:,} waiting" if batches else plural(waiting, "waiting pull request")


def _facts(snapshot: Snapshot) -> list[str]:
    due = snapshot.impact().next_merge_at
    return [
        "" if _is_idle(snapshot) else _counts(snapshot),
        f"next merge due {local_time(due)}" if due is not None else "",
        _unreadable(snapshot),
        f"read {local_time(snapshot.read_at)}",
    ]


def _unreadable(snapshot: Snapshot) -> str:
    count = snapshot.status.unreadable
    return f":warning: {plural(count, 'entry', 'entries')} could not be read" if count else ""


def _pause_blocks(known: PauseRecord | None) -> list[Block]:
    if known is None:
        return []
    by = by_whom(known)
    return [
        blocks.section(f"*Reason:* {quote(known.reason, REASON_LIMIT)}"),
        blocks.context(
            f"Paused{by} since {local_time(known.paused_at)}",
            lifts(known.lifts_at, is_overdue=known.is_overdue),
        ),
    ]


def freeze_line(freeze: FreezeAttributes) -> str:
    """Its reason, when it lasts and, if it holds some pull requests only, which."""
    period = freeze_period(freeze)
    conditions = [one for one in freeze.matching_conditions if isinstance(one, str)]
    few = f"holds {quote(', '.join(conditions), NAME_LIMIT)}" if conditions else ""
    facts = [quote(freeze.reason or "", REASON_LIMIT), period, few]
    return f"Scheduled freeze: {' · '.join(fact for fact in facts if fact)}"


def freeze_blocks(lines: Sequence[str]) -> list[Block]:
    """The freezes in force, a line each."""
    shown = listed([f":snowflake: {line}" for line in lines], "\n", most=FREEZES_SHOWN)
    return [blocks.section(shown)] if lines else []


def _batch_blocks(batches: tuple[Batch, ...], room: int) -> list[Block]:
    shown = [blocks.section(_batch(batch, room)) for batch in batches[:SHOWN_BATCHES]]
    left = len(batches) - SHOWN_BATCHES
    if left > 0:
        shown.append(blocks.context(f"and {plural(left, 'more batch', 'more batches')}"))
    return shown


def batch_state(told: str) -> str:
    """The service's code of a batch's state in plain words; a new one goes by its own name."""
    return _BATCH_STATES.get(told, quote(told.replace("_", " "), NAME_LIMIT))


def _batch(batch: Batch, room: int) -> str:
    summary = batch.checks_summary
    facts = [f"*Batch {quote(batch.name, 40)}*", batch_state(batch.status.code)]
    if summary.total:
        facts.append(f"checks {summary.passed}/{summary.total} passed")
    if batch.estimated_merge_at is not None:
        facts.append(f"due {local_time(batch.estimated_merge_at)}")
    members = [f"• {pull_request_link(one)}" for one in batch.pull_requests]
    head = " · ".join(facts)
    shown = listed(members, "\n", length=room - len(head), most=SHOWN_IN_BATCH)
    return f"{head}\n{shown}".rstrip()


def _waiting_blocks(snapshot: Snapshot, room: int) -> list[Block]:
    waiting, now = snapshot.status.waiting_pull_requests, snapshot.read_at
    if not waiting:
        return []
    lines = [_place(place, one, now) for place, one in enumerate(waiting, 1)]
    shown = listed(lines, "\n", length=room, most=SHOWN_WAITING)
    return [blocks.section(f"*Waiting*\n{shown}")]


def _priority(pull_request: QueuedPullRequest) -> str:
    alias = clean(pull_request.priority_alias, 30)
    return "" if alias in {"", "medium"} else f" · {quote(alias, 30)} priority"


def pull_request_link(pull_request: QueuedPullRequest) -> str:
    label = f"#{pull_request.number} {quote(pull_request.title, TITLE_LIMIT)}"
    author = quote(pull_request.author.login, NAME_LIMIT)
    return link(pull_request.url, label.strip()) + (f" by {author}" if author else "")


def _buttons(snapshot: Snapshot) -> Block:
    repository = snapshot.repository
    known = snapshot.pause
    state = resume_button(known, snapshot.impact().queued) if known else pause_button(repository)
    value = _command(snapshot)
    buttons = [
        state,
        blocks.button("Refresh", action_id=REFRESH, value=value),
        blocks.button("Share in channel", action_id=SHARE, value=value),
    ]
    if len(snapshot.status.waiting_pull_requests) > SHOWN_WAITING:
        buttons.append(_more_button(snapshot, SHOWN_WAITING))
    return blocks.actions(buttons)


def pause_button(repository: RepositoryName) -> blocks.Element:
    """*Pause queue…*, which asks for the reason in a form."""
    return blocks.button("Pause queue…", action_id=PAUSE, value=repository, style="danger")
