"""What reminds people of a pause that goes on."""

from datetime import datetime

from bot.domain.message import Message
from bot.domain.pause_records import PauseRecord
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks, timers
from bot.messages.status import resume_button
from bot.messages.text import duration, escape, local_time, plural, quote, utc_time

NAME_LIMIT = 60


def reminder(record: PauseRecord, now: datetime, lifts_at: datetime | None = None) -> Message:
    """How long, by whom, why, and how the queue has grown."""
    repository = escape(record.repository)
    reason = quote(record.reason, REASON_LIMIT)
    by = f" by {quote(record.by.name, NAME_LIMIT)}" if record.by is not None else ""
    since = duration(now - record.paused_at)
    grown = _grown(record)
    value = actions.unpause_value(record.repository, record.paused_at)
    text = f"{repository} is still paused{by}, for {since}: {reason}"
    return Message(
        text=f"{text} ({grown})" if grown else text,
        blocks=(
            blocks.section(f":hourglass_flowing_sand: *Still paused* {repository}: {reason}"),
            blocks.context(
                f"paused{by} {since} ago",
                grown,
                timers.lifts(lifts_at) if lifts_at is not None else "",
            ),
            blocks.actions(
                [
                    resume_button(record.repository, record.paused_at, record.queued_now),
                    blocks.button("Snooze", action_id=actions.SNOOZE, value=value),
                    timers.extend_menu(record.repository, record.paused_at),
                ]
            ),
        ),
    )


def _grown(record: PauseRecord) -> str:
    if record.queued_now is None:
        return ""
    now = f"{plural(record.queued_now, 'pull request')} queued"
    start = record.queued_at_start
    return now if start is None or start == record.queued_now else f"{now}, {start:,} when paused"


def snoozed(repository: RepositoryName, next_at: datetime) -> Message:
    """To the person who pressed *Snooze*."""
    text = f":zzz: No reminder of {escape(repository)} before"
    return Message(
        text=f"{text} {utc_time(next_at)}.",
        blocks=(blocks.section(f"{text} {local_time(next_at)}."),),
    )
