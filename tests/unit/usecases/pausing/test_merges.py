"""What merges after the pauses of a group is counted on the group's record."""

from dataclasses import replace
from datetime import timedelta

from bot.acts.group_act import GroupOutcome, RepositoryResult
from bot.acts.group_acts import GroupActs
from bot.kernel.repository import RepositoryName
from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import MERGED
from bot.pauses.group_pauses import shown_group
from bot.pauses.history import shown_pause
from bot.pauses.merges import mark_records
from bot.pauses.pause import PausedQueue, PauseEnd, PauseLine, PauseRecord
from bot.pauses.rows import Pauses
from bot.posts.live_messages import LiveMessages
from bot.runtime.renderers import RENDERERS
from tests.support.clock import NOON
from tests.support.make import API, CHANNEL, SITE, make_event_record
from tests.support.messages.groups import make_group_act
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

ENDED_AT = NOON + timedelta(minutes=40)
MERGED_AT = ENDED_AT + timedelta(minutes=9)
LATER = MERGED_AT + timedelta(seconds=3)


def ended(repository: RepositoryName, waited: set[int], group_act_id: int) -> PauseRecord:
    return PauseRecord(
        repository,
        PauseLine(NOON, "freeze", "freeze", group_act_id=group_act_id),
        queue=PausedQueue(len(waited), waited=frozenset(waited)),
        end=PauseEnd(ENDED_AT),
    )


def merge_of(repository: RepositoryName, number: int) -> EventRecord:
    return make_event_record(
        MERGED, event_id=number, repository=repository, pull_request=number, received_at=MERGED_AT
    )


def test_a_groups_record_counts_what_merges_since_in_all_its_queues() -> None:
    both = [RepositoryResult(name, GroupOutcome.CHANGED) for name in (SITE, API)]
    act = replace(make_group_act(*both), group_act_id=0)
    with begin(InMemoryStore()) as transaction:
        act = replace(act, group_act_id=GroupActs(transaction).save(act))
        for name, waited in ((SITE, {41, 42}), (API, {41, 43})):
            Pauses(transaction).save(ended(name, waited, act.group_act_id))
        shown = shown_group(act)
        LiveMessages(transaction).add(shown, CHANNEL, now=NOON, closed=True)
        merges = [merge_of(SITE, 42), merge_of(API, 42), merge_of(API, 41)]
        Events(transaction).add_new(merges)
        (before,) = LiveMessages(transaction).of(shown)
        mark_records(transaction, [merge_of(API, 42)], LATER)
        (unmarked,) = LiveMessages(transaction).of(shown)
        mark_records(transaction, [merge_of(API, 41), merge_of(API, 42)], LATER)

        (marked,) = LiveMessages(transaction).of(shown)
        message = RENDERERS.render(transaction, [shown]).messages[shown]

    assert unmarked.wanted == before.wanted
    assert marked.wanted == before.wanted + 1
    assert "4 pull requests waited" in message.text
    assert "2 of them merged since, the last 2026-07-20 12:49 UTC" in message.text


def test_a_merge_that_is_read_late_counts_by_when_it_was_made() -> None:
    """The bot was down meanwhile, for longer than merges are counted after a pause."""
    with begin(InMemoryStore()) as transaction:
        pause = ended(SITE, {41}, 0)
        pause = replace(pause, pause_id=Pauses(transaction).save(pause))
        shown = shown_pause(pause)
        LiveMessages(transaction).add(shown, CHANNEL, now=NOON, closed=True)
        Events(transaction).add_new([merge_of(SITE, 41)])
        (before,) = LiveMessages(transaction).of(shown)

        mark_records(transaction, [merge_of(SITE, 41)], ENDED_AT + timedelta(hours=30))

        (marked,) = LiveMessages(transaction).of(shown)
        message = RENDERERS.render(transaction, [shown]).messages[shown]

    assert marked.wanted == before.wanted + 1
    assert "1 pull request waited · It merged 2026-07-20 12:49 UTC" in message.text
