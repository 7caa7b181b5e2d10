"""`mqbot check`: checks everything the bot depends on and says how to fix problems."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict

import click
import yaml
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bot import logs
from bot.cli.manifest import manifest_path
from bot.cli.process import CONFIGURATION_EXIT, secrets_of
from bot.clock import SystemClock
from bot.config import load_database_url, load_settings
from bot.config.policies import own_tokens
from bot.config.settings import RunSettings, Settings
from bot.domain.errors import ConfigurationError, StoreUnavailable
from bot.domain.pacing import Patience
from bot.inspection import machine
from bot.inspection.database import (
    inspect_database,
    inspect_store,
    is_current,
    subscribed_channels,
    unusable,
)
from bot.inspection.results import Area, CheckResult, CheckStatus, guarded
from bot.inspection.service import inspect_service
from bot.inspection.slack import CHANNEL_SECONDS, inspect_slack
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.http import Http
from bot.messages.text import plural
from bot.proxies import proxy_towards
from bot.slack.web_api.clients import LimitedWebClient, open_session
from bot.store.engines import create_engine
from bot.store.transactions import Store

WRONG_EXIT = 1
APP_TOKEN = "SLACK_APP_TOKEN"  # noqa: S105 - the variable's name

PATIENCE = Patience(connect=3.0, read=5.0, total=6.0, attempts=2)
"""The time limit of one check, so that an outage is reported within seconds."""

SIDE_SECONDS = 90.0
"""The time for all checks of the service, or of Slack; more than the single checks' limits."""

