"""The parts of a queue that its status, its board and the Home tab show alike, and what waits."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from bot.acts.reason import REASON_LIMIT
from bot.blocks import blocks, controls
from bot.blocks.message import MESSAGE_BLOCKS_TEXT_LIMIT, Block, text_length
from bot.blocks.text import (
    by,
    by_count,
    code,
    escape,
    expected,
    listed,
    literal,
    local_time,
    person,
    plural,
    pull_request,
    quote,
    since,
    within,
)
from bot.freezes.freeze import beside, held_until
from bot.kernel.repository import RepositoryName
from bot.merge_queue.queue import ADVANCING, Batch, BatchStatusCode, Obstacle, ObstacleKind
from bot.pauses import actions as pause_actions
from bot.pauses.texts import ends as pause_ends
from bot.pauses.texts.card import resume_button
from bot.queues.estimate import Estimate, Outlook
from bot.queues.picture import PausedFor, Picture, ShownBatch, ShownPullRequest, round_up

BATCH_NAMES_SHOWN = 3


_STATES = {
    "running": "testing",
    "bisecting": "bisecting: finding the pull request that broke it",
    "preparing": "being prepared",
    "failed": "failed",
    "merged": "merged",
    "waiting_for_merge": "passed, waiting to merge",
    "waiting_for_previous_batches": "held: a batch ahead failed",
    "waiting_for_requeue": "a batch ahead failed, will be tested again",
    "waiting_schedule": "waiting for its schedule",
    "waiting_for_batch": "waiting for more pull requests",
    "waiting_for_checks_slot": "waiting for a free place to run checks",
    "frozen": "passed, held by a scheduled freeze",
}


_STATES_BEHIND = {
    "waiting_for_merge": "passed, waiting for {ahead} to merge",
    "waiting_for_previous_batches": "held: {ahead} failed",
    "waiting_for_requeue": "{ahead} failed, will be tested again",
}
"""The same, if the batches ahead that it waits for are known."""


TIGHT_LIMIT = 800
"""Characters of each list where all of it would exceed Slack's limit."""


LONG = timedelta(minutes=30)
LONG_STEP = timedelta(minutes=5)
SHORT_STEP = timedelta(minutes=1)


def fitting(render: Callable[[int], list[Block]]) -> list[Block]:
    """The result of `render` with the most characters per list that fit into the message."""
    shown = render(blocks.LINES_LENGTH)
    if text_length(shown) <= MESSAGE_BLOCKS_TEXT_LIMIT:
        return shown
    return render(TIGHT_LIMIT)


def queue_headline(
    repository: RepositoryName,
    picture: Picture,
    *,
    branch: str | None = None,
    is_current: bool = True,
) -> Block:
    """What is happening in the queue, and why if it is paused or frozen.

    `is_current`: False if it couldn't be read since.
    """
    name = f"*{escape(repository)}*"
    if branch:
        name += f" on {code(branch)}"
    about = ""
    if picture.pause is not None:
        mark = ":double_vertical_bar:"
        state = "paused"
        about = literal(picture.pause.reason, REASON_LIMIT)
    elif not picture.is_pause_known:
        mark = ":snowflake:" if picture.is_frozen else ":grey_question:"
        state = "running or paused: the merge queue service doesn't say which"
    elif picture.is_frozen:
        mark = ":snowflake:"
        state = _frozen(picture)
    else:
        mark = ":snowflake:" if picture.freezes else ":arrow_forward:"
        state = "partly frozen" if picture.freezes else "running"
        if is_current and not picture.unreadable:
            state += f", {_happening(picture)}"
    verb = "is" if is_current else "was"
    return blocks.section(blocks.state_line(mark, f"{name} {verb} {state}", about))


def _frozen(picture: Picture) -> str:
    """Until the last end, if every pull request waits until then, as far as the bot knows."""
    planned = [picture.next_freeze] if picture.next_freeze is not None else []
    together = [picture.freezes[0], *beside(picture.freezes[0], [*picture.freezes[1:], *planned])]
    end = held_until(together)
    if end is None or any(freeze.has_conditions for freeze in together):
        return "frozen"
    return f"frozen until {local_time(end)}"


def _happening(picture: Picture) -> str:
    """What a running queue is doing; trouble first."""
    if is_idle(picture):
        return "the queue is empty"
    if picture.failing:
        return by_count(
            picture.failing, "*{count} batch is failing*", "*{count} batches are failing*"
        )
    if picture.bisecting:
        return by_count(picture.bisecting, "*bisecting a batch*", "*bisecting {count} batches*")
    if picture.lead in ADVANCING:
        return "*merging normally*"
    if picture.lead:
        return f"*first batch: {batch_state(picture.lead)}*"
    return "*nothing is being tested*"


