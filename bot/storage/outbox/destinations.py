"""Where each line of deliveries starts and when its first one can be claimed."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import and_, bindparam, case, or_, select, update

from bot.domain.classification import EventKind
from bot.domain.deliveries import LATEST_DUE, Delivery
from bot.domain.values import value
from bot.storage.statements import Prepared, PreparedList, Statements
from bot.storage.tables import deliveries, destinations

URGENT = "!"
"""Begins the names of urgent lines; no channel id does."""

DIGEST = "~"
"""Begins the names of the lines that wait for a digest; no channel id does."""

_FIELDS = (
    destinations.c.line,
    destinations.c.next_sequence,
    destinations.c.head_sequence,
    destinations.c.claimable_at,
    destinations.c.parked_at,
    destinations.c.retry_at,
)

_SAVE = Prepared(
    lambda _: (
        update(destinations)
        .where(destinations.c.line == bindparam("of_line"))
        .values(
            next_sequence=bindparam("next_sequence"),
            head_sequence=bindparam("head_sequence"),
            claimable_at=bindparam("claimable_at"),
        )
    )
)

_ADD = Prepared(
    lambda insert: (
        insert(destinations)
        .values(line=bindparam("line"), next_sequence=1, head_sequence=1)
        .on_conflict_do_nothing(index_elements=[destinations.c.line])
    )
)

_LOCK = PreparedList(
    "line",
    destinations.c.line.type,
    lambda _, lines: (
        select(*_FIELDS)
        .where(destinations.c.line.in_(lines))
        .order_by(destinations.c.line)
        .with_for_update()
    ),
)

_IS_CLAIMABLE = destinations.c.claimable_at <= bindparam("now")

_HAS_WRONG_TIME = and_(
    destinations.c.claimable_at > bindparam("latest"),
    destinations.c.line.not_like(f"{DIGEST}%"),
)

_KIND_OF_HEAD = (
    # No EXISTS: for that PostgreSQL reads all deliveries there are.
    select(deliveries.c.kind)
    .where(
        deliveries.c.line == destinations.c.line,
        deliveries.c.sequence == destinations.c.head_sequence,
    )
    .correlate(destinations)
    .scalar_subquery()
)

_PRIORITY = case(
    (destinations.c.line.like(f"{URGENT}%"), 0),
    (_KIND_OF_HEAD == EventKind.FAILURE, 1),
    else_=2,
)

_LOCK_CLAIMABLE = Prepared(
    lambda _: (
        select(*_FIELDS)
        .where(or_(_IS_CLAIMABLE, _HAS_WRONG_TIME))
        .order_by(_PRIORITY, destinations.c.claimable_at, destinations.c.line)
        .limit(bindparam("most"))
        .with_for_update(skip_locked=True)
    )
)

_LENGTH = destinations.c.next_sequence - destinations.c.head_sequence

_LOCK_LONGER = Prepared(
    lambda _: (
        select(destinations.c.line, destinations.c.head_sequence)
        .where(
            _IS_CLAIMABLE,
            bindparam("longer_than") < _LENGTH,
            destinations.c.line.not_like(f"{URGENT}%"),
            destinations.c.line.not_like(f"{DIGEST}%"),
        )
        .order_by(destinations.c.line)
        .with_for_update(skip_locked=True)
    )
)

_LOCK_DIGESTS = Prepared(
    lambda _: (
        select(destinations.c.line, destinations.c.head_sequence)
        .where(_IS_CLAIMABLE, _LENGTH > 1, destinations.c.line.like(f"{DIGEST}%"))
        .order_by(destinations.c.line)
        .with_for_update(skip_locked=True)
    )
)

_PARKED = PreparedList(
    "line",
    destinations.c.line.type,
    lambda _, lines: select(destinations.c.line).where(
        destinations.c.line.in_(lines), destinations.c.parked_code.is_not(None)
    ),
)

_LATER = deliveries.alias("later")

_FIRST_UNSETTLED = (
    # From the old head on, so that it passes over what was settled since, not over history.
    select(_LATER.c.sequence)
    .where(
        _LATER.c.line == destinations.c.line,
        _LATER.c.sequence >= destinations.c.head_sequence,
        _LATER.c.settled_at.is_(None),
    )
    .order_by(_LATER.c.sequence)
    .limit(1)
    .correlate(destinations)
    .scalar_subquery()
)

_HEADS = PreparedList(
    "line",
    destinations.c.line.type,
    lambda _, lines: (
        select(*_FIELDS, deliveries.c.sequence, deliveries.c.due_at)
        .outerjoin_from(
            destinations,
            deliveries,
            and_(
                deliveries.c.line == destinations.c.line,
                deliveries.c.sequence == _FIRST_UNSETTLED,
            ),
        )
        .where(destinations.c.line.in_(lines))
    ),
)


@value(frozen=True, slots=True)
class Destination:
    """One line's row, locked by the transaction that read it."""

    line: str
    next_sequence: int
    head_sequence: int
    claimable_at: datetime | None
    parked_at: datetime | None
    retry_at: datetime | None

    def with_head(self, sequence: int, due_at: datetime) -> "Destination":
        claimable_at = due_at if self.retry_at is None else max(due_at, self.retry_at)
        return replace(self, head_sequence=sequence, claimable_at=claimable_at)

    def holds_only(self, delivery: Delivery) -> bool:
        """Whether nothing was added behind what is settled now and was the first of the line."""
        place = delivery.sequence
        is_only = self.head_sequence == place and self.next_sequence == place + 1
        return is_only and delivery.state.is_settled

    def without_head(self) -> "Destination":
        return replace(self, head_sequence=self.next_sequence, claimable_at=None)


