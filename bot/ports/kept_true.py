"""What is kept of cards, of pauses, and of those who wait for a queue to go on."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.cards import Card, CardName
from bot.domain.pause_records import PauseRecord
from bot.domain.repository import RepositoryName


class Cards(Protocol):
    """Messages that are posted once and then edited; unique by (name, channel, generation)."""

    async def add(
        self,
        name: CardName,
        channel_id: str,
        *,
        now: datetime,
        generation: int = 1,
        closed: bool = False,
    ) -> int | None:
        """A card with no message yet; its id, or None when there is one already."""
        ...

    async def touch(self, name: CardName, *, due_at: datetime, closed: bool = False) -> int:
        """What the cards of that name say has changed; return how many there are.

        They are edited from `due_at` on, or when an edit that waits already is due. `closed`
        says that this was the last change.
        """
        ...

    async def get(self, card_ids: Collection[int]) -> Mapping[int, Card]: ...

    async def of(self, name: CardName) -> Sequence[Card]:
        """All generations in all channels."""
        ...

    async def posted(self, card_id: int, message_ts: str, shown: int) -> None:
        """Its first post is there and says revision `shown`, 0 when that is not known."""
        ...

    async def due(self, now: datetime, limit: int) -> Sequence[Card]:
        """Those to edit: cards of pauses first, then in the order in which they came due."""
        ...

    async def showed(self, card_id: int, revision: int) -> None:
        """Its message was edited and says that revision."""
        ...

    async def postpone(self, card_id: int, due_at: datetime, failures: int = 0) -> None:
        """An edit is to be tried again; so many have failed since Slack last answered one."""
        ...

    async def lose_folded(self, summary: str) -> int:
        """Those whose first posts this delivery tells get no message; how many there were."""
        ...

    async def lose(self, card_id: int) -> None:
        """Its message can be edited no more."""
        ...


class Pauses(Protocol):
    """Pauses from beginning to end; unique by (repository, the service's time)."""

    async def of(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        """Those in force, and those that ended at `since` or later; the latest first.

        Until the transaction ends nobody else changes, or begins, a pause of the repository.
        """
        ...

    async def open(self, repositories: Collection[RepositoryName]) -> Sequence[PauseRecord]:
        """Those in force; nothing is held for that."""
        ...

    async def recent(self, repository: RepositoryName, since: datetime) -> Sequence[PauseRecord]:
        """As `of`; nothing is held for that."""
        ...

    async def get(self, pause_ids: Collection[int]) -> Mapping[int, PauseRecord]: ...

    async def save(self, record: PauseRecord) -> int:
        """Insert one with the `pause_id` 0, else replace it; return its id.

        The caller has read the repository's with `of` before, in the same transaction.
        """
        ...

    async def untold_ends(self, ended_before: datetime) -> Sequence[PauseRecord]:
        """Pauses that ended before then and whose end no channel was told of."""
        ...


class ResumeWatchers(Protocol):
    """People who asked to be told when a queue goes on."""

    async def add(self, pause_id: int, user_id: str) -> bool:
        """Whether they had not asked yet."""
        ...

    async def take(self, pause_id: int) -> Sequence[str]:
        """All of a pause, in order, who are forgotten with that."""
        ...

    async def waiting(self, pause_ids: Collection[int]) -> Collection[str]:
        """Those who asked for any of these."""
        ...

    async def awaited(self, user_ids: Collection[str]) -> Mapping[str, Sequence[RepositoryName]]:
        """By user id, the repositories they asked for, in order; who asked for none is left out."""
        ...

    async def forget(self, user_id: str) -> bool:
        """Whether the person had asked for anything, which they are not told now."""
        ...

    async def move(self, pause_id: int, to: int) -> None:
        """They wait for the end of another pause: that one was replaced by it."""
        ...
