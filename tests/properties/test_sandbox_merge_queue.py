"""The sandbox's merge queue keeps its rules under any actions."""

from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from jsonschema_rs import Draft202012Validator
from typing_extensions import override

from bot.sandbox.merge_queue import openapi
from bot.sandbox.merge_queue.controls import Controls, FreezeTerms, NewPullRequest
from bot.sandbox.merge_queue.deprecated_listing import queues
from bot.sandbox.merge_queue.pagination import Cursor, CursorSeal, read_page
from bot.sandbox.merge_queue.parameters import LogRequest
from bot.sandbox.merge_queue.payloads import StatusWriter
from bot.sandbox.merge_queue.simulation import scenarios
from bot.sandbox.merge_queue.simulation.event_log import Event, EventLog, Selection
from bot.sandbox.merge_queue.simulation.state import Line, QueueRule
from bot.sandbox.merge_queue.simulation.stepping import step
from bot.sandbox.merge_queue.simulation.vocabulary import event_types

REPOSITORY = "acme/site"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TYPES = event_types("github")
BRANCHES = ("main", "release/4.2")

labels = st.lists(st.sampled_from(["hotfix", "dependencies", "bug", "backport"]), max_size=2)
fates: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.just({"broken_check": "unit tests"}),
    st.just({"broken_check": "lint", "broken_runs": 1}),
    st.just({"hangs": True}),
    st.just({"conflict": "CONFLICT_WITH_BASE_BRANCH"}),
)
some_time = st.one_of(st.integers(0, 20), st.integers(0, 300))


def make_controls(scenario: str, seed: int, **options: Any) -> Controls:
    return Controls(
        repositories={REPOSITORY: scenario},
        seed=seed,
        real_time=False,
        start_at=START,
        **options,
    )


