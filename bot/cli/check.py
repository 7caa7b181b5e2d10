"""`mqbot check`: checks everything the bot depends on and says how to fix problems."""

import asyncio
import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import click
import yaml
from rich.console import Console

from bot import logs
from bot.cli.check_report import as_json, is_well, show
from bot.cli.manifest import manifest_path
from bot.cli.process import CONFIGURATION_EXIT, secrets_of
from bot.clock import SystemClock
from bot.config import CONFIG_FILE, RunSettings, Settings, load_database_url, load_settings
from bot.config.policies import own_tokens, policies
from bot.domain.errors import ConfigurationError, CredentialRefused, StoreUnavailable
from bot.domain.inspection import Area, CheckResult, CheckStatus
from bot.domain.repository import RepositoryName
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.http import Http, Patience
from bot.messages.inspection import of_machine
from bot.proxies import proxy_towards
from bot.slack.web_api.clients import open_session, web_client
from bot.slack.web_api.inspection import WebApiInspection
from bot.store import migrate
from bot.store.engines import create_engine
from bot.store.transactions import Store
from bot.usecases.inspect_installation import (
    CHANNEL_SECONDS,
    InspectMergeQueue,
    InspectSlack,
    InspectStore,
    guarded,
    inspect_database,
)

WRONG_EXIT = 1
APP_TOKEN = "SLACK_APP_TOKEN"  # noqa: S105 - the variable's name

PATIENCE = Patience(connect=3.0, read=5.0, total=6.0, attempts=2)
"""The time limit of one check, so that an outage is reported within seconds."""

SIDE_SECONDS = 90.0
"""The time for all checks of the service, or of Slack; more than the single checks' limits."""


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
        _show(found, (), json_wanted=json_wanted)
        raise SystemExit(CONFIGURATION_EXIT) from None
    secrets = secrets_of(settings)
    # The report shows everything; the log is for people who want more.
    level = settings.log_level if settings.log_level == "DEBUG" else "CRITICAL"
    logs.configure(level, settings.log_format, secrets)
    found = asyncio.run(_everything(settings))
    _show(found, secrets, json_wanted=json_wanted)
    if not is_well(found):
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


def _show(found: Sequence[CheckResult], secrets: Iterable[str], *, json_wanted: bool) -> None:
    redact = logs.redactor(secrets)
    if json_wanted:
        click.echo(as_json(found, redact))
    else:
        show(found, redact, Console(highlight=False))


async def _without_settings(error: ConfigurationError) -> Sequence[CheckResult]:
    found = _wrong(error)
    try:
        url = load_database_url()
    except ConfigurationError:
        found.append(of_machine.without_settings(Area.DATABASE))
    else:
        found.extend(await _database(url))
    return [
        *found,
        of_machine.without_settings(Area.MERGE_QUEUE),
        of_machine.without_settings(Area.SLACK),
    ]


async def _everything(settings: Settings) -> Sequence[CheckResult]:
    configuration = of_machine.settings_read(len(settings.repositories), len(settings.channels))
    url = settings.database_url.get_secret_value()
    database = await _database(url)
    channels = {one.channel_id for one in settings.channels}
    if database == [of_machine.database_current(migrate.head_revision())]:
        deliveries = await guarded(
            Area.DELIVERIES, "outbox", partial(_deliveries, settings, channels)
        )
    elif all(one.standing is CheckStatus.OK for one in database):
        deliveries = [of_machine.no_deliveries_yet()]
    else:
        deliveries = [of_machine.without_database(Area.DELIVERIES, "outbox")]
    service, slack = await asyncio.gather(
        guarded(Area.MERGE_QUEUE, "service", partial(_merge_queue, settings), SIDE_SECONDS),
        guarded(
            Area.SLACK,
            "workspace",
            partial(_slack, settings, channels),
            SIDE_SECONDS + CHANNEL_SECONDS * len(channels),
        ),
    )
    # An unusable proxy affects both.
    about = [configuration, *_policies(settings), *_readable_file(), *_plain_http(settings)]
    return list(dict.fromkeys([*about, *database, *deliveries, *service, *slack]))


def _policies(settings: Settings) -> Iterable[CheckResult]:
    """What applies to each repository, if that differs."""
    found, tokens = policies(settings), own_tokens(settings)
    alike = defaultdict[str, list[RepositoryName]](list)
    for name in settings.repositories if settings.policy else ():
        credential = tokens[name].setting if name in tokens else CredentialRefused.setting
        sentence = of_machine.policy_in_words(found.of(name), credential)
        alike[sentence].append(name)
    for sentence, names in alike.items():
        yield of_machine.policy(names, sentence)


def _readable_file() -> Iterable[CheckResult]:
    path = os.environ.get(CONFIG_FILE)
    if path and Path(path).stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
        yield of_machine.file_readable(CONFIG_FILE, path)


def _plain_http(settings: Settings) -> Iterable[CheckResult]:
    for name, address in (
        ("MQBOT_API_URL", settings.api_url),
        ("SLACK_API_URL", settings.slack_api_url),
    ):
        parts = urlsplit(address)
        if parts.scheme == "http" and not _is_this_machine(parts.hostname or ""):
            yield of_machine.plain_http(name)


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _database(url: str) -> Sequence[CheckResult]:
    async def inspect() -> Iterable[CheckResult]:
        return await inspect_database(
            partial(asyncio.to_thread, migrate.current_revision, url),
            migrate.head_revision(),
            at_start=url.startswith("sqlite:"),
        )

    return await guarded(Area.DATABASE, "connection", inspect)


async def _deliveries(settings: Settings, channels: set[str]) -> Iterable[CheckResult]:
    """Check the deliveries; adds channels subscribed by command to `channels`."""
    async with AsyncExitStack() as stack:
        store = Store(create_engine(settings.database_url.get_secret_value()))
        stack.push_async_callback(store.close)
        inspect = InspectStore(store, SystemClock())
        try:
            channels |= await inspect.channels(settings.repositories)
            return [*await inspect.deliveries(), await inspect.logins()]
        except StoreUnavailable as error:
            return [of_machine.database_unusable(error.cause)]


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
        return _wrong(error)
    async with MergeQueueClient(http, deprecated_pause=settings.deprecated_pause) as client:
        return await InspectMergeQueue(client, settings.repositories, clock, tokens).run()


async def _slack(settings: Settings, channels: set[str]) -> Iterable[CheckResult]:
    try:
        proxy = proxy_towards(settings.slack_api_url)
    except ConfigurationError as error:
        return _wrong(error)
    async with open_session(proxy) as session:
        client = web_client(
            session, token=settings.slack_bot_token, base_url=settings.slack_api_url
        )
        slack = WebApiInspection(client, settings.slack_app_token, SystemClock())
        return await InspectSlack(slack, _wanted_scopes()).run(channels)


def _wrong(error: ConfigurationError) -> list[CheckResult]:
    return [of_machine.setting_wrong(name, problem) for name, problem in error.problems.items()]


def _wanted_scopes() -> frozenset[str]:
    manifest = yaml.safe_load(manifest_path().read_text(encoding="utf-8"))
    return frozenset(manifest["oauth_config"]["scopes"]["bot"])
