"""Every sentence of the report on the installation."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from bot.domain.checks import (
    CLOCK_ALLOWANCE,
    Area,
    BotStanding,
    ChannelStanding,
    Door,
    Finding,
    InspectionFailed,
    Standing,
)
from bot.domain.errors import (
    CredentialRefused,
    InvalidRequest,
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    ResourceNotFound,
)
from bot.domain.queue import Application, QueueStatus
from bot.domain.repository import RepositoryName
from bot.ports import OutboxSummary, ParkedChannel

UNSETTLED_ALLOWANCE = timedelta(minutes=5)
DOUBT_ALLOWANCE = timedelta(minutes=1)
"""A bot that runs settles what is in doubt within seconds."""

NAMES_LISTED = 20
UNAUTHORIZED = 401


def ok(area: Area, subject: str, sentence: str) -> Finding:
    return Finding(area, subject, Standing.OK, sentence)


def wrong(area: Area, subject: str, sentence: str, mend: str) -> Finding:
    return Finding(area, subject, Standing.WRONG, sentence, mend)


def unknown(area: Area, subject: str, sentence: str, mend: str | None = None) -> Finding:
    return Finding(area, subject, Standing.UNKNOWN, sentence, mend)


def no_time(area: Area, subject: str, seconds: float) -> Finding:
    return unknown(
        area,
        subject,
        f"No result within {seconds:g} seconds.",
        "Look at what is wrong above first, then check again.",
    )


def defect(area: Area, subject: str, error: Exception) -> Finding:
    return wrong(
        area,
        subject,
        f"The check itself failed ({type(error).__name__}).",
        "Report this; with MQBOT_LOG_LEVEL=DEBUG the check says more.",
    )


# Configuration


def settings_read(repositories: int, channels: int) -> Finding:
    sentence = (
        f"All settings can be read: {_count(repositories, 'repository', 'repositories')}, "
        f"{_count(channels, 'configured subscription', 'configured subscriptions')}."
    )
    return ok(Area.CONFIGURATION, "settings", sentence)


def setting_wrong(name: str, problem: str) -> Finding:
    found, _, takes = problem.partition(" It takes: ")
    mend = f"Set {name}: {takes}." if takes else f"Set {name} anew."
    return wrong(Area.CONFIGURATION, name, _sentence(found), mend)


def without_settings(area: Area) -> Finding:
    return unknown(area, str(area), "Needs the settings, which cannot be read.")


# Database


def database_current(revision: str) -> Finding:
    return ok(
        Area.DATABASE, "schema", f"It can be reached and has this version's schema ({revision})."
    )


def database_empty() -> Finding:
    return wrong(Area.DATABASE, "schema", "It has no tables yet.", "Run: mqbot migrate")


def database_other(revision: str, wanted: str) -> Finding:
    return wrong(
        Area.DATABASE,
        "schema",
        f"It is at revision {revision}; this version needs {wanted}.",
        "Run: mqbot migrate. If the database is newer than the program, install the newer one.",
    )


def database_unusable(cause: str) -> Finding:
    return wrong(
        Area.DATABASE,
        "connection",
        f"It cannot be used: {_sentence(cause)}",
        "Start the database, or set DATABASE_URL to one that can be reached and written.",
    )


def without_database(area: Area, subject: str) -> Finding:
    return unknown(area, subject, "Needs the database.")


# Deliveries


def deliveries(
    summary: OutboxSummary, doubt_since: datetime | None, now: datetime
) -> Iterable[Finding]:
    """What waits, what is in doubt, and every channel that is parked."""
    yield _waiting(summary, now)
    yield _in_doubt(summary.in_doubt, doubt_since, now)
    if not summary.parked:
        yield ok(Area.DELIVERIES, "parked channels", "Slack refuses no channel.")
    for parked in summary.parked:
        yield _parked(parked, now)


def _waiting(summary: OutboxSummary, now: datetime) -> Finding:
    count = summary.pending + summary.sending + summary.in_doubt
    if not count or summary.oldest_created_at is None:
        return ok(Area.DELIVERIES, "waiting", "None waits to be posted.")
    age = now - summary.oldest_created_at
    sentence = f"{_count(count, 'waits', 'wait')} to be posted, the oldest for {_age(age)}."
    if age <= UNSETTLED_ALLOWANCE:
        return ok(Area.DELIVERIES, "waiting", sentence)
    return wrong(
        Area.DELIVERIES,
        "waiting",
        sentence,
        "See that mqbot runs, and mend the channels that are parked; its log names the failures.",
    )


def _in_doubt(count: int, since: datetime | None, now: datetime) -> Finding:
    if not count or since is None:
        return ok(Area.DELIVERIES, "in doubt", "None is in doubt.")
    age = now - since
    sentence = (
        f"{_count(count, 'is', 'are')} in doubt: Slack may have posted what it did not confirm"
    )
    if age <= DOUBT_ALLOWANCE:
        return ok(Area.DELIVERIES, "in doubt", f"{sentence}. It is being looked up.")
    return wrong(
        Area.DELIVERIES,
        "in doubt",
        f"{sentence}, since {_age(age)}.",
        "See that mqbot runs and may read the history of its channels: it looks each one up.",
    )


def _parked(parked: ParkedChannel, now: datetime) -> Finding:
    return wrong(
        Area.DELIVERIES,
        parked.channel_id,
        f"Slack has refused posts there for {_age(now - parked.parked_at)} ({parked.code}); "
        "deliveries are kept for 7 days.",
        "Open the channel to the bot again, or end its subscriptions; "
        f"next try at {_clock(parked.retry_at)}.",
    )


# The merge queue service


def application(found: Application) -> Finding:
    scope = f", scope {found.scope}" if found.scope else ""
    sentence = f"The service knows it: “{found.name}” of {found.account.login}{scope}."
    if found.scope not in {None, "admin"}:
        return wrong(
            Area.MERGE_QUEUE,
            "credential",
            sentence,
            "Set MQBOT_API_TOKEN to an application key with the scope admin.",
        )
    return ok(Area.MERGE_QUEUE, "credential", sentence)


def application_failed(error: MergeQueueError, *, reads_something: bool) -> Finding:
    """A personal access token has no application: then it is the repositories that tell."""
    if isinstance(error, CredentialRefused):
        if error.status != UNAUTHORIZED and reads_something:
            return ok(
                Area.MERGE_QUEUE,
                "credential",
                "The service knows it; it is no application key, so a personal access token.",
            )
        return wrong(
            Area.MERGE_QUEUE,
            "credential",
            f"The service refuses it (status {error.status}).",
            "Set MQBOT_API_TOKEN to an application key with the scope admin.",
        )
    return _service_failed("credential", error)


def repository_read(repository: RepositoryName, status: QueueStatus) -> Finding:
    state = "paused" if status.pause is not None else "running"
    return ok(Area.MERGE_QUEUE, str(repository), f"Its queue can be read; it is {state}.")


def repository_failed(repository: RepositoryName, error: MergeQueueError) -> Finding:
    name = str(repository)
    if isinstance(error, ResourceNotFound):
        return wrong(
            Area.MERGE_QUEUE,
            name,
            "It has no merge queue that this credential can see.",
            "Give the credential access, or take the repository out of MQBOT_REPOSITORIES.",
        )
    if isinstance(error, CredentialRefused):
        return wrong(
            Area.MERGE_QUEUE,
            name,
            f"The credential may not read it (status {error.status}).",
            "Give the credential access, or set MQBOT_API_TOKEN to one that has it.",
        )
    return _service_failed(name, error)


def _service_failed(subject: str, error: MergeQueueError) -> Finding:
    if isinstance(error, MergeQueueUnavailable):
        status = f" (status {error.status})" if error.status else ""
        return wrong(
            Area.MERGE_QUEUE,
            subject,
            f"The service does not answer{status}: {_sentence(error.cause)}",
            "See that MQBOT_API_URL can be reached from this machine, or wait for the service.",
        )
    if isinstance(error, MergeQueueProtocolError):
        return wrong(
            Area.MERGE_QUEUE,
            subject,
            f"Its answer cannot be read: {_sentence(error.detail)}",
            "See that MQBOT_API_URL is the address of the service, ending in /v1.",
        )
    detail = error.detail if isinstance(error, InvalidRequest) else str(error)
    return wrong(
        Area.MERGE_QUEUE,
        subject,
        f"The service cannot answer: {_sentence(detail)}",
        "See the configuration of the repository's merge queue.",
    )


# Slack


def bot_token(found: BotStanding) -> Finding:
    return ok(Area.SLACK, "bot token", f"It is {found.bot_name} in {found.team_name}.")


def scopes(found: BotStanding, wanted: Collection[str]) -> Finding:
    if found.scopes is None:
        return unknown(Area.SLACK, "scopes", "Slack did not say which scopes are granted.")
    missing = sorted(set(wanted) - found.scopes)
    if missing:
        return wrong(
            Area.SLACK,
            "scopes",
            f"Not granted, though in the manifest: {_list(missing)}.",
            "Bring the app up to date with `mqbot manifest`, then install it again.",
        )
    return ok(Area.SLACK, "scopes", f"All {len(wanted)} scopes of the manifest are granted.")


def app_token() -> Finding:
    return ok(Area.SLACK, "app-level token", "It opens connections.")


_TOKEN_MENDS: Mapping[str, str] = {
    "bot token": (
        "Install the app and copy its bot token (OAuth & Permissions) to SLACK_BOT_TOKEN."
    ),
    "app-level token": (
        "Make an app-level token with the scope connections:write (Basic Information), "
        "set SLACK_APP_TOKEN, and see that Socket Mode is on."
    ),
}


def token_failed(subject: str, error: InspectionFailed) -> Finding:
    if error.is_refusal:
        return wrong(
            Area.SLACK, subject, f"Slack refuses it ({error.code}).", _TOKEN_MENDS[subject]
        )
    return wrong(
        Area.SLACK,
        subject,
        f"Slack does not answer ({error.code}).",
        "See that this machine reaches Slack (SLACK_API_URL), or wait until Slack is well.",
    )


_OPEN_DOORS: Mapping[Door, str] = {
    Door.MEMBER: "The bot is in it.",
    Door.PUBLIC: "It is public; the bot joins when it posts.",
}
_CLOSED_DOORS: Mapping[Door, tuple[str, str]] = {
    Door.INVITE: ("It is private and the bot is not in it.", "Invite the bot: /invite in it."),
    Door.ARCHIVED: ("It is archived.", "Unarchive it, or end its subscriptions."),
    Door.HIDDEN: (
        "Slack shows no such channel: deleted, or private without the bot in it.",
        "Invite the bot to it, or end its subscriptions.",
    ),
}


def channel(channel_id: str, found: ChannelStanding) -> Finding:
    subject = f"{channel_id} #{found.name}" if found.name else channel_id
    if found.door in _OPEN_DOORS:
        return ok(Area.CHANNEL, subject, _OPEN_DOORS[found.door])
    return wrong(Area.CHANNEL, subject, *_CLOSED_DOORS[found.door])


def channel_failed(channel_id: str, error: InspectionFailed) -> Finding:
    return unknown(
        Area.CHANNEL,
        channel_id,
        f"Slack does not say how it stands ({error.code}).",
        "Mend the bot token and its scopes, or check again in a minute.",
    )


def no_channels() -> Finding:
    return ok(Area.CHANNEL, "subscriptions", "No channel is subscribed yet.")


# Clocks


def clock(other: str, ahead: timedelta | None) -> Finding:
    """`ahead`: how far our clock is ahead of the other's."""
    if ahead is None:
        return unknown(Area.CLOCK, other, "Nothing to compare our clock with.")
    seconds = round(ahead.total_seconds())
    direction = "ahead of" if seconds > 0 else "behind"
    if abs(ahead) <= CLOCK_ALLOWANCE:
        return ok(Area.CLOCK, other, f"Our clock agrees with it within {abs(seconds)} s.")
    return wrong(
        Area.CLOCK,
        other,
        f"Our clock is {_age(abs(ahead))} {direction} it.",
        "Set this machine's clock by NTP.",
    )


def _sentence(text: str) -> str:
    text = " ".join(text.split())[:300]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _list(names: Sequence[str]) -> str:
    left = len(names) - NAMES_LISTED
    return ", ".join(names[:NAMES_LISTED]) + (f" and {left} more" if left > 0 else "")


def _count(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _age(age: timedelta) -> str:
    seconds = max(0, round(age.total_seconds()))
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _clock(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
