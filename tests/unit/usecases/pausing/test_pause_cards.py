"""The life of a pause's card, with reports from any source in any order."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from bot.acts.record import Action
from bot.acts.rows import Audit
from bot.blocks.message import Message
from bot.feed.route_pauses import route_pause_event
from bot.kernel.actor import Caller, Origin
from bot.kernel.durations import For
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.merge_queue.queue import Pause
from bot.pauses.pause import PauseLine, PauseRecord
from bot.pauses.readings import EventContext, PauseReading, place_event
from bot.pauses.rows import Pauses
from bot.pauses.settling import read_pause_for_act
from bot.pauses.texts import card as pause_card, reminders as pause_reminders
from bot.people.rows import People
from bot.posts.live_message import LiveKind, LiveMessage, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.refreshing import CLAIMED_EDITS, RefreshLiveMessages
from bot.runtime.renderers import RENDERERS
from bot.slack.errors import PostInDoubt, PostPostponed, PostRefused, Refusal
from bot.store.errors import StoreUnavailable
from tests.support.clock import NOON
from tests.support.desk import Desk, World
from tests.support.make import ALICE, API, BOB, CHANNEL, SITE, make_event, make_status
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

OTHER = "C0OTHER"
PAUSED = "acme/site is paused · CI runners are down\nBy alice · Since 2026-07-20 12:00 UTC"


async def begun(world: World | None = None, *channels: str) -> Desk:
    """A process past its first poll."""
    desk = Desk(world or World())
    await desk.subscribe(*channels)
    await desk.turns(2)
    return desk


async def paused() -> Desk:
    """A process that has paused the queue, with a card that shows it."""
    desk = await begun()
    await desk.pause()
    await desk.turns(3)
    return desk


def cards(desk: Desk) -> list[LiveMessage]:
    return list(desk.world.database.contents.live_messages.values())


async def test_without_a_log_the_service_is_asked_and_no_person_is_shown() -> None:
    desk = await begun(World(is_silent=True), OTHER)
    desk.world.service.paused_by("carol", "Database migration")
    await desk.turns(100)
    (card,) = desk.world.shown(OTHER)
    assert card.startswith("acme/site is paused · Database migration\nSince")

    desk.world.service.resumed_by("dave")
    desk.world.service.statuses[SITE] = make_status(paused=False)
    await desk.turns(15)
    (card,) = desk.world.shown(OTHER)
    assert card.startswith("acme/site was paused · Database migration\nLasted ")
    await desk.turns(30)
    _, line = desk.world.shown(OTHER)
    assert line.startswith("acme/site has resumed\nPaused for ")


async def test_what_a_poll_found_is_credited_by_its_event_on_the_same_card() -> None:
    """The pause, and its end."""
    desk = await begun(None, OTHER)
    desk.world.service.paused_by("carol", "Database migration")
    desk.world.clock.advance(70)
    await desk.watch()
    await desk.post()
    (card,) = desk.world.shown(OTHER)
    assert card.startswith("acme/site is paused · Database migration\nSince")
    await desk.turns(15)
    (card,) = desk.world.shown(OTHER)
    assert card.startswith("acme/site is paused · Database migration\nBy carol · Since")

    desk.world.service.resumed_by("dave")
    desk.world.service.statuses[SITE] = make_status(paused=False)
    desk.world.clock.advance(20)
    await desk.watch()
    await desk.edit()
    (card,) = desk.world.shown(OTHER)
    assert "By carol · Lasted " in card
    await desk.turns(40)
    card, line = desk.world.shown(OTHER)
    assert "Resumed by dave" in card
    assert "By dave" in line
    assert len(cards(desk)) == 1


async def test_an_end_that_the_log_tells_of_late_counts_from_the_logs_earlier_time() -> None:
    """The bot was down as dave resumed the queue, and read it before the log."""
    desk = await begun(None, OTHER)
    desk.world.service.paused_by("carol", "Database migration")
    await desk.turns(60)
    desk.world.clock.advance(4 * 60)
    desk.world.service.resumed_by("dave")
    desk.world.service.statuses[SITE] = make_status(paused=False)
    desk.world.clock.advance(2 * 60 * 60)
    await read_pause_for_act(desk.acts, desk.world.service, SITE)
    (looked,) = desk.world.pauses()
    assert looked.end is not None
    assert looked.end.by is None

    await desk.turns(40)

    (ended,) = desk.world.pauses()
    assert ended.end is not None
    assert ended.ended_by is not None
    assert ended.ended_by.name == "dave"
    assert ended.lasted is not None
    assert ended.lasted < timedelta(minutes=6)
    card, line = desk.world.shown(OTHER)
    assert "Lasted 5 min" in card
    assert "Paused for 5 min" in line


@pytest.mark.parametrize("keeps_time", [False, True])
@pytest.mark.parametrize("looked_at_first", [False, True])
async def test_a_person_whose_pause_is_replaced_on_the_dashboard_is_notified_once(
    *, keeps_time: bool, looked_at_first: bool
) -> None:
    desk = await begun(World(keeps_time=keeps_time))
    await desk.pause()
    await desk.turns(5)
    desk.world.service.paused_by("carol", "Deploying 4.2")
    if looked_at_first:
        desk.world.clock.advance(10)
        await desk.watch()
        await desk.post()
    await desk.turns(30)

    (reported,) = desk.world.shown(ALICE.user_id)
    who = "Someone" if looked_at_first else "carol"
    assert f"{who} changed your pause of acme/site outside Slack." in reported
    assert "It now says: Deploying 4.2\nReason was: CI runners are down" in reported


async def test_a_pause_of_which_the_log_told_first_is_shown_where_it_was_asked_for() -> None:
    """Its answer is lost, and the pause can't be read, but the log can."""
    desk = await begun(None, OTHER)
    service = desk.world.service
    service.fail_next(MergeQueueUnavailable("lost"), method="pause", after=True)
    with pytest.raises(MergeQueueUnavailable):
        await desk.pause()
    service.fail_next(MergeQueueUnavailable("down"), method="current_pause")
    desk.world.clock.advance(5)
    await desk.poll()
    assert desk.world.pauses() == []

    await desk.turns(15)

    (card,) = desk.world.shown(CHANNEL)
    assert card.startswith("acme/site is paused · CI runners are down\nBy alice")


