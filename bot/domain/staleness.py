"""Event logs that are not read any more: told once, and once when they are read again."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.repository import RepositoryName


@dataclass(frozen=True, slots=True)
class Staleness:
    """Logs that became stale together. `staleness_id` is given by the store, 0 before.

    `since` is when the first of them was last read; `ended_at` is None while any is stale.
    """

    repositories: tuple[RepositoryName, ...]
    since: datetime
    ended_at: datetime | None = None
    staleness_id: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """What has to be told: logs that became stale, and what is over."""

    begun: Staleness | None
    ended: tuple[Staleness, ...]


def changes(
    read_at: Mapping[RepositoryName, datetime],
    active: Iterable[Staleness],
    now: datetime,
    limit: timedelta,
    back: Collection[RepositoryName],
) -> Change:
    """`read_at`: when each log was last read or taken on; `active` was told before.

    `back`: those that were read again, by whichever process, or are polled no more. To be taken
    on, by a process that was started in an outage, is not to be read.
    """
    active = tuple(active)
    stale = {name for name, at in read_at.items() if now - at > limit}
    told = {name for one in active for name in one.repositories}
    new = sorted(stale - told)
    begun = Staleness(tuple(new), min(read_at[name] for name in new)) if new else None
    back = set(back) - stale
    return Change(begun, tuple(one for one in active if back.issuperset(one.repositories)))
