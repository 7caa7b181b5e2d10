"""Checks the database, and what it holds: deliveries, logins, jumps of the bot's clock."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from bot.blocks.text import listed, plural
from bot.channels.rows import Subscriptions
from bot.health.outage_rows import SlackOutages
from bot.inspection.results import Area, CheckResult, age_of, as_sentence
from bot.kernel.clock import Clock
from bot.kernel.metrics import OutboxSummary, SuspendedChannel
from bot.kernel.repository import RepositoryName
from bot.log.rows import Positions, PullRequests
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.people.rows import People
from bot.posts.outbox import Outbox
from bot.slack.errors import CREDENTIAL_CODES
from bot.store import migrate
from bot.store.errors import StoreUnavailable, StoreUnusable
from bot.store.processes import ClockJump, ClockJumps, PendingRestarts, ProcessConnections
from bot.store.transaction import Transaction
from bot.store.transactions import Store

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
    fix = "Start the database, or set DATABASE_URL to one that mqbot can reach and write to."
    if isinstance(error, ValueError):
        fix = "Set DATABASE_URL to sqlite:///path or postgresql://host/database."
    elif isinstance(error, StoreUnusable):
        fix = "Follow that advice, or set DATABASE_URL to another database."
    return Area.DATABASE.problem("connection", f"It can't be used: {as_sentence(cause)}", fix)


def schema(revision: str | None, *, migrates_at_start: bool) -> CheckResult:
    wanted = migrate.head_revision()
    if revision == wanted:
        sentence = f"Connection OK, schema up to date ({revision})."
        return Area.DATABASE.ok("schema", sentence)
    found = "It has no tables yet" if revision is None else f"It is at revision {revision}"
    if migrates_at_start:
        return Area.DATABASE.ok("schema", f"{found}; mqbot upgrades it to {wanted} when it starts.")
    sentence = f"{found}; this version needs {wanted}."
    return Area.DATABASE.problem("schema", sentence, "Run: mqbot migrate")


async def subscribed_channels(store: Store, repositories: Sequence[RepositoryName]) -> set[str]:
    """The channels subscribed by command or configuration; raises StoreUnavailable."""
    found = await store.read(
        lambda transaction: Subscriptions(transaction).of_repositories(repositories)
    )
    return {subscription.channel_id for some in found.values() for subscription in some}


async def last_polls(
    store: Store, repositories: Sequence[RepositoryName]
) -> Mapping[RepositoryName, datetime]:
    """When the bot last read each log to its end; raises StoreUnavailable."""
    found = await store.read(lambda transaction: Positions(transaction).polls(repositories))
    return {name: poll.polled_at for name, poll in found.items()}


async def removed_while_paused(
    store: Store, repositories: Collection[RepositoryName]
) -> Sequence[CheckResult]:
    """Queues that are paused, of repositories that the settings don't name any more.

    Raises StoreUnavailable if the database can't be read.
    """
    found = await store.read(
        lambda transaction: Pauses(transaction).open_elsewhere(frozenset(repositories))
    )
    return [_removed_while_paused(pause) for pause in found]


def _removed_while_paused(pause: PauseRecord) -> CheckResult:
    end = f"until {_minute(pause.resumes_at)}" if pause.resumes_at else "without an end"
    return Area.CONFIGURATION.warning(
        pause.repository,
        "It isn't in MQBOT_REPOSITORIES any more, and its queue is paused by "
        f"{pause.by_name or 'somebody'}, {end}.",
        f"Resume it: /mq resume {pause.repository} still works. "
        "Or, if it got another name, run mqbot rename.",
    )


async def inspect_store(store: Store, clock: Clock) -> Sequence[CheckResult]:
    """Raises StoreUnavailable if it can't be read."""
    now = clock.now()
    found = await store.read(lambda transaction: list(_stored(transaction, now)))
    return [await _written(store), *found]


async def _written(store: Store) -> CheckResult:
    try:
        await store.ask()
    except StoreUnavailable as error:
        return Area.DATABASE.problem(
            "writing",
            f"It is read-only: {as_sentence(error.cause)}",
            "Until it can be written, nothing is posted and nobody can pause: free the disk, make"
            " the file writable for mqbot's user, or point DATABASE_URL at the primary server.",
        )
    return Area.DATABASE.ok("writing", "Writable.")


