"""What happens in a busy repository, in the local merge queue service's own simulation.

A working week, a night in which CI is broken, and a pull request that comes back again and again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial

from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import EventRecord, read_event
from bot.merge_queue.queue import Pause, QueueStatus
from bot.sandbox.merge_queue.controls import Controls, NewPullRequest
from bot.sandbox.merge_queue.payloads import StatusWriter, event as written
from bot.sandbox.merge_queue.simulation import authorship, entering
from bot.sandbox.merge_queue.simulation.event_log import Event, Selection
from bot.sandbox.merge_queue.simulation.state import CheckPlan, PullRequest, QueueRule, Tempo

NAME = "acme/site"
MONDAY = datetime(2026, 9, 7, tzinfo=UTC)
WORKING_DAYS = 5
PER_HOUR = {8: 13, 9: 20, 10: 26, 11: 26, 12: 12, 13: 20, 14: 26, 15: 26, 16: 23, 17: 12}
"""How many pull requests enter in each hour of a working day (UTC), on average."""

CHECKS = (
    CheckPlan("lint", 60, 120),
    CheckPlan("unit tests", 300, 600),
    CheckPlan("end-to-end tests", 600, 1200),
)
TEMPO = Tempo(
    arrival=None,
    checks=CHECKS,
    broken=0.08,
    hanging=0.003,
    conflicting=0.02,
    flaky=0.02,
    urgent=0.02,
    regretted=0.02,
    pushed=0.03,
    fixed=0.7,
    hiccups=0.005,
    release=0.1,
    queue_limit=1000,
)
RULES = (
    QueueRule("hotfix", batch_size=1, batch_max_wait=0, checks_timeout=3600),
    QueueRule("release", batch_size=1, batch_max_wait=0, checks_timeout=3600),
    QueueRule("default", batch_size=5, batch_max_wait=30, checks_timeout=3600),
)


@dataclass(order=True, frozen=True, slots=True)
class Happening:
    """Something that is not left to chance."""

    at: datetime
    act: Callable[[], object] = field(compare=False)


class BusyRepository:
    """The service's side; its clock is moved with `advance_to`, and `seed` decides all chance."""

    tempo = TEMPO

    def __init__(self, seed: int) -> None:
        self.controls = Controls(
            repositories={NAME: "quiet"}, seed=seed, real_time=False, start_at=MONDAY
        )
        self.repository = self.controls.repository(NAME)
        self.repository.tempo = self.tempo
        self.repository.rules = RULES
        self.now = MONDAY
        self._happenings = sorted(self._course())
        self._last: Event | None = None

    def _course(self) -> Iterator[Happening]:
        yield from self._hours()
        yield from self._incidents()

    def advance_to(self, at: datetime) -> list[EventRecord]:
        """What the service has logged since the last time, oldest first."""
        while self._happenings and self._happenings[0].at <= at:
            happening = self._happenings.pop(0)
            self._pass_time(happening.at)
            happening.act()
        self._pass_time(at)
        return [
            read_event(written(event, NAME, self.controls.speaks), RepositoryName(NAME)).record
            for event in self._new_events()
        ]

    def status(self) -> QueueStatus:
        writer = StatusWriter(self.controls.service, self.repository, self.controls.speaks)
        return QueueStatus.model_validate(writer.status(None))

    def pause(self) -> Pause | None:
        held = self.repository.pause
        if held is None:
            return None
        paused_at = datetime.fromtimestamp(held.paused_at / 1_000_000, UTC)
        return Pause(reason=held.reason, paused_at=paused_at)

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing happens before the next happening."""
        return (
            self.repository.next_arrival_at is None
            and not self.repository.plans
            and not any(True for line in self.repository.lines.values() for _ in line.queued())
        )

    def next_happening(self) -> datetime | None:
        return self._happenings[0].at if self._happenings else None

    def _pass_time(self, at: datetime) -> None:
        self.controls.advance((at - self.now).total_seconds())
        self.now = at

    def _new_events(self) -> Iterator[Event]:
        everything = Selection(-(2**62), 2**62)
        after = self._last.key if self._last is not None else None
        for event in self.repository.log.oldest_first(everything, after):
            self._last = event
            yield event

    def _hours(self) -> Iterator[Happening]:
        for day in range(WORKING_DAYS):
            begin = MONDAY + timedelta(days=day)
            for hour, count in PER_HOUR.items():
                yield Happening(begin + timedelta(hours=hour), self._at_pace(count))
            yield Happening(begin + timedelta(hours=max(PER_HOUR) + 1), self._at_pace(0))

    def _at_pace(self, per_hour: int) -> Callable[[], None]:
        return partial(self.controls.set_pace, NAME, 3600 / per_hour if per_hour else None)

    def _incidents(self) -> Iterator[Happening]:
        """Two pauses on the dashboard, and two pushes past the queue."""

        def at(day: int, hour: int, minute: int = 0) -> datetime:
            return MONDAY + timedelta(days=day, hours=hour, minutes=minute)

        controls = self.controls
        yield Happening(at(0, 14, 30), lambda: controls.pause(NAME, "deploying 4.2"))
        yield Happening(at(0, 14, 50), lambda: controls.resume(NAME))
        yield Happening(at(1, 11, 10), lambda: controls.push_to(NAME, "main"))
        yield Happening(at(2, 10), lambda: controls.pause(NAME, "CI runners are down"))
        yield Happening(at(2, 11, 15), lambda: controls.resume(NAME))
        yield Happening(at(4, 15, 20), lambda: controls.push_to(NAME, "main"))


NIGHT = timedelta(hours=2)
"""When the checks of a bad night begin to fail, in the morning of that day."""

BAD_HOUR = 60
"""How many pull requests fail in it."""


class BadNight(BusyRepository):
    """For an hour the CI's runners lose their disks: each check fails soon after its start."""

    tempo = replace(
        TEMPO,
        checks=(CheckPlan("lint", 5, 20), CheckPlan("unit tests", 5, 20)),
        fixed=0.0,
    )

    def _course(self) -> Iterator[Happening]:
        for number in range(BAD_HOUR):
            check = self.tempo.checks[number % 2].name
            new = NewPullRequest(labels=("hotfix",), broken_check=check)
            at = MONDAY + NIGHT + timedelta(minutes=number)
            yield Happening(at, partial(self.controls.enqueue, NAME, new))


RETURNS = 12


class Returning(BusyRepository):
    """One pull request that fails, and that a script queues again each time."""

    tempo = replace(BadNight.tempo, fixed=0.0)

    def _course(self) -> Iterator[Happening]:
        pull = authorship.write_pull_request(self.controls.turn(NAME))
        pull.broken_check = "unit tests"
        for number in range(RETURNS):
            at = MONDAY + NIGHT + number * timedelta(minutes=20)
            yield Happening(at, partial(self._queue, pull))

    def _queue(self, pull: PullRequest) -> None:
        turn = self.controls.turn(NAME)
        entering.enter(turn, pull)
        self.controls.settled(turn)