async def test_a_person_whose_end_the_log_proves_void_is_notified() -> None:
    """Carol had pasted the whole reason of alice's pause, whose answer was lost."""
    desk = await begun(None, OTHER)
    service = desk.world.service
    service.fail_next(MergeQueueUnavailable("lost"), method="pause")
    with pytest.raises(MergeQueueUnavailable):
        await desk.pause(lasting=For(timedelta(hours=1)))
    desk.world.clock.advance(5)
    signed = "CI runners are down (by alice via Slack)"
    pause = Pause(reason=signed, paused_at=desk.world.clock.now())
    service.pauses[SITE] = pause
    await read_pause_for_act(desk.acts, service, SITE)
    (timed,) = desk.world.pauses()
    assert (timed.line.by, timed.resumes_at is None) == (ALICE, False)

    event = make_event(type_="queue.pause.create", received_at=pause.paused_at)
    told = {"reason": signed, "actor": "carol", "is_ours": False}
    event = replace(event, details=event.details.model_copy(update=told))
    reading = PauseReading(pause, service.service_time)
    with begin(InMemoryStore(desk.world.database)) as transaction:
        place_event(transaction, event, EventContext(desk.world.clock.now(), reading), ())
    await desk.turns(5)

    (void,) = desk.world.shown(ALICE.user_id)
    assert void == (
        "acme/site no longer resumes automatically: carol changed its pause outside Slack. "
        f"It now says: {signed}"
    )
    (named,) = desk.world.pauses()
    assert (named.by_name, named.resumes_at) == ("carol", None)
    # It is told once.
    await desk.turns(30)
    assert len(desk.world.shown(ALICE.user_id)) == 1


@pytest.mark.parametrize("seconds", [-3, 3])
async def test_the_person_who_resumed_stays_named_if_the_clock_of_the_log_differs(
    seconds: float,
) -> None:
    desk = await paused()
    await desk.turns(10)
    await desk.resume(BOB)
    resumed_at = desk.world.service.service_time
    told_at = resumed_at + timedelta(seconds=seconds)
    ours = make_event(type_="queue.pause.delete", received_at=told_at)
    ours = replace(ours, details=ours.details.model_copy(update={"is_ours": True}))
    with begin(InMemoryStore(desk.world.database)) as transaction:
        context = EventContext(desk.world.clock.now(), PauseReading(None, resumed_at))
        route_pause_event(transaction, ours, context, ())
        acts = Audit(transaction).since(SITE, NOON, Action.RESUME)

    (pause,) = desk.world.pauses()
    assert pause.ended_by == BOB
    assert {act.actor for act in acts} == {BOB}


