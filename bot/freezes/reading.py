"""What the service says of freezes: its list, and the events of its log."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from bot.freezes.freeze import Freeze
from bot.freezes.matching import freezes_after, observe_freezes
from bot.kernel.errors import MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.log.known_types import page_of_known
from bot.log.types import FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.port import MergeQueue
from bot.merge_queue.window import LONGEST_LOOKBACK, window_back

FREEZE_LOG_PAGES = 3
"""Of a hundred events each; a repository has few freezes."""


@dataclass(frozen=True, slots=True)
class FreezesRead:
    """The service's freezes of a repository."""

    freezes: Sequence[Freeze]
    served_at: datetime | None = None  #: the service's own time


async def listed_freezes(merge_queue: MergeQueue, repository: RepositoryName) -> FreezesRead:
    """Those in force and to come, by the service's list; raises MergeQueueError."""
    answer = await merge_queue.freezes(repository)
    freezes = [
        Freeze(repository, listed.id, listed, None, excluded=listed.excluded)
        for listed in answer.freezes
    ]
    return FreezesRead(freezes, answer.served_at)


async def freeze_events(
    merge_queue: MergeQueue, repository: RepositoryName, now: datetime
) -> Sequence[EventRecord]:
    """What the log tells of freezes, as far back as the service allows.

    Raises MergeQueueError.
    """
    window = window_back(now, now, LONGEST_LOOKBACK)
    events: list[EventRecord] = []
    cursor: str | None = None
    for _ in range(FREEZE_LOG_PAGES):
        page = await page_of_known(
            merge_queue, repository, window, types=FREEZE_TYPES, cursor=cursor
        )
        events += page.events
        cursor = page.next_cursor
        if cursor is None:
            break
    return events


async def named_by_log(
    merge_queue: MergeQueue, freezes: Sequence[Freeze], now: datetime
) -> list[Freeze]:
    """The listed freezes, those without a known maker under the name that the log has for them.

    Such a freeze is so new that no poll has read its event, or older than the bot.
    """
    nameless = {freeze.repository for freeze in freezes if freeze.by is None}
    makers: dict[str | None, str | None] = {}
    for repository in nameless:
        listed = [freeze for freeze in freezes if freeze.repository == repository]
        # Without a name the freeze is as true.
        with suppress(MergeQueueError):
            logged = freezes_after([], await freeze_events(merge_queue, repository, now))
            makers |= {freeze.freeze_id: freeze.by for freeze in observe_freezes(logged, listed)}
    return [
        freeze if freeze.by is not None else replace(freeze, by=makers.get(freeze.freeze_id))
        for freeze in freezes
    ]