def is_idle(picture: Picture) -> bool:
    """Whether it is running and empty; the headline says so."""
    is_running = picture.is_pause_known and not picture.is_held
    has_batches = bool(picture.live or picture.failing)
    return is_running and not (picture.queued or has_batches or picture.unreadable)


def unreadable(picture: Picture) -> str:
    """How many entries are missing; empty for none."""
    if not picture.unreadable:
        return ""
    entries = plural(picture.unreadable, "entry", "entries")
    return f":warning: {entries} could not be read"


def queue_counts(picture: Picture) -> str:
    """How many pull requests are queued, and how many of them are being tested."""
    queued = f"{picture.queued:,} queued"
    if not picture.live:
        return queued
    batches = plural(picture.live, "batch", "batches")
    return f"{queued}: {picture.in_batches:,} in {batches}, {picture.waiting:,} waiting"


def next_merge(picture: Picture, read_at: datetime) -> str:
    """When the next merge is expected; empty if it can't be known, or the estimate has passed."""
    due = _estimate(picture, picture.due_at, read_at)
    return f"Next merge {due}" if due else ""


def _estimate(picture: Picture, due_at: datetime | None, read_at: datetime) -> str:
    if due_at is None or picture.is_held or due_at < read_at:
        return ""
    return expected(due_at, read_at)


def own_outlook(outlook: Outlook, read_at: datetime) -> list[Block]:
    """A line of its own for what the queue's past says."""
    said = by_past(outlook, read_at)
    return [blocks.context(said)] if said else []


def by_past(outlook: Outlook, read_at: datetime) -> str:
    """When the next one merges and what a new one takes, by the queue's own past, if it says so."""
    joining = outlook.added_now
    takes = roughly(joining.remaining) if joining is not None else ""
    due = _next_by_past(outlook.next_merge, read_at)
    missed = lately(joining or outlook.next_merge)
    if due and takes:
        said = f"next merge {due}; a pull request added now takes about {takes}{missed}"
    elif takes:
        said = f"a pull request added now takes about {takes}{missed}"
    elif due:
        said = f"next merge {due}{missed}"
    else:
        return ""
    return f"By this queue's past: {said}"


def _next_by_past(estimate: Estimate | None, read_at: datetime) -> str:
    if estimate is None:
        return ""
    due_at = round_up(read_at + estimate.remaining)
    return expected(due_at, read_at) if due_at is not None else ""


def roughly(length: timedelta) -> str:
    """A length no more exact than it can be known."""
    step = LONG_STEP if length >= LONG else SHORT_STEP
    return within(step * round(length / step))


def lately(estimate: Estimate | None) -> str:
    """How wrong half of the last estimates were, for one of that length."""
    if estimate is None:
        return ""
    early = estimate.low - estimate.remaining
    late = estimate.high - estimate.remaining
    if early >= SHORT_STEP:
        return f"; lately {roughly(early)} to {roughly(late)} too hopeful"
    if late <= -SHORT_STEP:
        return f"; lately {roughly(-late)} to {roughly(-early)} too cautious"
    return _either_way(max(-early, timedelta()), max(late, timedelta()))


def _either_way(early: timedelta, late: timedelta) -> str:
    """How much earlier or later it was."""
    if late < SHORT_STEP:
        return f"; lately up to {roughly(early)} too cautious" if early >= SHORT_STEP else ""
    if early < SHORT_STEP:
        return f"; lately up to {roughly(late)} too hopeful"
    return f"; lately from {roughly(early)} too cautious to {roughly(late)} too hopeful"


def pause_blocks(pause: PausedFor | None) -> list[Block]:
    """By whom, since when and until when; empty while the queue is running."""
    if pause is None:
        return []
    return blocks.facts(
        ("By", person(pause.by)),
        ("Since", since(pause.since)),
        ("Until", pause_ends.until(pause.resumes_at, is_overdue=pause.is_overdue)),
    )


