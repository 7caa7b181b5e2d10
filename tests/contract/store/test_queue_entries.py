"""Queue entries, bisections, and first posts that were summarized."""

from dataclasses import replace
from datetime import timedelta

from bot.feed.rows import Bisections, QueueEntries
from bot.feed.threads import Bisection, QueueEntry
from bot.posts.delivery import NewDelivery, Subject, SubjectKind, summary_id
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
from tests.support.stored import NOW, SHOP, SITE, after

STAY = QueueEntry(SITE, "41-7", 41, None, NOW, after(5), entered=True)
SPLIT = Bisection(SITE, "7", "b-1", frozenset({41, 42}), NOW, 7)


def test_a_queue_entry_comes_back_as_it_was_last_saved(transaction: Transaction) -> None:
    ended = replace(STAY, session_id="s-1", ended_at=after(9), last_at=after(9))
    other = replace(STAY, key="42-8", pull_request=42)
    elsewhere = replace(STAY, repository=SHOP)
    QueueEntries(transaction).save([STAY, other, elsewhere])
    QueueEntries(transaction).save([ended])
    QueueEntries(transaction).save([])
    stays = QueueEntries(transaction)
    assert stays.of(SITE, [41], NOW) == [ended]
    assert stays.of(SITE, [41, 42], after(6)) == [ended]
    assert stays.of(SITE, [], NOW) == []
    found = [stays.one(SITE, key) for key in ("41-7", "42-8", "none")]
    assert found == [ended, other, None]


def test_old_queue_entries_are_deleted(transaction: Transaction) -> None:
    later = replace(STAY, key="41-9", last_at=after(60))
    QueueEntries(transaction).save([STAY, later])
    assert Upkeep(transaction).prune(after(30))["queue_entries"] == 1
    assert QueueEntries(transaction).one(SITE, "41-7") is None
    assert QueueEntries(transaction).one(SITE, "41-9") == later


def test_a_first_post_that_was_summarized_loses_its_card(transaction: Transaction) -> None:
    ids: list[int] = []
    new: list[NewDelivery] = []
    for number in range(4):
        name = LiveSubject(LiveKind.ENTRY, SITE, f"{number}-1")
        card_id = LiveMessages(transaction).add(name, "C1", now=NOW)
        assert card_id is not None
        ids.append(card_id)
        subject = Subject(SubjectKind.LIVE_MESSAGE, SITE, card_id)
        new.append(NewDelivery(f"d{number}", "C1", subject, NOW))
    Outbox(transaction).add(new[:3])
    Outbox(transaction).add([replace(new[3], channel_id="C2")])
    assert LiveMessages(transaction).lose_summarized("none") == 0
    assert Outbox(transaction).summarize(now=after(1), longer_than=2, at_most=100) == 2
    assert LiveMessages(transaction).lose_summarized(summary_id("d0", "d2")) == 3
    assert LiveMessages(transaction).lose_summarized(summary_id("d0", "d2")) == 0
    lost = {each: card.is_lost for each, card in LiveMessages(transaction).get(ids).items()}
    assert [lost[each] for each in ids] == [True, True, True, False]


def test_a_queue_entry_without_events_loses_its_cards(transaction: Transaction) -> None:
    for kind in (LiveKind.ENTRY, LiveKind.PAUSE):
        LiveMessages(transaction).add(LiveSubject(kind, SITE, "1"), "C1", now=NOW)
    assert Upkeep(transaction).prune(NOW + timedelta(days=1))["live_messages"] == 1


def test_a_bisection_comes_back_as_it_was_last_saved(transaction: Transaction) -> None:
    ended = replace(SPLIT, last_at=after(9), latest_event_id=9, ended_at=after(9))
    other = replace(SPLIT, key="8", batch_id=None, pull_requests=frozenset())
    Bisections(transaction).save([SPLIT, other, replace(SPLIT, repository=SHOP)])
    Bisections(transaction).save([ended])
    Bisections(transaction).save([])
    saved = Bisections(transaction)
    assert saved.since(SITE, after(9)) == [ended]
    assert {one.key for one in saved.since(SITE, NOW)} == {"7", "8"}
    assert saved.since(SITE, after(10)) == []
    found = [saved.one(SITE, key) for key in ("7", "8", "none")]
    assert found == [ended, other, None]
