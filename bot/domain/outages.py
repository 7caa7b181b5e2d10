"""Outages: event logs that can't be read, from when they stopped being read to their recovery.

All logs that stop being read at about the same time are one outage, whichever processes poll them.
What is stored of it decides what channels are notified of.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.pacing import LONGEST_SECONDS
from bot.domain.repository import RepositoryName

GATHERED_FOR = 1 / 5
"""Of the limit, which is five polls. What fails with the first was last read up to a poll later,
and is found by other processes: the one notice waits for it, to name it."""

LONGEST_WAIT = timedelta(seconds=LONGEST_SECONDS)
"""Between two polls of a log that fails."""


@dataclass(frozen=True, slots=True)
class Outage:
    """Logs that stopped being read together.

    `began_at`: when the first of them was last read. `notified_at`: when channels were notified,
    None before. `recovered`: when those of them were read again that have been. `ended_at`: None
    while any has not. `alert_id`: given by the store, 0 before.
    """

    repositories: tuple[RepositoryName, ...]
    began_at: datetime
    _: KW_ONLY
    notified_at: datetime | None = None
    recovered: Mapping[RepositoryName, datetime] = field(default_factory=dict)
    ended_at: datetime | None = None
    alert_id: int = 0

    @property
    def unread(self) -> tuple[RepositoryName, ...]:
        return tuple(name for name in self.repositories if name not in self.recovered)


@dataclass(frozen=True, slots=True)
class PollObservation:
    """What one process knows at a moment of the logs that it polls.

    `unread_since`: when each was last read or taken on. `read`: when those were whose last poll
    read them; to be taken on, by a process that was started in an outage, is not to be read.
    `polled` are all that any process polls. `stored`: when those that seem unread were read, by
    whichever process, as far as that is known.
    """

    at: datetime
    unread_since: Mapping[RepositoryName, datetime]
    read: Mapping[RepositoryName, datetime]
    polled: Collection[RepositoryName]
    stored: Mapping[RepositoryName, datetime] = field(default_factory=dict)

    def unread(self, limit: timedelta) -> Mapping[RepositoryName, datetime]:
        """Since when those were not read that were not for longer than the limit."""
        return {name: at for name, at in self.unread_since.items() if self.at - at > limit}

    def corrected(
        self, stored: Mapping[RepositoryName, datetime], last_end: datetime | None
    ) -> "PollObservation":
        """With what others read meanwhile, and with all logs given the limit after an outage.

        Its end is posted while some wait for their next poll: these are part of it, and no new one.
        """
        return replace(
            self,
            unread_since={
                name: max(at, stored.get(name, at), last_end or at)
                for name, at in self.unread_since.items()
            },
            stored=stored,
        )

    def began_with(self, name: RepositoryName, began_at: datetime, limit: timedelta) -> bool:
        """Whether an unread log stopped being read within the limit of then.

        What was taken on from a process that died in the outage was not read since before it.
        """
        times = (self.unread_since[name], self.stored.get(name, self.unread_since[name]))
        return any(abs(at - began_at) <= limit for at in times)


@dataclass(frozen=True, slots=True)
class OutageChange:
    """An outage as it is from now on, and the logs whose subscribers are to be notified of it."""

    outage: Outage
    notify: tuple[RepositoryName, ...] = ()


def has_new_outage(
    observation: PollObservation, active: Iterable[Outage], limit: timedelta
) -> bool:
    """Whether any log is unread that no outage has among those that are."""
    unread = {name for one in active for name in one.unread}
    return not unread.issuperset(observation.unread(limit))


def outage_changes(
    observation: PollObservation, active: Iterable[Outage], limit: timedelta
) -> Sequence[OutageChange]:
    """What the observation makes of the outages that last; nothing where it has nothing new.

    A log that becomes unread within the limit of another belongs to its outage, and so does one
    that was read for a moment only. Later ones are an outage of their own: a log that is never read
    again, of a repository that is gone, would keep every later outage from being posted.
    """
    before = list(active)
    unread = observation.unread(limit)
    lasting = [_with_recovered(one, observation, unread, limit) for one in before]
    known = {name for one in lasting for name in one.unread}
    new = {name: at for name, at in sorted(unread.items()) if name not in known}
    for index, one in reversed(list(enumerate(lasting))):
        joining = {
            name: at
            for name, at in new.items()
            if observation.began_with(name, one.began_at, limit)
        }
        lasting[index] = _joined(one, joining)
        new = {name: at for name, at in new.items() if name not in joining}
    found = [
        _change(old, one, observation.at, limit) for old, one in zip(before, lasting, strict=True)
    ]
    if new:
        found.append(_change(None, Outage(tuple(new), min(new.values())), observation.at, limit))
    return [one for one in found if one is not None]


def _with_recovered(
    one: Outage,
    observation: PollObservation,
    unread: Mapping[RepositoryName, datetime],
    limit: timedelta,
) -> Outage:
    """Of a process that hung, what it read before the outage says nothing about its end."""
    recovered = dict(one.recovered)
    for name in one.unread:
        is_polled = name in observation.polled
        read_at = observation.read.get(name) if is_polled else observation.at
        if read_at is not None and read_at > one.began_at + limit and name not in unread:
            recovered[name] = read_at
    for name, read_at in one.recovered.items():
        # Meanwhile those that were not read have not even been polled, perhaps.
        if name in unread and unread[name] - read_at <= limit + LONGEST_WAIT:
            del recovered[name]
    return replace(one, recovered=recovered)


def _joined(one: Outage, joining: Mapping[RepositoryName, datetime]) -> Outage:
    added = tuple(name for name in joining if name not in one.repositories)
    return replace(
        one,
        repositories=(*one.repositories, *added),
        began_at=min((one.began_at, *joining.values())),
        recovered={name: at for name, at in one.recovered.items() if name not in joining},
    )


def _change(
    before: Outage | None, after: Outage, now: datetime, limit: timedelta
) -> OutageChange | None:
    if not after.unread:
        return OutageChange(replace(after, ended_at=now))
    if after.notified_at is None and now - after.began_at > limit + GATHERED_FOR * limit:
        return OutageChange(replace(after, notified_at=now), notify=after.repositories)
    if after == before:
        return None
    known = () if before is None else before.repositories
    joined = tuple(name for name in after.repositories if name not in known)
    return OutageChange(after, notify=joined if after.notified_at is not None else ())
