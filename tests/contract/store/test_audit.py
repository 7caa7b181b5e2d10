"""The audit: who did what, and the state before."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.acts.record import (
    Action,
    ActResult,
    AuditPosition,
    AuditRecord,
    AuditSelection,
    Circumstance,
    Confirmation,
    Outcome,
    PartOfGroup,
    Previous,
    SettingChange,
    Where,
)
from bot.acts.rows import REFUSALS_SHOWN, Audit
from bot.kernel.actor import Origin
from bot.kernel.repository import RepositoryName
from bot.runtime.upkeep.pruning import Upkeep
from bot.store.transaction import Transaction
from tests.support.stored import SHOP, SITE, after, make_record


def test_a_record_comes_back_with_its_id(transaction: Transaction) -> None:
    record = replace(
        make_record(),
        previous=Previous("before \N{SNOWMAN}", after(-90)),
        outcome=Outcome("409 conflict: \N{SNOWMAN}", "503"),
        setting=SettingChange("", "enter merge"),
    )
    first = Audit(transaction).add(record)
    second = Audit(transaction).add(make_record(act_id=first))
    found = Audit(transaction).get([first, second, 999])
    assert Audit(transaction).get([]) == {}

    assert first < second
    assert found == {
        first: replace(record, record_id=first),
        second: replace(make_record(act_id=first), record_id=second),
    }


def test_refusals_of_one_person_act_and_minute_are_one_row_that_counts(
    transaction: Transaction,
) -> None:
    refused = replace(make_record(result=ActResult.REFUSED), at=after(0).replace(second=0))
    other = replace(refused, actor=replace(refused.actor, user_id="U0OTHER"))
    Audit(transaction).add(replace(refused, result=ActResult.DONE))
    for second in range(30):
        moment = refused.at + timedelta(seconds=second)
        Audit(transaction).add_refusal(replace(refused, at=moment, reason="x" * second))
        Audit(transaction).add_refusal(replace(other, at=moment))
    Audit(transaction).add_refusal(replace(refused, action=Action.RESUME))
    Audit(transaction).add_refusal(replace(refused, at=refused.at + timedelta(minutes=1)))
    found = Audit(transaction).since(SITE, refused.at)
    told = sorted((act.actor.user_id, act.action, act.result, act.times) for act in found)
    mine = refused.actor.user_id
    assert told == sorted(
        [
            (mine, Action.PAUSE, ActResult.DONE, 1),
            (mine, Action.PAUSE, ActResult.REFUSED, 30),
            ("U0OTHER", Action.PAUSE, ActResult.REFUSED, 30),
            (mine, Action.RESUME, ActResult.REFUSED, 1),
            (mine, Action.PAUSE, ActResult.REFUSED, 1),
        ]
    )


def test_a_refusal_is_counted_only_with_refusals_of_the_same(transaction: Transaction) -> None:
    refused = replace(make_record(result=ActResult.REFUSED), at=after(0).replace(second=0))
    declined = replace(refused, outcome=Outcome(circumstance=Circumstance.DECLINED))
    proposal = Confirmation("", asked_by=refused.actor, answers=7)
    different = [
        refused,
        replace(refused, repository=SHOP),
        replace(refused, pull_request=41),
        replace(refused, setting=SettingChange("", "alice")),
        replace(refused, group=PartOfGroup("release")),
        replace(refused, where=Where(Origin.TIMER)),
        replace(refused, confirmation=proposal),
    ]
    answer = Audit(transaction).add(declined)
    for record in (*different, *different):
        Audit(transaction).add_refusal(record)
    found = Audit(transaction).newest(AuditSelection(), 100)

    stored = [replace(record, record_id=0) for record in found]
    assert stored == [replace(record, times=2) for record in reversed(different)] + [declined]
    assert found[-1].record_id == answer


def test_many_different_refusals_of_one_person_fill_no_audit(transaction: Transaction) -> None:
    refused = replace(make_record(result=ActResult.REFUSED), at=after(0).replace(second=0))
    for number in range(3 * REFUSALS_SHOWN):
        login = SettingChange("", f"alice-{number}")
        Audit(transaction).add_refusal(replace(refused, setting=login))
    others, *shown = Audit(transaction).newest(AuditSelection(), 100)

    assert [record.times for record in shown] == [1] * REFUSALS_SHOWN
    assert others.times == 2 * REFUSALS_SHOWN
    assert (others.actor, others.action, others.result) == (
        refused.actor,
        refused.action,
        ActResult.REFUSED,
    )
    # It is about none of them.
    assert (others.repository, others.setting, others.reason) == ("", SettingChange(), None)


def test_all_records_since_a_time_come_oldest_first(transaction: Transaction) -> None:
    late = Audit(transaction).add(make_record(at=after(2), result=ActResult.FAILED))
    early = Audit(transaction).add(make_record(at=after(1), action=Action.RESUME))
    Audit(transaction).add(make_record(at=after(0.999999)))
    Audit(transaction).add(make_record(at=after(3), repository=SHOP))
    since = Audit(transaction).since(SITE, after(1))

    assert [record.record_id for record in since] == [early, late]


def fill(transaction: Transaction, *records: AuditRecord) -> list[int]:
    return [Audit(transaction).add(record) for record in records]


def read_in_pages(
    page_at: Callable[[AuditPosition | None], Sequence[AuditRecord]], limit: int
) -> list[int]:
    """The ids, read page after page of `limit`."""
    found: list[AuditRecord] = []
    while page := page_at(found[-1].position if found else None):
        assert len(page) <= limit
        found += page
    return [record.record_id for record in found]


def newest(transaction: Transaction, selection: AuditSelection, limit: int = 10) -> list[int]:
    read = Audit(transaction).newest
    return read_in_pages(lambda place: read(selection, limit, before=place), limit)


def oldest(transaction: Transaction, selection: AuditSelection, limit: int = 10) -> list[int]:
    read = Audit(transaction).oldest
    return read_in_pages(lambda place: read(selection, limit, after=place), limit)


@pytest.mark.parametrize("limit", [1, 2, 10])
def test_pages_follow_time_and_leave_nothing_out(transaction: Transaction, limit: int) -> None:
    late, first, second, shop = fill(
        transaction,
        make_record(at=after(5)),
        make_record(at=after(1)),
        make_record(at=after(1)),
        make_record(at=after(3), repository=SHOP),
    )

    everything = AuditSelection()
    assert oldest(transaction, everything, limit) == [first, second, shop, late]
    assert newest(transaction, everything, limit) == [late, shop, second, first]
    of_site = AuditSelection(repository=SITE)
    assert oldest(transaction, of_site, limit) == [first, second, late]
    since = AuditSelection(repository=SITE, since=after(1.5))
    assert newest(transaction, since, limit) == [late]
    assert newest(transaction, AuditSelection(since=after(3)), limit) == [late, shop]


def test_starts_are_left_out_once_their_outcome_is_known(transaction: Transaction) -> None:
    ended, cut_short = fill(
        transaction,
        make_record(at=after(1), result=ActResult.STARTED),
        make_record(at=after(2), result=ActResult.STARTED),
    )
    [end] = fill(transaction, make_record(at=after(3), act_id=ended))

    assert newest(transaction, AuditSelection(ends_only=True)) == [end, cut_short]
    assert newest(transaction, AuditSelection()) == [end, cut_short, ended]


def test_only_old_refusals_are_deleted(transaction: Transaction) -> None:
    refused = Audit(transaction).add(make_record(at=after(1), result=ActResult.REFUSED))
    done = Audit(transaction).add(make_record(at=after(1)))
    asked = Audit(transaction).add(make_record(at=after(1), result=ActResult.REFUSED, act_id=done))
    late = Audit(transaction).add(make_record(at=after(3), result=ActResult.REFUSED))
    assert Upkeep(transaction).prune(after(3))["audit"] == 1
    assert Upkeep(transaction).prune(after(3))["audit"] == 0
    found = Audit(transaction).get([refused, done, asked, late])
    assert sorted(found) == [done, asked, late]


def test_that_a_person_refused_a_proposal_is_kept_like_the_proposal(
    transaction: Transaction,
) -> None:
    declined = make_record(at=after(1), result=ActResult.REFUSED).under(Circumstance.DECLINED)
    answer = Audit(transaction).add(declined)
    assert Upkeep(transaction).prune(after(3))["audit"] == 0
    assert list(Audit(transaction).get([answer])) == [answer]


def test_the_records_of_an_act_on_a_group_come_together(transaction: Transaction) -> None:
    def part(seconds: float, group_act_id: int, repository: RepositoryName = SITE) -> AuditRecord:
        record = make_record(at=after(seconds), repository=repository)
        return replace(record, group=PartOfGroup("release", group_act_id))

    parts = [part(2, 7, SHOP), part(1, 7), part(1, 8), make_record(at=after(1)), part(0.5, 7)]
    added = [Audit(transaction).add(record) for record in parts]
    found = Audit(transaction).of_group_act(7, after(1))
    assert [act.record_id for act in found] == [added[1], added[0]]