async def test_a_script_with_the_bots_key_is_not_taken_for_a_person_whose_request_failed() -> None:
    desk = await paused()
    desk.world.service.fail_next(MergeQueueUnavailable("slow down", status=429), method="resume")
    with pytest.raises(MergeQueueUnavailable):
        await desk.resume(BOB)
    ours = make_event(type_="queue.pause.delete", received_at=desk.world.service.service_time)
    ours = replace(ours, details=ours.details.model_copy(update={"is_ours": True}))
    with begin(InMemoryStore(desk.world.database)) as transaction:
        reading = PauseReading(None, desk.world.service.service_time)
        route_pause_event(transaction, ours, EventContext(desk.world.clock.now(), reading), ())

    (pause,) = desk.world.pauses()
    assert pause.ended_by != BOB


async def test_nobody_is_notified_for_a_pause_by_our_key_of_which_no_act_is_known() -> None:
    """A script has the bot's key, or a backup was restored since."""
    desk = await begun(None, OTHER)
    pause = Pause(reason="Deploying 4.2", paused_at=desk.world.clock.now())
    desk.world.service.pauses[SITE] = pause
    ours = make_event(type_="queue.pause.create", received_at=pause.paused_at)
    told = {"reason": pause.reason, "is_ours": True}
    ours = replace(ours, details=ours.details.model_copy(update=told))
    with begin(InMemoryStore(desk.world.database)) as transaction:
        context = EventContext(desk.world.clock.now(), PauseReading(pause, pause.paused_at))
        place_event(transaction, ours, context, ())
    await desk.turns(5)
    (card,) = desk.world.shown(OTHER)
    assert "By somebody in Slack" in card
    (known,) = desk.world.pauses()
    reminder = pause_reminders.reminder(known, desk.world.clock.now())
    assert "Asking this channel" in str(reminder.blocks)
    await desk.resume(BOB)
    await desk.turns(5)

    assert desk.world.shown("slack:somebody") == []


@pytest.mark.parametrize("keeps_time", [True, False])
async def test_a_new_end_with_the_same_reason_is_no_change_by_somebody_else(
    *, keeps_time: bool
) -> None:
    desk = await begun(World(keeps_time=keeps_time))
    await desk.pause(lasting=For(timedelta(minutes=30)))
    await desk.turns(60)
    before = desk.world.service.pauses[SITE]
    await desk.pause(replacing=before, lasting=For(timedelta(hours=2)))
    await desk.turns(60)
    await desk.resume(BOB)
    await desk.turns(60)

    card, *_ = desk.world.shown(CHANNEL)
    assert card.startswith("acme/site was paused · CI runners are down\nBy alice · Lasted 2 min")
    with begin(InMemoryStore(desk.world.database)) as transaction:
        acts = Audit(transaction).since(SITE, NOON, Action.PAUSE)
    assert {act.actor for act in acts} == {ALICE}


async def test_a_person_who_replaces_their_own_pause_elsewhere_gets_no_notification() -> None:
    desk = await begun()
    with begin(InMemoryStore(desk.world.database)) as transaction:
        People(transaction).link(ALICE.user_id, "Alice-on-host", NOON)
    await desk.pause()
    await desk.turns(5)
    desk.world.service.paused_by("alice-on-host", "Deploying 4.2")
    await desk.turns(30)
    assert desk.world.pauses()[0].line.reason == "Deploying 4.2"
    assert desk.world.shown(ALICE.user_id) == []


async def test_a_dashboard_change_of_reason_with_the_same_time_changes_the_one_card() -> None:
    desk = await begun(World(keeps_time=True), OTHER)
    desk.world.service.paused_by("carol", "Night")
    await desk.turns(240, seconds=5)
    desk.world.service.paused_by("dave", "Still night")
    await desk.turns(15)

    card, line = desk.world.shown(OTHER)
    assert card.startswith("acme/site is paused · Still night\nBy carol · With dave since")
    assert line.startswith("dave changed why acme/site is paused")
    assert len(desk.world.pauses()) == 1


async def test_a_dashboard_change_of_reason_with_a_new_time_changes_the_one_card() -> None:
    desk = await begun(None, OTHER)
    desk.world.service.paused_by("carol", "Night")
    await desk.turns(15)
    desk.world.service.paused_by("dave", "Still night")
    await desk.turns(15)

    card, line = desk.world.shown(OTHER)
    assert card.startswith("acme/site is paused · Still night\nBy carol · With dave since")
    assert "Previous reason: Night" in card
    assert line.startswith("dave changed why acme/site is paused")
    (pause,) = desk.world.pauses()
    assert pause.since < pause.line.paused_at


