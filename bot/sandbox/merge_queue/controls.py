"""The service in memory, on a clock that runs or is moved by hand, and what tests do to it."""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from typing import NamedTuple

from bot.sandbox.merge_queue.credentials import Credential
from bot.sandbox.merge_queue.faults import ArmedFaults
from bot.sandbox.merge_queue.payloads import Dialect
from bot.sandbox.merge_queue.simulation import (
    authorship,
    entering,
    freezing,
    history,
    leaving,
    pausing,
    removing,
    scenarios,
    stepping,
)
from bot.sandbox.merge_queue.simulation.event_log import Event, Selection
from bot.sandbox.merge_queue.simulation.moments import SECOND, Moment, from_datetime
from bot.sandbox.merge_queue.simulation.ready_events import ReadyEvents, concerns_pull_request
from bot.sandbox.merge_queue.simulation.state import (
    Actor,
    Condition,
    Freeze,
    Pause,
    PullRequest,
    Repository,
    Service,
)
from bot.sandbox.merge_queue.simulation.turn import Subject, Turn
from bot.sandbox.merge_queue.simulation.vocabulary import (
    BROKEN_STATES,
    CONFLICTS,
    INTERNAL_TRIGGER,
)

_REMEMBERED_REQUESTS = 1_000
_KNOWN = {
    "dialect": ("document", "live"),
    "metadata": ("full", "seed", "none"),
    "mode": ("serial", "parallel", "isolated"),
    "pause_endpoints": ("both", "current", "deprecated", "none"),
}


@dataclass(frozen=True, slots=True)
class NewPullRequest:
    """A pull request to enqueue; what is left out is made up.

    broken_check: name of the check that will fail; broken_runs: in how many runs, None in all;
    broken_state: how it ends, `failure`, `error` or, with a code that only the hosted service has,
    `cancelled`; optional_check: name of a further check, which fails and is not required;
    hangs: its checks never end; conflict: the code with which it cannot be merged. labels decide
    queue rule and priority (`hotfix`: first in line, interrupting checks; `dependencies`: last).
    stacked_on: the pull request into the same branch that it builds on. waits_for: one that has to
    merge before it, wherever that is. by: login that asks for it
    with a command.
    """

    title: str | None = None
    author: str | None = None
    base_ref: str = "main"
    labels: Sequence[str] = ()
    scopes: Sequence[str] = ()
    broken_check: str | None = None
    broken_runs: int | None = None
    broken_state: str = "failure"
    optional_check: str | None = None
    hangs: bool = False
    conflict: str | None = None
    stacked_on: int | None = None
    waits_for: int | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class SentEvent:
    """An event to write into the log as if the service had sent it; without a time, now.

    Without metadata it has what a service sends with the type, about a new pull request unless
    one is given. With an `id` it has that one, even if another event has it too.
    """

    type: str
    metadata: Mapping[str, object] | None = None
    pull_request: int | None = None
    base_ref: str | None = None
    trigger: str = INTERNAL_TRIGGER
    received_at: datetime | None = None
    id: int | None = None


@dataclass(frozen=True, slots=True)
class SeenRequest:
    """A request the API received, with the status of its answer (0: closed without one)."""

    method: str
    path: str
    status: int


@dataclass(frozen=True, slots=True)
class FreezeTerms:
    """What a scheduled freeze holds and for how long; `start` None is now, `end` None is open."""

    reason: str
    start: datetime | None = None
    end: datetime | None = None
    timezone: str = "UTC"
    matching_conditions: Sequence[Condition] = ()
    exclude_conditions: Sequence[Condition] = ()


class Reached(NamedTuple):
    """Who sent a request, and about which repository."""

    caller: Credential
    repository: Repository


class _Completed(NamedTuple):
    """What an event is about and says, made up where nothing was given."""

    subject: Subject
    metadata: Mapping[str, object]


