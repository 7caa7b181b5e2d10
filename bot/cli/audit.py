"""`mqbot audit`: everything people did through this bot, for reading and for export."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime

import click

from bot.cli.process import with_database
from bot.clock import SystemClock
from bot.domain.audit import AuditRecord, AuditSelection
from bot.domain.durations import InvalidLookback, read_lookback
from bot.domain.errors import ConfigurationError, InvalidRequest
from bot.domain.repository import RepositoryName
from bot.messages.text import clean
from bot.store import migrate
from bot.store.engines import create_engine
from bot.store.transactions import Store
from bot.usecases.asking.audit import every_record

COLUMNS = "{at:20}  {action:11}  {result:9}  {repository:30}  {who:24}  {where:8}  {what}"


@click.command()
@click.option("--json", "json_wanted", is_flag=True, help="Print one JSON object a line.")
@click.option("--since", "lookback", metavar="7d", help="Only so far back: 90m, 24h, 7d, 2w.")
@click.option("--repository", metavar="OWNER/NAME", help="Only of this repository.")
def audit(*, json_wanted: bool, lookback: str | None, repository: str | None) -> None:
    """Print who did what, when, from where and with what result; oldest first.

    Needs the database alone and changes nothing; the bot may be running. Times are UTC.
    """
    selection = _selection(lookback, repository)
    form = as_json if json_wanted else as_line
    with with_database() as url:
        asyncio.run(_print(url, selection, form, with_heading=not json_wanted))


def _selection(lookback: str | None, repository: str | None) -> AuditSelection:
    try:
        length = read_lookback(lookback) if lookback is not None else None
    except InvalidLookback as error:
        raise click.BadParameter(f"{error}.", param_hint="--since") from None
    try:
        name = RepositoryName.parse(repository) if repository is not None else None
    except InvalidRequest as error:
        raise click.BadParameter(f"{error.detail}.", param_hint="--repository") from None
    return AuditSelection(name, None if length is None else SystemClock().now() - length)


async def _print(
    url: str,
    selection: AuditSelection,
    form: Callable[[AuditRecord], str],
    *,
    with_heading: bool,
) -> None:
    if not migrate.is_current(url):
        raise ConfigurationError({"DATABASE_URL": "is not migrated; run mqbot migrate"})
    store = Store(create_engine(url))
    try:
        if with_heading:
            click.echo(HEADING)
        async for record in every_record(store, selection):
            click.echo(form(record))
    finally:
        await store.close()


def as_json(record: AuditRecord) -> str:
    """One record with every stored fact.

    `act` is the record of its beginning, `group_act` is the same for all records of one act on a
    group; both are null when there is none.
    """
    body = {
        "record": record.record_id,
        "act": record.act_id or None,
        "at": _time(record.at),
        "user_id": record.actor.user_id,
        "user_name": record.actor.name,
        "team_id": record.actor.team_id,
        "action": record.action,
        "where": record.origin,
        "channel": record.channel_id,
        "repository": record.repository,
        "pull_request": record.pull_request,
        "group": record.group,
        "group_act": record.group_act_id or None,
        "result": record.result,
        "reason": record.reason,
        "before": {
            "reason": record.previous_reason,
            "paused_at": _time(record.previous_paused_at),
            "subscription": record.setting_before,
        },
        "after": {
            "reason": record.stored_reason,
            "paused_at": _time(record.paused_at),
            "resumes_at": _time(record.resumes_at),
            "subscription": record.setting_after,
        },
        "answer": record.answer,
        "detail": record.detail,
        "evidence": asdict(record.evidence) if record.evidence is not None else None,
    }
    return json.dumps(body)


def as_line(record: AuditRecord) -> str:
    """One record as a line of text, without terminal control characters."""
    what = [
        f"#{record.pull_request}" if record.pull_request is not None else None,
        record.reason,
        f"group: {record.group}" if record.group else None,
        f"before: {record.previous_reason}" if record.previous_reason else None,
        f"resumes by itself: {_time(record.resumes_at)}" if record.resumes_at else None,
        f"subscribed to: {record.setting_after or 'nothing'}"
        if record.setting_after is not None
        else None,
        f"answer: {record.answer}" if record.answer else None,
        record.detail,
    ]
    return COLUMNS.format(
        at=record.at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ"),
        action=record.action.value,
        result=record.result.value,
        repository=clean(record.repository, 150),
        who=clean(f"{record.actor.name} ({record.actor.user_id})", 150),
        where=record.origin.value,
        what=" · ".join(clean(part, 300) for part in what if part),
    ).rstrip()


HEADING = COLUMNS.format(
    at="WHEN (UTC)",
    action="ACTION",
    result="RESULT",
    repository="REPOSITORY",
    who="WHO",
    where="WHERE",
    what="WHAT",
)


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")