async def test_each_change_of_a_persons_pause_notifies_them() -> None:
    desk = await begun(None, OTHER)
    for day in ("Monday", "Tuesday"):
        await desk.pause(day, replacing=desk.world.service.pauses.get(SITE))
        await desk.turns(5)
        desk.world.service.paused_by("carol", f"Night of {day}")
        await desk.turns(15)

    assert [text.partition("It now says: ")[2] for text in desk.world.shown(ALICE.user_id)] == [
        "Night of Monday\nReason was: Monday",
        "Night of Tuesday\nReason was: Tuesday",
    ]


async def test_the_person_whose_end_is_void_is_told_once() -> None:
    desk = await begun(None, OTHER)
    await desk.pause()
    caller = Caller(BOB, Origin.BUTTON, CHANNEL)
    await desk.pausing.extend(caller, SITE, For(timedelta(hours=1)))
    await desk.turns(5)
    desk.world.service.paused_by("carol", "Night")
    await desk.turns(20)

    (told,) = desk.world.shown(BOB.user_id)
    assert "acme/site no longer resumes automatically" in told
    assert "It now says: Night" in told
    extended, told = desk.world.shown(ALICE.user_id)
    assert extended.startswith("bob changed the end of your pause of acme/site to ")
    assert told.startswith("carol changed your pause of acme/site outside Slack.")
    (pause,) = desk.world.pauses()
    assert pause.timer is None


async def test_a_reason_that_nobody_read_and_the_log_tells_of_late_is_of_the_one_pause() -> None:
    desk = await begun(None, OTHER)
    desk.world.service.paused_by("carol", "Night")
    desk.world.clock.advance(2)
    desk.world.service.paused_by("dave", "Still night")
    desk.world.clock.advance(70)
    await desk.watch()
    await desk.turns(15)

    (pause,) = desk.world.pauses()
    assert (pause.line.reason, pause.by_name) == ("Still night", "dave")
    assert pause.line.paused_at - pause.since >= timedelta(seconds=1)


async def test_a_pause_of_the_second_in_which_its_own_reading_ends_another_is_a_change_of_it() -> (
    None
):
    desk = await begun(World(is_silent=True))
    await desk.subscribe(OTHER)
    await desk.pause()
    await desk.turns(40)
    desk.world.service.resumed_by("dave")
    # Only the reading before the request of the pause proves the end.
    await desk.turns(3, seconds=15)
    await desk.pause("Deploying", BOB)
    await desk.turns(3)

    card, entry = desk.world.shown(OTHER)
    assert card.startswith("acme/site is paused · Deploying\n")
    assert entry == (
        "bob changed why acme/site is paused · Deploying\nReason was: CI runners are down"
    )


async def test_a_reason_that_the_log_alone_told_of_has_the_services_time_once_it_is_read() -> None:
    desk = await begun(World(), OTHER)
    desk.world.service.paused_by("carol", "Database migration")
    await desk.turns(40)
    desk.world.hides_pause = True
    changed = desk.world.service.paused_by("carol", "Deploying")
    desk.world.clock.advance(15)
    await desk.turns(14, seconds=15)
    (ended,) = desk.world.pauses()
    assert not ended.is_open
    desk.world.hides_pause = False
    await desk.turns(14, seconds=15)

    (pause,) = desk.world.pauses()
    assert pause.is_open
    assert pause.line.paused_at == changed.paused_at
    assert pause.by_name == "carol"
    assert "is still paused" in desk.world.shown(OTHER)[-1]


async def test_an_unchanged_pause_causes_only_reads() -> None:
    desk = await begun()
    await desk.pause()
    await desk.turns(70)
    before = len(desk.world.poster.calls)
    asked = len(desk.world.service.called("current_pause"))
    await desk.turns(60)

    assert len(desk.world.poster.calls) == before
    assert len(desk.world.service.called("current_pause")) <= asked + 7


async def test_a_pull_request_that_joined_and_left_counts_as_joined() -> None:
    desk = await paused()
    desk.world.clock.advance(1)
    desk.world.enqueue(41)
    await desk.turns(70)
    desk.world.service.statuses[SITE] = make_status()
    desk.world.enqueue(42)
    await desk.turns(70)
    assert [pause.queue.added for pause in desk.world.pauses()] == [2]


