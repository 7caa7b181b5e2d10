"""What is posted of one claim, and in which threads."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.classification import EventKind
from bot.domain.deliveries import Delivery
from bot.domain.leases import Lease
from bot.domain.message import Message, Thread
from bot.usecases.posting.render_deliveries import Rendered


@dataclass(frozen=True, slots=True)
class Claim:
    """What was claimed, when and under which lease, and what it says."""

    claimed: Sequence[Delivery]
    rendered: Rendered
    at: datetime
    lease: Lease


@dataclass(frozen=True, slots=True)
class Batch:
    """What was claimed together, and until when it may be sent.

    `revisions`: which state of its card a card's first post says, by the delivery's id. `roots`:
    the first messages of threads, by their cards; those posted meanwhile are added. What was
    refused may be sent in another form until `repeat_until`. `unstored` is set when an outcome
    could not be stored.
    """

    messages: Mapping[str, Message]
    revisions: Mapping[str, int]
    roots: dict[int, str]
    send_until: datetime
    repeat_until: datetime
    unstored: asyncio.Event = field(default_factory=asyncio.Event)


def root_of(delivery: Delivery, batch: Batch) -> str | None:
    """A summary that took the place of a reply tells of more than its thread."""
    if delivery.card_id is None or delivery.folded:
        return None
    return batch.roots.get(delivery.card_id)


def thread_of(delivery: Delivery, batch: Batch) -> Thread | None:
    """A failure is for somebody who may not follow the thread."""
    root = root_of(delivery, batch)
    return Thread(root, delivery.kind == EventKind.FAILURE) if root is not None else None


def more_may_wait(runs: Sequence[Sequence[Delivery]], channels: int, per_channel: int) -> bool:
    """A claim is bounded, and what was tried before may have held back what stands behind it."""
    return len(runs) >= channels or any(
        len(run) >= per_channel or run[0].attempts > 1 or run[0].folded for run in runs
    )