def batch_blocks(
    picture: Picture, room: int, read_at: datetime, filling: Mapping[str, str] | None = None
) -> list[Block]:
    """The first batches, each within `room` characters, and how many more there are.

    `filling`: how full each batch is, by its id, if shown.
    """
    full = filling or {}
    shown = [
        blocks.section(_batch_line(batch, picture, full.get(batch.batch_id, ""), room, read_at))
        for batch in picture.batches
    ]
    left = picture.batch_count - len(picture.batches)
    if left > 0:
        shown.append(
            blocks.context(by_count(left, "and {count} more batch", "and {count} more batches"))
        )
    return shown


def _batch_line(
    batch: ShownBatch, picture: Picture, full: str, room: int, read_at: datetime
) -> str:
    checks = ""
    if batch.total and batch.code != BatchStatusCode.WAITING_FOR_BATCH:
        checks = f"{batch.passed:,} of {batch.total:,} checks passed"
    facts = [
        f"*Batch {batch.place:,} of {picture.batch_count:,}*",
        batch_state(batch.code, batch.ahead),
        full,
        checks,
        _estimate(picture, batch.due_at, read_at),
    ]
    head = " · ".join(filter(None, facts))
    members = [
        f"• {authored(pull_request)}{waits_for(pull_request)}"
        for pull_request in batch.pull_requests
    ]
    shown = listed(members, "\n", length=room - len(head), besides=batch.more)
    return f"{head}\n{shown}".rstrip()


def waiting_for(picture: Picture) -> str:
    """What pull requests in no batch wait for, unless something else keeps them."""
    return "until the queue resumes" if picture.pause is not None else "for room in a batch"


def authored(shown: ShownPullRequest) -> str:
    """A linked pull request and its author."""
    return f"{pull_request(shown.number, shown.title, shown.url)} {by(shown.author)}".rstrip()


def waits_for(shown: ShownPullRequest) -> str:
    if shown.obstacle is None:
        return ""
    return f" · waits for {obstacle(shown.obstacle)}"


def toggle(repository: RepositoryName, picture: Picture) -> blocks.Element:
    """*Resume queue* while it is paused, else *Pause queue…*."""
    pause = picture.pause
    if pause is None:
        return pause_button(repository)
    return resume_button(repository, pause.line, pause.reason, pause.by, picture.queued)


def why_buttons(repository: RepositoryName, picture: Picture) -> list[blocks.Element]:
    """*Why?*, unless the queue is empty, paused or frozen: then the rest says why."""
    if is_idle(picture) or picture.is_held:
        return []
    value = f"why {repository}"
    return [blocks.button("Why?", action_id=controls.WHY_BUTTON, value=value)]


def pause_button(repository: RepositoryName) -> blocks.Element:
    """*Pause queue…*, which asks for the reason in a form."""
    return blocks.button(
        "Pause queue…",
        action_id=pause_actions.PAUSE,
        value=repository,
        style="danger",
        spoken=f"Pause queue {repository}",
    )


def batch_state(status: str, ahead: Sequence[int] = ()) -> str:
    """The service's code of a batch's state in plain words; a new one goes by its own name.

    `ahead`: the places of the batches it waits for.
    """
    if ahead and status in _STATES_BEHIND:
        return _STATES_BEHIND[status].format(ahead=placed(ahead))
    return _STATES.get(status, quote(status.replace("_", " ")))


def placed(places: Sequence[int]) -> str:
    """Batches by their places."""
    numbers = listed([f"{place:,}" for place in places], most=BATCH_NAMES_SHOWN)
    return f"batch {numbers}" if len(places) == 1 else f"batches {numbers}"


def filling(batch: Batch) -> str:
    """How full a filling batch is, and its latest start, as far as known."""
    if batch.status.code != BatchStatusCode.WAITING_FOR_BATCH:
        return ""
    facts: list[str] = []
    slots = batch.max_batch_slots
    if slots:
        facts.append(f"{batch.batch_filled_slots or 0:,} of {plural(slots, 'place')} taken")
    if batch.batch_max_start_at is not None:
        facts.append(f"starts by {local_time(batch.batch_max_start_at)}")
    return ", ".join(facts)


_OBSTACLES = {
    ObstacleKind.REMOVAL: "its removal, which was asked for",
    ObstacleKind.CONFLICT: "{numbers} to leave the queue, because of a conflict",
    ObstacleKind.DEPENDENCY: "{numbers}, which it depends on",
    ObstacleKind.FREEZE: "a scheduled freeze to end",
}


def obstacle(known: Obstacle) -> str:
    """What a pull request waits for, to follow "waits for"."""
    numbers = listed([f"#{number}" for number in known.numbers], most=BATCH_NAMES_SHOWN)
    return _OBSTACLES[known.kind].format(numbers=numbers)
