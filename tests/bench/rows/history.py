"""What commands, Home and polls cost in the database with a long history, against a short one.

The whole bot runs between the local services. Counted is the CPU of the transactions that it runs
meanwhile: of SQLite, and of making values of the rows.

All histories are equally busy: ten queues with 417 pull requests a day each. The short one has the
newest 1,000 events of the long one, which are 43 minutes, so it has fewer rows than most limits
allow to be read. What reads the most of the last day is also compared with a history of one day:
that is how much more a long history costs the same queue.

The quickest round counts, in which a queue's last days were read before: they are read again only
after a pull request has left (`ForeseeQueue`).
"""

import asyncio
import sqlite3
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from bot.kernel.repository import RepositoryName
from bot.runtime.upkeep.pruning import Upkeep
from bot.slack.app import PersonalPace
from bot.store.engines import create_engine
from bot.store.schema import EPOCH, MICROSECOND
from bot.store.transaction import Transaction
from bot.store.transactions import Store
from tests.bench.figures import Extent, Row
from tests.bench.services import database
from tests.support.bot_tester import ALICE, BOB, CAROL, DAVE, MERGE_QUEUE, BotTester
from tests.support.waiting import until

SHORT = 1_000
LONG = 1_000_000
NAMES = [RepositoryName("acme/site"), *(RepositoryName(f"acme/r{n}") for n in range(1, 10))]
KEPT = timedelta(days=30)
"""By default. A long history has its events in this time, a short one has the newest of them."""

STEP = KEPT // LONG // MICROSECOND
"""Microseconds between two events of all repositories."""

DAY = LONG // KEPT.days
"""Events of one day."""

EVENTS_OF_EACH = 8
"""From the enter of a pull request to its leave."""

LAST_EVENT = 1_000_000_000
NEWEST_NUMBER = 1_000_000
"""The number of the pull request that entered last; earlier ones count down."""

ASKED = NEWEST_NUMBER - 5
"""A pull request that both histories have."""

