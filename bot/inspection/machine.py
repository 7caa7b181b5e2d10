"""Checks this machine: the settings and the clock."""

import os
import shlex
import stat
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from bot.acts.approval import ApprovalRules
from bot.acts.permission import MACHINE, Right, RightRules
from bot.blocks.text import duration, listed, plural
from bot.config.environment_file import OPTION
from bot.config.file import CONFIG_FILE, NamedFile
from bot.config.policies import own_tokens, policies
from bot.config.reading import overridden, secret_files, unknown_variables, unused_file
from bot.config.secrets import WARNED_DAYS, has_successor, with_last_day
from bot.config.settings import Settings
from bot.health.alert import AlertKind, AlertRules
from bot.inspection.people import NamedPeople
from bot.inspection.results import Area, CheckResult, age_of, as_sentence
from bot.kernel.configured import Policy
from bot.kernel.errors import ConfigurationError
from bot.kernel.proxies import is_open_http
from bot.kernel.repository import RepositoryName
from bot.merge_queue.errors import CredentialRefused
from bot.pauses.by_rule import PauseRules

CLOCK_TOLERANCE = timedelta(seconds=30)
"""More than that between our clock and another makes ages wrong, and signed requests fail soon."""

READABLE = stat.S_IRGRP | stat.S_IROTH
WRITABLE = stat.S_IWGRP | stat.S_IWOTH

CONFIGURATION = Area.CONFIGURATION


def settings_wrong(error: ConfigurationError) -> Sequence[CheckResult]:
    found = []
    for name, problem in error.problems.items():
        sentence, _, takes = problem.partition(" It takes: ")
        remedy = f"Set {name}: {takes}"
        if not takes:
            # Without a description, the problem ends with what to do.
            sentence, _, remedy = problem.partition("; ")
            remedy = remedy[:1].upper() + remedy[1:] or f"Correct {name}"
        found.append(CONFIGURATION.problem(name, as_sentence(sentence), as_sentence(remedy)))
    return found


def inspect_settings(
    settings: Settings, named: NamedPeople, env_file: Path | None, now: datetime
) -> Iterable[CheckResult]:
    """What they say, where each comes from, and whether others can read the secrets in them."""
    repositories = plural(len(settings.repositories), "repository", "repositories")
    channels = plural(len(settings.channels), "configured subscription", "configured subscriptions")
    yield CONFIGURATION.ok("settings", f"All settings can be read: {repositories}, {channels}.")
    for name, place in overridden().items():
        sentence = f"Set in the environment and in {place}. The environment wins."
        yield CONFIGURATION.warning(name, sentence, "Remove one of them.")
    for name, meant in unknown_variables().items():
        remedy = f"Did you mean {meant}?" if meant else "Remove it, or correct its name."
        yield CONFIGURATION.warning(name, "Set in the environment, but not a setting.", remedy)
    yield from forgotten_file(env_file)
    yield from _last_days(settings, now)
    yield from _policies(settings, named)
    yield from _files(settings, env_file)
    yield from _relative_database(settings)
    for name, address in (
        ("MQBOT_API_URL", settings.api_url),
        ("SLACK_API_URL", settings.slack_api_url),
    ):
        if is_open_http(address):
            yield CONFIGURATION.warning(
                name,
                "Plain http to another machine: anyone in between can read the credential.",
                f"Use an https address for {name}.",
            )


def _last_days(settings: Settings, now: datetime) -> Iterable[CheckResult]:
    """The secrets that have a last day, as in `NEW;OLD until 2030-01-31`."""
    for secret in with_last_day(settings):
        left = secret.days_left(now)
        which = f"Entry {secret.entry}"
        if secret.machine:
            which += f" ({secret.machine})"
        is_replaced = has_successor(secret, settings, now)
        if left is None or left > WARNED_DAYS:
            sentence = f"{which} is valid through {secret.last_day} (UTC)."
            yield CONFIGURATION.ok(secret.setting, sentence)
        elif left >= 0:
            sentence = f"{which} is valid only through {secret.last_day} (UTC)."
            fix = "Make sure that nobody uses it any more, then remove it."
            fix = fix if is_replaced else "Add a new one beside it."
            yield CONFIGURATION.warning(secret.setting, sentence, fix)
        else:
            sentence = f"{which} ended with {secret.last_day}; requests with it are refused."
            fix = "Remove it." if is_replaced else "Replace it with a new one."
            yield CONFIGURATION.warning(secret.setting, sentence, fix)


def _relative_database(settings: Settings) -> Iterable[CheckResult]:
    """A path with a slash too few; started elsewhere, mqbot would make another, empty file."""
    _, is_sqlite, path = settings.database_url.get_secret_value().partition("sqlite:///")
    if is_sqlite and path and not Path(path).is_absolute():
        absolute = Path(path).absolute()
        yield Area.DATABASE.warning(
            "DATABASE_URL",
            f"Its path is relative to the folder in which mqbot starts; from here it is "
            f"{absolute}.",
            f"Set it to sqlite:///{absolute}, with four slashes.",
        )


