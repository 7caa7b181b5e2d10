"""The ports of cards, pauses and those who wait, in dictionaries."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from typing_extensions import override

from bot.domain.cards import EDITED_FIRST, Card, CardKind, CardName
from bot.domain.deliveries import Delivery, SubjectKind
from bot.domain.pause_records import PauseRecord
from bot.domain.repository import RepositoryName
from bot.ports.kept_true import Cards, Pauses, ResumeWatchers
from tests.support.as_stored import as_stored

PRUNE_SLICE = 1000
NEVER = datetime.max.replace(tzinfo=UTC)


class InMemoryCards(Cards):
    def __init__(
        self,
        cards: dict[int, Card],
        changed_at: dict[int, datetime],
        deliveries: dict[str, Delivery],
        told_by: dict[str, str],
    ) -> None:
        self._told_by = told_by
        self._cards = cards
        self._changed_at = changed_at
        self._deliveries = deliveries

    @override
    async def add(
        self,
        name: CardName,
        channel_id: str,
        *,
        now: datetime,
        generation: int = 1,
        closed: bool = False,
    ) -> int | None:
        key = (name, channel_id, generation)
        if key in {(one.name, one.channel_id, one.generation) for one in self._cards.values()}:
            return None
        card_id = max(self._changed_at, default=0) + 1
        self._cards[card_id] = Card(
            card_id=card_id,
            name=name,
            channel_id=channel_id,
            generation=generation,
            message_ts=None,
            wanted=1,
            shown=0,
            due_at=as_stored(now),
            failures=0,
            closed=closed,
            is_lost=False,
            created_at=as_stored(now),
        )
        self._changed_at[card_id] = now
        return card_id

    @override
    async def touch(self, name: CardName, *, due_at: datetime, closed: bool = False) -> int:
        touched = await self.of(name)
        for one in touched:
            waits = one.wanted > one.shown
            self._cards[one.card_id] = replace(
                one,
                wanted=one.wanted + 1,
                due_at=min(one.due_at, due_at) if waits else as_stored(due_at),
                closed=one.closed or closed,
            )
            self._changed_at[one.card_id] = due_at
        return len(touched)

    @override
    async def get(self, card_ids: Collection[int]) -> Mapping[int, Card]:
        return {each: self._cards[each] for each in card_ids if each in self._cards}

    @override
    async def of(self, name: CardName) -> Sequence[Card]:
        found = [one for one in self._cards.values() if one.name == name]
        return sorted(found, key=lambda one: (one.channel_id, one.generation))

    @override
    async def posted(self, card_id: int, message_ts: str, shown: int) -> None:
        self._change(card_id, message_ts=message_ts, shown=shown, failures=0)

    @override
    async def due(self, now: datetime, limit: int) -> Sequence[Card]:
        due = [
            one
            for one in self._cards.values()
            if one.message_ts is not None
            and not one.is_lost
            and one.wanted > one.shown
            and one.due_at <= now
        ]
        by_priority = sorted(
            due, key=lambda one: (one.name.kind not in EDITED_FIRST, one.due_at, one.card_id)
        )
        return by_priority[:limit]

    @override
    async def showed(self, card_id: int, revision: int) -> None:
        shown = self._cards[card_id].shown if card_id in self._cards else 0
        self._change(card_id, shown=max(shown, revision), failures=0)

    @override
    async def postpone(self, card_id: int, due_at: datetime, failures: int = 0) -> None:
        self._change(card_id, due_at=as_stored(due_at), failures=failures)

    @override
    async def lose_folded(self, summary: str) -> int:
        folded = {
            one.subject.subject_id
            for one in self._deliveries.values()
            if one.subject.kind is SubjectKind.CARD
            and summary in {one.delivery_id, self._told_by.get(one.delivery_id)}
        }
        lost = [
            each
            for each in folded
            if each in self._cards
            and self._cards[each].message_ts is None
            and not self._cards[each].is_lost
        ]
        for card_id in lost:
            self._change(card_id, is_lost=True)
        return len(lost)

    @override
    async def lose(self, card_id: int) -> None:
        self._change(card_id, is_lost=True)

    def _change(self, card_id: int, **values: object) -> None:
        if card_id in self._cards:
            # The values are those of the methods above, which name fields of Card.
            self._cards[card_id] = replace(self._cards[card_id], **values)  # type: ignore[arg-type]

    @override
    async def delete_before(self, changed_before: datetime) -> int:
        old = sorted(
            (self._changed_at[card_id], card_id)
            for card_id, one in self._cards.items()
            if self._changed_at[card_id] < changed_before
            and (one.closed or one.is_lost or one.name.kind is CardKind.STAY)
        )[:PRUNE_SLICE]
        for _, card_id in old:
            del self._cards[card_id]
        return len(old)


class InMemoryPauses(Pauses):
    def __init__(
        self,
        pauses: dict[int, PauseRecord],
        cards: dict[int, Card],
        watchers: dict[tuple[int, str], None],
    ) -> None:
        self._pauses = pauses
        self._cards = cards
        self._watchers = watchers

    @override
    async def of(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        return self._latest_first(
            one
            for one in self._pauses.values()
            if one.repository == repository and (one.ended_at or NEVER) >= since
        )

    @override
    async def recent(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        return await self.of(repository, since)

    @override
    async def open(self, repositories: Collection[RepositoryName]) -> Sequence[PauseRecord]:
        found = [
            one for one in self._pauses.values() if one.is_open and one.repository in repositories
        ]
        return sorted(self._latest_first(found), key=lambda one: one.repository)

    @staticmethod
    def _latest_first(found: Iterable[PauseRecord]) -> list[PauseRecord]:
        return sorted(found, key=lambda one: one.paused_at, reverse=True)

    @override
    async def get(self, pause_ids: Collection[int]) -> Mapping[int, PauseRecord]:
        return {each: self._pauses[each] for each in pause_ids if each in self._pauses}

    @override
    async def save(self, record: PauseRecord) -> int:
        pause_id = record.pause_id or max(self._pauses, default=0) + 1
        same = [
            one
            for one in self._pauses.values()
            if (one.repository, one.paused_at) == (record.repository, record.paused_at)
        ]
        assert all(one.pause_id == pause_id for one in same), "a pause is kept once"
        self._pauses[pause_id] = replace(as_stored(record), pause_id=pause_id)
        return pause_id

    @override
    async def untold_ends(self, ended_before: datetime) -> Sequence[PauseRecord]:
        found = [
            one
            for one in self._pauses.values()
            if not one.end_told and (one.ended_at or NEVER) < ended_before
        ]
        return sorted(found, key=lambda one: one.ended_at or NEVER)[:PRUNE_SLICE]

    @override
    async def delete_before(self, ended_before: datetime) -> int:
        shown = {
            (one.name.repository, one.name.key)
            for one in self._cards.values()
            if one.name.kind is CardKind.PAUSE
        }
        old = sorted(
            (one.ended_at or NEVER, pause_id)
            for pause_id, one in self._pauses.items()
            if (one.ended_at or NEVER) < ended_before
            and one.end_told
            and (one.repository, str(pause_id)) not in shown
        )[:PRUNE_SLICE]
        for _, pause_id in old:
            del self._pauses[pause_id]
            for key in [key for key in self._watchers if key[0] == pause_id]:
                del self._watchers[key]
        return len(old)


class InMemoryResumeWatchers(ResumeWatchers):
    def __init__(
        self, watchers: dict[tuple[int, str], None], pauses: Mapping[int, PauseRecord]
    ) -> None:
        self._watchers = watchers
        self._pauses = pauses

    @override
    async def add(self, pause_id: int, user_id: str) -> bool:
        is_new = (pause_id, user_id) not in self._watchers
        self._watchers[pause_id, user_id] = None
        return is_new

    @override
    async def take(self, pause_id: int) -> Sequence[str]:
        taken = [key for key in self._watchers if key[0] == pause_id]
        for key in taken:
            del self._watchers[key]
        return sorted(user_id for _, user_id in taken)

    @override
    async def waiting(self, pause_ids: Collection[int]) -> Collection[str]:
        return {user_id for pause_id, user_id in self._watchers if pause_id in pause_ids}

    @override
    async def awaited(self, user_ids: Collection[str]) -> Mapping[str, Sequence[RepositoryName]]:
        found: dict[str, set[RepositoryName]] = {}
        for pause_id, user_id in self._watchers:
            if user_id in user_ids:
                found.setdefault(user_id, set()).add(self._pauses[pause_id].repository)
        return {user_id: sorted(names) for user_id, names in found.items()}

    @override
    async def forget(self, user_id: str) -> bool:
        theirs = [key for key in self._watchers if key[1] == user_id]
        for key in theirs:
            del self._watchers[key]
        return bool(theirs)

    @override
    async def move(self, pause_id: int, to: int) -> None:
        for user_id in await self.take(pause_id):
            self._watchers[to, user_id] = None
