"""Deliveries as they are added: under which numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from bot.domain.deliveries import DeliveryState, NewDelivery
from bot.domain.values import value
from bot.storage.outbox.destinations import Destination
from bot.storage.statements import Columns


def numbers(lines: Sequence[str], locked: Mapping[str, Destination]) -> list[int]:
    """The numbers that follow; one that is not used in the end leaves a gap, which is harmless."""
    following = {line: each.next_sequence for line, each in locked.items()}
    found = []
    for line in lines:
        found.append(following[line])
        following[line] += 1
    return found


def columns_of(
    added: Sequence[NewDelivery], lines: Sequence[str], sequences: Sequence[int]
) -> Columns:
    """What differs from one to the next; `NEW` is what all of them have."""
    folded, pending = DeliveryState.FOLDED, DeliveryState.PENDING
    return {
        "delivery_id": [new.delivery_id for new in added],
        "channel_id": [new.channel_id for new in added],
        "line": lines,
        "sequence": sequences,
        "subject_kind": [new.subject.kind for new in added],
        "repository": [new.subject.repository for new in added],
        "subject_id": [new.subject.subject_id for new in added],
        "created_at": [new.due_at for new in added],
        "due_at": [new.digest_at or new.due_at for new in added],
        "state": [folded if new.told_by else pending for new in added],
        "settled_at": [new.due_at if new.told_by else None for new in added],
        "told_by": [new.told_by for new in added],
        "kind": [new.kind for new in added],
        "folded": [new.folded for new in added],
        "card_id": [new.card_id for new in added],
    }


def digests_in_order(added: Sequence[NewDelivery]) -> Sequence[NewDelivery]:
    """Where a channel has digests at several times, none waits for a later one in front of it."""
    if all(new.digest_at is None for new in added):
        return added
    soonest: dict[str, datetime] = {}
    found = []
    for new in reversed(added):
        if new.digest_at is not None:
            at = soonest[new.channel_id] = min(
                new.digest_at, soonest.get(new.channel_id, new.digest_at)
            )
            found.append(new if at == new.digest_at else replace(new, digest_at=at))
        else:
            found.append(new)
    return found[::-1]


NEW = {"attempts": 0, "attempted_at": None, "looks": 0, "failures": 0}
"""What all have when they are added."""


@value(frozen=True, slots=True)
class AddedRow:
    """What is added to which line, under which number."""

    new: NewDelivery
    line: str
    sequence: int

    @property
    def due_at(self) -> datetime:
        """When it can be claimed."""
        return self.new.digest_at or self.new.due_at


def appended(locked: Mapping[str, Destination], rows: Sequence[AddedRow]) -> list[Destination]:
    """The lines that these were added to, in the order of lines."""
    last: dict[str, int] = {}
    heads: dict[str, tuple[int, datetime]] = {}
    for row in rows:
        last[row.line] = row.sequence
        if row.line not in heads and row.new.told_by is None:
            heads[row.line] = (row.sequence, row.due_at)
    changed = []
    for line in sorted(last):
        destination = replace(locked[line], next_sequence=last[line] + 1)
        if destination.claimable_at is None and line in heads:
            destination = destination.with_head(*heads[line])
        changed.append(destination)
    return changed
