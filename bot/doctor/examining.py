"""Examine a queue: read what is known of it, and say why nothing merges."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.doctor.case import head_of
from bot.doctor.diagnosing import diagnose
from bot.doctor.diagnosis import Diagnosis
from bot.doctor.facts import Facts, Log, NoAnswer, ServiceProblem
from bot.doctor.reading import read_log, released_at
from bot.freezes.freeze import Freeze
from bot.freezes.rows import Freezes
from bot.kernel.errors import MergeQueueError, MergeQueueRefused
from bot.kernel.repository import RepositoryName
from bot.log.sources import Sources, answer_or
from bot.merge_queue.errors import (
    CredentialRefused,
    InvalidConfiguration,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    RepositoryMoved,
    ResourceNotFound,
    answer_of,
)
from bot.merge_queue.queue import QueuedDetails
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.queues.reading import read_queue
from bot.queues.snapshot import Snapshot
from bot.store.transaction import Transaction

HEAD_READ_EVERY = timedelta(minutes=1)
"""How often the details of the head are read, however many people ask."""

_SAYS_WHY = (CredentialRefused, ResourceNotFound, RepositoryMoved)
"""The repository or the key is the cause: the error says that, and what to do."""


@dataclass(frozen=True, slots=True)
class _ReadHead:
    """The details of a head, when they were read; None if the service gave none."""

    number: int
    read_at: datetime
    details: QueuedDetails | None


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the bot has stored of a queue."""

    log: Log
    released_at: datetime | None
    pause: PauseRecord | None
    freezes: Sequence[Freeze]


@dataclass(frozen=True, slots=True)
class ExamineQueue:
    """Why nothing merges in a queue, or why it is slow."""

    sources: Sources
    #: by repository
    heads: dict[RepositoryName, _ReadHead] = field(default_factory=dict)

    async def run(self, repository: RepositoryName) -> Diagnosis:
        """Read the queue and judge it. Raises StoreError.

        Raises MergeQueueError where the service doesn't know the repository or refuses the key.
        """
        try:
            snapshot = await read_queue(repository, self.sources)
        except _SAYS_WHY:
            raise
        except MergeQueueError as error:
            return await self._unanswered(repository, problem_of(error))
        return await self.of(snapshot)

    async def of(self, snapshot: Snapshot) -> Diagnosis:
        """Judge a queue that has been read. Raises StoreError.

        Asks the service for the details of its head, at most once a minute.
        """
        stored = await self._stored(snapshot.repository, snapshot.read_at)
        facts = Facts(
            snapshot.repository,
            snapshot.status,
            pause=snapshot.pause,
            is_pause_known=snapshot.is_pause_known,
            freezes=snapshot.freezes,
            released_at=stored.released_at,
            details=await self._details(snapshot),
            log=stored.log,
        )
        return diagnose(facts, snapshot.read_at)

    async def _unanswered(self, repository: RepositoryName, problem: ServiceProblem) -> Diagnosis:
        at = self.sources.clock.now()
        stored = await self._stored(repository, at)
        facts = Facts(
            repository,
            None,
            problem,
            pause=stored.pause,
            is_pause_known=False,
            freezes=stored.freezes,
            log=stored.log,
        )
        return diagnose(facts, at)

    async def _stored(self, repository: RepositoryName, at: datetime) -> _Stored:
        def read(transaction: Transaction) -> _Stored:
            freezes = Freezes(transaction).of([repository])
            return _Stored(
                read_log(transaction, repository, at),
                released_at(transaction, repository, at),
                next(iter(Pauses(transaction).open([repository])), None),
                [freeze for freeze in freezes if freeze.is_in_force(at)],
            )

        return await self.sources.store.read(read)

    async def _details(self, snapshot: Snapshot) -> QueuedDetails | None:
        """The details of the head, or none until a minute has passed since the last request."""
        repository = snapshot.repository
        head = head_of(snapshot.status)
        if head is None:
            return None
        number = head.pull_request.number
        now = self.sources.clock.now()
        last = self.heads.get(repository)
        if last is not None and timedelta() <= now - last.read_at < HEAD_READ_EVERY:
            return last.details if last.number == number else None
        # Before the request, so that two people who ask at once make one.
        self.heads[repository] = _ReadHead(number, now, None)
        asked = self.sources.service.queued_details(repository, number)
        details: QueuedDetails | None = await answer_or(None, asked)
        self.heads[repository] = _ReadHead(number, now, details)
        return details


def problem_of(error: MergeQueueError) -> ServiceProblem:
    """What a failed request for the status says of the service."""
    match error:
        case MergeQueueUnavailable(status=None):
            return ServiceProblem(NoAnswer.SILENT, last_answer_at=error.last_answer_at)
        case MergeQueueUnavailable():
            return ServiceProblem(NoAnswer.FAILING, answer_of(error), error.last_answer_at)
        case InvalidConfiguration():
            return ServiceProblem(NoAnswer.INVALID, answer_of(error))
        case MergeQueueProtocolError():
            return ServiceProblem(NoAnswer.UNREADABLE, error.detail)
        case MergeQueueRefused():
            return ServiceProblem(NoAnswer.REFUSED, answer_of(error))
        case _:
            return ServiceProblem(NoAnswer.UNREADABLE, str(error))
