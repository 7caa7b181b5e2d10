"""Read everything that the Home tab shows."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta

from bot.domain.home import HomeState, Viewer, by_need
from bot.domain.pause_records import timed
from bot.domain.repository import RepositoryName
from bot.usecases.asking import Sources
from bot.usecases.asking.queues import read_queues
from bot.usecases.people import about_people

SHOWN = 10
READ = 40
"""The most queues read for one view, because each costs two requests."""

READ_BESIDES = 10
"""Queues to read because pull requests of the viewer were seen there."""

RECENTLY = timedelta(days=7)
SUBSCRIPTIONS_SHOWN = 15
AT_A_TIME = 8


async def home_state(
    repositories: Sequence[RepositoryName],
    sources: Sources,
    first: int = 0,
    logins: Collection[str] = (),
) -> HomeState:
    """The page from the queue at `first` on; queues known as paused come first, then frozen.

    A queue that can't be read is shown as such. `logins`: whose pull requests to include. Raises
    StoreUnavailable.
    """
    first = max(min(first, len(repositories) - 1), 0) // SHOWN * SHOWN
    now = sources.clock.now()
    since = now - RECENTLY
    in_force, freezes, seen_in = await sources.store.read(
        lambda transaction: (
            transaction.pauses.open(repositories),
            transaction.freezes.of(repositories),
            transaction.pull_requests.repositories_of(logins, since),
        )
    )
    paused = {one.repository for one in in_force}
    frozen = {one.repository for one in freezes if one.is_in_force(now)}
    ordered = sorted(repositories, key=lambda name: (name not in paused, name not in frozen))
    part = first // READ * READ
    asked = ordered[part : part + READ]
    besides = [name for name in seen_in if name in set(ordered).difference(asked)]
    read = await read_queues([*asked, *besides[:READ_BESIDES]], sources, AT_A_TIME)
    shown = by_need(read[: len(asked)])[first - part : first - part + SHOWN]
    return await sources.store.read(
        lambda transaction: HomeState(
            queues=shown,
            first=first,
            total=len(repositories),
            polled={
                name: one.polled_at for name, one in transaction.positions.polls(asked).items()
            },
            subscriptions=transaction.subscriptions.all(SUBSCRIPTIONS_SHOWN),
            outbox=transaction.outbox.summary(),
            outages=transaction.outages.active(),
            read_at=sources.clock.now(),
            timed=timed(transaction.pauses.open(repositories)),
            others=[one for one in read if one not in shown],
            subscriptions_in_all=transaction.subscriptions.count(),
        )
    )


async def viewers(may_pause: Mapping[str, bool], sources: Sources) -> Mapping[str, Viewer]:
    """The personal part for each viewer, by user id."""
    people = await sources.store.read(about_people, may_pause)
    return {one: Viewer(may, people[one]) for one, may in may_pause.items()}
