"""`mqbot check`: checks everything the bot depends on and says how to fix problems."""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import click
import yaml
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot.blocks.text import listed, plural
from bot.cli.manifest import manifest_path
from bot.cli.process import CONFIGURATION_EXIT
from bot.config.file import CONFIG_FILE
from bot.config.policies import own_tokens
from bot.config.problems import plain
from bot.config.reading import load_database_url, load_settings, take_environment
from bot.config.secrets import secrets_of
from bot.config.settings import RunSettings, Settings
from bot.inspection import machine
from bot.inspection.database import (
    inspect_database,
    inspect_store,
    is_current,
    last_polls,
    removed_while_paused,
    subscribed_channels,
    unusable,
)
from bot.inspection.people import PERSON_SECONDS, NamedPeople
from bot.inspection.results import Area, CheckResult, CheckStatus, guarded
from bot.inspection.service import RECENTLY_READ, REPOSITORY_SECONDS, Survey, inspect_service
from bot.inspection.slack import CHANNEL_SECONDS, inspect_slack
from bot.kernel.errors import ConfigurationError
from bot.kernel.pacing import Patience
from bot.kernel.proxies import proxy_towards
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.http import Http
from bot.runtime import logs
from bot.runtime.clock import SystemClock
from bot.runtime.logs import visible
from bot.slack.web_api.clients import LimitedWebClient, open_session
from bot.store.engines import create_engine
from bot.store.errors import StoreUnavailable
from bot.store.transactions import Store

WRONG_EXIT = 1
SUBJECTS_NAMED = 5

QUIET_POLLS = 2
"""Within so many intervals of a quiet repository the bot has read its log."""

ORDER = (CheckStatus.OK, CheckStatus.WARNING, CheckStatus.UNKNOWN, CheckStatus.WRONG)
"""What is wrong comes last, where people look."""

APP_TOKEN = "SLACK_APP_TOKEN"  # noqa: S105 - the variable's name

CHECK_PATIENCE = Patience(connect=3.0, read=5.0, total=6.0, attempts=2)
"""The time limit of one check, so that an outage is reported within seconds."""

SIDE_SECONDS = 90.0
"""The time for all checks of the service, or of Slack; more than the single checks' limits."""

STATUS_MARKS = {
    CheckStatus.OK: ("✓", "+", "green"),
    CheckStatus.WARNING: ("!", "!", "yellow"),
    CheckStatus.WRONG: ("✗", "x", "bold red"),
    CheckStatus.UNKNOWN: ("?", "?", "yellow"),
}
"""The mark in UTF-8, the plain one, and their style."""

WIDTH_OF_A_FILE = 160
WIDTH_OF_A_TABLE = 100
"""Characters; in less, columns break the names of settings in two."""

INDENTATION = 4

Redact = Callable[[str], str]


@click.command()
@click.option("--json", "json_wanted", is_flag=True, help="Print JSON instead of a table.")
@click.option("--all", "all_wanted", is_flag=True, help="Check and list every repository.")
@click.option(
    "--env-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Read the environment from a file with NAME=value on each line, as a service does.",
)
def check(*, json_wanted: bool, all_wanted: bool, env_file: Path | None) -> None:
    """Check settings, database, merge queue service and Slack; change nothing.

    Exit code 0: no problems found. 1: problems found. 2: the settings can't be read.
    """
    report = Report(json_wanted=json_wanted, all_wanted=all_wanted)
    try:
        if env_file is not None:
            take_environment(env_file)
        settings = _settings()
    except ConfigurationError as error:
        logs.configure("CRITICAL", "text")
        found = asyncio.run(_without_settings(error, env_file))
        report.print(found, ())
        raise SystemExit(CONFIGURATION_EXIT) from None
    secrets = secrets_of(settings)
    # The report shows everything; the log is for people who want more.
    level = settings.log_level if settings.log_level == "DEBUG" else "CRITICAL"
    logs.configure(level, settings.log_format, secrets)
    found = asyncio.run(_everything(settings, env_file, asks_all=all_wanted))
    report.print(found, secrets)
    if not _is_well(found):
        raise SystemExit(WRONG_EXIT)


def _settings() -> Settings:
    """The settings of `mqbot run`, or without its token those of `mqbot web`."""
    try:
        return load_settings(RunSettings)
    except ConfigurationError as error:
        if error.problems.keys() - {CONFIG_FILE} != {APP_TOKEN}:
            raise
        settings = load_settings(Settings)
        if settings.slack_signing_secret is None:
            raise
        return settings


