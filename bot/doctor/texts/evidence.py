"""How the queue stands, whatever the cause, in words."""

from bot.blocks.text import by_count, link, local_time, within
from bot.doctor.diagnosis import Diagnosis
from bot.merge_queue.queue import BatchStatusCode
from bot.queues.texts.parts import batch_state


def how_it_stands(diagnosis: Diagnosis) -> str:
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
    if seen.head_code == BatchStatusCode.WAITING_FOR_BATCH:
        # Its checks begin once it is full, or has waited long enough.
        return f"At the head: {head}, in a batch that waits for more pull requests."
    state = batch_state(seen.head_code)
    tested = ""
    if seen.tested_since is not None and seen.head_code == BatchStatusCode.RUNNING:
        tested = f" for {within(diagnosis.at - seen.tested_since)}"
    checks = f", {seen.passed:,} of {seen.total:,} checks passed" if seen.total else ""
    return f"At the head: {head}, {state}{tested}{checks}."


def how_it_was_read(diagnosis: Diagnosis) -> str:
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