class QueueMachine(RuleBasedStateMachine):
    """Random people do random things to a queue while time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.controls = make_controls("quiet", 1)
        self.repository = self.controls.repository(REPOSITORY)
        default = QueueRule(
            "default", batch_size=4, max_retries=1, checks_timeout=300, max_splits=2
        )
        self.repository.rules = (*self.repository.rules[:2], default)
        self.repository.max_parallel_checks = 3
        self.before: dict[str, list[str]] = {}
        document = openapi.document(self.controls.speaks, TYPES)
        self.validators = {
            name: Draft202012Validator({"$ref": f"#/components/schemas/{name}", **document})
            for name in ("Status", "Queues")
        }

    def queued_numbers(self) -> list[int]:
        return [
            pull_request.number
            for line in self.repository.lines.values()
            for pull_request in line.queued()
        ]

    # Every act lets time pass after it: a queue in which nothing moves proves nothing.

    @rule(
        base_ref=st.sampled_from(BRANCHES),
        names=labels,
        fate=fates,
        count=st.integers(1, 6),
        then=some_time,
    )
    def enter(
        self, base_ref: str, names: list[str], fate: dict[str, Any], count: int, then: int
    ) -> None:
        new = NewPullRequest(base_ref=base_ref, labels=names, **fate)
        self.controls.enqueue(REPOSITORY, new)
        for _ in range(count - 1):
            self.controls.enqueue(REPOSITORY, NewPullRequest(base_ref=base_ref, labels=names))
        self.controls.advance(then)

    @rule(reason=st.text(max_size=10), then=some_time)
    def pause(self, reason: str, then: int) -> None:
        self.controls.pause(REPOSITORY, reason)
        self.controls.advance(then)

    @precondition(lambda self: self.repository.pause is not None)
    @rule(then=some_time)
    def resume(self, then: int) -> None:
        self.controls.resume(REPOSITORY)
        self.controls.advance(then)

    @precondition(lambda self: self.queued_numbers())
    @rule(place=st.integers(0, 100), then=some_time)
    def dequeue(self, place: int, then: int) -> None:
        numbers = self.queued_numbers()
        self.controls.dequeue(REPOSITORY, numbers[place % len(numbers)])
        self.controls.advance(then)

    @precondition(lambda self: self.queued_numbers())
    @rule(place=st.integers(0, 100), then=some_time)
    def remove(self, place: int, then: int) -> None:
        numbers = self.queued_numbers()
        number = numbers[place % len(numbers)]
        base_ref = self.controls.queued(REPOSITORY, number).base_ref
        stacked = NewPullRequest(base_ref=base_ref, stacked_on=number)
        self.controls.enqueue(REPOSITORY, stacked)
        assert self.controls.remove(REPOSITORY, number)
        assert len(self.queued_numbers()) <= len(numbers) - 1
        self.controls.advance(then)

    @precondition(lambda self: not self.repository.freezes)
    @rule(
        matching=st.sampled_from([(), ("base=main",)]),
        excluding=st.booleans(),
        then=some_time,
    )
    def freeze(self, matching: tuple[str, ...], then: int, *, excluding: bool) -> None:
        exclude = ("label=hotfix",) if excluding else ()
        terms = FreezeTerms("cut", matching_conditions=matching, exclude_conditions=exclude)
        self.controls.freeze(REPOSITORY, terms)
        self.controls.advance(then)

    @precondition(lambda self: self.repository.freezes)
    @rule(then=some_time)
    def unfreeze(self, then: int) -> None:
        self.controls.unfreeze(REPOSITORY, self.repository.freezes[0].id)
        self.controls.advance(then)

    @rule(base_ref=st.sampled_from(BRANCHES), then=some_time)
    def push_to_base(self, base_ref: str, then: int) -> None:
        self.controls.push_to(REPOSITORY, base_ref)
        self.controls.advance(then)

    @invariant()
    def each_pull_request_is_in_one_place(self) -> None:
        assert max(Counter(self.queued_numbers()).values(), default=1) == 1
        for line in self.repository.lines.values():
            for batch in line.batches:
                assert batch.members
                if batch.sub_batches is not None:
                    in_parts = [
                        member.number for part in batch.sub_batches for member in part.members
                    ]
                    assert in_parts == [member.number for member in batch.members]

    @invariant()
    def checks_run_only_where_they_may(self) -> None:
        for line in self.repository.lines.values():
            runs = list(line.runs())
            assert len(runs) <= self.repository.max_parallel_checks
            assert not (runs and self.repository.pause)

    @invariant()
    def nobody_overtakes(self) -> None:
        for line in self.repository.lines.values():
            now = [batch.id for batch in line.batches]
            merged = {batch.id for batch in line.gone if batch.code == "merged"}
            earlier = self.before.get(line.base_ref, [])
            for place, batch_id in enumerate(earlier):
                if batch_id in now:
                    assert not merged & set(earlier[place:])
            self.before[line.base_ref] = now

    @invariant()
    def lengths_in_the_log_are_true(self) -> None:
        for line in self.repository.lines.values():
            self.compare(
                line,
                "action.queue.change",
                "size",
                Counter(queued.rule.name for queued in line.queued()),
            )
            self.compare(
                line,
                "action.queue.checks.change",
                "running_checks",
                Counter(run.rule.name for run in line.runs()),
            )

    def compare(self, line: Line, kind: str, field: str, true: Counter[str]) -> None:
        last = {
            event.metadata["queue_name"]: event.metadata[field]
            for event in self.controls.events(REPOSITORY)
            if event.type == kind and event.base_ref == line.base_ref
        }
        for name in last.keys() | true.keys():
            assert last.get(name, 0) == true[str(name)]

    @invariant()
    def the_log_only_grows_upwards(self) -> None:
        events = self.controls.events(REPOSITORY)
        for older, newer in pairwise(events):
            assert older.id < newer.id
            assert older.received_at < newer.received_at

    @invariant()
    def every_entry_reads_in_order(self) -> None:
        stays: dict[object, list[Event]] = {}
        for event in self.controls.events(REPOSITORY):
            if event.type.startswith("action.queue.") and event.pull_request is not None:
                stays.setdefault(event.metadata.get("session_id"), []).append(event)
        for events in stays.values():
            assert_entry_in_order([event for event in events if "bisection" not in event.type])

    @invariant()
    def nothing_merges_while_held(self) -> None:
        paused = False
        frozen: tuple[str, ...] = ()
        for event in self.controls.events(REPOSITORY):
            if event.type.startswith("queue.pause."):
                paused = event.type != "queue.pause.delete"
            if event.type == "scheduled_freeze.create":
                attributes: Any = event.metadata["scheduled_freeze_attributes"]
                excluding = bool(attributes["exclude_conditions"])
                frozen = () if excluding else tuple(attributes["matching_conditions"]) or BRANCHES
            if event.type == "scheduled_freeze.delete":
                frozen = ()
            if event.type == "action.queue.merged":
                assert not paused
                assert event.base_ref not in [ref.removeprefix("base=") for ref in frozen]

    @invariant()
    def what_is_shown_follows_the_document(self) -> None:
        service = self.controls.service
        status = StatusWriter(service, self.repository, self.controls.speaks).status(None)
        self.validators["Status"].validate(status)
        self.validators["Queues"].validate(queues(service, self.repository))

    @override
    def teardown(self) -> None:
        """Left alone, resumed and unfrozen, the queue empties itself."""
        for freeze in list(self.repository.freezes):
            self.controls.unfreeze(REPOSITORY, freeze.id)
        self.controls.resume(REPOSITORY)
        self.controls.advance(20_000)
        assert self.queued_numbers() == []


def assert_entry_in_order(events: list[Event]) -> None:
    names = [event.type.removeprefix("action.queue.") for event in events]
    assert names[0] == "enter"
    assert names.count("enter") == 1
    running = False
    for name in names[1:]:
        if name in ("checks_start", "checks_end"):
            assert running is (name == "checks_end")
            running = not running
    if "leave" in names:
        assert not running
        end = names.index("leave")
        merged = bool(events[end].metadata["merged"])
        assert names[end:] == (["leave", "merged"] if merged else ["leave"])
        if merged:
            assert names[end - 1] == "checks_end"
            assert events[end - 1].metadata["aborted"] is False


QueueMachine.TestCase.settings = settings(
    max_examples=30,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestQueueMachine = QueueMachine.TestCase


@given(
    scenario=st.sampled_from(scenarios.NAMES),
    seed=st.integers(0, 2**32),
    pieces=st.lists(st.integers(1, 900), min_size=1, max_size=8),
)
@settings(max_examples=12, deadline=None)
def test_many_short_steps_equal_one_long_step(scenario: str, seed: int, pieces: list[int]) -> None:
    whole = make_controls(scenario, seed)
    parts = make_controls(scenario, seed)
    step(whole.service, sum(pieces), whole.random)
    for piece in pieces:
        step(parts.service, piece, parts.random)
    assert whole.events(REPOSITORY) == parts.events(REPOSITORY)
    assert whole.service.now == parts.service.now


moments = st.integers(0, 60)
records = st.builds(
    lambda at, kind, pull, base: (at, kind, pull, base),
    moments,
    st.sampled_from(TYPES[20:24]),
    st.sampled_from([None, 7, 8]),
    st.sampled_from([None, "main", "release/4.2"]),
)
selections = st.builds(
    Selection,
    received_from=st.integers(0, 30),
    received_to=st.integers(20, 60),
    types=st.lists(st.sampled_from(TYPES[20:24]), unique=True, max_size=3).map(tuple),
    pull_request=st.sampled_from([None, 7]),
    base_ref=st.sampled_from([None, "main"]),
)


def selects(selection: Selection, event: Event) -> bool:
    return (
        selection.received_from <= event.received_at <= selection.received_to
        and (not selection.types or event.type in selection.types)
        and selection.pull_request in (None, event.pull_request)
        and selection.base_ref in (None, event.base_ref)
    )


@given(
    written=st.lists(records, max_size=40),
    later=st.lists(records, max_size=20),
    selection=selections,
    per_page=st.integers(1, 5),
    choice=st.randoms(use_true_random=False),
)
@settings(deadline=None)
def test_joined_pages_equal_the_filtered_log_while_events_arrive(
    written: list[tuple[int, str, int | None, str | None]],
    later: list[tuple[int, str, int | None, str | None]],
    selection: Selection,
    per_page: int,
    choice: Random,
) -> None:
    log = EventLog()
    seal = CursorSeal(b"secret")
    events: list[Event] = []
    waiting = list(later)

    def write(record: tuple[int, str, int | None, str | None]) -> None:
        at, kind, pull, base = record
        event = Event(len(events) + 1, at, "t", pull, base, kind, {"n": len(events)})
        events.append(event)
        log.append(event)

    for record in written:
        write(record)
    present = {event.key for event in events if selects(selection, event)}
    read: list[Event] = []
    cursor: Cursor | None = None
    while True:
        page = read_page(log, LogRequest(selection, per_page, None), cursor)
        read += page.events
        assert len(page.events) == per_page or "next" not in page.cursors
        if "next" not in page.cursors:
            break
        cursor = seal.read(REPOSITORY, seal.write(REPOSITORY, page.cursors["next"]))
        while waiting and choice.random() < 0.5:
            write(waiting.pop())
    keys = [event.key for event in read]
    assert keys == sorted(set(keys), reverse=True)
    assert present <= set(keys)
    assert all(selects(selection, event) for event in read)
    assert len(keys) - len(present) <= len(later)


@given(
    written=st.lists(records, max_size=40),
    selection=selections,
    per_page=st.integers(1, 5),
)
@settings(deadline=None)
def test_walking_back_from_the_last_page_gives_the_same_pages(
    written: list[tuple[int, str, int | None, str | None]], selection: Selection, per_page: int
) -> None:
    log = EventLog()
    for place, (at, kind, pull, base) in enumerate(written):
        log.append(Event(place + 1, at, "t", pull, base, kind, {}))
    asked = LogRequest(selection, per_page, None)
    page = read_page(log, asked, None)
    forwards = [page.events]
    last = page.cursors.get("last")
    while "next" in page.cursors:
        page = read_page(log, asked, page.cursors["next"])
        forwards.append(page.events)
    if last is None:
        return
    page = read_page(log, asked, last)
    backwards = [page.events]
    while "prev" in page.cursors:
        page = read_page(log, asked, page.cursors["prev"])
        backwards.append(page.events)
    assert backwards[::-1] == forwards
