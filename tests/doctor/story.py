"""A story of a queue, in events as the service sends them, a status and a clock.

Minutes count back from the moment at which somebody asks why: -30 is half an hour before.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import Any, NamedTuple

from bot.doctor.diagnosis import QueueVerdict, Restart
from bot.doctor.facts import EXAMINED_TYPES, Log, QueueFacts
from bot.freezes.freeze import Freeze, Stage, Told
from bot.kernel.actor import Actor
from bot.merge_queue.event_records import (
    EventRecord,
    FreezeAttributes,
    in_order,
    read_event,
)
from bot.merge_queue.event_types import (
    CHECKS_END,
    CHECKS_START,
    ENTER,
    LEAVE,
    MERGED,
)
from bot.merge_queue.queue import QueuedDetails, QueueStatus
from bot.pauses.pause import PauseLine, PauseRecord
from tests.support.clock import NOON
from tests.support.make import ALICE, SITE

Sent = dict[str, Any]

CHECKS = ("lint", "unit tests", "integration")
RETRIED = "REEMBARKED"
CI = "https://ci.example/runs"


def at(minute: float) -> datetime:
    return NOON + timedelta(minutes=minute)


def sent_at(minute: float | None) -> str | None:
    return None if minute is None else at(minute).isoformat()


class Batch(NamedTuple):
    """A run of checks, by the pull requests in it and the minutes of its start and end."""

    numbers: tuple[int, ...]
    start: float
    end: float

    @property
    def id(self) -> str:
        return f"batch-{'-'.join(map(str, self.numbers))}-at{self.start:g}"


@dataclass
class Telling:
    """The event log of a story, written line by line."""

    branch: str = "main"
    sent: list[Sent] = field(default_factory=list)
    entered: dict[int, float] = field(default_factory=dict)

    def add(self, type_: str, minute: float, number: int | None, **metadata: Any) -> None:
        if number is not None:
            queued_at = self.entered.get(number, minute - 1)
            metadata = {
                "queue_name": "default",
                "branch": self.branch,
                "queued_at": sent_at(queued_at),
                "session_id": f"{number} since {queued_at:g}",
                **metadata,
            }
        event = {
            "id": 10_000 + len(self.sent),
            "received_at": sent_at(minute),
            "type": type_,
            "pull_request": number,
            "base_ref": self.branch,
            "trigger": "merge queue internal",
            "metadata": metadata,
        }
        self.sent.append(event)

    def enter(self, minute: float, *numbers: int) -> None:
        for number in numbers:
            self.entered[number] = minute
            self.add(ENTER, minute, number)

    def start(self, batch: Batch) -> None:
        for number in batch.numbers:
            self.add(CHECKS_START, batch.start, number, **_of_batch(batch, "pending"))

    def end(  # what an end of checks says
        self,
        batch: Batch,
        *,
        failed: Sequence[str] = (),
        code: str | None = None,
        status: str = "DEFINITIVE",
        first_check: float = 1,
        state: str = "failure",
    ) -> None:
        """The end of its checks, for each of its pull requests."""
        result = "success" if code is None else state
        checked = _of_batch(batch, result, failed, first_check)
        for number in batch.numbers:
            self.add(
                CHECKS_END,
                batch.end,
                number,
                aborted=code is not None,
                abort_code=code,
                abort_status=status,
                **checked,
            )

    def leave(
        self, minute: float, number: int, code: str, failed: Sequence[str] = (), **more: Any
    ) -> None:
        self.add(
            LEAVE,
            minute,
            number,
            merged=code == "PR_MERGED",
            dequeue_code=code,
            reason=code.replace("_", " ").lower(),
            unsuccessful_checks=[_check(name, "failure") for name in failed],
            **more,
        )

    def merge(self, minute: float, *numbers: int) -> None:
        for number in numbers:
            self.leave(minute, number, "PR_MERGED")
            self.add(MERGED, minute, number)

    def passes(self, *numbers: int, start: float, end: float, first_check: float = 1) -> None:
        """A batch that passes its checks and merges."""
        self._enter_before(start, numbers)
        batch = Batch(numbers, start, end)
        self.start(batch)
        self.end(batch, first_check=first_check)
        self.merge(end + 0.5, *numbers)

    def fails(
        self, *numbers: int, start: float, end: float, failed: Sequence[str] = ("integration",)
    ) -> None:
        """A batch whose checks fail, so that its only pull request leaves, or it is split."""
        self._enter_before(start, numbers)
        batch = Batch(numbers, start, end)
        self.start(batch)
        self.end(batch, failed=failed, code="CHECKS_FAILED")
        if len(numbers) == 1:
            self.leave(end + 0.2, numbers[0], "CHECKS_FAILED", failed)
            del self.entered[numbers[0]]

    def restarts(self, *numbers: int, start: float, end: float, code: str) -> None:
        """A batch whose checks stop, to start over."""
        self._enter_before(start, numbers)
        batch = Batch(numbers, start, end)
        self.start(batch)
        self.end(batch, code=code, status=RETRIED, state="cancelled")

    def _enter_before(self, start: float, numbers: Iterable[int]) -> None:
        for number in numbers:
            if number not in self.entered:
                self.enter(start - 1, number)

    def usual(self, until: float, *, count: int = 30, every: float = 15, run: float = 12) -> None:
        """A day's usual life: so many batches of one pass, the last merging at that minute."""
        for n in range(count):
            end = until - every * (count - 1 - n)
            self.passes(3_000 + n, start=end - run, end=end - 0.5)

    def records(self) -> Sequence[EventRecord]:
        return in_order([read_event(event, SITE).record for event in self.sent])


