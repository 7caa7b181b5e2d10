"""Remove a pull request from its queue at a person's request."""

from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.audit import Action, ActResult, AuditRecord, Caller
from bot.domain.errors import join_answers
from bot.domain.event_records import PullRequestRecord
from bot.domain.permissions import Right
from bot.domain.queue import QueuedPullRequest, Removal
from bot.domain.queue_position import still_queued
from bot.domain.removals import (
    LEFT_UNSEEN,
    NotRemoved,
    RemovalOutcome,
    Removed,
    Unremovable,
    WouldRemove,
)
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue
from bot.store.transactions import Transaction
from bot.usecases.live_messages import post_act
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.reports import end_act, end_of


@dataclass(frozen=True, slots=True)
class RemovePullRequest:
    """People may remove their own pull requests, by their linked login; others' by right."""

    merge_queue: MergeQueue
    acts: ActLog

    async def ask(
        self, caller: Caller, repository: RepositoryName, number: int
    ) -> WouldRemove | NotRemoved:
        """What a removal would do. Raises PermissionDenied, after recording it, or NotOffered."""
        act = self._act(caller, repository, number)
        found = await self._permitted(act)
        if isinstance(found, NotRemoved):
            return found
        impact = await self.merge_queue.removal_impact(repository, number)
        if impact is None:
            return await self._left(act)
        return WouldRemove(repository, found, impact)

    async def run(
        self, caller: Caller, repository: RepositoryName, number: int, queued_at: datetime
    ) -> RemovalOutcome:
        """Remove it, if it is still in the queue since `queued_at`.

        Raises PermissionDenied, QueueBusy and MergeQueueError, and audits them.
        """
        act = self._act(caller, repository, number)
        async with self.acts.locked(act):
            found = await self._permitted(act, queued_at)
            if isinstance(found, NotRemoved):
                await self.acts.leave(act, found.because)
                return found
            return await self._remove(act, found)

    def _act(self, caller: Caller, repository: RepositoryName, number: int) -> AuditRecord:
        act = self.acts.record(caller, Action.REMOVE, repository)
        return replace(act, pull_request=number)

    async def _permitted(
        self, act: AuditRecord, queued_at: datetime | None = None
    ) -> QueuedPullRequest | NotRemoved:
        """The pull request to remove; raises PermissionDenied after recording it."""
        await self.acts.permit(act, right=Right.READ)
        number = act.pull_request or 0
        place = still_queued(number, await self.merge_queue.status(act.repository))
        if place is None:
            return await self._left(act)
        found = place.pull_request
        user_id, author = act.actor.user_id, found.author.login
        logins = await self.acts.store.read(lambda one: one.people.logins([user_id]))
        if not author or logins.get(user_id, "").lower() != author.lower():
            await self.acts.permit(act)
        if queued_at not in {None, found.queued_at}:
            return NotRemoved(act.repository, number, Unremovable.QUEUED_AGAIN)
        if found.dequeue_requested:
            return NotRemoved(act.repository, number, Unremovable.LEAVING)
        return found

    async def _remove(self, act: AuditRecord, found: QueuedPullRequest) -> RemovalOutcome:
        async with self.acts.begun(act) as (started, answers):
            removal = await self.merge_queue.remove(
                act.repository, found.number, on_answer=answers.append
            )
        answered = replace(started, answer=join_answers(answers))
        if removal is Removal.NOT_QUEUED:
            await self.acts.end(answered, ActResult.UNCHANGED, Unremovable.GONE)
            return await self._left(act)
        detail = LEFT_UNSEEN if removal is Removal.LEFT else None
        now = self.acts.clock.now()
        done = end_of(replace(answered, at=now), ActResult.DONE, detail)
        here = await self.acts.here(act.channel_id)
        seen = PullRequestRecord(
            act.repository, found.number, found.title, found.url, found.author.login, act.at
        )
        record = await self.acts.store.run(_succeed, done, seen, here)
        self.acts.wake()
        return Removed(record, seen, posted_here=bool(here))

    async def _left(self, act: AuditRecord) -> NotRemoved:
        by = await self.acts.last_done(act, Action.REMOVE)
        return NotRemoved(act.repository, act.pull_request or 0, Unremovable.GONE, by)


def _succeed(
    transaction: Transaction, done: AuditRecord, seen: PullRequestRecord, here: list[str]
) -> AuditRecord:
    transaction.pull_requests.save([seen])
    record, _ = end_act(transaction, done)
    post_act(transaction, record, here)
    return record
