"""One moment of one repository: what the parts of the simulation act through."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from uuid import UUID

from bot.sandbox.merge_queue.simulation.event_log import Event
from bot.sandbox.merge_queue.simulation.moments import SECOND, Moment
from bot.sandbox.merge_queue.simulation.state import Repository, Service
from bot.sandbox.merge_queue.simulation.vocabulary import INTERNAL_TRIGGER


@dataclass(frozen=True, slots=True)
class Subject:
    """What an event is about; both None for what concerns the whole repository."""

    pull_request: int | None = None
    base_ref: str | None = None


WHOLE_REPOSITORY = Subject()


@dataclass(slots=True)
class Turn:
    """The service at its present moment, one repository of it, chance, and the events so far."""

    service: Service
    repository: Repository
    random: Random
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Whoever takes a turn changes something.
        self.service.nothing_until = None

    @property
    def now(self) -> Moment:
        return self.service.now

    def after(self, seconds: float) -> Moment:
        """Give the moment when a simulated duration from now is over, at the service's speed."""
        return self.now + max(1, round(seconds * SECOND / self.service.speed))

    def uuid(self) -> str:
        return str(UUID(int=self.random.getrandbits(128), version=4))

    def sha(self) -> str:
        return f"{self.random.getrandbits(160):040x}"

    def new_number(self) -> int:
        """Take the next number: pull requests and batch pull requests share one sequence."""
        number = self.repository.next_number
        self.repository.next_number += 1
        return number

    def record(
        self,
        kind: str,
        metadata: Mapping[str, object],
        subject: Subject = WHOLE_REPOSITORY,
        trigger: str = INTERNAL_TRIGGER,
    ) -> Event:
        """Add an event to the log, with the next id and a moment after all earlier ones."""
        service = self.service
        service.last_received_at = max(service.now, service.last_received_at + 1)
        event = Event(
            id=service.next_event_id,
            received_at=service.last_received_at,
            trigger=trigger,
            pull_request=subject.pull_request,
            base_ref=subject.base_ref,
            type=kind,
            metadata=metadata,
        )
        service.next_event_id += 1
        self.repository.log.append(event)
        self.events.append(event)
        return event