@dataclass(kw_only=True)
class Controls:
    """The simulated service and everything that can be done to it without its API.

    repositories: a scenario for each `owner/name`. token: an application key with scope `admin`
    for all of them; `credentials` are further ones. seed decides all chance. speed divides
    simulated durations. The clock begins at `start_at` (now when None). real_time: it goes on like
    the wall clock, and `skip` moves it ahead; otherwise it stands still until `advance`.
    host, dialect and metadata: see `Dialect` (dialect is `document` or `live`). mode: see
    `Repository`. pause_endpoints: those that there are: `both`, `current`, `deprecated` or `none`;
    the control methods pause all the same. deprecated_creates: whether the deprecated pause
    endpoint creates one, instead of answering 404 while there is none. lacks: paths below a
    repository's, such as `queues/branches` or `merge-queue/pull`, that are not there, nor anything
    below them. log_limit: events kept per repository. pause_lag: seconds from a pause to its event
    in the log.
    removal_lag: seconds from a removal asked through the API to the leave, during which the live
    dialect says `dequeue_requested`. logs_pauses: whether the log has events of pauses.

    Raise ValueError for an unknown scenario, dialect, metadata, mode or family of pause endpoints,
    a speed that is not positive or no repository.
    """

    repositories: Mapping[str, str]
    token: str = "sandbox-token"  # noqa: S105  (the published default of a local service)
    seed: int = 1
    speed: float = 1.0
    real_time: bool = True
    start_at: datetime | None = None
    credentials: Sequence[Credential] = ()
    host: str = "github"
    dialect: str = "document"
    metadata: str = "full"
    mode: str = "serial"
    pause_endpoints: str = "both"
    deprecated_creates: bool = True
    lacks: Sequence[str] = ()
    log_limit: int = 100_000
    pause_lag: float = 0.0
    removal_lag: float = 0.0
    logs_pauses: bool = True

    def __post_init__(self) -> None:
        self._check_options()
        self.speaks = Dialect(self.host, self.dialect == "live", self.metadata)
        self.random = Random(self.seed)
        self.faults = ArmedFaults()
        self.renamed: dict[str, str] = {}
        self.requests: deque[SeenRequest] = deque(maxlen=_REMEMBERED_REQUESTS)
        self.request_count = 0
        self.watchers: list[Callable[[SeenRequest], None]] = []
        """Called with each request that has been carried out, before its answer is sent."""
        self._wall_start = time.time_ns() // 1000
        self._running_since = time.monotonic()
        start = self._wall_start if self.start_at is None else from_datetime(self.start_at)
        self.ahead = (start - self._wall_start) / SECOND
        self.service = Service(
            start,
            self.speed,
            pause_lag=round(self.pause_lag * SECOND),
            removal_lag=round(self.removal_lag * SECOND),
            logs_pauses=self.logs_pauses,
        )
        made = [
            scenarios.make_repository(name, scenario, self.host, self.log_limit)
            for name, scenario in self.repositories.items()
        ]
        for repository in made:
            repository.mode = self.mode
        history.play(self.service, made, self.repositories, start, self.random)
        owners = {name.partition("/")[0] for name in self.repositories}
        own = Credential(self.token, account=min(owners), owners=frozenset(owners))
        self.known_credentials = {
            credential.token: credential for credential in (own, *self.credentials)
        }

    def _check_options(self) -> None:
        if not self.repositories:
            raise ValueError("at least one repository is needed")
        if not self.speed > 0:
            raise ValueError("speed must be positive")
        for option, known in _KNOWN.items():
            if getattr(self, option) not in known:
                raise ValueError(f"{option}: choose one of {', '.join(known)}")

    # Time

    def catch_up(self) -> None:
        """Bring the simulation to the present when it follows the wall clock."""
        if self.real_time:
            passed = round((time.monotonic() - self._running_since + self.ahead) * SECOND)
            elapsed = self._wall_start + passed - self.service.now
            if elapsed > 0:
                stepping.step(self.service, elapsed / SECOND, self.random)

    def skip(self, seconds: float) -> None:
        """Move a clock that follows the wall clock ahead of it, for good."""
        self.ahead += seconds

    def set_speed(self, speed: float) -> None:
        """Divide the durations that begin from now on by `speed`."""
        self.catch_up()
        self.service.speed = speed

    def advance(self, seconds: float) -> list[Event]:
        """Move the clock by hand and return what happened, oldest first.

        Raise RuntimeError when the clock follows the wall clock.
        """
        if self.real_time:
            raise RuntimeError("the clock follows the wall clock")
        return stepping.step(self.service, seconds, self.random)

    # Acts

    def repository(self, name: str) -> Repository:
        """Find a repository; raise LookupError when the sandbox has none of this name."""
        found = self.service.repositories.get(name)
        if found is None:
            raise LookupError(f"no repository {name!r}")
        return found

    def turn(self, name: str) -> Turn:
        """Begin an act on a repository at the present moment; call `settled` after it."""
        self.catch_up()
        return Turn(self.service, self.repository(name), self.random)

    def settled(self, turn: Turn) -> None:
        stepping.settle(turn)

    def enqueue(self, repository: str, new: NewPullRequest | None = None) -> int:
        """Let a pull request enter the queue and return its number.

        Raise ValueError for a `conflict` that is no code of a conflict, and for a `broken_state`
        that is no state of a failed check.
        """
        asked = new or NewPullRequest()
        if asked.conflict not in (None, *CONFLICTS):
            raise ValueError(f"conflict: choose one of {', '.join(CONFLICTS)}")
        if asked.broken_state not in BROKEN_STATES:
            raise ValueError(f"broken_state: choose one of {', '.join(BROKEN_STATES)}")
        turn = self.turn(repository)
        made_up = authorship.write_pull_request(turn)
        pull = replace(
            made_up,
            title=asked.title or made_up.title,
            author=authorship.person(asked.author) if asked.author else made_up.author,
            base_ref=asked.base_ref,
            labels=tuple(asked.labels),
            scopes=tuple(asked.scopes),
            broken_check=asked.broken_check,
            broken_runs=asked.broken_runs,
            broken_state=asked.broken_state,
            optional_check=asked.optional_check,
            hangs=asked.hangs,
            conflict=asked.conflict,
            stacked_on=asked.stacked_on,
            waits_for=asked.waits_for,
        )
        turn.repository.latest_titles.append(pull.title)
        entering.enter(turn, pull, by=authorship.person(asked.by) if asked.by else None)
        self.settled(turn)
        return pull.number

    def set_pace(self, repository: str, arrival: float | None) -> None:
        """Let pull requests arrive by themselves, `arrival` seconds apart on average, or none."""
        entering.set_pace(self.turn(repository), arrival)

    def follow(self, repository: str, scenario: str) -> None:
        """Let a repository be as lively as a scenario makes it, from now on, with its checks."""
        turn = self.turn(repository)
        checks = turn.repository.tempo.checks
        turn.repository.tempo = replace(scenarios.tempo(scenario), checks=checks)
        entering.set_pace(turn, turn.repository.tempo.arrival)

    def queued(self, repository: str, number: int) -> PullRequest:
        """Find a queued pull request; raise LookupError when it is not in the queue."""
        turn = self.turn(repository)
        found = entering.find(turn, number)
        if found is None:
            raise LookupError(f"#{number} is not queued")
        return found[1].pull

    def make_checks_fail(self, repository: str, number: int, check: str | None = None) -> None:
        """Make every run with this pull request fail in one check (the last one by default)."""
        pull = self.queued(repository, number)
        pull.broken_check = check or self.repository(repository).tempo.checks[-1].name
        pull.broken_runs = None

    def dequeue(self, repository: str, number: int, by: str = "alice") -> None:
        """Remove a pull request as a person does; raise LookupError when it is not queued."""
        self.queued(repository, number)
        turn = self.turn(repository)
        entering.dequeue(turn, number, authorship.person(by))
        self.settled(turn)

    def remove(self, repository: str, number: int) -> bool:
        """Remove a pull request as the API does, and what is stacked on it, if it is queued.

        With `removal_lag` they leave that much later.
        """
        turn = self.turn(repository)
        removed = removing.remove(turn, number)
        self.settled(turn)
        return removed

    def push_to(self, repository: str, base_ref: str) -> None:
        """Push to a base branch outside the queue: all its checks start again."""
        turn = self.turn(repository)
        leaving.requeue(turn, turn.repository.line(base_ref), 0, "MERGE_QUEUE_RESET")
        self.settled(turn)

    def pause(self, repository: str, reason: str, by: Actor | str = "carol") -> Pause:
        """Pause the queue as a dashboard user (a login) or as any actor."""
        turn = self.turn(repository)
        made = pausing.pause(turn, reason, authorship.actor(by))
        self.settled(turn)
        return made

    def resume(self, repository: str, by: Actor | str = "carol") -> bool:
        """Remove the pause; return whether there was one."""
        turn = self.turn(repository)
        removed = pausing.resume(turn, authorship.actor(by))
        self.settled(turn)
        return removed

    def set_merge_hours(self, repository: str, hours: tuple[int, int] | None) -> None:
        """Merge in these hours of the day alone (UTC, the end excluded), or at any time.

        Concerns the pull requests that enter from now on. Raise ValueError for no hours of a day.
        """
        if hours is not None and not all(hour in range(24) for hour in hours):
            raise ValueError("merge hours are from 0 to 23")
        found = self.repository(repository)
        found.rules = tuple(replace(rule, merge_hours=hours) for rule in found.rules)

    def freeze(self, repository: str, terms: FreezeTerms, by: Actor | str = "carol") -> str:
        """Create a scheduled freeze and return its id; raise ValueError for a wrong condition."""
        turn = self.turn(repository)
        freezing.create(turn, self._freeze(turn.uuid(), terms), authorship.actor(by))
        self.settled(turn)
        return turn.repository.freezes[-1].id

    def change_freeze(
        self,
        repository: str,
        freeze_id: str,
        terms: FreezeTerms,
        by: Actor | str = "carol",
    ) -> None:
        """Give a freeze new terms; raise LookupError when there is none of this id."""
        turn = self.turn(repository)
        freezing.update(turn, self._freeze(freeze_id, terms), authorship.actor(by))
        self.settled(turn)

    def unfreeze(
        self,
        repository: str,
        freeze_id: str,
        reason: str = "",
        by: Actor | str = "carol",
    ) -> None:
        """Delete a freeze; raise LookupError when there is none of this id."""
        turn = self.turn(repository)
        freezing.delete(turn, freeze_id, reason, authorship.actor(by))
        self.settled(turn)

    def _freeze(self, freeze_id: str, terms: FreezeTerms) -> Freeze:
        now = self.service.now
        return freezing.checked(
            Freeze(
                id=freeze_id,
                reason=terms.reason,
                start=now if terms.start is None else from_datetime(terms.start),
                end=None if terms.end is None else from_datetime(terms.end),
                timezone=terms.timezone,
                matching_conditions=tuple(terms.matching_conditions),
                exclude_conditions=tuple(terms.exclude_conditions),
            ),
        )

    def emit(self, repository: str, sent: SentEvent) -> int:
        """Write an event into the log and return its id.

        With `received_at` in the past it is a late arrival: a new id at an old place.
        """
        turn = self.turn(repository)
        subject, metadata = self._completed(turn, sent)
        if sent.received_at is None and sent.id is None:
            return turn.record(sent.type, metadata, subject, sent.trigger).id
        event = Event(
            id=self.service.next_event_id if sent.id is None else sent.id,
            received_at=self._stamp(sent.received_at),
            trigger=sent.trigger,
            pull_request=subject.pull_request,
            base_ref=subject.base_ref,
            type=sent.type,
            metadata=metadata,
        )
        self.service.next_event_id += sent.id is None
        turn.repository.log.append(event)
        return event.id

    def _completed(self, turn: Turn, sent: SentEvent) -> _Completed:
        subject = Subject(sent.pull_request, sent.base_ref)
        if sent.metadata is not None:
            return _Completed(subject, sent.metadata)
        if subject.pull_request is None and concerns_pull_request(sent.type):
            subject = Subject(turn.new_number(), sent.base_ref or "main")
        ready = ReadyEvents(
            repository=turn.repository.name,
            pull_request=subject.pull_request or 1,
            base_ref=subject.base_ref or "main",
            host=self.host,
            now=turn.now,
        )
        return _Completed(subject, ready.metadata(sent.type))

    def _stamp(self, at: datetime | None) -> Moment:
        return self.service.now if at is None else from_datetime(at)

    def rename(self, repository: str, new_name: str) -> None:
        """Redirect all requests about a repository to another name, or owner."""
        self.renamed[repository] = new_name

    def break_configuration(self, repository: str, problem: str | None) -> None:
        """Make the repository's configuration file invalid; None fixes it."""
        self.repository(repository).configuration_error = problem

    def events(self, repository: str) -> list[Event]:
        """List the whole log of a repository, oldest first."""
        everything = Selection(-(2**62), 2**62)
        return list(self.repository(repository).log.oldest_first(everything))

    def count_request(self, seen: SeenRequest) -> None:
        self.request_count += 1
        self.requests.append(seen)
        for watcher in self.watchers:
            watcher(seen)