async def _without_settings(
    error: ConfigurationError, env_file: Path | None
) -> Sequence[CheckResult]:
    found = [*machine.settings_wrong(error)]
    if CONFIG_FILE not in error.problems:
        found += machine.forgotten_file(env_file)
    areas = [Area.MERGE_QUEUE, Area.SLACK]
    try:
        found += await _database(load_database_url())
    except ConfigurationError:
        areas.insert(0, Area.DATABASE)
    why = "Not checked without valid settings."
    return [*found, *(area.unknown(area, why) for area in areas)]


async def _everything(
    settings: Settings, env_file: Path | None, *, asks_all: bool
) -> Sequence[CheckResult]:
    channels = {channel.channel_id for channel in settings.channels}
    quiet = timedelta(seconds=settings.quiet_poll_seconds or 0)
    recent = max(RECENTLY_READ, QUIET_POLLS * quiet)
    survey = Survey(settings.repositories, asks_all=asks_all, recent=recent)
    named = NamedPeople(settings)
    database = await _database(settings.database_url.get_secret_value())
    if is_current(database):
        stored = _deliveries(settings, channels, survey)
        deliveries = await guarded(Area.DELIVERIES, "outbox", stored)
    elif all(result.standing is CheckStatus.OK for result in database):
        deliveries = [Area.DELIVERIES.ok("outbox", "Empty before the first start.")]
    else:
        deliveries = [Area.DELIVERIES.unknown("outbox", "Needs the database.")]
    for_slack = SIDE_SECONDS + CHANNEL_SECONDS * len(channels)
    for_service = SIDE_SECONDS + REPOSITORY_SECONDS * len(survey.repositories)
    service, slack = await asyncio.gather(
        guarded(Area.MERGE_QUEUE, "service", _merge_queue(settings, survey), for_service),
        guarded(Area.SLACK, "workspace", _slack(settings, channels, named), for_slack),
    )
    about = machine.inspect_settings(settings, named, env_file, SystemClock().now())
    # An unusable proxy affects both.
    return list(dict.fromkeys([*about, *database, *deliveries, *service, *slack]))


async def _database(url: str) -> Sequence[CheckResult]:
    return await guarded(Area.DATABASE, "connection", inspect_database(url))


async def _deliveries(
    settings: Settings, channels: set[str], survey: Survey
) -> Iterable[CheckResult]:
    """Check the deliveries.

    Adds channels subscribed by command to `channels`, and to `survey` when logs were read.
    """
    store = Store(create_engine(settings.database_url.get_secret_value()))
    try:
        channels |= await subscribed_channels(store, settings.repositories)
        survey.last_read = await last_polls(store, settings.repositories)
        removed = await removed_while_paused(store, settings.repositories)
        return [*removed, *await inspect_store(store, SystemClock())]
    except StoreUnavailable as error:
        return [unusable(error)]
    finally:
        await store.close()


async def _merge_queue(settings: Settings, survey: Survey) -> Iterable[CheckResult]:
    tokens = own_tokens(settings)
    clock = SystemClock()
    try:
        http = Http(
            base_url=settings.api_url,
            token=settings.api_token,
            own_tokens=tokens,
            clock=clock,
            patience=CHECK_PATIENCE,
        )
    except ConfigurationError as error:
        return machine.settings_wrong(error)
    async with MergeQueueClient(http, deprecated_pause=settings.deprecated_pause) as client:
        return await inspect_service(client, survey, clock, tokens)


async def _slack(
    settings: Settings, channels: set[str], named: NamedPeople
) -> Iterable[CheckResult]:
    try:
        proxy = proxy_towards(settings.slack_api_url)
    except ConfigurationError as error:
        return machine.settings_wrong(error)
    manifest = yaml.safe_load(manifest_path().read_text(encoding="utf-8"))
    async with open_session(proxy) as session:
        clock = SystemClock()
        base_url = settings.slack_api_url
        client = LimitedWebClient(session, clock, token=settings.slack_bot_token, base_url=base_url)
        scopes = manifest["oauth_config"]["scopes"]["bot"]
        token = settings.slack_app_token
        seconds = SIDE_SECONDS + PERSON_SECONDS * len(settings.logins)
        people, workspace = await asyncio.gather(
            guarded(Area.CONFIGURATION, "ids", named.inspect(client, clock), seconds),
            inspect_slack(client, token, clock, scopes, channels),
        )
        return [*people, *workspace]


