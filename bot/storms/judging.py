"""Why a pull request left, and whether a storm speaks against queueing it again."""

from collections.abc import Sequence
from dataclasses import replace

from bot.freezes.freeze import Freeze
from bot.merge_queue.event_records import EventRecord
from bot.store.transaction import Transaction
from bot.storms.rows import Storms
from bot.verdicts.reading import facts_about
from bot.verdicts.verdict import Verdict, judge


def verdict_on(
    transaction: Transaction,
    record: EventRecord,
    *,
    own: Sequence[EventRecord] = (),
    is_paused: bool | None = None,
    freezes: Sequence[Freeze] | None = None,
) -> Verdict:
    """Why a pull request left, and what to do now. The arguments are those of `facts_about`."""
    facts = facts_about(transaction, record, own=own, is_paused=is_paused, freezes=freezes)
    storm = Storms(transaction).latest(record.repository, record.base_ref)
    return judge(replace(facts, is_storm=storm is not None and storm.ended_at is None))
