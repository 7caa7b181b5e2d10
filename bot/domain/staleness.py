"""Event logs that are not read any more: told once, and once when they are read again.

All logs that stop being read at about the same time are one staleness, whichever processes poll
them; what is stored of it decides what is told.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.pacing import LONGEST_SECONDS
from bot.domain.repository import RepositoryName

GATHERED_FOR = 1 / 5
"""Of the limit, which is five polls. What fails with the first was last read up to a poll later,
and is found by other processes: it is waited for, so that the one notice names it."""

LONGEST_WAIT = timedelta(seconds=LONGEST_SECONDS)
"""Between two polls of a log that fails."""


@dataclass(frozen=True, slots=True)
class Staleness:
    """Logs that became stale together. `staleness_id` is given by the store, 0 before.

    `since` is when the first of them was last read, `told_at` when channels were told, None before.
    `read_again`: when those of them were that are read again. `ended_at` is None while any is not.
    """

    repositories: tuple[RepositoryName, ...]
    since: datetime
    _: KW_ONLY
    told_at: datetime | None = None
    read_again: Mapping[RepositoryName, datetime] = field(default_factory=dict)
    ended_at: datetime | None = None
    staleness_id: int = 0

    @property
    def unread(self) -> tuple[RepositoryName, ...]:
        return tuple(name for name in self.repositories if name not in self.read_again)


@dataclass(frozen=True, slots=True)
class Look:
    """What one process sees of the logs that it polls.

    `unread_since`: when each was last read or taken on. `read`: when those were whose last poll
    read them; to be taken on, by a process that was started in an outage, is not to be read.
    `polled` are all that any process polls. `stored`: when those were read that are stale, by
    whichever process, as far as that is known.
    """

    at: datetime
    unread_since: Mapping[RepositoryName, datetime]
    read: Mapping[RepositoryName, datetime]
    polled: Collection[RepositoryName]
    stored: Mapping[RepositoryName, datetime] = field(default_factory=dict)

    def stale(self, limit: timedelta) -> Mapping[RepositoryName, datetime]:
        """Since when those were not read that were not for longer than the limit."""
        return {name: at for name, at in self.unread_since.items() if self.at - at > limit}

    def corrected(
        self, stored: Mapping[RepositoryName, datetime], last_end: datetime | None
    ) -> "Look":
        """With what others read meanwhile, and with all logs given the limit after an outage.

        Its end is told while some wait for their next poll: these are of it, and no new one.
        """
        return replace(
            self,
            unread_since={
                name: max(at, stored.get(name, at), last_end or at)
                for name, at in self.unread_since.items()
            },
            stored=stored,
        )

    def began_with(self, name: RepositoryName, since: datetime, limit: timedelta) -> bool:
        """Whether a stale log stopped being read within the limit of then.

        What was taken on from a process that died in the outage was not read since before it.
        """
        times = (self.unread_since[name], self.stored.get(name, self.unread_since[name]))
        return any(abs(at - since) <= limit for at in times)


@dataclass(frozen=True, slots=True)
class Change:
    """A staleness as it is from now on.

    `tell` are the logs whose channels are told that they are not read; those that were told of
    this staleness before are not told again.
    """

    staleness: Staleness
    tell: tuple[RepositoryName, ...] = ()


def newly_stale(look: Look, active: Iterable[Staleness], limit: timedelta) -> bool:
    """Whether any log is stale that no staleness has among those that are not read."""
    unread = {name for one in active for name in one.unread}
    return not unread.issuperset(look.stale(limit))


def changes(look: Look, active: Iterable[Staleness], limit: timedelta) -> Sequence[Change]:
    """What the look makes of those that last; nothing where it has nothing new.

    A log that becomes stale within the limit of another belongs to it, and so does one that was
    read for a moment only. Later ones are an outage of their own: a log that is never read again,
    of a repository that is gone, would have every later outage untold.
    """
    before = list(active)
    stale = look.stale(limit)
    lasting = [_brought_up_to_date(one, look, stale, limit) for one in before]
    unread = {name for one in lasting for name in one.unread}
    new = {name: at for name, at in sorted(stale.items()) if name not in unread}
    for index, one in reversed(list(enumerate(lasting))):
        joining = {name: at for name, at in new.items() if look.began_with(name, one.since, limit)}
        lasting[index] = _joined(one, joining)
        new = {name: at for name, at in new.items() if name not in joining}
    found = [_change(old, one, look.at, limit) for old, one in zip(before, lasting, strict=True)]
    if new:
        found.append(_change(None, Staleness(tuple(new), min(new.values())), look.at, limit))
    return [one for one in found if one is not None]


def _brought_up_to_date(
    one: Staleness, look: Look, stale: Mapping[RepositoryName, datetime], limit: timedelta
) -> Staleness:
    """Of a process that hung, what it read before the outage says nothing about its end."""
    read_again = dict(one.read_again)
    for name in one.unread:
        read_at = look.read.get(name) if name in look.polled else look.at
        if read_at is not None and read_at > one.since + limit and name not in stale:
            read_again[name] = read_at
    for name, read_at in one.read_again.items():
        # Meanwhile those that were not read have not even been polled, perhaps.
        if name in stale and stale[name] - read_at <= limit + LONGEST_WAIT:
            del read_again[name]
    return replace(one, read_again=read_again)


def _joined(one: Staleness, joining: Mapping[RepositoryName, datetime]) -> Staleness:
    added = tuple(name for name in joining if name not in one.repositories)
    return replace(
        one,
        repositories=(*one.repositories, *added),
        since=min((one.since, *joining.values())),
        read_again={name: at for name, at in one.read_again.items() if name not in joining},
    )


def _change(
    before: Staleness | None, after: Staleness, now: datetime, limit: timedelta
) -> Change | None:
    if not after.unread:
        return Change(replace(after, ended_at=now))
    if after.told_at is None and now - after.since > limit + GATHERED_FOR * limit:
        return Change(replace(after, told_at=now), tell=after.repositories)
    if after == before:
        return None
    known = () if before is None else before.repositories
    joined = tuple(name for name in after.repositories if name not in known)
    return Change(after, tell=joined if after.told_at is not None else ())
