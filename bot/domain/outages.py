"""Outages: event logs or Slack, from the first failure to recovery.

All logs that become unreadable at about the same time are one outage, whichever processes poll
them. The stored outages decide what channels are notified of.
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
    """Logs that became unreadable together, or Slack, which doesn't answer.

    `repositories`: none for Slack.
    `began_at`: when the first of them was last read; for Slack, the first call without an answer.
    `notified_at`: when channels were notified, None before.
    `recovered`: when each recovered log was read again.
    `ended_at`: None until all have recovered.
    `late`: how many messages had to wait for Slack.
    `alert_id`: assigned by the store, 0 before.
    """

    repositories: tuple[RepositoryName, ...]
    began_at: datetime
    _: KW_ONLY
    notified_at: datetime | None = None
    recovered: Mapping[RepositoryName, datetime] = field(default_factory=dict)
    ended_at: datetime | None = None
    late: int | None = None
    alert_id: int = 0

    @property
    def is_of_slack(self) -> bool:
        return not self.repositories

    @property
    def unread(self) -> tuple[RepositoryName, ...]:
        return tuple(name for name in self.repositories if name not in self.recovered)


@dataclass(frozen=True, slots=True)
class PollObservation:
    """What one process knows about the logs it polls.

    `unread_since`: when each was last read or taken over.
    `read`: when those were read whose last poll succeeded. Taking over a log doesn't count, because
    the process may have started during an outage.
    `polled`: all logs that any process polls.
    `stored`: when any process last read those that seem unreadable, if known.
    """

    at: datetime
    unread_since: Mapping[RepositoryName, datetime]
    read: Mapping[RepositoryName, datetime]
    polled: Collection[RepositoryName]
    stored: Mapping[RepositoryName, datetime] = field(default_factory=dict)

    def unread(self, limit: timedelta) -> Mapping[RepositoryName, datetime]:
        """The logs unread for longer than the limit, and since when."""
        return {name: at for name, at in self.unread_since.items() if self.at - at > limit}

    def corrected(
        self, stored: Mapping[RepositoryName, datetime], last_end: datetime | None
    ) -> "PollObservation":
        """Include what other processes read, and give all logs the limit after an outage.

        Its end is posted while some logs still wait for their next poll. They belong to that
        outage, not to a new one.
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
        """Whether a log became unreadable within the limit of `began_at`.

        A log taken over from a process that died in the outage was unread even before.
        """
        times = (self.unread_since[name], self.stored.get(name, self.unread_since[name]))
        return any(abs(at - began_at) <= limit for at in times)


@dataclass(frozen=True, slots=True)
class SlackObservation:
    """The calls that Slack didn't answer, as the process that posts knows them.

    `failing_since`: the first since its last answer, None after an answer.
    `failed_at`: the last one.
    """

    failing_since: datetime | None = None
    failed_at: datetime | None = None

    def began_at(self, limit: timedelta) -> datetime | None:
        """When an outage began: calls have failed for longer than the limit, and none succeeded."""
        if self.failing_since is None or self.failed_at is None:
            return None
        return self.failing_since if self.failed_at - self.failing_since > limit else None


Change = tuple[Outage, tuple[RepositoryName, ...]]
"""An outage in its new state, and the logs whose subscribers to notify."""


def outage_changes(
    observation: PollObservation, active: Iterable[Outage], limit: timedelta
) -> Sequence[Change]:
    """The changes of active outages that follow from an observation, empty if there are none.

    A log that becomes unreadable within the limit of another belongs to the same outage, even if
    it was readable for a moment. Later ones form their own outage. Otherwise a log that never
    recovers, of a deleted repository, would keep every later outage from being posted.
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
        added = tuple(name for name in joining if name not in one.repositories)
        lasting[index] = replace(
            one,
            repositories=(*one.repositories, *added),
            began_at=min((one.began_at, *joining.values())),
            recovered={name: at for name, at in one.recovered.items() if name not in joining},
        )
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
    """Ignore reads of a process that hung: they say nothing about the outage's end."""
    recovered = dict(one.recovered)
    for name in one.unread:
        is_polled = name in observation.polled
        read_at = observation.read.get(name) if is_polled else observation.at
        if read_at is not None and read_at > one.began_at + limit and name not in unread:
            recovered[name] = read_at
    for name, read_at in one.recovered.items():
        # The unread ones may not even have been polled meanwhile.
        if name in unread and unread[name] - read_at <= limit + LONGEST_WAIT:
            del recovered[name]
    return replace(one, recovered=recovered)


def _change(before: Outage | None, after: Outage, now: datetime, limit: timedelta) -> Change | None:
    if not after.unread:
        return replace(after, ended_at=now), ()
    if after.notified_at is None and now - after.began_at > limit + GATHERED_FOR * limit:
        return replace(after, notified_at=now), after.repositories
    if after == before:
        return None
    known = () if before is None else before.repositories
    joined = tuple(name for name in after.repositories if name not in known)
    return after, joined if after.notified_at is not None else ()