def _files(settings: Settings, env_file: Path | None) -> Iterable[CheckResult]:
    """Whether others can read or change a file with settings, secrets or data."""
    files = [*secret_files(settings)]
    if env_file is not None:
        files.append(NamedFile(OPTION, env_file))
    yield from _open_folders(files)
    for name, path in files:
        try:
            found = path.stat()
        except OSError:
            # It was read a moment ago, or isn't there before the first start.
            continue
        is_own = found.st_uid == os.geteuid()
        # A file of somebody else is read through its group, in Kubernetes for example.
        group = stat.S_IRWXG if is_own else stat.S_IWGRP
        others = found.st_mode & (group | stat.S_IRWXO)
        if not stat.S_ISREG(found.st_mode) or not others & (WRITABLE | READABLE):
            continue
        can = "change" if others & WRITABLE else "read"
        command = f"chmod 600 {shlex.quote(str(path))}"
        fix = f"Run: {command}" if is_own else f"Give it to the bot's own user, then run: {command}"
        yield CONFIGURATION.warning(name, f"Other users of this machine can {can} {path}.", fix)


def _open_folders(files: Iterable[tuple[str, Path]]) -> Iterable[CheckResult]:
    """Folders in which everybody may put another file in the place of one of these."""
    first_names: dict[Path, str] = {}
    for name, path in files:
        first_names.setdefault(path.parent, name)
    for folder, name in first_names.items():
        try:
            mode = folder.stat().st_mode
            is_read_only = bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
        except OSError:
            # As for the file itself: read a moment ago, or not there before the first start.
            continue
        # As a config map in Kubernetes, whose folder has the mode 0777.
        if is_read_only:
            continue
        # With the sticky bit, as in /tmp, only its owner may replace a file.
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            sentence = f"Other users of this machine can replace files in {folder}."
            fix = f"Run: chmod o-w {shlex.quote(str(folder))}"
            yield CONFIGURATION.warning(name, sentence, fix)


def forgotten_file(env_file: Path | None) -> Iterable[CheckResult]:
    """A settings file that nothing names; `env_file`: the one that `mqbot check` was given."""
    path = unused_file([env_file] if env_file is not None else [])
    if path is not None:
        sentence = f"{path} isn't read, because MQBOT_CONFIG doesn't name it."
        fix = f"Set MQBOT_CONFIG={shlex.quote(str(path))}, or move the file away."
        yield CONFIGURATION.warning(CONFIG_FILE, sentence, fix)


def _policies(settings: Settings, named: NamedPeople) -> Iterable[CheckResult]:
    """What applies to each repository, if that differs."""
    found = policies(settings)
    tokens = own_tokens(settings)
    alike = defaultdict[str, list[RepositoryName]](list)
    for name in settings.repositories if settings.policy else ():
        credential = tokens[name].setting if name in tokens else CredentialRefused.setting
        alike[f"{_policy(found.of(name), named)} Credential: {credential}."].append(name)
    for sentence, names in alike.items():
        yield CONFIGURATION.ok(f"policy of {listed(names, most=5)}", sentence)


def _policy(policy: Policy, named: NamedPeople) -> str:
    """Who may, the alerts, and the reminders."""
    who_may = policy.rules(RightRules).who_may
    pauses = policy.rules(PauseRules)
    rights = (Right.PAUSE, Right.RESUME, Right.REMOVE)
    pause, resume, remove = (named.who(who_may[right]) for right in rights)
    may = f"Pausing: {pause}. Resuming: {resume}. Removing others' pull requests: {remove}."
    if who_may[Right.FREEZE] != who_may[Right.PAUSE]:
        may += f" Freezing: {named.who(who_may[Right.FREEZE])}."
    if pauses.second_person:
        may += " It takes two people to resume somebody else's pause."
    approvals = policy.rules(ApprovalRules).machines
    for machine, approval in sorted(approvals.items()):
        name = machine.removeprefix(MACHINE)
        acts = listed(sorted(approval.acts))
        may += f" {name} only proposes ({acts}); people approve."
    first = pauses.first_reminder
    reminders = f"after {duration(first)}" if first else "none"
    return f"{may} Alerts: {_alerts(policy, named)}. Reminders: {reminders}."


def _alerts(policy: Policy, named: NamedPeople) -> str:
    rules = policy.rules(AlertRules)
    alerts = ", ".join(_alert(kind, limit) for kind, limit in rules.thresholds.items()) or "none"
    auto_pause = policy.rules(PauseRules).auto_pause
    if auto_pause is not None:
        length = duration(auto_pause.length)
        alerts += f", and a pause of {length} after {auto_pause.failures} failures in a row"
    if rules.mention:
        alerts += f"; they mention {named.label(rules.mention)}"
    return alerts


def _alert(kind: AlertKind, limit: int) -> str:
    match kind:
        case AlertKind.HEAD | AlertKind.BATCH:
            return f"{kind} after {duration(timedelta(seconds=limit))}"
        case AlertKind.DEPTH:
            return f"more than {limit:,} queued"
        case AlertKind.FAILURES:
            return f"{limit:,} failures in a row"
        case AlertKind.CAUSE:
            return f"stuck for {duration(timedelta(seconds=limit))}"


def clock(other: str, ahead: timedelta | None) -> CheckResult:
    """`ahead`: how far our clock is ahead of the other's."""
    if ahead is None:
        return Area.CLOCK.unknown(other, "No other clock to compare with.")
    seconds = round(ahead.total_seconds())
    if abs(ahead) <= CLOCK_TOLERANCE:
        return Area.CLOCK.ok(other, f"Clock OK (within {abs(seconds)} s).")
    direction = "ahead of" if seconds > 0 else "behind"
    sentence = f"This machine's clock is {age_of(abs(ahead))} {direction} it."
    return Area.CLOCK.problem(other, sentence, "Use NTP on this machine.")
