"""Checks this machine: the settings and the clock."""

import stat
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from urllib.parse import urlsplit

from bot.config import settings_file
from bot.config.policies import own_tokens, policies
from bot.config.settings import CONFIG_FILE, Settings
from bot.domain.configured import Policy
from bot.domain.errors import ConfigurationError, CredentialRefused
from bot.domain.permissions import Everyone, Right, WhoMayPause
from bot.domain.queue_health import AlertKind
from bot.domain.repository import RepositoryName
from bot.inspection.results import Area, CheckResult, age_of, as_sentence
from bot.messages.text import duration, listed, plural
from bot.proxies import is_loopback

CLOCK_ALLOWANCE = timedelta(seconds=30)
"""More than that between our clock and another makes ages wrong, and signed requests fail soon."""

CONFIGURATION = Area.CONFIGURATION


def settings_wrong(error: ConfigurationError) -> Sequence[CheckResult]:
    found = []
    for name, problem in error.problems.items():
        sentence, _, takes = problem.partition(" It takes: ")
        fix = f"Set {name}: {takes}." if takes else f"Set {name} again."
        found.append(CONFIGURATION.problem(name, as_sentence(sentence), fix))
    return found


def inspect_settings(settings: Settings) -> Iterable[CheckResult]:
    """What they say, and whether others can read the secrets in them."""
    repositories = plural(len(settings.repositories), "repository", "repositories")
    channels = plural(len(settings.channels), "configured subscription", "configured subscriptions")
    yield CONFIGURATION.ok("settings", f"All settings can be read: {repositories}, {channels}.")
    yield from _policies(settings)
    path = settings_file()
    if path is not None and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        sentence = f"Other users of this machine can read {path}."
        yield CONFIGURATION.warning(CONFIG_FILE, sentence, f"Run: chmod 600 {path}")
    for name, address in (
        ("MQBOT_API_URL", settings.api_url),
        ("SLACK_API_URL", settings.slack_api_url),
    ):
        parts = urlsplit(address)
        if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
            yield CONFIGURATION.warning(
                name,
                "It is plain http to another machine: anyone in between can read the credential.",
                f"Use an https address for {name}.",
            )


def _policies(settings: Settings) -> Iterable[CheckResult]:
    """What applies to each repository, if that differs."""
    found, tokens = policies(settings), own_tokens(settings)
    alike = defaultdict[str, list[RepositoryName]](list)
    for name in settings.repositories if settings.policy else ():
        credential = tokens[name].setting if name in tokens else CredentialRefused.setting
        alike[f"{_policy(found.of(name))} Credential: {credential}."].append(name)
    for sentence, names in alike.items():
        yield CONFIGURATION.ok(f"policy of {listed(names, most=5)}", sentence)


def _policy(policy: Policy) -> str:
    """Who may, the alerts, and the reminders."""
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
    return f"{may} Alerts: {alerts}{mention}. Reminders: {reminders}."


def _who(rule: WhoMayPause) -> str:
    if isinstance(rule, Everyone):
        return str(rule)
    return ", ".join(sorted(rule.people | rule.groups))


def _alert(kind: AlertKind, limit: int) -> str:
    match kind:
        case AlertKind.HEAD | AlertKind.BATCH:
            return f"{kind} after {duration(timedelta(seconds=limit))}"
        case AlertKind.DEPTH:
            return f"more than {limit:,} queued"
        case AlertKind.FAILURES:
            return f"{limit:,} failures in a row"


def clock(other: str, ahead: timedelta | None) -> CheckResult:
    """`ahead`: how far our clock is ahead of the other's."""
    if ahead is None:
        return Area.CLOCK.unknown(other, "Nothing to compare our clock with.")
    seconds = round(ahead.total_seconds())
    if abs(ahead) <= CLOCK_ALLOWANCE:
        return Area.CLOCK.ok(other, f"Our clock agrees with it within {abs(seconds)} s.")
    direction = "ahead of" if seconds > 0 else "behind"
    sentence = f"Our clock is {age_of(abs(ahead))} {direction} it."
    return Area.CLOCK.problem(other, sentence, "Set this machine's clock by NTP.")
