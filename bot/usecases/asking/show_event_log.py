"""Read a page of a repository's event log, as the service has it."""

from dataclasses import dataclass
from datetime import timedelta

from bot.domain.classification import kinds
from bot.domain.errors import InvalidRequest, ResourceNotFound, about
from bot.domain.event_log import window_back
from bot.domain.events import EventPage, in_order
from bot.domain.log_pages import PAGE, LogPage, LogPlace, LogSelection
from bot.domain.repository import RepositoryName
from bot.domain.surroundings import in_surroundings
from bot.ports import Clock, MergeQueue
from bot.store.transactions import Store
from bot.usecases.linked_pull_requests import linked_pull_requests
from bot.usecases.newest_known import newest_known


@dataclass(frozen=True, slots=True)
class LogQuestion:
    """The filters as asked; `since` and `until` count back from now."""

    since: timedelta
    until: timedelta | None = None
    pull_request: int | None = None
    branch: str | None = None
    types: frozenset[str] = frozenset()
    per_page: int = PAGE


@dataclass(frozen=True, slots=True)
class ShowEventLog:
    """Answers `log`, page by page in both directions."""

    merge_queue: MergeQueue
    store: Store
    clock: Clock

    async def newest(self, repository: RepositoryName, asked: LogQuestion) -> LogPage:
        """Raises MergeQueueError: a log that cannot be read is never shown as an empty one."""
        newest = await newest_known(self.store, self.clock, repository)
        window = window_back(self.clock.now(), newest, asked.since, asked.until)
        selection = LogSelection(
            repository, window, asked.pull_request, asked.branch, asked.types, asked.per_page
        )
        return await self._page(LogPlace(selection), restarted=False)

    async def at(self, place: LogPlace) -> LogPage:
        """The page at `place`, or the newest one when the service knows its cursor no longer."""
        if place.cursor is None:
            return await self._page(place, restarted=False)
        try:
            return await self._page(place, restarted=False)
        except (InvalidRequest, ResourceNotFound):
            # A repository or filter that is refused is refused again, and told then.
            return await self._page(LogPlace(place.selection), restarted=True)

    async def _page(self, place: LogPlace, *, restarted: bool) -> LogPage:
        wanted = place.selection
        with about(wanted.repository):
            page = await self.merge_queue.event_page(
                wanted.repository,
                wanted.window,
                types=sorted(wanted.types),
                cursor=place.cursor,
                pull_request=wanted.pull_request,
                base_ref=wanted.branch,
                per_page=wanted.per_page,
            )
        records = in_order(page.events)
        numbers = {one.pull_request for one in records if one.pull_request is not None}
        seen = await self.store.read(linked_pull_requests, wanted.repository, numbers)
        return LogPage(
            place,
            [in_surroundings(record, records) for record in reversed(records)],
            kinds(records),
            seen,
            older=_older(place, page),
            newer=_newer(place, page),
            unreadable=len(page.unreadable),
            restarted=restarted,
        )


def _older(place: LogPlace, page: EventPage) -> LogPlace | None:
    return LogPlace(place.selection, page.next_cursor) if page.next_cursor is not None else None


def _newer(place: LogPlace, page: EventPage) -> LogPlace | None:
    """Without a way back that the service tells, the newest page is the way back."""
    if page.previous_cursor is not None:
        return LogPlace(place.selection, page.previous_cursor)
    return LogPlace(place.selection) if place.cursor is not None else None
