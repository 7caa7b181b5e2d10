"""`mqbot audit`: everything people did through this bot, for reading and for export."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime

import click

from bot.acts.record import Action, AuditRecord, AuditSelection, Confirmation
from bot.blocks.text import clean
from bot.cli.process import say, with_database
from bot.cli.stored import reading_store, stored_name
from bot.kernel.actor import Actor
from bot.kernel.durations import InvalidLookback, read_lookback
from bot.kernel.errors import InvalidRequest
from bot.kernel.repository import RepositoryName
from bot.questions.reading_audit import every_record
from bot.runtime.clock import SystemClock

AUDIT_COLUMNS = "{at:20}  {action:11}  {result:9}  {repository:30}  {who:24}  {where:8}  {what}"


@click.command()
@click.option("--json", "json_wanted", is_flag=True, help="Print one JSON object per line.")
@click.option("--since", "lookback", metavar="7d", help="Only newer records: 90m, 24h, 7d, 2w.")
@click.option("--until", metavar="1d", help="Only older records: 90m, 24h, 7d, 2w.")
@click.option("--repository", metavar="OWNER/NAME", help="Only this repository.")
@click.option("--actor", metavar="NAME", help="Only by this person or machine: a name or Slack id.")
@click.option(
    "--action",
    "actions",
    type=click.Choice([*Action], case_sensitive=False),
    multiple=True,
    help="Only this action; can be repeated.",
)
def audit(
    *,
    json_wanted: bool,
    lookback: str | None,
    until: str | None,
    repository: str | None,
    actor: str | None,
    actions: tuple[str, ...],
) -> None:
    """Print who did what, when, from where and with what result; oldest first.

    Reads only the database, also while the bot is running. Times are UTC.
    """
    now = SystemClock().now()
    selection = AuditSelection(
        _stored_repository(repository),
        since=_ago(now, lookback, "--since"),
        until=_ago(now, until, "--until"),
        actor=actor,
        actions=tuple(Action(action) for action in actions),
    )
    if selection.since and selection.until and selection.since >= selection.until:
        hint = "--until"
        raise click.BadParameter(
            "it has to be later than --since, a shorter time ago.", param_hint=hint
        )
    form = as_json if json_wanted else as_line
    with with_database() as url:
        asyncio.run(_print(url, selection, form, with_heading=not json_wanted))


def _stored_repository(typed: str | None) -> RepositoryName | None:
    try:
        return RepositoryName.parse(typed) if typed is not None else None
    except InvalidRequest as error:
        raise click.BadParameter(f"{error.detail}.", param_hint="--repository") from None


def _ago(now: datetime, typed: str | None, option: str) -> datetime | None:
    """That long before now; None if the option wasn't typed."""
    try:
        return now - read_lookback(typed) if typed is not None else None
    except InvalidLookback as error:
        raise click.BadParameter(f"{error}.", param_hint=option) from None


async def _print(
    url: str,
    selection: AuditSelection,
    form: Callable[[AuditRecord], str],
    *,
    with_heading: bool,
) -> None:
    async with reading_store(url) as store:
        if selection.repository is not None:
            name = await store.read(stored_name, selection.repository)
            selection = replace(selection, repository=name)
        if with_heading:
            click.echo(HEADING)
        async for record in every_record(store, selection):
            say(form(record))


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
        "where": record.where.origin,
        "channel": record.where.channel_id,
        "repository": record.repository,
        "pull_request": record.pull_request,
        "group": record.group.name,
        "group_act": record.group.act_id or None,
        "result": record.result,
        "times": record.times,
        "reason": record.reason,
        "before": {
            "reason": record.previous.reason,
            "paused_at": _time(record.previous.paused_at),
            "subscription": record.setting.before,
        },
        "after": {
            "reason": record.stored_reason,
            "paused_at": _time(record.paused_at),
            "resumes_at": _time(record.resumes_at),
            "subscription": record.setting.after,
        },
        "answer": record.outcome.answer,
        "detail": record.outcome.explanation or None,
        "confirmation": _confirmation(record.confirmation),
        "evidence": asdict(record.evidence) if record.evidence is not None else None,
    }
    return json.dumps(body)


def _confirmation(known: Confirmation | None) -> Mapping[str, object] | None:
    if known is None:
        return None
    proposed = known.proposed.written if known.proposed is not None else None
    body = asdict(replace(known, proposed=None, ends_at=None))
    return {**body, "proposed": proposed, "ends_at": _time(known.ends_at)}


SETTING_LABELS = {
    Action.SUBSCRIBE: "topics",
    Action.UNSUBSCRIBE: "topics",
    Action.DEFAULT: "default repository",
    Action.LINK: "login",
    Action.UNLINK: "login",
    Action.PLAN: "window",
    Action.SKIP: "window",
}
"""What is changed by an action that says so; of a freeze, its limits need no label."""


def as_line(record: AuditRecord) -> str:
    """One record as a line of text, without terminal control characters."""
    what = [
        f"#{record.pull_request}" if record.pull_request is not None else None,
        record.reason,
        f"group: {record.group.name}" if record.group.name else None,
        f"before: {record.previous.reason}" if record.previous.reason else None,
        f"until {_time_shown(record.resumes_at)}" if record.resumes_at else None,
        _setting(record),
        f"answer: {record.outcome.answer}" if record.outcome.answer else None,
        f"{record.times} times within a minute" if record.times > 1 else None,
        record.outcome.explanation,
    ]
    return AUDIT_COLUMNS.format(
        at=_time_shown(record.at),
        action=record.action.value,
        result=record.result.value,
        repository=clean(record.repository, 150),
        who=clean(_who(record.actor), 150),
        where=record.where.origin.value,
        what=" · ".join(clean(part, 300) for part in what if part),
    ).rstrip()


def _setting(record: AuditRecord) -> str | None:
    after = record.setting.after
    label = SETTING_LABELS.get(record.action)
    if after is None or label is None:
        return after
    return f"{label}: {after or 'none'}"


def _time_shown(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _who(actor: Actor) -> str:
    return f"{actor.name} ({actor.user_id})" if actor.user_id else actor.name


HEADING = AUDIT_COLUMNS.format(
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