def _of_batch(
    batch: Batch,
    conclusion: str,
    failed: Sequence[str] = (),
    first_check: float = 1,
) -> Sent:
    is_over = conclusion != "pending"
    return {
        "batch_id": batch.id,
        "speculative_check_pull_request": {
            "number": 9_000,
            "in_place": False,
            "checks_conclusion": conclusion,
            "checks_started_at": sent_at(batch.start + first_check) if is_over else None,
            "checks_ended_at": sent_at(batch.end) if is_over else None,
            "unsuccessful_checks": [_check(name, conclusion) for name in failed],
            "pull_request_numbers": list(batch.numbers),
        },
    }


def _check(name: str, state: str) -> Sent:
    return {"name": name, "description": "", "url": f"{CI}/{name}", "state": state}


def queued(number: int, minute: float = -20, **more: Any) -> Sent:
    return {
        "number": number,
        "queued_at": sent_at(minute),
        "title": f"Change {number}",
        "url": f"https://code.example/acme/site/pull/{number}",
        "author": {"id": number, "login": "carol"},
        **more,
    }


def live(  # the fields of a batch
    *members: int | Sent,
    code: str = "running",
    start: float | None = -8,
    passed: int = 1,
    total: int = 3,
    after: Sequence[Sent] = (),
) -> Sent:
    """A batch of the status; `after`: the batches that it is tested on top of."""
    shown = [queued(member) if isinstance(member, int) else member for member in members]
    return {
        "id": f"live-{shown[0]['number']}",
        "name": f"b{shown[0]['number']}",
        "parent_ids": [batch["id"] for batch in after],
        "status": {"code": code},
        "started_at": sent_at(start),
        "estimated_merge_at": None,
        "scopes": [],
        "checks_summary": {"passed": passed, "total": total},
        "pull_requests": shown,
    }


def details(
    checks: Mapping[str, str], *, unmet: Sequence[str] = (), times_out: float | None = None
) -> QueuedDetails:
    """What the service says of the head; `checks`: the state of each."""
    parts = [{"match": False, "label": label, "subconditions": []} for label in unmet]
    return QueuedDetails.model_validate(
        {
            "checks_timeout_at": sent_at(times_out),
            "mergeability_check": {
                "checks": [_check(name, state) for name, state in checks.items()],
                "conditions_evaluation": {
                    "match": not unmet,
                    "label": "all of",
                    "subconditions": parts,
                },
            },
        }
    )


def status(*batches: Sent, waiting: Sequence[int | Sent] = (), **more: Any) -> QueueStatus:
    shown = [queued(number) if isinstance(number, int) else number for number in waiting]
    return QueueStatus.model_validate(
        {"batches": list(batches), "waiting_pull_requests": shown, **more}
    )


def paused(minute: float, reason: str = "CI is down", by: Actor = ALICE) -> PauseRecord:
    return PauseRecord(SITE, PauseLine(at(minute), reason, reason, by=by))


def frozen(minute: float, *conditions: str, reason: str = "release 4.2") -> Freeze:
    terms = FreezeAttributes(
        reason=reason, start=at(minute).isoformat(), matching_conditions=conditions
    )
    told = Told(77, 77, at(minute))
    return Freeze(SITE, None, terms, "alice", told, Stage.IN_FORCE)


def log(
    *tellings: Telling,
    read: float | None = -0.2,
    types: Iterable[str] = EXAMINED_TYPES,
    since: float = -24 * 60,
) -> Log:
    """What polls have stored of it; `types`: those that they read."""
    asked = frozenset(types)
    records = in_order([record for telling in tellings for record in telling.records()])
    by_type: dict[str, list[EventRecord]] = {}
    for record in records:
        if record.type in asked:
            by_type.setdefault(record.type, []).append(record)
    return Log(by_type, asked, None if read is None else at(read), at(since))


def stored(*tellings: Telling, **options: Any) -> Callable[[], Log]:
    """The same, read when a test needs it: all stories together take a second."""
    return partial(log, *tellings, **options)


@dataclass(frozen=True)
class Story:
    """What happened, and what a person who knew everything would say."""

    name: str
    truth: frozenset[QueueVerdict]  #: all the causes there are
    find_out: Callable[[], QueueFacts]
    at: datetime = NOON
    #: how often checks started over for which cause, where that is part of the truth
    restarts: Mapping[Restart, int] | None = None

    @cached_property
    def facts(self) -> QueueFacts:
        return self.find_out()


def story(
    name: str,
    *truth: QueueVerdict,
    queue: QueueStatus | None,
    told: Callable[[], Log] | None = None,
    **facts: Any,
) -> Story:
    known = told or stored(Telling())
    return Story(name, frozenset(truth), lambda: QueueFacts(SITE, queue, log=known(), **facts))


def restarts(name: str, causes: Mapping[Restart, int], queue: QueueStatus, told: Telling) -> Story:
    """Checks start over, so often for each of these causes."""
    known = stored(told)
    truth = frozenset({QueueVerdict.RESTARTED})
    return Story(name, truth, lambda: QueueFacts(SITE, queue, log=known()), restarts=causes)
