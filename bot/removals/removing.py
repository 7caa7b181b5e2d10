"""Remove a pull request from its queue at a person's request."""

from dataclasses import dataclass, replace
from datetime import datetime

from bot.acts.ends import end_act, end_of
from bot.acts.errors import PermissionDenied
from bot.acts.permission import Right
from bot.acts.posting import post_act
from bot.acts.record import Action, ActResult, AuditRecord, Circumstance
from bot.acts.recording import RecordActs, failed_act
from bot.kernel.actor import Caller
from bot.kernel.errors import ActState, failing
from bot.kernel.repository import RepositoryName
from bot.log.classification import is_merge
from bot.log.rows import Events, PullRequests
from bot.log.sources import answer_or
from bot.merge_queue.errors import join_answers
from bot.merge_queue.event_records import PullRequestRecord
from bot.merge_queue.event_types import ENTER, LEAVE, MERGED
from bot.merge_queue.port import MergeQueue
from bot.merge_queue.position import still_queued
from bot.merge_queue.queue import QueuedPullRequest, Removal
from bot.merge_queue.window import CLOCK_ALLOWANCE, window_back
from bot.people.rows import People
from bot.removals.removal import NotRemoved, RemovalOutcome, Removed, Unremovable, WouldRemove
from bot.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class RemovePullRequest:
    """People may remove their own pull requests, others' by right.

    Own are those of a login that an operator assigned to them, or that is in a profile field which
    they can't edit. A login that they linked themselves proves nothing.
    """

    merge_queue: MergeQueue
    acts: RecordActs

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
                await self.acts.record_unchanged_as_read(act, found.because)
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
        status = await self.merge_queue.status(act.repository)
        position = still_queued(number, status)
        if position is None:
            return await self._left(act)
        found = position.pull_request
        await self._permit(act, found.author.login)
        if queued_at is not None and queued_at != found.queued_at:
            return NotRemoved(act.repository, number, Unremovable.QUEUED_AGAIN)
        if found.dequeue_requested:
            return NotRemoved(act.repository, number, Unremovable.LEAVING)
        return found

    async def _permit(self, act: AuditRecord, author: str) -> None:
        """Raises PermissionDenied, which says so if the person only claims the author's login."""
        user_id = act.actor.user_id
        if await self.acts.check.owns_login(act.actor, author):
            return
        try:
            await self.acts.permit(act)
        except PermissionDenied as denied:
            logins = await self.acts.store.read(
                lambda transaction: People(transaction).logins([user_id])
            )
            if author and logins.get(user_id, "").lower() == author.lower():
                denied.claimed_login = author
            raise

    async def _remove(self, act: AuditRecord, found: QueuedPullRequest) -> RemovalOutcome:
        is_own = await self.acts.check.owns_login(act.actor, found.author.login)
        if is_own:
            act = act.under(Circumstance.AS_AUTHOR)
        async with self.acts.begun(act) as (started, answers, _):
            removal = await self.merge_queue.remove(
                act.repository, found.number, on_answer=answers.append
            )
        answered = started.answered(join_answers(answers))
        if removal is Removal.NOT_QUEUED:
            await self.acts.end(answered, ActResult.UNCHANGED, Unremovable.GONE)
            return await self._left(act)
        if removal is Removal.LEFT:
            answered = answered.under(Circumstance.LEFT_UNSEEN)
        now = self.acts.clock.now()
        done = end_of(replace(answered, at=now), ActResult.DONE)
        has_left = await self._has_left(act, found.number)
        here = await self.acts.here(act.where.channel_id)
        seen = PullRequestRecord(
            act.repository, found.number, found.title, found.url, found.author.login, act.at
        )
        with failing(failed_act(started, ActState.DONE)):
            record = await self.acts.store.run(_succeed, done, seen, here if has_left else [])
        self.acts.wake()
        return Removed(record, seen, bool(here), has_left=has_left)

    async def _has_left(self, act: AuditRecord, number: int) -> bool:
        """Whether it is out of the queue: the service may take a while, or not say."""
        status = await answer_or(None, self.merge_queue.status(act.repository))
        if status is None or status.unreadable or still_queued(number, status) is not None:
            return False
        return not await has_merged_since(self.merge_queue, act, self.acts.clock.now())

    async def _left(self, act: AuditRecord) -> NotRemoved:
        by = await self.acts.last_done(act, Action.REMOVE)
        if by is not None and await self.acts.store.read(_was_queued_since, by):
            # That removal isn't why it is out now.
            by = None
        return NotRemoved(act.repository, act.pull_request or 0, Unremovable.GONE, by)


async def has_merged_since(merge_queue: MergeQueue, removal: AuditRecord, now: datetime) -> bool:
    """Whether the log shows that the pull request merged; False where it can't be read.

    It was queued when its removal was asked for, by a clock that may differ from the service's.
    """
    window = window_back(now, now, now - removal.at + CLOCK_ALLOWANCE)
    asked = merge_queue.event_page(
        removal.repository, window, types=[MERGED, LEAVE], pull_request=removal.pull_request
    )
    page = await answer_or(None, asked)
    return page is not None and any(
        event.type == MERGED or is_merge(event) for event in page.events
    )


def _was_queued_since(transaction: Transaction, removal: AuditRecord) -> bool:
    """Whether the log shows the pull request in the queue again, or merged, after a removal."""
    since = removal.service_at or removal.at
    later = Events(transaction).of_pull_requests(
        removal.repository, [removal.pull_request or 0], since=since
    )
    return any(event.type in {ENTER, MERGED} for event in later)


def _succeed(
    transaction: Transaction, done: AuditRecord, seen: PullRequestRecord, here: list[str]
) -> AuditRecord:
    PullRequests(transaction).save([seen])
    stored = end_act(transaction, done)
    post_act(transaction, stored.record, here)
    return stored.record
