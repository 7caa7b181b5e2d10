"""Freezes of any shape: their times, their events in any order, and crashes in their lives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st
from typing_extensions import override

from bot.freezes.freeze import FREEZE_NOTICE, Freeze, Stage, advanced
from bot.freezes.matching import freezes_after
from bot.freezes.notifying import NotifyFreezes
from bot.freezes.rows import Freezes
from bot.merge_queue.errors import CredentialRefused, MergeQueueUnavailable
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.freezes import ListedFreeze
from bot.merge_queue.port import FreezeSupport
from tests.support.clock import NOON
from tests.support.desk import Desk, World
from tests.support.disturbances import Disturbance
from tests.support.loops import unsubscribed
from tests.support.make import CHANNEL, SITE, make_configured, make_event

OTHER = "C0OTHER"
ZONES = ("Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC")
STAGES = list(Stage)
MINUTE = timedelta(minutes=1)

LOCAL = st.datetimes(datetime(2011, 12, 1), datetime(2027, 1, 1))  # noqa: DTZ001 - as sent


def terms(start: datetime, end: datetime | None, zone: str = "UTC", **more: Any) -> dict[str, Any]:
    sent = {"start": start.isoformat(), "end": end.isoformat() if end else None, "timezone": zone}
    return {"reason": "release week", **sent, **more}


def event(number: int, change: str, **metadata: Any) -> EventRecord:
    at = NOON + number * MINUTE
    return make_event(number, f"scheduled_freeze.{change}", received_at=at, metadata=metadata)


def created(sent: dict[str, Any]) -> Freeze:
    (freeze,) = freezes_after([], [event(1, "create", scheduled_freeze_attributes=sent)])
    return freeze


@given(LOCAL, st.timedeltas(MINUTE, timedelta(days=3)), st.sampled_from(ZONES))
def test_a_freeze_begins_and_ends_by_the_clocks_of_its_zone(
    start: datetime, length: timedelta, zone: str
) -> None:
    freeze = created(terms(start, start + length, zone))
    for at, sent in ((freeze.begins_at, start), (freeze.ends_at, start + length)):
        assert at is not None
        shown = at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        before = (at - timedelta(days=2)).astimezone(ZoneInfo(zone)).utcoffset()
        after = (at + timedelta(days=2)).astimezone(ZoneInfo(zone)).utcoffset()
        # A time that clocks skip is as late after the change.
        assert shown == sent or (before != after and sent < shown)


@given(LOCAL, st.timedeltas(MINUTE, timedelta(days=3)), st.sampled_from(ZONES), st.data())
def test_a_freeze_goes_through_its_stages_in_order_whenever_it_is_looked_at(
    start: datetime, length: timedelta, zone: str, data: st.DataObject
) -> None:
    freeze = created(terms(start, start + length, zone))
    begins_at = freeze.begins_at
    ends_at = freeze.ends_at
    assert begins_at is not None
    assert ends_at is not None
    around = st.datetimes(start - timedelta(days=4), start + timedelta(days=6))
    looks = sorted(data.draw(st.lists(around, max_size=6)))
    for now in (look.replace(tzinfo=UTC) for look in looks):
        before = freeze.stage
        freeze = advanced(freeze, now)
        assert STAGES.index(before) <= STAGES.index(freeze.stage)
        reached = sum(at <= now for at in (begins_at - FREEZE_NOTICE, begins_at))
        assert freeze.stage is (Stage.OVER if ends_at <= now else STAGES[reached])
        assert freeze.is_in_force(now) is (freeze.stage is Stage.IN_FORCE)
        assert freeze.due_at is None or freeze.due_at > now


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
    st.randoms(use_true_random=False),
)
def test_events_that_appear_late_leave_the_same_freezes(changes: list[int], random: Any) -> None:
    """Each number is a freeze of its own, with so many changes; the last is removed at the end."""
    events: list[EventRecord] = []
    sent: list[dict[str, Any]] = []
    for freeze, count in enumerate(changes):
        sent = [terms(NOON, None, reason=f"{freeze} {step}") for step in range(count + 1)]
        events.append(_at(events, "create", scheduled_freeze_attributes=sent[0]))
        for before, after in pairwise(sent):
            told = {f"scheduled_freeze_attributes_{a}": b for a, b in _sides(before, after)}
            events.append(_at(events, "update", **told))
    events.append(_at(events, "delete", scheduled_freeze_attributes=sent[-1]))
    late: list[Freeze] = []
    for one in random.sample(events, len(events)):
        late = freezes_after(late, [one])

    def ongoing(found: Sequence[Freeze]) -> list[str]:
        return sorted(str(one.terms.reason) for one in found if one.over_at is None)

    assert ongoing(late) == ongoing(freezes_after([], events))
    assert len(ongoing(late)) == len(changes) - 1


def _sides(before: Any, after: Any) -> list[tuple[str, Any]]:
    return [("before", before), ("after", after)]


def _at(events: Sequence[EventRecord], change: str, **metadata: Any) -> EventRecord:
    return event(len(events) + 1, change, **metadata)


@dataclass
class FreezeDesk(Desk):
    """A process that notifies of freezes beside its polls."""

    freezes: NotifyFreezes = field(init=False)

    @override
    def __post_init__(self) -> None:
        super().__post_init__()
        self.freezes = NotifyFreezes(
            self.acts.store,
            self.world.clock,
            unsubscribed,
            self.polls.merge_queue,
            make_configured(),
            lambda: self.polls.log.service_clock.ahead,
        )

    @override
    async def poll(self) -> None:
        await super().poll()
        await self.freezes.run()


STEPS = range(1, 1301)
TRIED = pytest.mark.steps(STEPS, 180)
TURN = timedelta(minutes=5)


async def live(
    disturbance: Disturbance | None = None, processes: int = 1, *, has_list: bool = True
) -> World:
    """Two hours, with a freeze in the second; a process that dies is followed by another."""
    world = World()
    if not has_list:
        world.service.freeze_support = FreezeSupport.NOT_OFFERED
    desks = [FreezeDesk(world, f"desk {number}") for number in range(processes)]
    await desks[0].subscribe(CHANNEL, OTHER, topics=("freeze",))
    await desks[0].turns(2)
    world.enqueue(41, 42)
    sent = terms(NOON + timedelta(minutes=60), NOON + timedelta(minutes=90))
    listed(world, "first", **sent)
    world.log("scheduled_freeze.create", scheduled_freeze_attributes=sent)
    steps = desks[0].steps
    steps.arm(disturbance)
    for turn in range(24):
        if desks[0].steps.is_dead:
            desks[0] = FreezeDesk(world, f"after {turn}")
        for desk in desks:
            await desk.turns_unless_struck(1, seconds=TURN.seconds / processes)
    assert steps.disturbance is None, "the story has fewer steps"
    return world


def assert_each_posted_once(world: World) -> None:
    for channel in (CHANNEL, OTHER):
        card, soon, begun, over = world.shown(channel)
        said = "acme/site: release week\n"
        assert card.startswith("acme/site was frozen · release week\nFrom ")
        assert soon.startswith(f"Freeze starts 2026-07-20 13:00 UTC {said}2 queued pull")
        assert begun.startswith(f"Merging is frozen {said}since 2026-07-20 13:00 UTC")
        assert over.startswith(f"Freeze over {said}since 2026-07-20 13:30")
    assert all(message.closed for message in world.database.contents.live_messages.values())


@TRIED
async def test_each_stage_is_posted_once_after_any_crash(at: int) -> None:
    assert_each_posted_once(await live(Disturbance("crash", at)))


@pytest.mark.parametrize("place", ["acting inside", "acting committed", "post", "edited"])
@pytest.mark.parametrize("at", [1, 500, 800])
async def test_each_stage_is_posted_once_after_a_crash_around_it(at: int, place: str) -> None:
    assert_each_posted_once(await live(Disturbance("crash", at, place=place)))


@pytest.mark.parametrize("has_list", [True, False])
async def test_two_processes_post_each_stage_once(*, has_list: bool) -> None:
    assert_each_posted_once(await live(processes=2, has_list=has_list))


async def test_each_stage_is_posted_once_where_the_list_can_not_be_read() -> None:
    assert_each_posted_once(await live(Disturbance("crash", 500), has_list=False))


@pytest.mark.parametrize("has_list", [True, False])
@pytest.mark.parametrize("change", ["delete", "update"])
async def test_a_change_that_no_poll_has_read_counts_before_a_freeze_starts(
    change: str, *, has_list: bool
) -> None:
    desk = FreezeDesk()
    if not has_list:
        desk.world.service.freeze_support = FreezeSupport.NOT_OFFERED
    await desk.subscribe(CHANNEL, topics=("freeze",))
    await desk.turns(2)
    sent = terms(NOON + timedelta(minutes=40), None)
    later = terms(NOON + timedelta(minutes=90), None)
    listed(desk.world, "first", **sent)
    desk.world.log("scheduled_freeze.create", scheduled_freeze_attributes=sent)
    await desk.turns(20, seconds=60)
    ended = {"scheduled_freeze_attributes": sent}
    moved = {f"scheduled_freeze_attributes_{a}": b for a, b in _sides(sent, later)}
    if change == "delete":
        listed(desk.world)
    else:
        listed(desk.world, "first", **later)
    desk.world.log(f"scheduled_freeze.{change}", **(ended if change == "delete" else moved))
    desk.world.clock.advance(25 * 60)
    await desk.freezes.run()
    await desk.turns(3)
    card, soon, changed = desk.world.shown()
    if change == "delete":
        state = "The planned freeze of acme/site was canceled"
        word = "canceled"
    else:
        state = "A freeze of acme/site is planned"
        word = "changed"
    assert card.startswith(state)
    assert soon.startswith("Freeze starts 2026-07-20 12:40 UTC")
    assert changed.startswith(f"Planned freeze {word}")


async def test_a_freeze_extended_after_its_end_was_posted_is_in_force_again() -> None:
    desk = FreezeDesk()
    await desk.subscribe(CHANNEL, topics=("freeze",))
    await desk.turns(2)
    sent, longer = (terms(NOON, NOON + timedelta(minutes=end)) for end in (10, 60))
    listed(desk.world, "first", **sent)
    desk.world.log("scheduled_freeze.create", scheduled_freeze_attributes=sent)
    await desk.turns(12, seconds=60)
    listed(desk.world, "first", **longer)
    told = {f"scheduled_freeze_attributes_{a}": b for a, b in _sides(sent, longer)}
    desk.world.log("scheduled_freeze.update", **told)
    await desk.turns(3)
    card, over, changed = desk.world.shown()
    assert card.startswith("acme/site is frozen · release week\n")
    assert over.startswith("Freeze over acme/site: release week\nsince 2026-07-20 12:10")
    assert changed.startswith("Freeze changed acme/site: now from")
    await desk.turns(60, seconds=60)
    assert desk.world.shown()[0].startswith("acme/site was frozen")
    assert [text.partition(" acme")[0] for text in desk.world.shown()[1:]] == [
        "Freeze over",
        changed.partition(" acme")[0],
        "Freeze over",
    ]


async def lasting_ids(desk: Desk) -> list[str | None]:
    """The ids of the freezes that the bot knows as not over."""
    known = await desk.acts.store.read(lambda transaction: Freezes(transaction).of([SITE]))
    return [one.freeze_id for one in known]


def listed(world: World, *ids: str, **sent: Any) -> None:
    """The freezes that the service has: equal but for their ids."""
    world.service.all_freezes[SITE] = [
        ListedFreeze.model_validate({**sent, "id": freeze_id}) for freeze_id in ids
    ]


@pytest.mark.parametrize("left", ["first", "second"])
async def test_of_two_equal_freezes_the_one_that_the_service_ended_is_over(left: str) -> None:
    desk = FreezeDesk()
    world = desk.world
    await desk.subscribe(CHANNEL, topics=("freeze",))
    await desk.turns(3)
    sent = terms(NOON - MINUTE, None)
    for ids in (["first"], ["first", "second"]):
        listed(world, *ids, **sent)
        world.log("scheduled_freeze.create", scheduled_freeze_attributes=sent)
        await desk.turns(3, seconds=60)
    listed(world, left, **sent)
    world.log("scheduled_freeze.delete", scheduled_freeze_attributes=sent)
    await desk.turns(3, seconds=60)
    assert await lasting_ids(desk) == [left]


async def test_a_freeze_whose_list_could_not_be_read_gets_its_id_with_the_next_events() -> None:
    desk = FreezeDesk()
    world = desk.world
    await desk.subscribe(CHANNEL, topics=("freeze", "enter"))
    await desk.turns(3)
    sent = terms(NOON - MINUTE, None)
    listed(world, "first", **sent)
    world.service.fail_next(MergeQueueUnavailable("down", status=503), method="freezes")
    world.log("scheduled_freeze.create", scheduled_freeze_attributes=sent)
    await desk.turns(3, seconds=60)
    world.enqueue(41)
    world.log("action.queue.enter", 41)
    await desk.turns(3, seconds=60)
    assert await lasting_ids(desk) == ["first"]


async def test_a_freeze_that_only_the_list_shows_is_known_once_the_list_can_be_read() -> None:
    """It could not at the very first reading; no event is needed."""
    desk = FreezeDesk()
    world = desk.world
    await desk.subscribe(CHANNEL, topics=("freeze",))
    listed(world, "first", **terms(NOON + timedelta(minutes=40), None))
    for _ in range(2):
        world.service.fail_next(MergeQueueUnavailable("down", status=503), method="freezes")
    await desk.turns()
    assert await lasting_ids(desk) == []
    await desk.turns(20, seconds=5)
    assert await lasting_ids(desk) == ["first"]
    assert len(world.service.called("freezes")) == 3

    await desk.turns(40, seconds=60)
    card, begun = world.shown()
    assert card.startswith("acme/site is frozen · release week")
    assert begun.startswith("Merging is frozen")


async def test_a_list_that_is_refused_is_not_asked_for_with_each_poll() -> None:
    desk = FreezeDesk()
    world = desk.world
    await desk.subscribe(CHANNEL, topics=("freeze",))
    world.service.fail_next(CredentialRefused(403, "not allowed"), method="freezes")
    await desk.turns(20, seconds=5)
    assert len(world.service.called("freezes")) == 1


async def test_a_freeze_that_the_list_no_longer_shows_does_not_start() -> None:
    """Its removal is missing in the log."""
    desk = FreezeDesk()
    world = desk.world
    await desk.subscribe(CHANNEL, topics=("freeze",))
    await desk.turns(2)
    sent = terms(NOON + timedelta(minutes=40), None)
    listed(world, "first", **sent)
    world.log("scheduled_freeze.create", scheduled_freeze_attributes=sent)
    await desk.turns(20, seconds=60)
    listed(world)
    await desk.turns(30, seconds=60)
    _, soon = world.shown()
    assert soon.startswith("Freeze starts")


async def test_a_freeze_starts_although_the_list_writes_its_terms_in_another_way() -> None:
    desk = FreezeDesk()
    world = desk.world
    await desk.subscribe(CHANNEL, topics=("freeze",))
    await desk.turns(2)
    sent = terms(NOON + timedelta(minutes=40), None)
    listed(world, "first", **sent)
    world.log("scheduled_freeze.create", scheduled_freeze_attributes=sent)
    await desk.turns(20, seconds=60)
    start = (NOON + timedelta(minutes=40)).isoformat()
    listed(world, "first", **{**sent, "start": start, "matching_conditions": ["-draft"]})
    await desk.turns(30, seconds=60)
    _, _, begun = world.shown()
    assert begun.startswith("Merging is frozen")