def _stored(transaction: Transaction, now: datetime) -> Iterable[CheckResult]:
    outage = SlackOutages(transaction).active()
    if outage is not None:
        yield DELIVERIES.problem(
            "Slack",
            f"mqbot has had no answer from Slack for {age_of(now - outage.began_at)}.",
            "If Slack answers below, make sure mqbot is running and can reach it too.",
        )
    others = ProcessConnections(transaction).of_others()
    if others:
        yield DELIVERIES.problem(
            "other processes",
            f"Slack counts {plural(others, 'connection')} of this app more than the processes on "
            "this database have: another mqbot uses the same tokens, and posts everything again.",
            "Stop it: a forgotten host, a copy, or one with another DATABASE_URL.",
        )
    waiting = PendingRestarts(transaction).waiting()
    if waiting:
        yield Area.CONFIGURATION.warning(
            listed(waiting, most=3),
            "It has changed, but the running mqbot still uses the old value.",
            "Restart mqbot.",
        )
    adopted = [pause for pause in Pauses(transaction).in_force_or_timed() if pause.has_unknown_end]
    for pause in adopted:
        yield Area.DATABASE.warning(
            pause.repository,
            f"Its pause by {pause.by_name} isn't in this database, so its end is unknown: a backup "
            "was restored since, or the database was replaced.",
            "Resume it, or set an end on its card in Slack.",
        )
    summary = Outbox(transaction).summary()
    doubtful = Outbox(transaction).in_doubt(limit=1)
    since = doubtful[0].earliest_post if doubtful else None
    yield _waiting(summary, now)
    yield _in_doubt(summary.in_doubt, since, now)
    yield from _suspended(summary, now)
    yield _clock_jumps(ClockJumps(transaction).since(now - JUMPS_SHOWN))
    yield _logins(transaction, now)


def _waiting(summary: OutboxSummary, now: datetime) -> CheckResult:
    count = summary.pending + summary.sending + summary.in_doubt
    if not count:
        return DELIVERIES.ok("waiting", "Nothing is waiting to be posted.")
    waiting = f"{plural(count, 'waits', 'wait')} to be posted"
    if summary.oldest_created_at is None:
        return DELIVERIES.ok("waiting", f"{waiting}, all of it to suspended channels.")
    age = now - summary.oldest_created_at
    sentence = f"{waiting}, the oldest for {age_of(age)}."
    if age <= UNSETTLED_ALLOWANCE:
        return DELIVERIES.ok("waiting", sentence)
    fix = (
        "Make sure mqbot is running, and check the channels that Slack refuses. "
        "The log names the failures."
    )
    return DELIVERIES.problem("waiting", sentence, fix)


def _in_doubt(count: int, since: datetime | None, now: datetime) -> CheckResult:
    if not count or since is None:
        return DELIVERIES.ok("in doubt", "No post is in doubt.")
    are = plural(count, "is", "are")
    sentence = f"{are} in doubt: Slack may have posted what it didn't confirm"
    if now - since <= DOUBT_ALLOWANCE:
        return DELIVERIES.ok("in doubt", f"{sentence}. The bot is looking for it in Slack.")
    return DELIVERIES.problem(
        "in doubt",
        f"{sentence}, since {age_of(now - since)}.",
        "Make sure mqbot is running and can read the history of its channels. "
        "It looks for each post there.",
    )


def _suspended(summary: OutboxSummary, now: datetime) -> Iterable[CheckResult]:
    if not summary.suspended:
        yield DELIVERIES.ok("suspended channels", "Slack accepts posts in all channels.")
    for channel in summary.suspended:
        age = age_of(now - channel.suspended_at)
        yield DELIVERIES.problem(
            channel.channel_id,
            f"Slack has refused posts there for {age} ({channel.code}); "
            "deliveries are kept for 7 days.",
            f"{_how_to_open(channel)}; next try at {_minute(channel.retry_at)}.",
        )


def _how_to_open(channel: SuspendedChannel) -> str:
    if channel.code in CREDENTIAL_CODES:
        return "The channel isn't the problem: install the app again and set its SLACK_BOT_TOKEN"
    return (
        "Give the bot access to the channel again, or end its subscriptions: "
        f"mqbot unsubscribe {channel.channel_id}"
    )


def _clock_jumps(jumps: Sequence[ClockJump]) -> CheckResult:
    """Of the last day, the latest first; of whichever machine runs the bot."""
    if not jumps:
        return Area.CLOCK.ok("the bot's clock", "No jumps since yesterday.")
    at, jump = jumps[0]
    direction = "ahead" if jump > timedelta() else "back"
    more = f" It jumped {len(jumps)} times since yesterday." if len(jumps) > 1 else ""
    return Area.CLOCK.problem(
        "the bot's clock",
        f"It jumped {direction} by {age_of(abs(jump))}, to {_minute(at)}.{more}",
        "Use NTP on the machine that runs mqbot.",
    )


def _minute(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _logins(transaction: Transaction, now: datetime) -> CheckResult:
    """How many of the last authors are linked, and some who aren't."""
    authors = PullRequests(transaction).authors(now - AUTHORS_SHOWN)
    linked = People(transaction).linked_to(authors)
    unknown = [author for author in authors if author not in linked]
    count = plural(len(authors), "author", "authors")
    sentence = f"{len(authors) - len(unknown):,} of {count} in the last 7 days linked to Slack."
    if unknown:
        sentence += f" Unknown: {listed(unknown, most=AUTHORS_NAMED)}."
    return Area.CONFIGURATION.ok("logins", sentence)
