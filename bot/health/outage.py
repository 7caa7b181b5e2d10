"""Outages: event logs or Slack, from the first failure to recovery.

All logs that become unreadable at about the same time are one outage. The stored outages decide
what channels are notified of.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.kernel import errors as kernel_errors
from bot.kernel.pacing import LONGEST_BACKOFF_SECONDS
from bot.kernel.repository import RepositoryName
from bot.merge_queue import errors as merge_queue_errors

GATHERED_FOR = 1 / 5
"""Of the limit, which is five polls. What fails with the first was last read up to a poll later:
the one notice waits for it, to name it."""


LONGEST_POLL_WAIT = timedelta(seconds=LONGEST_BACKOFF_SECONDS)
"""Between two polls of a log that fails."""


class OutageCause(StrEnum):
    """Why a log can't be read; it decides what fixes it."""

    SILENT = "silent"  #: no answer
    FAILING = "failing"  #: a failure of the service's own, or a limit of requests
    UNREADABLE = "unreadable"  #: an answer that can't be read, or a redirect
    KEY = "key"  #: the key isn't accepted, or may not read it
    GONE = "gone"  #: the repository was renamed, moved or deleted, or the key can't see it
    REFUSED = "refused"  #: another refusal


@dataclass(frozen=True, slots=True)
class PollProblem:
    """Why a log can't be read; `said` is the service's own sentence with its status, if any."""

    cause: OutageCause
    said: str = ""


def poll_problem(error: Exception) -> PollProblem | None:
    """What a failed poll says of the service; None if it says nothing of it."""
    match error:
        case merge_queue_errors.CredentialRefused():
            cause = OutageCause.KEY
        case merge_queue_errors.ResourceNotFound() | merge_queue_errors.RepositoryMoved():
            cause = OutageCause.GONE
        case merge_queue_errors.MergeQueueUnavailable(status=None):
            return PollProblem(OutageCause.SILENT)
        case merge_queue_errors.MergeQueueUnavailable():
            cause = OutageCause.FAILING
        case kernel_errors.MergeQueueRefused():
            cause = OutageCause.REFUSED
        case merge_queue_errors.MergeQueueProtocolError():
            return PollProblem(OutageCause.UNREADABLE, error.detail)
        case _:
            return None
    return PollProblem(cause, merge_queue_errors.answer_of(error))


@dataclass(frozen=True, slots=True)
class Outage:
    """Logs that became unreadable together."""

    repositories: tuple[RepositoryName, ...]
    began_at: datetime  #: when the first of them was last read
    _: KW_ONLY
    notified_at: datetime | None = None  #: when channels were notified
    recovered: Mapping[RepositoryName, datetime] = field(default_factory=dict)
    """When each recovered log was read again."""
    ended_at: datetime | None = None  #: None until all have recovered
    cause: OutageCause | None = None  #: why the first of them can't be read, if known
    said: str | None = None  #: the service's own sentence about that
    outage_id: int = 0  #: assigned by the store, 0 before

    @property
    def unread(self) -> tuple[RepositoryName, ...]:
        return tuple(name for name in self.repositories if name not in self.recovered)


@dataclass(frozen=True, slots=True)
class SlackOutage:
    """A time in which Slack answered no call."""

    began_at: datetime  #: the first call without an answer
    ended_at: datetime | None = None
    late: int | None = None  #: how many messages had to wait, once it is over
    outage_id: int = 0  #: assigned by the store, 0 before


@dataclass(frozen=True, slots=True)
class PollObservation:
    """What the process that polls knows about the logs."""

    at: datetime
    unread_since: Mapping[RepositoryName, datetime]  #: when each was last read or taken over
    #: when those were read whose last poll succeeded. Taking over a log doesn't count, because the
    #: process may have started during an outage.
    read: Mapping[RepositoryName, datetime]
    polled: Collection[RepositoryName]  #: all logs of the settings
    #: when any process last read those that seem unreadable, if known
    stored: Mapping[RepositoryName, datetime] = field(default_factory=dict)
    #: of those that failed last
    why: Mapping[RepositoryName, PollProblem] = field(default_factory=dict)

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
    lasting = [_with_recovered(outage, observation, unread, limit) for outage in before]
    known = {name for outage in lasting for name in outage.unread}
    new = {name: at for name, at in sorted(unread.items()) if name not in known}
    for index, outage in reversed(list(enumerate(lasting))):
        joining = {
            name: at
            for name, at in new.items()
            if observation.began_with(name, outage.began_at, limit)
        }
        added = tuple(name for name in joining if name not in outage.repositories)
        explained = _explained(outage, observation)
        lasting[index] = replace(
            explained,
            repositories=(*explained.repositories, *added),
            began_at=min((explained.began_at, *joining.values())),
            recovered={name: at for name, at in explained.recovered.items() if name not in joining},
        )
        new = {name: at for name, at in new.items() if name not in joining}
    found = [
        _change_of_outage(old, outage, observation.at, limit)
        for old, outage in zip(before, lasting, strict=True)
    ]
    if new:
        begun = _explained(Outage(tuple(new), min(new.values())), observation)
        found.append(_change_of_outage(None, begun, observation.at, limit))
    return [change for change in found if change is not None]


def _explained(outage: Outage, observation: PollObservation) -> Outage:
    """With the reason for the first of its logs, until channels were notified of it."""
    known = [observation.why[name] for name in outage.unread if name in observation.why]
    if outage.notified_at is not None or not known:
        return outage
    return replace(outage, cause=known[0].cause, said=known[0].said or None)


def _with_recovered(
    outage: Outage,
    observation: PollObservation,
    unread: Mapping[RepositoryName, datetime],
    limit: timedelta,
) -> Outage:
    """Ignore reads of a process that hung: they say nothing about the outage's end."""
    recovered = dict(outage.recovered)
    for name in outage.unread:
        is_polled = name in observation.polled
        read_at = observation.read.get(name) if is_polled else observation.at
        if read_at is not None and read_at > outage.began_at + limit and name not in unread:
            recovered[name] = read_at
    for name, read_at in outage.recovered.items():
        # The unread ones may not even have been polled meanwhile.
        if name in unread and unread[name] - read_at <= limit + LONGEST_POLL_WAIT:
            del recovered[name]
    return replace(outage, recovered=recovered)


def _change_of_outage(
    before: Outage | None, after: Outage, now: datetime, limit: timedelta
) -> Change | None:
    if not after.unread:
        return replace(after, ended_at=now), ()
    if after.notified_at is None and now - after.began_at > limit + GATHERED_FOR * limit:
        return replace(after, notified_at=now), after.repositories
    if after == before:
        return None
    known = () if before is None else before.repositories
    joined = tuple(name for name in after.repositories if name not in known)
    return after, joined if after.notified_at is not None else ()
