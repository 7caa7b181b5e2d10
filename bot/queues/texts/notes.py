"""What a pause or freeze would stop."""

from datetime import datetime

from bot.acts.reason import REASON_LIMIT
from bot.blocks.text import literal, local_time
from bot.freezes.texts.cards import FREEZES_LISTED, freeze_line
from bot.pauses.texts.card import by_whom
from bot.pauses.texts.replies import pause_times, stopped_work
from bot.queues.estimate import NO_OUTLOOK, Outlook
from bot.queues.snapshot import Snapshot
from bot.queues.texts.parts import by_past


def will_stop(running: int, bisecting: int = 0) -> str:
    """What pausing does to the running batches and bisections."""
    stopped = stopped_work(running, bisecting)
    return f"{stopped} will stop" if stopped else "no batch is running"


def would_stop(queued: str, running: int, bisecting: int, due: datetime | None) -> str:
    """What is queued, what pausing stops, and when the next merge is expected."""
    next_merge = f" Next merge expected {local_time(due)}." if due is not None else ""
    return f"{queued}, {will_stop(running, bisecting)}.{next_merge}"


def queue_notes(snapshot: Snapshot, outlook: Outlook = NO_OUTLOOK) -> list[str]:
    """What pausing would stop, or who has already paused, and who has frozen the queue."""
    known = snapshot.pause
    status = snapshot.status
    if known is not None:
        times = ", ".join(filter(None, pause_times(known)))
        note = f":double_vertical_bar: Already paused{by_whom(known)} {times}: "
        note += literal(known.line.reason, REASON_LIMIT)
    else:
        queued = f"{len(status.queued):,} queued"
        running = len(status.running)
        bisecting = len(status.bisecting)
        note = would_stop(queued, running, bisecting, snapshot.merge_expected_at)
    freezes = [freeze_line(freeze) for freeze in snapshot.freezes[:FREEZES_LISTED]]
    return [*filter(None, [note, by_past(outlook, snapshot.read_at)]), *freezes]
