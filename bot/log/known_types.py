"""Reading the log for a question: a type that the service doesn't know costs only itself."""

from collections.abc import Collection

from bot.kernel.repository import RepositoryName
from bot.merge_queue.errors import EventTypesRefused
from bot.merge_queue.event_records import EventPage
from bot.merge_queue.port import MergeQueue
from bot.merge_queue.window import LARGEST_PAGE, Window


async def page_of_known(  # noqa: PLR0913  # the filters of endpoint 6, each by its name
    service: MergeQueue,
    repository: RepositoryName,
    window: Window,
    *,
    types: Collection[str],
    cursor: str | None = None,
    pull_request: int | None = None,
    base_ref: str | None = None,
    per_page: int = LARGEST_PAGE,
) -> EventPage:
    """`MergeQueue.event_page`, without the types that the service refuses.

    Raises MergeQueueError; EventTypesRefused if it knows none of them.
    """
    try:
        return await service.event_page(
            repository,
            window,
            types=sorted(types),
            cursor=cursor,
            pull_request=pull_request,
            base_ref=base_ref,
            per_page=per_page,
        )
    except EventTypesRefused as refused:
        known = {*types} - refused.types
        if not known or len(known) == len({*types}):
            # No types would mean all of them.
            raise
    return await page_of_known(
        service,
        repository,
        window,
        types=known,
        cursor=cursor,
        pull_request=pull_request,
        base_ref=base_ref,
        per_page=per_page,
    )