GOAL = 1.5
IDLE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one table, counted back from the newest by `n`, as SQL for each column.

    `name` is the repository's, `place` counts its events back, `stay` its pull requests, and `at`
    is the row's time.
    """

    table: str
    events: int  #: of so many events there is one row
    columns: Mapping[str, str]

    def statement(self, count: int, newest: int) -> str:
        return f"""
            INSERT INTO {self.table} ({", ".join(self.columns)})
            WITH RECURSIVE
              counted(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n + 1 < {count}),
              placed AS (
                SELECT n, {newest} - n * {self.events * STEP} AS at,
                  n / {len(NAMES)} * {self.events} AS place,
                  iif(n % {len(NAMES)}, 'acme/r' || (n % {len(NAMES)}), '{NAMES[0]}') AS name
                FROM counted
              ),
              rows AS (SELECT *, place / {EVENTS_OF_EACH} AS stay FROM placed)
            SELECT {", ".join(self.columns.values())} FROM rows
        """  # noqa: S608  # all of it is ours


NUMBER = f"{NEWEST_NUMBER} - stay"
KEY = f"({NUMBER}) || '-1'"
CHANNEL = f"'{MERGE_QUEUE}'"
PLACE = f"(n / {len(NAMES)})"
"""Counts the rows of a repository in their own table back."""

LATER = 2 * KEPT // MICROSECOND
KEPT_ROWS = (
    Rows(
        "events",
        1,
        {
            "repository": "name",
            "event_id": f"{LAST_EVENT} - n",
            "received_at": "at",
            "type": """'action.queue.' || CASE place % 8 WHEN 0 THEN 'leave' WHEN 1 THEN 'merged'
                WHEN 2 THEN 'checks_end' WHEN 7 THEN 'enter' ELSE 'checks_start' END""",
            "pull_request": NUMBER,
            "base_ref": "'main'",
            "session_id": "name || stay",
            "details": f"""'{{"queue_name":"default","trigger":"merge queue","reason":"merged",' ||
                '"merged":true,"queued_at":"' || strftime('%Y-%m-%dT%H:%M:%SZ',
                (at - {EVENTS_OF_EACH * len(NAMES) * STEP}) / 1000000, 'unixepoch') || '"}}'""",
            "routed": "1",
        },
    ),
    Rows(
        "pull_requests",
        EVENTS_OF_EACH,
        {
            "repository": "name",
            "number": NUMBER,
            "title": "'Change number ' || stay",
            "url": f"'https://code.example/' || name || '/pull/' || ({NUMBER})",
            "author": "'author-' || (stay % 4)",
            "author_folded": "'author-' || (stay % 4)",
            "seen_at": "at",
        },
    ),
    Rows(
        "queue_entries",
        EVENTS_OF_EACH,
        {
            "repository": "name",
            "key": KEY,
            "pull_request": NUMBER,
            "session_id": "name || stay",
            "began_at": "at",
            "last_at": "at",
            "entered": "1",
            "ended_at": "at",
        },
    ),
    Rows(
        "live_messages",
        EVENTS_OF_EACH,
        {
            "kind": "'entry'",
            "repository": "name",
            "key": KEY,
            "channel_id": CHANNEL,
            "is_second": "0",
            "closed": "1",
            "is_lost": "0",
            "wanted": "2",
            "shown": "2",
            "failures": "0",
            "priority": "3",
            "due_at": "at",
            "created_at": "at",
            "changed_at": "at",
            "message_ts": "(1700000000 - n) || '.000100'",
        },
    ),
    Rows(
        "deliveries",
        4,
        {
            "delivery_id": "'delivery ' || n",
            "channel_id": CHANNEL,
            "queue": CHANNEL,
            "sequence": f"{LAST_EVENT} - n",
            "subject_kind": "'event'",
            "repository": "name",
            "subject_id": f"{LAST_EVENT} - 4 * n",
            "created_at": "at",
            "due_at": "at",
            "state": "'delivered'",
            "attempts": "1",
            "lookups": "0",
            "failures": "0",
            "summarizes": "0",
            "attempted_at": "at",
            "settled_at": "at",
            "message_ts": "(1600000000 - n) || '.000100'",
            "kind": "'merge'",
        },
    ),
    Rows(
        "audit",
        10,
        {
            # Of each repository, later first: a resume's end and beginning, then a pause's. An
            # end has the number of its beginning, which is the repository's next row.
            "act_id": f"iif({PLACE} % 2, 0, n + {len(NAMES)} + 1)",
            "group_act_id": "0",
            "times": "1",
            "at": "at",
            "actor": """'{"user_id":"U0ADA","name":"ada"}'""",
            "channel_id": CHANNEL,
            "action": f"iif({PLACE} % 4 < 2, 'resume', 'pause')",
            "origin": "'command'",
            "repository": "name",
            "result": f"iif({PLACE} % 2, 'started', 'done')",
            "reason": "'reason ' || n",
        },
    ),
    Rows(
        "pauses",
        2_000,
        {
            "repository": "name",
            "paused_at": "at - 1000",
            "stored_reason": "'reason ' || n",
            "reason": "'reason ' || n",
            "waited": "'[]'",
            "stopped": "'[]'",
            "ended_at": "at",
            "ending": "'resumed'",
            "end_notified": "1",
            "group_act_id": "0",
        },
    ),
    Rows(
        "alerts",
        500,
        {
            "repository": "name",
            "kind": "'head'",
            "began_at": "at",
            "ended_at": "at",
            "value": "5460",
            "threshold": "5400",
        },
    ),
    Rows("handled_requests", 20, {"request": "'request ' || n", "until": f"at + {LATER}"}),
)


def fill(path: Path, events: int) -> None:
    """Store what a bot has kept after so many events; the database is empty before."""
    newest = (datetime.now(UTC) - timedelta(minutes=1) - EPOCH) // MICROSECOND
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("PRAGMA synchronous=OFF")
        for rows_of_table in KEPT_ROWS:
            count = max(events // rows_of_table.events, 1)
            file.execute(rows_of_table.statement(count, newest))
        file.execute(
            "INSERT INTO channel_queues (queue, next_sequence, head_sequence) VALUES (?1, ?2, ?2)",
            [MERGE_QUEUE, LAST_EVENT + 1],
        )
        file.executemany(
            "INSERT INTO repositories (repository, origin, watermark, polled_at)"
            " VALUES (?1, ?2, ?3, ?3)",
            [(name, newest - STEP * events, newest) for name in NAMES],
        )


class Meter:
    """The CPU of transactions in seconds, by the path of their database."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._begun: dict[int, float] = {}

    @contextmanager
    def counting(self) -> Iterator[None]:
        listeners = (("begin", self._begin), ("commit", self._end), ("rollback", self._end))
        for name, listener in listeners:
            sa.event.listen(sa.Engine, name, listener)
        try:
            yield
        finally:
            for name, listener in listeners:
                sa.event.remove(sa.Engine, name, listener)

    def _begin(self, _: sa.Connection) -> None:
        # A transaction begins and ends in one thread.
        self._begun[threading.get_ident()] = time.thread_time()

    def _end(self, connection: sa.Connection) -> None:
        begun = self._begun.pop(threading.get_ident(), None)
        if begun is not None:
            self.spent[str(connection.engine.url.database)] += time.thread_time() - begun


PEOPLE = (ALICE, BOB, CAROL, DAVE)
LOGINS = ",".join(f"{person}=author-{number}" for number, person in enumerate(PEOPLE))
"""Home looks for the pull requests of the person who opens it."""

Act = Callable[[BotTester, str], Awaitable[object]]
"""What one person does."""


def typed(line: str) -> Act:
    return lambda bot, person: bot.ask(f"/mq {line}", by=person)