class Destinations:
    """The rows of `destinations`. Locks are always taken in the order of lines."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def lock_or_add(self, lines: Iterable[str]) -> dict[str, Destination]:
        wanted = sorted(set(lines))
        locked = self.lock(wanted)
        missing = [line for line in wanted if line not in locked]
        if missing:
            self._statements.run_for_each(_ADD, [{"line": each} for each in missing])
            locked |= self.lock(missing)
        return locked

    def lock(self, lines: Iterable[str]) -> dict[str, Destination]:
        rows = self._statements.rows_in(_LOCK, sorted(set(lines)))
        return {row.line: Destination(*row) for row in rows}

    def lock_claimable(self, now: datetime, limit: int) -> list[Destination]:
        """Pauses first, then failures, then the rest; of each the longest claimable first.

        One in another transaction's hands is passed over.
        """
        rows = self._statements.rows(_LOCK_CLAIMABLE, now=now, latest=now + LATEST_DUE, most=limit)
        return [Destination(*row) for row in rows]

    def lock_longer(self, now: datetime, longer_than: int) -> list[tuple[str, int]]:
        """Ordinary claimable lines with more numbers handed out since their head than that."""
        rows = self._statements.rows(_LOCK_LONGER, now=now, longer_than=longer_than)
        return [(row.line, row.head_sequence) for row in rows]

    def lock_digests(self, now: datetime) -> list[tuple[str, int]]:
        """Lines whose digest is due and may have more than one thing to tell."""
        rows = self._statements.rows(_LOCK_DIGESTS, now=now)
        return [(row.line, row.head_sequence) for row in rows]

    def save(self, changed: Sequence[Destination]) -> None:
        if changed:
            self._statements.run_for_each(
                _SAVE,
                [
                    {
                        "of_line": each.line,
                        "next_sequence": each.next_sequence,
                        "head_sequence": each.head_sequence,
                        "claimable_at": each.claimable_at,
                    }
                    for each in changed
                ],
            )

    def any_parked(self, lines: Iterable[str]) -> bool:
        return bool(self._statements.rows_in(_PARKED, sorted(lines)))

    def find_heads(self, lines: Iterable[str]) -> None:
        """Bring locked rows up to date with their deliveries."""
        found = []
        for *fields, sequence, due_at in self._statements.rows_in(_HEADS, sorted(set(lines))):
            destination = Destination(*fields)
            found.append(
                destination.without_head()
                if sequence is None
                else destination.with_head(sequence, due_at)
            )
        self.save(found)
