"""Examine a queue: read what is known of it, and say why nothing merges."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.doctor.case import Head, branch_of, head_of
from bot.doctor.diagnosing import diagnose
from bot.doctor.diagnosis import Diagnosis, QueueVerdict
from bot.doctor.facts import Log, NoAnswer, QueueFacts, ServiceProblem
from bot.doctor.reading import read_recent_log, read_releases
from bot.freezes.freeze import Freeze
from bot.freezes.rows import Freezes
from bot.kernel.errors import InvalidRequest, MergeQueueError, MergeQueueRefused
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
from bot.queues.outlook import ForeseeQueue
from bot.queues.reading import read_queue
from bot.queues.snapshot import Snapshot
from bot.store.transaction import Transaction

ASKED_FOR_MORE_EVERY = timedelta(minutes=1)
"""How often the service is asked for more than the status, however many people want to know."""

_SAYS_WHY = (CredentialRefused, ResourceNotFound, RepositoryMoved)
"""The repository or the key is the cause: the error says that, and what to do."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the service said of the head under test, or, without one, of its configuration."""

    number: int | None = None  #: the head; None for the configuration
    at: datetime | None = None
    details: QueuedDetails | None = None  #: of the head, if the service gave any
    problem: ServiceProblem | None = None  #: with the configuration, if it is invalid

    def is_fresh(self, now: datetime) -> bool:
        return self.at is not None and timedelta() <= now - self.at < ASKED_FOR_MORE_EVERY


@dataclass(frozen=True, slots=True)
class _Stored:
    """What the bot has stored of a queue."""

    log: Log
    releases: Sequence[datetime]
    pause: PauseRecord | None
    freezes: Sequence[Freeze]  #: those in force that may hold the head


@dataclass(frozen=True, slots=True)
class ExamineQueue:
    """Why nothing merges in a queue, or why it is slow."""

    sources: Sources
    foresee: ForeseeQueue
    #: by repository
    asked: dict[RepositoryName, _Asked] = field(default_factory=dict)

    async def run(self, repository: RepositoryName) -> Diagnosis:
        """Read the queue and judge it. Raises StoreError.

        Raises MergeQueueError where the service doesn't know the repository or refuses the key.
        """
        try:
            snapshot = await read_queue(repository, self.sources)
        except _SAYS_WHY:
            raise
        except MergeQueueError as error:
            return await self._unanswered(repository, service_problem(error))
        diagnosis = await self.of(snapshot)
        if diagnosis.first.verdict is not QueueVerdict.NORMAL:
            return diagnosis
        return replace(diagnosis, outlook=await self.foresee.of(snapshot))

    async def of(self, snapshot: Snapshot) -> Diagnosis:
        """Judge a queue that has been read. Raises StoreError.

        Asks the service for the details of its head under test, or for its configuration if
        nothing is tested; one of them, at most once a minute.
        """
        asked = await self._ask(snapshot)
        (diagnosis,) = await self._judge([snapshot], [asked])
        return diagnosis

    async def known(self, snapshots: Sequence[Snapshot]) -> Sequence[Diagnosis]:
        """Judge a few queues that have been read, without a request. Raises StoreError."""
        asked = [self._remembered(snapshot) for snapshot in snapshots]
        return await self._judge(snapshots, asked)

    async def _judge(
        self, snapshots: Sequence[Snapshot], asked: Sequence[_Asked]
    ) -> Sequence[Diagnosis]:
        def read(transaction: Transaction) -> Sequence[_Stored]:
            return [
                _stored(transaction, each.repository, each.read_at, head_of(each.status))
                for each in snapshots
            ]

        stored = await self.sources.store.read(read)
        return [
            diagnose(_facts_for_rules(*known), known[0].read_at)
            for known in zip(snapshots, asked, stored, strict=True)
        ]

    async def _unanswered(self, repository: RepositoryName, problem: ServiceProblem) -> Diagnosis:
        at = self.sources.clock.now()
        stored = await self.sources.store.read(_stored, repository, at, None)
        facts = QueueFacts(
            repository,
            None,
            problem,
            pause=stored.pause,
            is_pause_known=False,
            freezes=stored.freezes,
            log=stored.log,
        )
        return diagnose(facts, at)

    async def _ask(self, snapshot: Snapshot) -> _Asked:
        """Nothing until a minute has passed since the last request."""
        repository = snapshot.repository
        now = self.sources.clock.now()
        last = self.asked.get(repository, _Asked())
        if last.is_fresh(now) or snapshot.pause is not None:
            return self._remembered(snapshot)
        number = _tested(snapshot)
        # Before the request, so that two people who ask at once make one.
        self.asked[repository] = _Asked(number, now)
        if number is None:
            answer = _Asked(None, now, problem=await self._configuration(repository))
        else:
            asked = self.sources.service.queued_details(repository, number)
            details: QueuedDetails | None = await answer_or(None, asked)
            answer = _Asked(number, now, details)
        self.asked[repository] = answer
        return answer

    def _remembered(self, snapshot: Snapshot) -> _Asked:
        """What the service said within the last minute of what is at the head now."""
        last = self.asked.get(snapshot.repository, _Asked())
        is_same = last.number == _tested(snapshot)
        return last if is_same and last.is_fresh(self.sources.clock.now()) else _Asked()

    async def _configuration(self, repository: RepositoryName) -> ServiceProblem | None:
        try:
            await self.sources.service.rules(repository)
        except InvalidRequest as error:
            # API document, Errors: the meaning of 422 for this endpoint only.
            is_answer = error.status is not None
            return ServiceProblem(NoAnswer.INVALID, answer_of(error)) if is_answer else None
        except MergeQueueError:
            return None
        return None


def _tested(snapshot: Snapshot) -> int | None:
    """The pull request at the head, if it is in a batch."""
    head = head_of(snapshot.status)
    return head.pull_request.number if head is not None and head.batch is not None else None


def _stored(
    transaction: Transaction, repository: RepositoryName, at: datetime, head: Head | None
) -> _Stored:
    freezes = Freezes(transaction).of([repository])
    number = head.pull_request.number if head is not None else None
    log = read_recent_log(transaction, repository, at, number)
    branch = branch_of(number, log) if number is not None else None
    return _Stored(
        log,
        read_releases(transaction, repository, at, branch),
        next(iter(Pauses(transaction).open([repository])), None),
        [freeze for freeze in freezes if freeze.is_in_force(at) and freeze.concerns(branch)],
    )


def _facts_for_rules(snapshot: Snapshot, asked: _Asked, stored: _Stored) -> QueueFacts:
    just_now = [snapshot.read_at] if _is_just_released(snapshot, stored) else []
    return QueueFacts(
        snapshot.repository,
        snapshot.status,
        asked.problem,
        pause=snapshot.pause,
        is_pause_known=snapshot.is_pause_known,
        freezes=snapshot.freezes,
        releases=[*stored.releases, *just_now],
        details=asked.details,
        log=stored.log,
    )


def _is_just_released(snapshot: Snapshot, stored: _Stored) -> bool:
    """Whether a pause or a freeze was in force at the last poll and isn't any more."""
    has_resumed = stored.pause is not None and snapshot.pause is None and snapshot.is_pause_known
    listed = {freeze.freeze_id for freeze in snapshot.freezes}
    return has_resumed or any(
        freeze.freeze_id is not None and freeze.freeze_id not in listed
        for freeze in stored.freezes
        if freeze.concerns(snapshot.branch)
    )


def service_problem(error: MergeQueueError) -> ServiceProblem:
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
