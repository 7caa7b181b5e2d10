"""The bot's polling with its store and its client, and nothing of Slack."""

import gc
import os
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import SecretStr

from bot.cli import GARBAGE_THRESHOLD
from bot.domain.event_log import first_position
from bot.domain.repository import RepositoryName
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.http import REQUESTS_AT_ONCE, Http
from bot.ports import UNMEASURED, Clock, Measures
from bot.scheduler import next_digest
from bot.store.engines import create_engine
from bot.store.transactions import Store
from bot.usecases.polling.poll_due_repositories import PollDueRepositories
from bot.usecases.polling.poll_event_log import PollEventLog
from bot.usecases.tasks import Gate, pages_at_once
from tests.bench.services.certificate import trusting
from tests.support.transactions import begin

INTERVAL = timedelta(seconds=10)
OVERLAP = timedelta(seconds=120)


@dataclass(frozen=True, slots=True)
class Poller:
    """Composed as bot.runtime.jobs composes it."""

    store: Store
    polls: PollDueRepositories
    client: MergeQueueClient


def repositories(count: int) -> Sequence[RepositoryName]:
    return [RepositoryName(f"acme/r{number}") for number in range(count)]


def begin_logs(store: Store, names: Sequence[RepositoryName], at: datetime) -> None:
    """As if each event log had been looked at for the first time."""
    with begin(store) as transaction:
        for name in names:
            transaction.positions.save(first_position(name, at))


@asynccontextmanager
async def opened(
    names: Sequence[RepositoryName],
    clock: Clock,
    *,
    measures: Measures = UNMEASURED,
    longest: timedelta | None = None,
    requests: int = REQUESTS_AT_ONCE,
) -> AsyncIterator[Poller]:
    """On the database at DATABASE_URL; the service is at BENCH_SERVICE."""
    store = Store(create_engine(os.environ["DATABASE_URL"]))
    http = Http(
        base_url=os.environ["BENCH_SERVICE"],
        token=SecretStr("bench-token"),
        clock=clock,
        trust=_trust(),
        requests_at_once=requests,
    )
    async with MergeQueueClient(http) as client:
        poll = PollEventLog(
            store,
            client.scheduled,
            clock,
            _unheard,
            next_digest,
            OVERLAP,
            measures=measures,
            gate=Gate(pages_at_once(requests)),
        )
        polls = PollDueRepositories(
            poll, store, clock, names, INTERVAL, "bench", measures=measures, longest=longest
        )
        gc.set_threshold(GARBAGE_THRESHOLD)
        yield Poller(store, polls, client)
        await polls.drain()
    await store.close()


def _trust() -> ssl.SSLContext | None:
    certificate = os.environ.get("BENCH_CERTIFICATE")
    return None if certificate is None else trusting(certificate)


def _unheard(after: float = 0.0) -> None:
    """Nothing posts here."""
