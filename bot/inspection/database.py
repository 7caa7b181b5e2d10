"""Checks the database, and what it holds: deliveries, logins, jumps of the bot's clock."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from bot.domain.deliveries import OutboxSummary
from bot.domain.errors import StoreUnavailable, StoreUnusable
from bot.domain.repository import RepositoryName
from bot.inspection.results import Area, CheckResult, age_of, as_sentence
from bot.messages.text import listed, plural
from bot.ports import Clock
from bot.store import migrate
from bot.store.transactions import Store, Transaction

JUMPS_SHOWN = timedelta(days=1)
AUTHORS_SHOWN = timedelta(days=7)
AUTHORS_NAMED = 10
UNSETTLED_ALLOWANCE = timedelta(minutes=5)
DOUBT_ALLOWANCE = timedelta(minutes=1)
"""A running bot settles doubtful posts within seconds."""

DELIVERIES = Area.DELIVERIES


async def inspect_database(url: str) -> Sequence[CheckResult]:
    try:
        revision = await asyncio.to_thread(migrate.current_revision, url)
    except (StoreUnavailable, ValueError) as error:
        return [unusable(error)]
    return [schema(revision, migrates_at_start=url.startswith("sqlite:"))]


def is_current(found: Sequence[CheckResult]) -> bool:
    """Whether the database has this program's schema."""
    return found == [schema(migrate.head_revision(), migrates_at_start=False)]


def unusable(error: StoreUnavailable | ValueError) -> CheckResult:
    cause = error.cause if isinstance(error, StoreUnavailable) else str(error)
    fix = "Start the database, or set DATABASE_URL to one that can be reached and written."
    if isinstance(error, (StoreUnusable, ValueError)):
        fix = "Set DATABASE_URL to another database, or do what it says."
    return Area.DATABASE.problem("connection", f"It cannot be used: {as_sentence(cause)}", fix)


def schema(revision: str | None, *, migrates_at_start: bool) -> CheckResult:
    wanted = migrate.head_revision()
    if revision == wanted:
        sentence = f"It can be reached and has this version's schema ({revision})."
        return Area.DATABASE.ok("schema", sentence)
    found = "It has no tables yet" if revision is None else f"It is at revision {revision}"
    if migrates_at_start:
        return Area.DATABASE.ok("schema", f"{found}; mqbot brings it to {wanted} when it starts.")
    sentence = f"{found}; this version needs {wanted}."
    return Area.DATABASE.problem("schema", sentence, "Run: mqbot migrate")


async def subscribed_channels(store: Store, repositories: Sequence[RepositoryName]) -> set[str]:
    """The channels subscribed by command or configuration; raises StoreUnavailable."""
    found = await store.read(
        lambda transaction: transaction.subscriptions.of_repositories(repositories)
    )
    return {one.channel_id for some in found.values() for one in some}


async def inspect_store(store: Store, clock: Clock) -> Sequence[CheckResult]:
    """Raises StoreUnavailable."""
    now = clock.now()
    return await store.read(lambda transaction: list(_stored(transaction, now)))


def _stored(transaction: Transaction, now: datetime) -> Iterable[CheckResult]:
    for outage in [one for one in transaction.outages.active() if one.is_of_slack]:
        yield DELIVERIES.problem(
            "Slack",
            f"mqbot has had no answer from Slack for {age_of(now - outage.began_at)}.",
            "If Slack answers below, see that mqbot runs and can reach it, too.",
        )
    summary = transaction.outbox.summary()
    doubtful = transaction.outbox.in_doubt(limit=1)
    since = (doubtful[0].attempted_at or doubtful[0].created_at) if doubtful else None
    yield _waiting(summary, now)
    yield _in_doubt(summary.in_doubt, since, now)
    yield from _suspended(summary, now)
    yield _clock_jumps(transaction.expiring_keys.jumps_since(now - JUMPS_SHOWN))
    yield _logins(transaction, now)


def _waiting(summary: OutboxSummary, now: datetime) -> CheckResult:
    count = summary.pending + summary.sending + summary.in_doubt
    if not count:
        return DELIVERIES.ok("waiting", "None waits to be posted.")
    waiting = f"{plural(count, 'waits', 'wait')} to be posted"
    if summary.oldest_created_at is None:
        return DELIVERIES.ok("waiting", f"{waiting}, all of it to suspended channels.")
    age = now - summary.oldest_created_at
    sentence = f"{waiting}, the oldest for {age_of(age)}."
    if age <= UNSETTLED_ALLOWANCE:
        return DELIVERIES.ok("waiting", sentence)
    fix = "See that mqbot runs; check the channels that Slack refuses; its log names the failures."
    return DELIVERIES.problem("waiting", sentence, fix)


def _in_doubt(count: int, since: datetime | None, now: datetime) -> CheckResult:
    if not count or since is None:
        return DELIVERIES.ok("in doubt", "None is in doubt.")
    are = plural(count, "is", "are")
    sentence = f"{are} in doubt: Slack may have posted what it did not confirm"
    if now - since <= DOUBT_ALLOWANCE:
        return DELIVERIES.ok("in doubt", f"{sentence}. It is being looked up.")
    return DELIVERIES.problem(
        "in doubt",
        f"{sentence}, since {age_of(now - since)}.",
        "See that mqbot runs and may read the history of its channels: it looks each one up.",
    )


def _suspended(summary: OutboxSummary, now: datetime) -> Iterable[CheckResult]:
    if not summary.suspended:
        yield DELIVERIES.ok("suspended channels", "Slack refuses no channel.")
    for one in summary.suspended:
        yield DELIVERIES.problem(
            one.channel_id,
            f"Slack has refused posts there for {age_of(now - one.suspended_at)} ({one.code}); "
            "deliveries are kept for 7 days.",
            "Open the channel to the bot again, or end its subscriptions; "
            f"next try at {_minute(one.retry_at)}.",
        )


def _clock_jumps(jumps: Sequence[tuple[datetime, timedelta]]) -> CheckResult:
    """Of the last day, the latest first; of whichever machine runs the bot."""
    if not jumps:
        return Area.CLOCK.ok("the bot's clock", "It has not jumped since yesterday.")
    at, jump = jumps[0]
    direction = "ahead" if jump > timedelta() else "back"
    more = f" It jumped {len(jumps)} times since yesterday." if len(jumps) > 1 else ""
    return Area.CLOCK.problem(
        "the bot's clock",
        f"It jumped {direction} by {age_of(abs(jump))}, to {_minute(at)}.{more}",
        "Let NTP keep the clock of the machine that runs mqbot.",
    )


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _logins(transaction: Transaction, now: datetime) -> CheckResult:
    """How many of the last authors are linked, and some who aren't."""
    authors = transaction.pull_requests.authors(now - AUTHORS_SHOWN)
    linked = transaction.people.linked_to(authors)
    unknown = [one for one in authors if one not in linked]
    sentence = f"Of {plural(len(authors), 'author', 'authors')} in the last 7 days, "
    sentence += f"{len(authors) - len(unknown):,} are linked to Slack."
    if unknown:
        sentence += f" Unknown: {listed(unknown, most=AUTHORS_NAMED)}."
    return Area.CONFIGURATION.ok("logins", sentence)
