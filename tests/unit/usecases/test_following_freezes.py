"""What the cards of freezes say when events are read, and what is posted about a group's."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bot.acts.group_act import GroupAct, GroupOutcome, RepositoryResult
from bot.acts.group_acts import GroupActs
from bot.acts.record import Action
from bot.freezes.following import notify_of_stage, save, see_freeze_event, shown_freeze
from bot.freezes.freeze import Freeze, Stage, Told, advanced
from bot.freezes.rows import Freezes
from bot.kernel.actor import Origin
from bot.kernel.repository import RepositoryName
from bot.log.types import FREEZE_CREATE, FREEZE_DELETE, FREEZE_UPDATE
from bot.merge_queue.event_records import FreezeAttributes
from bot.pauses.group_pauses import notify_together, shown_group
from bot.posts.delivery import SubjectKind
from bot.posts.live_messages import LiveMessages
from bot.posts.tables import deliveries
from bot.runtime.renderers import RENDERERS
from bot.store.transaction import Transaction
from tests.support.clock import NOON
from tests.support.make import ALICE, API, CHANNEL, SITE, make_event_record
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("starts_in", "lasts", "said"),
    [
        (-30, 600, "acme/site is frozen"),
        (0, 600, "acme/site is frozen"),
        # The service's time is known to a second or two.
        (1, 600, "acme/site is frozen"),
        (5, 600, "acme/site is frozen"),
        (1, 3, "acme/site is frozen"),
        (6, 600, "A freeze of acme/site is planned"),
        (3600, 600, "A freeze of acme/site is planned"),
        (-600, 600, "acme/site was frozen"),
    ],
)
def test_a_freeze_made_to_begin_now_is_not_called_planned(
    starts_in: int, lasts: int, said: str
) -> None:
    start = NOON + starts_in * SECOND
    terms = FreezeAttributes(
        reason="release", start=start.isoformat(), end=(start + lasts * SECOND).isoformat()
    )
    record = make_event_record(FREEZE_CREATE, pull_request=None, actor="alice", freeze=terms)
    with begin(InMemoryStore()) as transaction:
        see_freeze_event(transaction, record, [CHANNEL], NOON, NOON)
        (freeze,) = Freezes(transaction).locked(SITE)
        shown = shown_freeze(freeze)
        text = RENDERERS.render(transaction, [shown]).messages[shown].text
    assert text.startswith(said), text
    assert (freeze.stage is Stage.IN_FORCE) == ("is frozen" in said)


HOUR = timedelta(hours=1)
TERMS = FreezeAttributes(
    reason="release", start=NOON.isoformat(), end=(NOON + HOUR).isoformat(), timezone="UTC"
)
BOTH = (SITE, API)


def freeze_group(transaction: Transaction) -> tuple[GroupAct, list[Freeze]]:
    """Both queues frozen for a group at noon for an hour, with one card, and no reply yet."""
    results = tuple(RepositoryResult(name, GroupOutcome.CHANGED) for name in BOTH)
    act = GroupAct(
        *("release", Action.FREEZE, NOON, ALICE, Origin.COMMAND, BOTH),
        notified_together=frozenset({CHANNEL}),
        results=results,
        ended_at=NOON,
    )
    act = replace(act, group_act_id=GroupActs(transaction).save(act))
    notify_together(transaction, act, NOON)
    made = []
    for number, name in enumerate(BOTH, start=1):
        told = Told(number, number, NOON)
        freeze = Freeze(name, f"id {number}", TERMS, "alice", told, Stage.IN_FORCE)
        Freezes(transaction).locked(name)
        made.append(save(transaction, replace(freeze, group_act_id=act.group_act_id), NOON))
    return act, made


def end_by_time(transaction: Transaction, freeze: Freeze, at: datetime) -> None:
    over = save(transaction, advanced(freeze, at), at)
    notify_of_stage(transaction, over, at)


def replies_about_ends(transaction: Transaction) -> list[RepositoryName]:
    rows = transaction.connection.execute(deliveries.select())
    return [row.repository for row in rows if row.subject_kind is SubjectKind.FREEZE_OVER]


def card_is_closed(transaction: Transaction, act: GroupAct) -> bool:
    (card,) = LiveMessages(transaction).of(shown_group(act))
    return card.closed


def test_the_last_end_of_a_groups_freezes_is_told_for_all() -> None:
    with begin(InMemoryStore()) as transaction:
        act, (site, api) = freeze_group(transaction)
        end_by_time(transaction, api, NOON + HOUR)
        assert replies_about_ends(transaction) == []
        assert not card_is_closed(transaction, act)
        end_by_time(transaction, site, NOON + HOUR)
        assert replies_about_ends(transaction) == [SITE]
        assert card_is_closed(transaction, act)


@pytest.mark.parametrize("event_type", [FREEZE_UPDATE, FREEZE_DELETE])
def test_an_end_that_waits_for_a_freeze_which_was_changed_instead_is_told(event_type: str) -> None:
    late = NOON + HOUR + SECOND
    longer = TERMS.model_copy(update={"end": (NOON + 2 * HOUR).isoformat()})
    record = make_event_record(
        event_type,
        pull_request=None,
        repository=API,
        event_id=77,
        received_at=NOON + HOUR - SECOND,
        actor="erin",
        freeze=longer if event_type == FREEZE_UPDATE else TERMS,
        freeze_before=TERMS if event_type == FREEZE_UPDATE else None,
    )
    with begin(InMemoryStore()) as transaction:
        _, (site, _api) = freeze_group(transaction)
        end_by_time(transaction, site, late)
        assert replies_about_ends(transaction) == []
        see_freeze_event(transaction, record, [], late, late)
        assert replies_about_ends(transaction) == [SITE]
