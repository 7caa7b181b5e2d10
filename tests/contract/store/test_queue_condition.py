"""Alerts about queues, and failures in a row."""

from dataclasses import replace

from bot.health.alert import Alert, AlertKind, FailureStreak
from bot.health.rows import Alerts
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
from tests.support.stored import NOW, SHOP, SITE, after

HEAD = Alert(SITE, AlertKind.HEAD, 5460, 5400, NOW, 41)
BATCH = Alert(SITE, AlertKind.BATCH, 3601, 3600, NOW, 41, "B\N{SNOWMAN}12")


def begin_alerts(transaction: Transaction, *alerts: Alert) -> list[int | None]:
    return [Alerts(transaction).begin(alert) for alert in alerts]


def test_an_alert_lasts_until_it_is_ended_once(transaction: Transaction) -> None:
    first, again, second = begin_alerts(transaction, HEAD, HEAD, BATCH)
    # One of each kind in a repository.
    assert again is None
    assert first is not None
    assert second is not None
    kept = Alerts(transaction)
    assert kept.active(SITE) == [replace(HEAD, alert_id=first), replace(BATCH, alert_id=second)]
    assert kept.active(SHOP) == []
    assert kept.end(first, after(60))
    assert not kept.end(first, after(61))
    assert kept.active(SITE) == [replace(BATCH, alert_id=second)]
    assert kept.get([first, second, 99]) == {
        first: replace(HEAD, alert_id=first, ended_at=after(60)),
        second: replace(BATCH, alert_id=second),
    }
    assert Upkeep(transaction).prune(after(60))["alerts"] == 0
    assert Upkeep(transaction).prune(after(61))["alerts"] == 1
    assert list(kept.get([first, second])) == [second]
    later, elsewhere = begin_alerts(transaction, HEAD, replace(HEAD, repository=SHOP))
    assert len({first, second, later, elsewhere, None}) == 5


def test_a_streak_is_kept_by_repository(transaction: Transaction) -> None:
    assert Alerts(transaction).streak(SITE) == FailureStreak()
    Alerts(transaction).save_streak(SITE, FailureStreak((41,)))
    Alerts(transaction).save_streak(SITE, FailureStreak((41, 40)))
    Alerts(transaction).save_streak(SHOP, FailureStreak((*range(6), 43)))
    assert Alerts(transaction).streak(SITE) == FailureStreak((41, 40))
    assert Alerts(transaction).streak(SHOP) == FailureStreak((*range(6), 43))


def test_forgotten_alerts_end_and_counting_starts_over(transaction: Transaction) -> None:
    kept, gone = begin_alerts(transaction, replace(HEAD, repository=SHOP), HEAD)
    assert kept is not None
    assert gone is not None
    over = Alerts(transaction).begin(BATCH)
    assert over is not None
    assert Alerts(transaction).end(over, after(1))
    for each in (SITE, SHOP):
        Alerts(transaction).save_streak(each, FailureStreak((1, 2, 41)))
    Alerts(transaction).forget([SITE], after(5))
    condition = Alerts(transaction)
    assert condition.active(SITE) == []
    ended = condition.get([gone, over])
    assert (ended[gone].ended_at, ended[over].ended_at) == (after(5), after(1))
    assert condition.streak(SITE) == FailureStreak()
    assert [alert.alert_id for alert in condition.active(SHOP)] == [kept]
    assert condition.streak(SHOP) == FailureStreak((1, 2, 41))
