"""What the report says of this machine: settings, database, deliveries, clock."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from bot.domain.deliveries import OutboxSummary, SuspendedChannel
from bot.domain.inspection import CLOCK_ALLOWANCE, Area, CheckResult
from bot.domain.outages import Outage
from bot.domain.permissions import Everyone, Listed, Right, WhoMayPause
from bot.domain.policies import Policy
from bot.domain.queue_health import AlertKind
from bot.domain.repository import RepositoryName
from bot.messages.inspection.findings import (
    CLOCK,
    CONFIGURATION,
    DATABASE,
    DELIVERIES,
    Report,
    age_of,
    as_sentence,
    counted,
)
from bot.messages.text import duration, listed

UNSETTLED_ALLOWANCE = timedelta(minutes=5)
DOUBT_ALLOWANCE = timedelta(minutes=1)
"""A running bot settles doubtful posts within seconds."""

AUTHORS_NAMED = 10

# Configuration


def settings_read(repositories: int, channels: int) -> CheckResult:
    sentence = (
        f"All settings can be read: {counted(repositories, 'repository', 'repositories')}, "
        f"{counted(channels, 'configured subscription', 'configured subscriptions')}."
    )
    return CONFIGURATION.ok("settings", sentence)


def logins(authors: Sequence[str], linked: Collection[str]) -> CheckResult:
    """How many of the authors are linked, and some who aren't."""
    unknown = [one for one in authors if one not in linked]
    sentence = f"Of {counted(len(authors), 'author', 'authors')} in the last 7 days, "
    sentence += f"{len(authors) - len(unknown):,} are linked to Slack."
    if unknown:
        sentence += f" Unknown: {listed(unknown, most=AUTHORS_NAMED)}."
    return CONFIGURATION.ok("logins", sentence)


def policy(repositories: Sequence[RepositoryName], sentence: str) -> CheckResult:
    return CONFIGURATION.ok(f"policy of {listed(repositories, most=5)}", sentence)


def policy_in_words(policy: Policy, credential: str) -> str:
    """Who may, the alerts, the reminders and the credential."""
    rights = (Right.PAUSE, Right.RESUME, Right.REMOVE)
    pause, resume, remove = (_who(policy.who_may[one]) for one in rights)
    may = f"Pausing: {pause}. Resuming: {resume}. Removing others' pull requests: {remove}."
    if policy.who_may[Right.FREEZE] != policy.who_may[Right.PAUSE]:
        may += f" Freezing: {_who(policy.who_may[Right.FREEZE])}."
    if policy.second_person:
        may += " It takes two people to resume somebody else's pause."
    alerts = ", ".join(_alert(kind, limit) for kind, limit in policy.thresholds.items()) or "none"
    if policy.auto_pause is not None:
        length = duration(policy.auto_pause.length)
        alerts += f", and a pause of {length} after {policy.auto_pause.failures} failures in a row"
    mention = f"; they mention {policy.alert_mention}" if policy.alert_mention else ""
    first = policy.first_reminder
    reminders = f"after {duration(first)}" if first else "none"
    return f"{may} Alerts: {alerts}{mention}. Reminders: {reminders}. Credential: {credential}."


def _who(rule: WhoMayPause) -> str:
    match rule:
        case Everyone():
            return str(rule)
        case Listed(people=people, groups=groups):
            return ", ".join(sorted(people | groups))


def _alert(kind: AlertKind, limit: int) -> str:
    match kind:
        case AlertKind.HEAD:
            return f"head after {duration(timedelta(seconds=limit))}"
        case AlertKind.BATCH:
            return f"batch after {duration(timedelta(seconds=limit))}"
        case AlertKind.DEPTH:
            return f"more than {limit:,} queued"
        case AlertKind.FAILURES:
            return f"{limit:,} failures in a row"


def setting_wrong(name: str, problem: str) -> CheckResult:
    found, _, takes = problem.partition(" It takes: ")
    fix = f"Set {name}: {takes}." if takes else f"Set {name} anew."
    return CONFIGURATION.problem(name, as_sentence(found), fix)


def file_readable(name: str, path: str) -> CheckResult:
    return CONFIGURATION.warning(
        name,
        f"Other users of this machine can read {path}.",
        f"Run: chmod 600 {path}",
    )


def plain_http(name: str) -> CheckResult:
    return CONFIGURATION.warning(
        name,
        "It is plain http to another machine: whoever is on the way can read the credential.",
        f"Use an https address for {name}.",
    )


def without_settings(area: Area) -> CheckResult:
    return Report(area).unknown(str(area), "Needs the settings, which cannot be read.")


# Database


def database_current(revision: str) -> CheckResult:
    return DATABASE.ok("schema", f"It can be reached and has this version's schema ({revision}).")


def database_next_start(revision: str | None, wanted: str) -> CheckResult:
    """For a SQLite file, which mqbot migrates when it starts."""
    found = _found(revision)
    return DATABASE.ok("schema", f"{found}; mqbot brings it to {wanted} when it starts.")