@dataclass(frozen=True, slots=True)
class Report:
    """How the results are printed."""

    json_wanted: bool
    all_wanted: bool

    def print(self, found: Sequence[CheckResult], secrets: Iterable[str]) -> None:
        redact = logs.Redactor(secrets)
        found = [_in_plain_words(result) for result in found]
        if self.json_wanted:
            click.echo(_as_json(found, redact))
            return
        if not self.all_wanted:
            found = summed_up(found)
        show(worst_last(found), redact, Console(highlight=False))


def summed_up(found: Sequence[CheckResult]) -> Sequence[CheckResult]:
    """Without what a total counts, and equal problems as one."""
    alike: dict[CheckResult, list[str]] = defaultdict(list)
    for result in found:
        if not result.is_detail:
            same = replace(result, subject="") if result.standing is not CheckStatus.OK else result
            alike[same].append(result.subject)
    return [
        replace(result, subject=listed(subjects, most=SUBJECTS_NAMED))
        for result, subjects in alike.items()
    ]


def worst_last(found: Sequence[CheckResult]) -> Sequence[CheckResult]:
    """What is well first, what is wrong last."""
    areas = list(Area)
    return sorted(
        found, key=lambda result: (ORDER.index(result.standing), areas.index(result.area))
    )


def _in_plain_words(found: CheckResult) -> CheckResult:
    """Without the Markdown of sentences that documentation and Slack show too."""
    fix = plain(found.fix) if found.fix is not None else None
    return replace(found, sentence=plain(found.sentence), fix=fix)


def _as_json(found: Sequence[CheckResult], redact: Redact) -> str:
    """`{"ok": bool, "findings": [{"area", "subject", "standing", "sentence", "fix"}]}`."""
    findings = [
        {
            "area": result.area,
            "subject": redact(result.subject),
            "standing": result.standing,
            "sentence": redact(result.sentence),
            "fix": redact(result.fix) if result.fix else None,
        }
        for result in found
    ]
    return json.dumps({"ok": _is_well(found), "findings": findings}, indent=2)


def _is_well(found: Sequence[CheckResult]) -> bool:
    return all(result.standing in {CheckStatus.OK, CheckStatus.WARNING} for result in found)


def show(found: Sequence[CheckResult], redact: Redact, console: Console) -> None:
    """Print a table if there is room, else a list; marks are words as well as symbols."""
    if not console.is_terminal:
        console.width = max(console.width, WIDTH_OF_A_FILE)
    encoding = console.encoding
    is_plain = not encoding.lower().startswith("utf")

    def cell(text: str) -> Text:
        line = " ".join(visible(redact(text)).split())
        return Text(line.encode(encoding, "replace").decode(encoding))

    table = Table(title="mqbot check", title_justify="left", expand=False)
    for column in ("", "What", "Found", "How to fix"):
        table.add_column(column, overflow="fold")
    for result in found:
        *marks, style = STATUS_MARKS[result.standing]
        standing = Text(f"{marks[is_plain]} {result.standing}", style=style)
        what = cell(f"{result.area}: {result.subject}")
        sentence = cell(result.sentence)
        fix = cell(result.fix or "")
        table.add_row(standing, what, sentence, fix)
        if console.width < WIDTH_OF_A_TABLE:
            console.print(Text.assemble(standing, "  ", what))
            for line in filter(None, (sentence, fix)):
                console.print(Padding(line, (0, 0, 0, INDENTATION)))
    if console.width >= WIDTH_OF_A_TABLE:
        console.print(table)
    console.print(_total(found))


def _total(found: Sequence[CheckResult]) -> str:
    counts = Counter(result.standing for result in found)
    wrong = counts[CheckStatus.WRONG]
    unknown = counts[CheckStatus.UNKNOWN]
    warnings = counts[CheckStatus.WARNING]
    counted = plural(warnings, "warning")
    if not wrong and not unknown:
        return f"No problems found; {counted}." if warnings else "No problems found."
    parts = [f"{plural(wrong, 'problem')} found"] if wrong else []
    parts += [f"{unknown} not checked"] if unknown else []
    parts += [counted] if warnings else []
    return f"{', '.join(parts)}."