async def open_home(bot: BotTester, person: str) -> None:
    before = _home_of(bot, person)
    await bot.open_home(by=person)
    await until(lambda: _home_of(bot, person) != before, "a newer Home tab")


def _home_of(bot: BotTester, person: str) -> object:
    home = bot.slack.sight.views(person)["home"]
    return home["hash"] if home is not None else None


async def pause_and_resume(bot: BotTester, person: str) -> None:
    await bot.pause("acme/site now CI is down", by=person)
    await bot.publish("/mq resume acme/site", "has resumed", by=person)


async def idle(_: BotTester, _person: str) -> None:
    await asyncio.sleep(IDLE_SECONDS)


async def look_for_old_rows(bot: BotTester, _: str) -> None:
    """Nothing is old enough, which most looks find."""
    store = Store(create_engine(bot.database_url))
    now = datetime.now(UTC)

    def look(transaction: Transaction) -> None:
        Upkeep(transaction).prune(now - 2 * KEPT, now, NAMES)

    try:
        await store.run(look)
    finally:
        await store.close()


ACTS: Mapping[str, Act] = {
    "status": typed("status acme/site"),
    "status of all": typed("status all"),
    "why": typed(f"why {ASKED} acme/site"),
    "why nothing merges": typed("why acme/site"),
    "log": typed("log acme/site"),
    "log of a pull request": typed(f"log acme/site pr:{ASKED}"),
    "rules": typed("rules acme/site"),
    "branches": typed("branches acme/site"),
    "stats": typed("stats acme/site"),
    "stats of checks": typed("stats checks acme/site since:7d"),
    "freezes": typed("freezes acme/site"),
    "audit": typed("audit acme/site"),
    "audit of all": typed("audit all"),
    "subscriptions": typed("subscriptions"),
    "me": typed("me"),
    "Home": open_home,
    "pause and resume": pause_and_resume,
    f"{IDLE_SECONDS:g} s of polls that read nothing": idle,
    "a look for what is too old": look_for_old_rows,
}


READ_THE_LAST_DAY = frozenset({"status", "why nothing merges", "pause and resume"})
"""Acts that read more rows of a whole day than of its last 43 minutes."""


async def rows(extent: Extent) -> Sequence[Row]:
    """All bots are there all the time and act by turns, so that they share what else is done."""
    events = extent.scaled(LONG, LONG // 10)
    meter = Meter()
    found: list[Row] = []
    async with AsyncExitStack() as stack:
        short = await stack.enter_async_context(_bot_with(SHORT))
        day = await stack.enter_async_context(_bot_with(DAY))
        long = await stack.enter_async_context(_bot_with(events))
        stack.enter_context(meter.counting())
        for what, act in ACTS.items():
            reads_a_day = what in READ_THE_LAST_DAY
            bots = [short, long, day] if reads_a_day else [short, long]
            spent: list[list[float]] = [[] for _ in bots]
            for number in range(extent.scaled(15, 4)):
                person = PEOPLE[number % len(PEOPLE)]
                for of_bot, bot in zip(spent, bots, strict=True):
                    of_bot.append(await _spent(meter, bot, act, person))
            # Of the quickest rounds: what a bot does beside it only adds.
            of_short, of_long, *of_day = [1000 * min(of_bot) for of_bot in spent]
            named = f"{what}: CPU in the database with {events:,} events stored"
            found.append(Row(named, "ms", of_long, of_short, of_long / of_short, GOAL))
            for other in of_day:
                beside = f"{named}, beside the last day's {DAY:,}"
                found.append(Row(beside, "ms", of_long, other, of_long / other, GOAL))
    return found


async def _spent(meter: Meter, bot: BotTester, act: Act, person: str) -> float:
    path = bot.database_url.removeprefix("sqlite:///")
    spent = 0.0
    while not spent:
        # What an act before this one still does would count for it, or seem to end it at once.
        await bot.has_posted()
        before = meter.spent[path]
        await act(bot, person)
        spent = meter.spent[path] - before
    return spent


@asynccontextmanager
async def _bot_with(events: int) -> AsyncIterator[BotTester]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bot.sqlite3"
        await database.make(path)
        await asyncio.to_thread(fill, path, events)
        async with bot_of(path) as bot:
            yield bot


def bot_of(path: Path, quiet_seconds: int = 1) -> BotTester:
    """The whole bot on that database, which deletes nothing, and polls quiet queues so often."""
    return BotTester(
        f"sqlite:///{path}",
        repositories=dict.fromkeys(NAMES, "quiet"),
        environment={
            "MQBOT_RETENTION_DAYS": "3650",
            "MQBOT_LOGINS": LOGINS,
            "MQBOT_QUIET_POLL_SECONDS": str(quiet_seconds),
        },
        # On a fast machine an act is repeated sooner than a person could.
        pace=PersonalPace(burst=10_000),
    )
