"""Nothing grows for ever: each table is pruned, or says why it needn't be."""

from dataclasses import replace
from datetime import timedelta

from bot.freezes.freeze import Freeze, Told
from bot.freezes.rows import Freezes
from bot.health.alert import Alert, AlertKind
from bot.health.rows import Alerts
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import FreezeAttributes
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses, ResumeWatchers
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.runtime.upkeep.pruning import KEPT, RULES, Upkeep
from bot.store.coordination import Leases
from bot.store.schema import metadata
from bot.store.transaction import Transaction
from tests.support.make import make_known_pause, saying
from tests.support.stored import NOW, SHOP, SITE, after

LATER = after(60)
UNREADABLE = Freeze(SITE, None, FreezeAttributes(start="one fine day"), "alice", Told(1, 1, NOW))
IN_FORCE = Freeze(SITE, None, FreezeAttributes(start=NOW.isoformat()), "alice", Told(2, 2, NOW))


def test_every_table_has_a_rule_or_a_reason_to_be_kept() -> None:
    pruned = {rule.table for rule in RULES}
    assert pruned | set(KEPT) == set(metadata.tables.values())
    assert not pruned & set(KEPT)


def leave_open(transaction: Transaction, repository: RepositoryName) -> PauseRecord:
    """A pause that somebody waits for, its card, a freeze and an alert, none of them over."""
    pause = replace(saying(make_known_pause(), paused_at=NOW), repository=repository)
    pause = replace(pause, pause_id=Pauses(transaction).save(pause))
    ResumeWatchers(transaction).add(pause.pause_id, "U1")
    card = LiveSubject(LiveKind.PAUSE, repository, str(pause.pause_id))
    LiveMessages(transaction).add(card, "C1", now=NOW)
    Freezes(transaction).save(replace(IN_FORCE, repository=repository))
    Alerts(transaction).begin(Alert(repository, AlertKind.HEAD, 5460, 5400, NOW, 41))
    return pause


def test_what_is_open_goes_only_with_a_repository_that_is_no_longer_configured(
    transaction: Transaction,
) -> None:
    gone = leave_open(transaction, SHOP)
    stays = leave_open(transaction, SITE)
    assert not any(Upkeep(transaction).prune(LATER).values())
    assert not any(Upkeep(transaction).prune(LATER, managed=[SHOP, SITE]).values())

    deleted = {
        name: count
        for name, count in Upkeep(transaction).prune(LATER, managed=[SITE]).items()
        if count
    }

    assert deleted == dict.fromkeys(
        ("alerts", "freezes", "live_messages", "pauses", "resume_watchers"), 1
    )
    assert list(Pauses(transaction).get([gone.pause_id, stays.pause_id])) == [stays.pause_id]
    assert [freeze.repository for freeze in Freezes(transaction).of([SITE, SHOP])] == [SITE]


def test_a_freeze_with_unreadable_times_is_deleted_when_it_is_old(transaction: Transaction) -> None:
    Freezes(transaction).save(UNREADABLE)
    in_force = Freezes(transaction).save(IN_FORCE)
    assert Upkeep(transaction).prune(NOW)["freezes"] == 0
    assert Upkeep(transaction).prune(LATER)["freezes"] == 1
    assert Freezes(transaction).of([SITE]) == [in_force]


def test_locks_of_old_acts_are_deleted(transaction: Transaction) -> None:
    for number, name in enumerate(["act:group 1", "act:acme/site", "poll", "post"]):
        Leases(transaction).claim(
            name, holder="one", now=after(number), lifetime=timedelta(seconds=1)
        )
    assert Upkeep(transaction).prune(NOW)["leases"] == 0
    assert Upkeep(transaction).prune(LATER)["leases"] == 2


def test_a_bisection_without_an_end_loses_its_messages(transaction: Transaction) -> None:
    for kind in (LiveKind.BISECTION, LiveKind.PAUSE):
        LiveMessages(transaction).add(LiveSubject(kind, SITE, "1"), "C1", now=NOW)
    assert Upkeep(transaction).prune(NOW + timedelta(days=1))["live_messages"] == 1
