"""Find out where a pull request is, what it waits for, or why it left."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.classification import kinds
from bot.domain.errors import MergeQueueError, about
from bot.domain.event_log import LONGEST_LOOKBACK, window_back
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.queue import QueuedPullRequest
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.domain.surroundings import in_surroundings
from bot.domain.whereabouts import Explanation, InBatch, InLine, NeverSeen, find
from bot.ports import Clock, MergeQueue
from bot.store.transactions import Store
from bot.usecases.asking.show_status import ShowStatus
from bot.usecases.newest_known import newest_known

EVENTS_READ = 50
"""Its last stays in the queue; a pull request that was queued more often has the log."""


@dataclass(frozen=True, slots=True)
class ExplainPullRequest:
    """Answers `why`."""

    show_status: ShowStatus
    merge_queue: MergeQueue
    store: Store
    clock: Clock

    async def run(self, repository: RepositoryName, number: int) -> Explanation:
        """Raises MergeQueueError.

        A log that cannot be read hides nothing of the queue itself, which may be answered for
        another credential; it is an error only where nothing else tells of the pull request.
        """
        snapshot, logged = await asyncio.gather(
            self.show_status.run(repository), self._logged(repository, number)
        )
        whole_log = not isinstance(logged, MergeQueueError)
        known = {one.event_id: one for one in await self._stored(repository, number)}
        if not isinstance(logged, MergeQueueError):
            known |= {one.event_id: one for one in logged}
        read = sorted(known.values(), key=lambda one: (one.received_at, one.event_id))
        judged = kinds(read)
        records = [in_surroundings(record, read) for record in read]
        whereabouts = find(number, snapshot.status, records)
        if isinstance(logged, MergeQueueError) and isinstance(whereabouts, NeverSeen):
            raise logged
        queued = whereabouts.pull_request if isinstance(whereabouts, (InBatch, InLine)) else None
        seen = await self._seen(snapshot, number, queued)
        return Explanation(number, snapshot, whereabouts, records, judged, seen, whole_log)

    async def _logged(
        self, repository: RepositoryName, number: int
    ) -> Sequence[EventRecord] | MergeQueueError:
        """The service's events of it."""
        newest = await newest_known(self.store, self.clock, repository)
        window = window_back(self.clock.now(), newest, LONGEST_LOOKBACK)
        try:
            with about(repository):
                page = await self.merge_queue.event_page(
                    repository, window, pull_request=number, per_page=EVENTS_READ
                )
        except MergeQueueError as error:
            return error
        return page.events

    async def _stored(self, repository: RepositoryName, number: int) -> Sequence[EventRecord]:
        """What the bot itself has kept: not every type, but also when the log cannot be read."""
        since = self.clock.now() - LONGEST_LOOKBACK
        return await self.store.read(
            lambda transaction: transaction.events.of_pull_requests(
                repository, [number], since=since, limit=EVENTS_READ
            )
        )

    async def _seen(
        self, snapshot: Snapshot, number: int, queued: QueuedPullRequest | None
    ) -> PullRequestRecord | None:
        if queued is not None:
            return PullRequestRecord(
                snapshot.repository,
                number,
                queued.title,
                queued.url,
                queued.author.login,
                snapshot.read_at,
            )
        found = await self.store.read(
            lambda transaction: transaction.pull_requests.get(snapshot.repository, [number])
        )
        return found.get(number)
