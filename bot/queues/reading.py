"""Read live queues: their status, their pause, who paused them, and what is frozen."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from bot.freezes.causes import with_makers
from bot.freezes.freeze import Freeze, next_freeze
from bot.freezes.reading import listed_freezes, named_by_log
from bot.freezes.rows import Freezes
from bot.kernel.errors import MergeQueueError
from bot.kernel.groups import Answer, Group, GroupAnswers
from bot.kernel.repository import RepositoryName
from bot.log.sources import Sources, answer_or
from bot.merge_queue.errors import FreezesNotOffered, NotOffered, PauseNotOffered
from bot.merge_queue.queue import Pause, QueueStatus
from bot.pauses.history import know_pause
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.queues.snapshot import ReadQueue, Snapshot

logger = logging.getLogger(__name__)

QUEUES_READ_AT_ONCE = 4
"""Queues of a group read at a time, two requests each: as many requests as the service's client
lets be in flight, so that other people's requests wait for no more than these."""

QUEUES_PER_PAGE = 50
"""Queues read for one answer about a large group."""

ReadPause = Callable[[], Awaitable[Pause | None]]


async def read_queue(
    repository: RepositoryName, sources: Sources, branch: str | None = None
) -> Snapshot:
    """Raises MergeQueueError: an unreadable queue never looks empty."""
    service = sources.service
    status, paused, frozen = await asyncio.gather(
        service.status(repository, branch),
        _read_pause(repository, lambda: service.current_pause(repository), sources),
        _frozen(repository, sources),
    )
    now = sources.clock.now()
    own = [freeze for freeze in frozen if freeze.concerns(branch)]
    return Snapshot(
        repository,
        status,
        paused.pause,
        now,
        branch,
        paused.is_known,
        freezes=_freezes_in_force(own, now),
        next_freeze=next_freeze(own, now),
    )


async def complete(
    repository: RepositoryName, status: QueueStatus, read_pause: ReadPause, sources: Sources
) -> Snapshot:
    """The snapshot for a status that a poll has read, after the log. Raises MergeQueueError."""
    paused = await _read_pause(repository, read_pause, sources)
    running = await unpaused(repository, status, sources)
    return replace(running, pause=paused.pause, is_pause_known=paused.is_known)


async def unpaused(repository: RepositoryName, status: QueueStatus, sources: Sources) -> Snapshot:
    """The snapshot for a status just read of a queue that isn't paused, without a request."""
    now = sources.clock.now()
    stored = await _stored_freezes(repository, sources)
    return Snapshot(
        repository,
        status,
        None,
        now,
        freezes=_freezes_in_force(stored, now),
        next_freeze=next_freeze(stored, now),
    )


async def read_queues(
    repositories: Iterable[RepositoryName], sources: Sources, at_a_time: int = QUEUES_READ_AT_ONCE
) -> Sequence[ReadQueue]:
    """In the same order; one that can't be read is named and doesn't stop the others."""
    concurrency = asyncio.Semaphore(at_a_time)

    async def read(repository: RepositoryName) -> ReadQueue:
        async with concurrency:
            return await answer_or(repository, read_queue(repository, sources))

    return await asyncio.gather(*(read(name) for name in repositories))


async def group_answers(
    group: Group, first: int, size: int, read: Callable[[RepositoryName], Awaitable[Answer]]
) -> GroupAnswers[Answer]:
    """The answers of at most `size` repositories from index `first` on, read a few at a time.

    One that can't be read is named and doesn't stop the others. Raises NotOffered.
    """
    total = len(group.repositories)
    first = first if 0 <= first < total else 0
    few = asyncio.Semaphore(QUEUES_READ_AT_ONCE)

    async def read_one(repository: RepositoryName) -> Answer | NotOffered | None:
        async with few:
            try:
                return await read(repository)
            except NotOffered as error:
                return error
            except MergeQueueError:
                return None

    names = group.repositories[first : first + size]
    found = await asyncio.gather(*map(read_one, names))
    answers: list[tuple[RepositoryName, Answer | None]] = []
    for name, answer in zip(names, found, strict=True):
        if isinstance(answer, NotOffered):
            raise answer
        answers.append((name, answer))
    return GroupAnswers(answers, first, total)


@dataclass(frozen=True, slots=True)
class GroupPage:
    """Some of a group's current queues, from index `first` of `total`."""

    read: Sequence[ReadQueue]
    first: int
    total: int
    paused_elsewhere: int  #: how many of the others are paused, as far as the bot knows


async def group_page(group: Group, first: int, sources: Sources) -> GroupPage:
    """The queues from index `first` on, with those known as paused before all others.

    Raises StoreUnavailable.
    """
    in_force = await sources.store.read(
        lambda transaction: Pauses(transaction).open(group.repositories)
    )
    paused = {pause.repository for pause in in_force}
    ordered = sorted(group.repositories, key=lambda name: name not in paused)
    first = first if 0 <= first < len(ordered) else 0
    asked = ordered[first : first + QUEUES_PER_PAGE]
    read = await read_queues(asked, sources)
    return GroupPage(read, first, len(ordered), len(paused.difference(asked)))


class _Paused(NamedTuple):
    """Whether a queue is paused."""

    pause: PauseRecord | None
    is_known: bool = True  #: False if None doesn't mean that there is no pause


async def _read_pause(repository: RepositoryName, read: ReadPause, sources: Sources) -> _Paused:
    try:
        pause = await read()
    except PauseNotOffered:
        known = await sources.store.read(lambda transaction: Pauses(transaction).open([repository]))
        if not known:
            return _Paused(None, is_known=False)
        pause = Pause(reason=known[0].line.stored_reason, paused_at=known[0].line.paused_at)
    if pause is None:
        return _Paused(None)
    return _Paused(await know_pause(sources.store, repository, pause))


async def _frozen(repository: RepositoryName, sources: Sources) -> Sequence[Freeze]:
    """The freezes in force and to come, by the service's list; as stored if that isn't readable."""
    now = sources.clock.now()
    try:
        reading = await listed_freezes(sources.service, repository)
    except MergeQueueError as error:
        if not isinstance(error, FreezesNotOffered):
            extra = {"action": "freezes_not_read", "repository": repository}
            logger.info("freezes not read", extra={**extra, "error": type(error).__name__})
        return await _stored_freezes(repository, sources)
    known = await sources.store.read(with_makers, repository, reading.freezes, now)
    return await named_by_log(sources.service, known, now)


def _freezes_in_force(freezes: Iterable[Freeze], now: datetime) -> tuple[Freeze, ...]:
    return tuple(freeze for freeze in freezes if freeze.is_in_force(now))


async def _stored_freezes(repository: RepositoryName, sources: Sources) -> Sequence[Freeze]:
    return await sources.store.read(lambda transaction: Freezes(transaction).of([repository]))
