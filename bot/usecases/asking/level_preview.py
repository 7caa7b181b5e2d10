"""Show what each level of a subscription would have meant, from the service's own log."""

import asyncio
from datetime import timedelta

from bot.domain.errors import MergeQueueError
from bot.domain.events import in_order
from bot.domain.levels import COUNTED_TYPES, LevelPreview, preview
from bot.domain.repository import RepositoryName
from bot.usecases.asking.sources import Sources

DAY = timedelta(days=1)
PATIENCE = timedelta(seconds=2)
"""The channel waits for the answer that has the preview."""


async def preview_levels(repository: RepositoryName, sources: Sources) -> LevelPreview | None:
    """The newest page has an hour of a busy repository; None without an answer or events."""
    window = await sources.window(repository, DAY)
    try:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            page = await sources.service.event_page(repository, window, types=sorted(COUNTED_TYPES))
    except (MergeQueueError, TimeoutError):
        return None
    return preview(in_order(page.events))