MARKS = {
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
def check(*, json_wanted: bool) -> None:
    """Check settings, database, merge queue service and Slack; change nothing.

    Exit code 0: all is well. 1: something is wrong. 2: the settings cannot be read.
    """
    try:
        settings = _settings()
    except ConfigurationError as error:
        logs.configure("CRITICAL", "text")
        found = asyncio.run(_without_settings(error))
        _print(found, (), json_wanted=json_wanted)
        raise SystemExit(CONFIGURATION_EXIT) from None
    secrets = secrets_of(settings)
    # The report shows everything; the log is for people who want more.
    level = settings.log_level if settings.log_level == "DEBUG" else "CRITICAL"
    logs.configure(level, settings.log_format, secrets)
    found = asyncio.run(_everything(settings))
    _print(found, secrets, json_wanted=json_wanted)
    if not _is_well(found):
        raise SystemExit(WRONG_EXIT)


def _settings() -> Settings:
    """The settings of `mqbot run`, or without its token those of `mqbot web`."""
    try:
        return load_settings(RunSettings)
    except ConfigurationError as error:
        if set(error.problems) != {APP_TOKEN}:
            raise
        settings = load_settings(Settings)
        if settings.slack_signing_secret is None:
            raise
        return settings


async def _without_settings(error: ConfigurationError) -> Sequence[CheckResult]:
    found, areas = [*machine.settings_wrong(error)], [Area.MERGE_QUEUE, Area.SLACK]
    try:
        found += await _database(load_database_url())
    except ConfigurationError:
        areas.insert(0, Area.DATABASE)
    why = "Needs the settings, which cannot be read."
    return [*found, *(area.unknown(area, why) for area in areas)]


async def _everything(settings: Settings) -> Sequence[CheckResult]:
    channels = {one.channel_id for one in settings.channels}
    database = await _database(settings.database_url.get_secret_value())
    if is_current(database):
        deliveries = await guarded(Area.DELIVERIES, "outbox", _deliveries(settings, channels))
    elif all(one.standing is CheckStatus.OK for one in database):
        deliveries = [Area.DELIVERIES.ok("outbox", "There are none before the first start.")]
    else:
        deliveries = [Area.DELIVERIES.unknown("outbox", "Needs the database.")]
    for_slack = SIDE_SECONDS + CHANNEL_SECONDS * len(channels)
    service, slack = await asyncio.gather(
        guarded(Area.MERGE_QUEUE, "service", _merge_queue(settings), SIDE_SECONDS),
        guarded(Area.SLACK, "workspace", _slack(settings, channels), for_slack),
    )
    about = machine.inspect_settings(settings)
    # An unusable proxy affects both.
    return list(dict.fromkeys([*about, *database, *deliveries, *service, *slack]))


async def _database(url: str) -> Sequence[CheckResult]:
    return await guarded(Area.DATABASE, "connection", inspect_database(url))


async def _deliveries(settings: Settings, channels: set[str]) -> Iterable[CheckResult]:
    """Check the deliveries; adds channels subscribed by command to `channels`."""
    store = Store(create_engine(settings.database_url.get_secret_value()))
    try:
        channels |= await subscribed_channels(store, settings.repositories)
        return await inspect_store(store, SystemClock())
    except StoreUnavailable as error:
        return [unusable(error)]
    finally:
        await store.close()


async def _merge_queue(settings: Settings) -> Iterable[CheckResult]:
    tokens, clock = own_tokens(settings), SystemClock()
    try:
        http = Http(
            base_url=settings.api_url,
            token=settings.api_token,
            own_tokens=tokens,
            clock=clock,
            patience=PATIENCE,
        )
    except ConfigurationError as error:
        return machine.settings_wrong(error)
    async with MergeQueueClient(http, deprecated_pause=settings.deprecated_pause) as client:
        return await inspect_service(client, settings.repositories, clock, tokens)


async def _slack(settings: Settings, channels: set[str]) -> Iterable[CheckResult]:
    try:
        proxy = proxy_towards(settings.slack_api_url)
    except ConfigurationError as error:
        return machine.settings_wrong(error)
    manifest = yaml.safe_load(manifest_path().read_text(encoding="utf-8"))
    async with open_session(proxy) as session:
        clock, base_url = SystemClock(), settings.slack_api_url
        client = LimitedWebClient(session, clock, token=settings.slack_bot_token, base_url=base_url)
        scopes, token = manifest["oauth_config"]["scopes"]["bot"], settings.slack_app_token
        return await inspect_slack(client, token, clock, scopes, channels)


def _print(found: Sequence[CheckResult], secrets: Iterable[str], *, json_wanted: bool) -> None:
    redact = logs.redactor(secrets)
    if json_wanted:
        click.echo(_as_json(found, redact))
    else:
        show(found, redact, Console(highlight=False))


def _as_json(found: Sequence[CheckResult], redact: Redact) -> str:
    """`{"ok": bool, "findings": [{"area", "subject", "standing", "sentence", "fix"}]}`."""
    findings = [
        {name: redact(text) if text else None for name, text in asdict(one).items()}
        for one in found
    ]
    return json.dumps({"ok": _is_well(found), "findings": findings}, indent=2)


def _is_well(found: Sequence[CheckResult]) -> bool:
    return all(one.standing in {CheckStatus.OK, CheckStatus.WARNING} for one in found)


def show(found: Sequence[CheckResult], redact: Redact, console: Console) -> None:
    """Print a table if there is room, else a list; marks are words as well as symbols."""
    if not console.is_terminal:
        console.width = max(console.width, WIDTH_OF_A_FILE)
    encoding = console.encoding
    is_plain = not encoding.lower().startswith("utf")

    def cell(text: str) -> Text:
        return Text(redact(text).encode(encoding, "replace").decode(encoding))

    table = Table(title="mqbot check", title_justify="left", expand=False)
    for column in ("", "What", "Found", "How to fix"):
        table.add_column(column, overflow="fold")
    for one in found:
        *marks, style = MARKS[one.standing]
        standing = Text(f"{marks[is_plain]} {one.standing}", style=style)
        what, sentence = cell(f"{one.area}: {one.subject}"), cell(one.sentence)
        fix = cell(one.fix or "")
        table.add_row(standing, what, sentence, fix)
        if console.width < WIDTH_OF_A_TABLE:
            console.print(Text.assemble(standing, "  ", what))
            for line in filter(None, (sentence, fix)):
                console.print(Padding(line, (0, 0, 0, INDENTATION)))
    if console.width >= WIDTH_OF_A_TABLE:
        console.print(table)
    console.print(_total(found))


def _total(found: Sequence[CheckResult]) -> str:
    counts = Counter(one.standing for one in found)
    wrong, unknown = counts[CheckStatus.WRONG], counts[CheckStatus.UNKNOWN]
    warnings = counts[CheckStatus.WARNING]
    counted = plural(warnings, "warning")
    if not wrong and not unknown:
        return f"All is well, with {counted}." if warnings else "All is well."
    parts = [f"{plural(wrong, 'problem')} found"] if wrong else []
    parts += [f"{unknown} not checked"] if unknown else []
    parts += [counted] if warnings else []
    return f"{', '.join(parts)}."
