"""What batches and pull requests in the queue wait for."""

from collections.abc import Callable, Mapping, Sequence

from bot.domain.queue import Hold, HoldKind, SubBatch
from bot.messages.text import NAME_LIMIT, listed, local_time, plural, quote

NAMES_SHOWN = 3
BATCH_NAME_LIMIT = 40

_STATES = {
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

_STATES_BEHIND = {
    "waiting_for_merge": "checks passed, waiting for {ahead} to merge",
    "waiting_for_previous_batches": "held: waiting for {ahead}, which failed",
    "waiting_for_requeue": "{ahead} failed, will be tested again",
}
"""The same, if the batches ahead are known."""


def batch_state(status: str, ahead: Sequence[str] = ()) -> str:
    """The service's code of a batch's state in plain words; a new one goes by its own name.

    `ahead`: the names of the batches it is tested on top of.
    """
    if ahead and status in _STATES_BEHIND:
        return _STATES_BEHIND[status].format(ahead=batches(ahead))
    return _STATES.get(status, quote(status.replace("_", " "), NAME_LIMIT))


def batches(names: Sequence[str]) -> str:
    """Their names, safe to show."""
    return listed([quote(name, BATCH_NAME_LIMIT) for name in names], most=NAMES_SHOWN)


def filling(batch: SubBatch) -> str:
    """How full a filling batch is, and its latest start, as far as known."""
    if batch.status.code != "waiting_for_batch":
        return ""
    slots, start_at = batch.max_batch_slots, batch.batch_max_start_at
    full = f"{batch.batch_filled_slots or 0:,} of {plural(slots, 'place')} taken" if slots else ""
    by = f"starts by {local_time(start_at)}" if start_at is not None else ""
    return ", ".join(filter(None, [full, by]))


_HOLDS: Mapping[HoldKind, Callable[[str], str]] = {
    HoldKind.REMOVAL: lambda _: "its removal, which was asked for",
    HoldKind.CONFLICT: lambda numbers: f"{numbers} to leave the queue, because of a conflict",
    HoldKind.DEPENDENCY: lambda numbers: f"{numbers}, which it depends on",
    HoldKind.FREEZE: lambda _: "a scheduled freeze to end",
}


def hold(known: Hold) -> str:
    """What a pull request waits for, to follow "waits for"."""
    numbers = listed([f"#{number}" for number in known.numbers], most=NAMES_SHOWN)
    return _HOLDS[known.kind](numbers)
