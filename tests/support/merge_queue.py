"""FakeMergeQueue: the MergeQueue port in dictionaries, with scripted pages and errors."""

from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from typing_extensions import override

from bot.acts.reason import REASON_LIMIT
from bot.kernel.clock import Clock
from bot.kernel.errors import InvalidRequest, MergeQueueError
from bot.kernel.repository import RepositoryName
from bot.merge_queue.errors import (
    FreezesNotOffered,
    MergeQueueUnavailable,
    ResourceNotFound,
    StaleReading,
    answer_of,
    naming_repository,
)
from bot.merge_queue.event_records import EventPage, EventRecord
from bot.merge_queue.freezes import (
    FreezeChange,
    FreezeList,
    FreezeTerms,
    ListedFreeze,
    local,
    moment,
)
from bot.merge_queue.port import FreezeSupport, MergeQueue, OnAnswer, UnclearChange, ignore
from bot.merge_queue.position import InBatch, InQueue, still_queued
from bot.merge_queue.queue import (
    Account,
    Application,
    Pause,
    Queue,
    QueuedDetails,
    QueueRule,
    QueueStatus,
    Removal,
    RemovalImpact,
)
from bot.merge_queue.window import LARGEST_PAGE, Window

EMPTY_STATUS = QueueStatus(batches=(), waiting_pull_requests=())
FOREVER = datetime.max.replace(tzinfo=UTC)
STILL = datetime(2026, 7, 20, 12, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the port: the method's name, the repository, and what else mattered."""

    method: str
    repository: str | None = None
    reason: str | None = None
    window: Window | None = None
    types: tuple[str, ...] = ()
    cursor: str | None = None
    branch: str | None = None
    pull_request: int | None = None


@dataclass
class PlannedFailure:
    """An error for the next call (of `method`, when given).

    `after` does what was asked first, as when the answer is lost. A copy is raised, because an
    error that is the parameter of a test would keep its traceback, and with it the whole test.
    """

    error: BaseException
    method: str | None = None
    after: bool = False


@dataclass
class FakeMergeQueue(MergeQueue):
    """Knows the repositories it is given; others are ResourceNotFound.

    State to set and look at: `statuses`, `pauses`, `all_rules`, `all_branches`, `listings` by
    repository, `details` by number, `calls`. The log is either `logs` (events in any order, served
    newest first in pages of `page_size`, filtered by window and types) or, as long as there are
    some, the scripted `pages` of a repository: pages and errors, served in order whatever is asked.
    """

    repositories: Iterable[str] = ("acme/site",)
    clock: Clock | None = None
    page_size: int = 100
    statuses: dict[str, QueueStatus] = field(default_factory=dict)
    pauses: dict[str, Pause] = field(default_factory=dict)
    all_rules: dict[str, tuple[QueueRule, ...]] = field(default_factory=dict)
    all_branches: dict[str, tuple[str, ...]] = field(default_factory=dict)
    listings: dict[str, tuple[Queue, ...]] = field(default_factory=dict)
    details: dict[int, QueuedDetails] = field(default_factory=dict)
    logs: defaultdict[str, list[EventRecord]] = field(default_factory=lambda: defaultdict(list))
    pages: defaultdict[str, deque[EventPage | MergeQueueError]] = field(
        default_factory=lambda: defaultdict(deque)
    )
    freeze_support: FreezeSupport = FreezeSupport.OFFERED
    all_freezes: defaultdict[str, list[ListedFreeze]] = field(
        default_factory=lambda: defaultdict(list)
    )
    freezes_made: int = 0
    identity: Application = field(
        default_factory=lambda: Application(name="mqbot", account=Account(login="acme"))
    )
    calls: list[Call] = field(default_factory=list)
    before_answer: Callable[[Call], Awaitable[None]] | None = None
    _failures: list[PlannedFailure] = field(default_factory=list)
    _lost: list[str] = field(default_factory=list)
    #: what happens between a lost answer and the reading after it
    before_unclear: Callable[[], object] = field(default=lambda: None)

    def __post_init__(self) -> None:
        self.repositories = {RepositoryName.parse(name) for name in self.repositories}

    def fail_next(
        self, error: BaseException, *, method: str | None = None, after: bool = False
    ) -> None:
        """Let the next call fail; several are used up in order."""
        self._failures.append(PlannedFailure(error, method, after))

    def lose_next_answer(self, method: str) -> None:
        """Do what the next call of `pause` or `resume` asks for, but let its answer be lost."""
        self._lost.append(method)

    def _unclear(
        self, method: str, repository: RepositoryName, on_answer: OnAnswer
    ) -> UnclearChange:
        self._lost.remove(method)
        self.before_unclear()
        lost = MergeQueueUnavailable("the connection was lost")
        lost.repository = repository
        on_answer(answer_of(lost))
        return UnclearChange(lost, self.pauses.get(repository))

    def forget_failures(self) -> None:
        """Answer again."""
        self._failures.clear()

    def script(self, repository: str, *pages: EventPage | MergeQueueError) -> None:
        """Serve these pages or errors, in this order, before anything of `logs`."""
        self.pages[repository].extend(pages)

    def log(self, repository: str, *events: EventRecord) -> None:
        name = RepositoryName(repository)
        self.logs[repository].extend(replace(event, repository=name) for event in events)

    def called(self, method: str) -> list[Call]:
        return [call for call in self.calls if call.method == method]

    def assert_all_used(self) -> None:
        """Every scripted page and planned failure was asked for."""
        assert not self._failures, self._failures
        left = {name: list(pages) for name, pages in self.pages.items() if pages}
        assert not left, left

    @override
    async def status(self, repository: RepositoryName, branch: str | None = None) -> QueueStatus:
        async with self._call(Call("status", repository, branch=branch)):
            return self.statuses.get(repository, EMPTY_STATUS)

    @override
    async def current_pause(self, repository: RepositoryName) -> Pause | None:
        """None for unknown repositories too: the service answers 404 to both."""
        async with self._call(Call("current_pause", repository), knows_all=True):
            return self.pauses.get(repository)

    @override
    async def pause(
        self, repository: RepositoryName, reason: str, *, on_answer: OnAnswer = ignore
    ) -> Pause | UnclearChange:
        if len(reason) > REASON_LIMIT:
            raise InvalidRequest(None, "reason: at most 255 characters")
        async with self._call(Call("pause", repository, reason=reason)):
            paused = Pause(reason=reason, paused_at=self._now())
            self.pauses[repository] = paused
        if "pause" in self._lost:
            return self._unclear("pause", repository, on_answer)
        on_answer("200")
        return paused

    @override
    async def resume(
        self,
        repository: RepositoryName,
        *,
        on_answer: OnAnswer = ignore,
        may_send: Callable[[], bool] | None = None,
    ) -> bool | UnclearChange:
        if may_send is not None and not may_send():
            raise StaleReading
        async with self._call(Call("resume", repository)):
            resumed = self.pauses.pop(repository, None) is not None
        if "resume" in self._lost:
            return self._unclear("resume", repository, on_answer)
        on_answer("204" if resumed else "404 not found: not paused")
        return resumed

    @override
    async def freezes(self, repository: RepositoryName) -> FreezeList:
        if self.freeze_support is FreezeSupport.NOT_OFFERED:
            raise FreezesNotOffered(None, "the service offers no freezes")
        async with self._call(Call("freezes", repository)):
            now = self._now()
            lasting = [
                freeze
                for freeze in self.all_freezes[repository]
                if (moment(freeze.end, freeze) or FOREVER) > now
            ]
            return FreezeList(tuple(lasting), now)

    @override
    async def create_freeze(
        self, repository: RepositoryName, wanted: FreezeTerms, *, on_answer: OnAnswer = ignore
    ) -> ListedFreeze:
        async with self._call(Call("create_freeze", repository, reason=wanted.reason)):
            freezes = self.all_freezes[repository]
            self.freezes_made += 1
            sent = {**wanted.sent, "id": str(UUID(int=self.freezes_made))}
            sent["start"] = sent["start"] or local(self._now(), ZoneInfo(sent["timezone"]))
            freezes.append(ListedFreeze.model_validate(sent))
        on_answer("201")
        return freezes[-1]

    @override
    async def change_freeze(
        self,
        repository: RepositoryName,
        freeze_id: str,
        change: FreezeChange,
        *,
        on_answer: OnAnswer = ignore,
    ) -> ListedFreeze:
        async with self._call(Call("change_freeze", repository)):
            place = self._place(repository, freeze_id)
            if place is None:
                raise ResourceNotFound(404, "no such freeze")
            before = self.all_freezes[repository][place]
            kept = before.model_dump(exclude={"excluded"})
            sent = {**kept, "exclude_conditions": list(before.excluded)}
            changed = ListedFreeze.model_validate({**sent, **change.sent})
            self.all_freezes[repository][place] = changed
        on_answer("200")
        return self.all_freezes[repository][place]

    @override
    async def delete_freeze(
        self,
        repository: RepositoryName,
        freeze_id: str,
        reason: str,
        *,
        on_answer: OnAnswer = ignore,
    ) -> bool:
        async with self._call(Call("delete_freeze", repository, reason=reason)):
            place = self._place(repository, freeze_id)
            if place is not None:
                del self.all_freezes[repository][place]
        on_answer("204" if place is not None else "404")
        return place is not None

    def _place(self, repository: str, freeze_id: str) -> int | None:
        ids = [one.id for one in self.all_freezes[repository]]
        return ids.index(freeze_id) if freeze_id in ids else None

    @override
    async def rules(self, repository: RepositoryName) -> tuple[QueueRule, ...]:
        async with self._call(Call("rules", repository)):
            return self.all_rules.get(repository, ())

    @override
    async def event_page(
        self,
        repository: RepositoryName,
        window: Window,
        *,
        types: Collection[str] = (),
        cursor: str | None = None,
        pull_request: int | None = None,
        base_ref: str | None = None,
        per_page: int = LARGEST_PAGE,
    ) -> EventPage:
        call = Call(
            "event_page",
            repository,
            window=window,
            types=tuple(types),
            cursor=cursor,
            branch=base_ref,
            pull_request=pull_request,
        )
        async with self._call(call):
            if scripted := self.pages[repository]:
                page = scripted.popleft()
                if isinstance(page, MergeQueueError):
                    raise copy(page)
                return page
            wanted = [
                event
                for event in self.logs[repository]
                if window.received_from <= event.received_at <= window.received_to
                and (not types or event.type in types)
                and pull_request in {None, event.pull_request}
                and base_ref in {None, event.base_ref}
            ]
            return self._page(wanted, cursor, min(per_page, self.page_size))

    @override
    async def branches(self, repository: RepositoryName, window: Window) -> tuple[str, ...]:
        async with self._call(Call("branches", repository, window=window)):
            return self.all_branches.get(repository, ())

    @override
    async def queues(self, repository: RepositoryName) -> tuple[Queue, ...]:
        async with self._call(Call("queues", repository)):
            return self.listings.get(repository, ())

    @override
    async def queued_branches(self, repository: RepositoryName) -> tuple[str, ...]:
        async with self._call(Call("queued_branches", repository)):
            return self.all_branches.get(repository, ())

    @override
    async def queued_details(self, repository: RepositoryName, number: int) -> QueuedDetails:
        async with self._call(Call("queued_details", repository, pull_request=number)):
            if self._queued(repository, number) is None:
                raise ResourceNotFound(404, "not queued")
            return self.details.get(number, QueuedDetails())

    @override
    async def removal_impact(self, repository: RepositoryName, number: int) -> RemovalImpact | None:
        async with self._call(Call("removal_impact", repository, pull_request=number)):
            return RemovalImpact() if self._queued(repository, number) else None

    @override
    async def remove(
        self, repository: RepositoryName, number: int, *, on_answer: OnAnswer
    ) -> Removal:
        async with self._call(Call("remove", repository, pull_request=number)):
            if self._queued(repository, number) is None:
                return Removal.NOT_QUEUED
            # Pull requests in batches stay: tests of them use the sandbox.
            status = self.statuses[repository]
            left = tuple(
                request for request in status.waiting_pull_requests if request.number != number
            )
            self.statuses[repository] = status.model_copy(update={"waiting_pull_requests": left})
        on_answer("204")
        return Removal.DONE

    def _queued(self, repository: RepositoryName, number: int) -> InBatch | InQueue | None:
        return still_queued(number, self.statuses.get(repository, EMPTY_STATUS))

    @override
    async def application(self, credential_of: RepositoryName | None = None) -> Application:
        async with self._call(Call("application")):
            return self.identity

    @property
    @override
    def service_time(self) -> datetime:
        return self._now()

    @override
    async def clock_ahead(self) -> timedelta | None:
        return None

    @asynccontextmanager
    async def _call(self, call: Call, *, knows_all: bool = False) -> AsyncIterator[None]:
        with naming_repository(call.repository or ""):
            async with self._answer(call, knows_all=knows_all):
                yield

    @asynccontextmanager
    async def _answer(self, call: Call, *, knows_all: bool) -> AsyncIterator[None]:
        if self.before_answer is not None:
            await self.before_answer(call)
        self.calls.append(call)
        planned = next(
            (failure for failure in self._failures if failure.method in {None, call.method}), None
        )
        if planned is not None:
            self._failures.remove(planned)
            if not planned.after:
                raise copy(planned.error)
        known = call.repository is None or call.repository in self.repositories
        if not known and not knows_all:
            raise ResourceNotFound(404, "no such repository")
        yield
        if planned is not None:
            raise copy(planned.error)

    def _page(self, wanted: list[EventRecord], cursor: str | None, size: int) -> EventPage:
        """A cursor names the last event of the page before, so new events move nothing."""
        wanted.sort(key=lambda event: (event.received_at, event.event_id), reverse=True)
        ids = [event.event_id for event in wanted]
        first = 0
        if cursor is not None:
            side, _, event_id = cursor.partition("-")
            place = ids.index(int(event_id)) if int(event_id) in ids else -1
            if place < 0:
                raise InvalidRequest(422, "cursor: not a cursor of this log")
            first = place + 1 if side == "after" else max(place - size, 0)
            if side == "before":
                size = place - first
        page = tuple(wanted[first : first + size])
        more = first + size < len(wanted)
        return EventPage(
            page,
            f"after-{page[-1].event_id}" if more else None,
            self._now(),
            previous_cursor=f"before-{page[0].event_id}" if page and first else None,
        )

    def _now(self) -> datetime:
        return STILL if self.clock is None else self.clock.now()