def database_behind(revision: str | None, wanted: str) -> CheckResult:
    sentence = f"{_found(revision)}; this version needs {wanted}."
    return DATABASE.problem("schema", sentence, "Run: mqbot migrate")


def _found(revision: str | None) -> str:
    return "It has no tables yet" if revision is None else f"It is at revision {revision}"


def database_unusable(cause: str) -> CheckResult:
    return DATABASE.problem(
        "connection",
        f"It cannot be used: {as_sentence(cause)}",
        "Start the database, or set DATABASE_URL to one that can be reached and written.",
    )


def no_deliveries_yet() -> CheckResult:
    return DELIVERIES.ok("outbox", "There are none before the first start.")


def database_not_to_be_opened(cause: str) -> CheckResult:
    """For a database that this installation can never use."""
    return DATABASE.problem(
        "connection",
        f"It cannot be used: {as_sentence(cause)}",
        "Set DATABASE_URL to another database, or do what it says.",
    )


def without_database(area: Area, subject: str) -> CheckResult:
    return Report(area).unknown(subject, "Needs the database.")


# Deliveries


def slack_outage(outage: Outage, now: datetime) -> CheckResult:
    return DELIVERIES.problem(
        "Slack",
        f"mqbot has had no answer from Slack for {age_of(now - outage.began_at)}.",
        "If Slack answers below, see that mqbot runs and can reach it, too.",
    )


def deliveries(
    summary: OutboxSummary, doubt_since: datetime | None, now: datetime
) -> Iterable[CheckResult]:
    """Waiting and doubtful posts, and each suspended channel."""
    yield _waiting(summary, now)
    yield _in_doubt(summary.in_doubt, doubt_since, now)
    if not summary.suspended:
        yield DELIVERIES.ok("suspended channels", "Slack refuses no channel.")
    for suspended in summary.suspended:
        yield _suspended(suspended, now)


def _waiting(summary: OutboxSummary, now: datetime) -> CheckResult:
    count = summary.pending + summary.sending + summary.in_doubt
    if not count:
        return DELIVERIES.ok("waiting", "None waits to be posted.")
    waiting = f"{counted(count, 'waits', 'wait')} to be posted"
    if summary.oldest_created_at is None:
        return DELIVERIES.ok("waiting", f"{waiting}, all of it to suspended channels.")
    age = now - summary.oldest_created_at
    sentence = f"{waiting}, the oldest for {age_of(age)}."
    if age <= UNSETTLED_ALLOWANCE:
        return DELIVERIES.ok("waiting", sentence)
    return DELIVERIES.problem(
        "waiting",
        sentence,
        "See that mqbot runs; check the channels that Slack refuses; its log names the failures.",
    )


def _in_doubt(count: int, since: datetime | None, now: datetime) -> CheckResult:
    if not count or since is None:
        return DELIVERIES.ok("in doubt", "None is in doubt.")
    age = now - since
    sentence = (
        f"{counted(count, 'is', 'are')} in doubt: Slack may have posted what it did not confirm"
    )
    if age <= DOUBT_ALLOWANCE:
        return DELIVERIES.ok("in doubt", f"{sentence}. It is being looked up.")
    return DELIVERIES.problem(
        "in doubt",
        f"{sentence}, since {age_of(age)}.",
        "See that mqbot runs and may read the history of its channels: it looks each one up.",
    )


def _suspended(suspended: SuspendedChannel, now: datetime) -> CheckResult:
    return DELIVERIES.problem(
        suspended.channel_id,
        f"Slack has refused posts there for {age_of(now - suspended.suspended_at)} "
        f"({suspended.code}); "
        "deliveries are kept for 7 days.",
        "Open the channel to the bot again, or end its subscriptions; "
        f"next try at {_clock(suspended.retry_at)}.",
    )


# Clocks


def clock(other: str, ahead: timedelta | None) -> CheckResult:
    """`ahead`: how far our clock is ahead of the other's."""
    if ahead is None:
        return CLOCK.unknown(other, "Nothing to compare our clock with.")
    seconds = round(ahead.total_seconds())
    direction = "ahead of" if seconds > 0 else "behind"
    if abs(ahead) <= CLOCK_ALLOWANCE:
        return CLOCK.ok(other, f"Our clock agrees with it within {abs(seconds)} s.")
    return CLOCK.problem(
        other,
        f"Our clock is {age_of(abs(ahead))} {direction} it.",
        "Set this machine's clock by NTP.",
    )


def clock_jumps(jumps: Sequence[tuple[datetime, timedelta]]) -> CheckResult:
    """Of the last day, the latest first; of whichever machine runs the bot."""
    if not jumps:
        return CLOCK.ok("the bot's clock", "It has not jumped since yesterday.")
    at, jump = jumps[0]
    direction = "ahead" if jump > timedelta() else "back"
    more = f" It jumped {len(jumps)} times since yesterday." if len(jumps) > 1 else ""
    return CLOCK.problem(
        "the bot's clock",
        f"It jumped {direction} by {age_of(abs(jump))}, to {_clock(at)}.{more}",
        "Let NTP keep the clock of the machine that runs mqbot.",
    )


def _clock(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