async def test_the_record_counts_what_merges_since_of_those_that_waited() -> None:
    desk = await begun()
    desk.world.enqueue(41, 42)
    desk.world.clock.advance(1)
    await desk.pause()
    await desk.turns(15)
    await desk.resume()
    await desk.turns(15)
    record, _ = desk.world.shown()
    assert "2 pull requests waited" in record
    assert "merged" not in record

    for number in (41, 43):
        desk.world.log("action.queue.merged", number)
    await desk.turns(30)
    assert "1 of them merged since, the last 2026-07-20 12:00 UTC" in desk.world.shown()[0]
    desk.world.log("action.queue.merged", 42)
    await desk.turns(30)
    assert "All of them merged since, the last 2026-07-20 12:01 UTC" in desk.world.shown()[0]


async def test_the_record_is_final_four_hours_after_the_pause() -> None:
    desk = await begun()
    desk.world.enqueue(41, 42)
    desk.world.clock.advance(1)
    await desk.pause()
    await desk.turns(15)
    await desk.resume()
    desk.world.log("action.queue.merged", 41)
    await desk.turns(30)
    desk.world.clock.advance(4 * 3600)
    desk.world.log("action.queue.merged", 42)
    await desk.turns(30)

    assert "1 of them merged since" in desk.world.shown()[0]


async def test_an_unreadable_paused_queue_is_read_no_more_often_than_others() -> None:
    desk = await begun()
    await desk.pause()
    for _ in range(60):
        desk.world.service.fail_next(MergeQueueUnavailable("down"), method="status")
    asked = len(desk.world.service.called("status"))
    await desk.turns(60)
    assert 1 <= len(desk.world.service.called("status")) - asked <= 7


async def test_a_closed_card_that_was_deleted_stays_deleted() -> None:
    desk = await paused()
    desk.world.poster.deleted.update(message.ts for message in desk.world.poster.history)
    await desk.resume()
    await desk.turns(5)

    (line,) = desk.world.shown()
    assert line.startswith("acme/site has resumed")


async def test_an_edit_limited_often_is_made_soon_after_a_failure() -> None:
    desk = await paused()
    for _ in range(8):
        desk.world.poster.fail_next(PostPostponed("ratelimited", retry_after=1), method="update")
    desk.world.poster.fail_next(PostPostponed("not_connected"), method="update")
    await desk.resume()
    await desk.turns(30)

    assert desk.world.shown()[0].startswith("acme/site was paused")


async def test_a_first_post_found_later_is_as_it_was_when_sent() -> None:
    desk = await begun(World(is_silent=True))
    desk.world.poster.fail_next(PostInDoubt("ServerDisconnectedError"), after=True)
    await desk.pause()
    await desk.post()
    await desk.watch()
    assert not desk.world.shown()[0].endswith("queued)")

    await desk.turns(40)
    (card,) = desk.world.shown()
    assert card.endswith("\n0 queued")


async def test_an_edit_in_doubt_is_repeated() -> None:
    desk = await paused()
    desk.world.poster.fail_next(PostInDoubt("TimeoutError"), method="update", after=True)
    desk.world.poster.fail_next(PostInDoubt("TimeoutError"), method="update")
    await desk.resume()
    await desk.turns(10)

    assert desk.world.shown()[0].startswith("acme/site was paused")
    assert all(card.wanted == card.shown and card.failures == 0 for card in cards(desk))


async def test_with_rejected_blocks_the_text_remains() -> None:
    desk = await paused()
    desk.world.poster.fail_next(PostRefused("invalid_blocks", Refusal.MESSAGE), method="update")
    await desk.resume()
    await desk.turns(3)

    card = desk.world.poster.history[0]
    assert card.message.text.startswith("acme/site was paused")
    assert card.message.blocks == ()


async def test_an_archived_channel_is_tried_less_and_less_often() -> None:
    """Edits of all channels share one rate: those that are refused leave it to the others."""
    desk = await paused()
    desk.world.poster.closed[CHANNEL] = "is_archived"
    await desk.resume()
    await desk.turns(10)
    asked = []
    for _ in range(3):
        before = len(desk.world.poster.called("update"))
        for _ in range(120):
            desk.world.clock.advance(60)
            await desk.edit()
        asked.append(len(desk.world.poster.called("update")) - before)
    assert asked == [7, 4, 4]

    desk.world.poster.closed.clear()
    desk.world.clock.advance(30 * 60)
    await desk.edit()
    assert desk.world.shown()[0].startswith("acme/site was paused")


