"""Read everything that the Home tab shows."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.acts.confirmation import ConfirmationRequest
from bot.acts.permission import Right
from bot.channels.rows import Subscriptions
from bot.channels.subscription import ListedSubscription
from bot.doctor.diagnosis import Diagnosis, QueueVerdict
from bot.doctor.examining import ExamineQueue
from bot.doctor.texts.causes import cause_headline
from bot.freezes.calendar import CalendarEntry
from bot.freezes.rows import Freezes
from bot.health.outage_rows import Outages, SlackOutages
from bot.home.about import about_people
from bot.home.choices import (
    BotHealth,
    CalendarPage,
    FirstEntries,
    HomeState,
    QueueHeadline,
    SubscriptionsState,
    Viewer,
    by_need,
)
from bot.kernel.repository import RepositoryName
from bot.log.rows import Positions, PullRequests
from bot.log.sources import Sources
from bot.merge_queue.features import ServiceFeature
from bot.pauses.pause import timed
from bot.pauses.rows import Pauses
from bot.people.rows import MutedPullRequests
from bot.posts.outbox import Outbox
from bot.queues.reading import read_queues
from bot.queues.snapshot import ReadQueue, Snapshot
from bot.store.installation import ServiceFeatures
from bot.store.transaction import Transaction

HOME_QUEUES_SHOWN = 10
HOME_QUEUES_READ = 40
"""The most queues read for one view, because each costs two requests."""

READ_BESIDES = 10
"""Queues to read because pull requests of the viewer were seen there."""

NOT_SAID = frozenset(
    {
        QueueVerdict.PAUSED,
        QueueVerdict.FROZEN,
        QueueVerdict.EMPTY,
        QueueVerdict.NORMAL,
        QueueVerdict.UNKNOWN,
    }
)
"""What the state of the queue says already."""

RECENTLY = timedelta(days=7)
CALENDAR_SHOWN = 3
CALENDAR_PER_PAGE = 15
SUBSCRIPTIONS_SHOWN = 5
SUBSCRIPTIONS_PER_PAGE = 20
HOME_QUEUES_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class _KnownQueues:
    """What is stored about queues, which says whose turn it is to be read."""

    paused: Collection[RepositoryName]
    frozen: Collection[RepositoryName]
    of_authors: Sequence[RepositoryName]  #: where pull requests of the viewers were seen


ReadCalendar = Callable[
    [Transaction, Collection[RepositoryName], datetime], Sequence[CalendarEntry]
]


async def home_state(
    repositories: Sequence[RepositoryName],
    examine: ExamineQueue,
    read_calendar: ReadCalendar,
    first: int = 0,
    logins: Collection[str] = (),
) -> HomeState:
    """The page from the queue at `first` on; queues known as paused come first, then frozen.

    Of those that are read at once, those come next that something else keeps from merging.

    A queue that can't be read is shown as such. `logins`: whose pull requests to include. Raises
    StoreUnavailable.
    """
    sources = examine.sources
    index = max(min(first, len(repositories) - 1), 0)
    first = index - index % HOME_QUEUES_SHOWN
    now = sources.clock.now()
    stored = await sources.store.read(_known_queues, repositories, logins, now)
    ordered = sorted(
        repositories, key=lambda name: (name not in stored.paused, name not in stored.frozen)
    )
    part = first - first % HOME_QUEUES_READ
    asked = ordered[part : part + HOME_QUEUES_READ]
    others = set(ordered).difference(asked)
    besides = [name for name in stored.of_authors if name in others]
    read = await read_queues([*asked, *besides[:READ_BESIDES]], sources, HOME_QUEUES_AT_ONCE)
    known_causes = await _known_causes(read[: len(asked)], examine)
    sorted_part = by_need(read[: len(asked)], known_causes)
    begin = first - part
    shown = sorted_part[begin : begin + HOME_QUEUES_SHOWN]
    headlines = await _headlines(shown, known_causes, examine)
    outlooks = await examine.foresee.of_all(shown)

    def state(transaction: Transaction) -> HomeState:
        polls = Positions(transaction).polls(asked)
        calendar = read_calendar(transaction, repositories, now)
        return HomeState(
            queues=shown,
            first=first,
            total=len(repositories),
            polled={name: poll.polled_at for name, poll in polls.items()},
            subscriptions=_subscriptions(transaction),
            health=_bot_health(transaction),
            read_at=sources.clock.now(),
            timed=timed(Pauses(transaction).open(repositories)),
            others=[queue for queue in read if queue not in shown],
            calendar=FirstEntries(calendar[:CALENDAR_SHOWN], len(calendar)),
            offers_freezes=ServiceFeatures(transaction).offers(ServiceFeature.FREEZES),
            headlines=headlines,
            outlooks=outlooks,
        )

    return await sources.store.read(state)


def _known_queues(
    transaction: Transaction,
    repositories: Sequence[RepositoryName],
    logins: Collection[str],
    now: datetime,
) -> _KnownQueues:
    pauses = Pauses(transaction).open(repositories)
    freezes = Freezes(transaction).of(repositories)
    return _KnownQueues(
        paused={pause.repository for pause in pauses},
        frozen={freeze.repository for freeze in freezes if freeze.is_in_force(now)},
        of_authors=PullRequests(transaction).repositories_of(logins, now - RECENTLY),
    )


def _subscriptions(transaction: Transaction) -> FirstEntries[ListedSubscription]:
    stored = Subscriptions(transaction)
    return FirstEntries(stored.listed(0, SUBSCRIPTIONS_SHOWN), stored.count_listed())


def _bot_health(transaction: Transaction) -> BotHealth:
    return BotHealth(
        Outbox(transaction).summary(),
        Outages(transaction).active(),
        SlackOutages(transaction).active(),
    )


async def _known_causes(
    read: Sequence[ReadQueue], examine: ExamineQueue
) -> Mapping[RepositoryName, Diagnosis]:
    """Of the queues that something keeps from merging, but no pause or freeze: what is known."""
    queued = [queue for queue in read if isinstance(queue, Snapshot) and queue.status.queued]
    moving = [queue for queue in queued if queue.pause is None and not queue.is_frozen]
    causes: dict[RepositoryName, Diagnosis] = {}
    for begin in range(0, len(moving), HOME_QUEUES_AT_ONCE):
        known = await examine.known(moving[begin : begin + HOME_QUEUES_AT_ONCE])
        causes |= {each.facts.repository: each for each in known if _keeps_from_merging(each)}
    return causes


async def _headlines(
    shown: Sequence[ReadQueue],
    known_causes: Mapping[RepositoryName, Diagnosis],
    examine: ExamineQueue,
) -> Mapping[RepositoryName, QueueHeadline]:
    """What keeps the queues on this page from merging, where it isn't a pause or a freeze.

    Only what nobody can tell from what is known is asked for, as for `why`.
    """
    found = await asyncio.gather(
        *(
            _told(queue, known_causes[queue.repository], examine)
            for queue in shown
            if isinstance(queue, Snapshot) and queue.repository in known_causes
        )
    )
    return {
        diagnosis.facts.repository: QueueHeadline(
            diagnosis.first.verdict, cause_headline(diagnosis)
        )
        for diagnosis in found
        if _keeps_from_merging(diagnosis)
    }


async def _told(snapshot: Snapshot, known: Diagnosis, examine: ExamineQueue) -> Diagnosis:
    return await examine.of(snapshot) if _is_riddle(known) else known


def _keeps_from_merging(diagnosis: Diagnosis) -> bool:
    return _is_riddle(diagnosis) or diagnosis.first.verdict not in NOT_SAID


def _is_riddle(diagnosis: Diagnosis) -> bool:
    """Whether nothing has merged for longer than usual, and nobody can tell why."""
    return diagnosis.first.verdict is QueueVerdict.UNKNOWN and diagnosis.is_stalled


async def subscriptions_state(sources: Sources, first: int = 0) -> SubscriptionsState:
    """The page of the list of all subscriptions on which the one at `first` stands.

    The last one, if the list has become shorter. Raises StoreUnavailable.
    """

    def state(transaction: Transaction) -> SubscriptionsState:
        total = Subscriptions(transaction).count_listed()
        index = min(first, max(total - 1, 0))
        begin = index - index % SUBSCRIPTIONS_PER_PAGE
        listed = Subscriptions(transaction).listed(begin, SUBSCRIPTIONS_PER_PAGE)
        return SubscriptionsState(listed, begin, total, sources.clock.now())

    return await sources.store.read(state)


async def calendar_page(
    repositories: Sequence[RepositoryName],
    sources: Sources,
    read_calendar: ReadCalendar,
    first: int = 0,
) -> CalendarPage:
    """The page of the calendar on which the entry at `first` stands, or the last one.

    Raises StoreUnavailable.
    """
    now = sources.clock.now()

    def read(transaction: Transaction) -> CalendarPage:
        entries = read_calendar(transaction, repositories, now)
        index = min(first, max(len(entries) - 1, 0))
        begin = index - index % CALENDAR_PER_PAGE
        shown = entries[begin : begin + CALENDAR_PER_PAGE]
        offers_freezes = ServiceFeatures(transaction).offers(ServiceFeature.FREEZES)
        return CalendarPage(shown, begin, len(entries), now, offers_freezes)

    return await sources.store.read(read)


async def viewers(
    rights: Mapping[str, frozenset[Right]],
    proposals: Mapping[str, Sequence[ConfirmationRequest]],
    sources: Sources,
) -> Mapping[str, Viewer]:
    """The personal part for each viewer, by user id."""
    now = sources.clock.now()

    def read(transaction: Transaction) -> Mapping[str, Viewer]:
        people = about_people(transaction, rights)
        muted = MutedPullRequests(transaction).of_people(rights, now)
        return {
            user_id: Viewer(
                some,
                people[user_id],
                muted.get(user_id, frozenset()),
                proposals.get(user_id, ()),
            )
            for user_id, some in rights.items()
        }

    return await sources.store.read(read)