async def test_only_one_process_edits() -> None:
    one = await paused()
    other = Desk(one.world, "other")
    await one.resume()
    await one.edit()
    edits = len(one.world.poster.called("update"))
    await other.edit()

    assert len(one.world.poster.called("update")) == edits


async def test_only_the_process_that_polls_watches_pauses() -> None:
    one = await begun()
    other = Desk(one.world, "other")
    await one.pause()
    await one.turns(3)
    asked = len(one.world.service.called("current_pause"))
    await other.watch()
    assert len(one.world.service.called("current_pause")) == asked

    await one.polls.release()
    await other.watch()
    await one.watch()
    assert len(one.world.service.called("current_pause")) == asked + 1


async def test_an_invisible_change_causes_no_edit() -> None:
    """The service's own record of an act tells nothing new."""
    desk = await begun(None, CHANNEL)
    await desk.pause()
    await desk.watch()
    desk.world.clock.advance(1)
    await desk.watch()
    await desk.turns(20)

    assert desk.world.pauses()[0].line.event_id is not None
    assert len(desk.world.poster.history) == 1
    assert desk.world.poster.called("update") == []


async def test_when_edits_are_slow_fewer_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """To read what is to be edited takes a second for each card."""
    desk = await begun(None, *(f"C0X{number:02}" for number in range(CLAIMED_EDITS)))
    await desk.pause()
    await desk.turns(30)
    due = LiveMessages.due

    def take_long(cards: LiveMessages, now: datetime, limit: int) -> Sequence[LiveMessage]:
        found = due(cards, now, limit)
        desk.world.clock.advance(len(found))
        return found

    monkeypatch.setattr(LiveMessages, "due", take_long)
    await desk.resume(BOB)
    await desk.turns(60)

    assert len(cards(desk)) > CLAIMED_EDITS
    assert all(card.closed and card.wanted == card.shown for card in cards(desk))


async def test_a_card_posted_after_its_pause_ended_is_a_record_at_once() -> None:
    """Paused on the dashboard and resumed through the bot before its event was read."""
    desk = Desk()
    await desk.subscribe(CHANNEL)
    await desk.turns(1)
    desk.world.service.paused_by("carol", "Night")
    desk.world.clock.advance(1)
    await desk.resume(BOB)
    await desk.turns(15)

    (card,) = desk.world.database.contents.live_messages.values()
    assert card.closed
    assert [text.partition("\n")[0] for text in desk.world.shown()] == [
        "acme/site was paused · Night",
        "acme/site has resumed",
    ]


async def test_a_card_that_cannot_be_rendered_delays_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = World()
    edits = RefreshLiveMessages(
        InMemoryStore(world.database),
        world.poster,
        world.clock,
        lambda _=0: None,
        "one",
        lambda: 0,
        RENDERERS,
    )
    now = world.clock.now()
    for repository in (SITE, API):
        ts = (await world.poster.post(CHANNEL, Message("Was posted"), repository)).ts
        with begin(InMemoryStore(world.database)) as transaction:
            pause_id = Pauses(transaction).save(PauseRecord(repository, PauseLine(now, "CI", "CI")))
            name = LiveSubject(LiveKind.PAUSE, repository, str(pause_id))
            card_id = LiveMessages(transaction).add(name, CHANNEL, now=now)
            assert card_id is not None
            LiveMessages(transaction).posted(card_id, ts, 0)
    real = pause_card.card

    def broken(record: PauseRecord, *others: Any) -> Message:
        if record.repository == SITE:
            raise KeyError("a defect")
        return real(record, *others)

    monkeypatch.setattr(pause_card, "card", broken)

    await edits.run()

    untouched, edited = world.shown(CHANNEL)
    assert untouched == "Was posted"
    assert edited.startswith("acme/api is paused")
    logged = [vars(event).get("action") for event in caplog.records if event.levelname == "ERROR"]
    assert logged == ["not_rendered"]


async def test_a_database_failure_loses_no_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OperationalError("SELECT", {}, sqlite3.OperationalError("disk I/O error"))

    desk = await paused()
    await desk.resume()
    with monkeypatch.context() as failing:
        failing.setattr(Pauses, "get", fail)
        with pytest.raises(StoreUnavailable):
            await desk.edit()

    await desk.turns(5)

    assert desk.world.shown()[0].startswith("acme/site was paused")
