"""What reminds people of a pause that goes on."""

from collections.abc import Sequence
from datetime import datetime

from bot.domain.group_acts import GroupAct
from bot.domain.message import Message
from bot.domain.pause_records import PauseRecord
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks, pause_card, timers
from bot.messages.groups import group_acts
from bot.messages.groups.names import name_of, names, queues
from bot.messages.pause_card import resume_button
from bot.messages.text import NAME_LIMIT, duration, escape, local_time, plural, quote, utc_time


def reminder(record: PauseRecord, now: datetime) -> Message:
    """How long, by whom, why, and how the queue has grown."""
    repository = escape(record.repository)
    reason = quote(record.reason, REASON_LIMIT)
    by = pause_card.by_whom(record)
    since = duration(now - record.paused_at)
    grown = pause_card.queued(record)
    lifts_at = record.lifts_at if record.is_overdue else record.end_to_come(now)
    value = actions.resume_value(record.repository, record.paused_at)
    text = f"{repository} is still paused{by}, for {since}: {reason}"
    return Message(
        text=f"{text} ({grown})" if grown else text,
        blocks=(
            blocks.section(
                f":hourglass_flowing_sand: *Still paused after {since}* {repository}: {reason}"
            ),
            blocks.context(
                f"paused{by} since {local_time(record.paused_at)}",
                grown,
                timers.lifts(lifts_at, is_overdue=record.is_overdue),
            ),
            blocks.actions(
                [
                    resume_button(record, record.queued_now),
                    blocks.button("Snooze", action_id=actions.SNOOZE, value=value),
                    timers.extend_menu(record.repository, record.paused_at, lifts_at),
                ]
            ),
        ),
    )


def of_group(act: GroupAct, left: Sequence[PauseRecord], now: datetime) -> Message:
    """One for all that was paused together; `left` is in force still."""
    group = name_of(act.group)
    reason = quote(act.wanted.reason, REASON_LIMIT)
    by = f" by {quote(act.actor.name, NAME_LIMIT)}"
    grown = _grown_together(left)
    count = f"{queues(len(left))} of {group}"
    since = duration(now - act.at)
    text = f"{count} still paused{by}, for {since}: {reason}"
    first, ends = left[0], group_acts.ends_of(left)
    value = actions.resume_value(first.repository, first.paused_at)
    return Message(
        text=f"{text} ({grown})" if grown else text,
        blocks=(
            blocks.section(
                f":hourglass_flowing_sand: *Still paused after {since}* {count}: {reason}"
            ),
            blocks.context(
                f"paused{by} since {local_time(act.at)}",
                grown,
                ends.said(),
            ),
            blocks.context(names([one.repository for one in left])),
            blocks.actions(
                [
                    group_acts.resume_button(act),
                    blocks.button("Snooze", action_id=actions.SNOOZE, value=value),
                    group_acts.extend_menu(act.group, has_end=bool(ends.ends)),
                ]
            ),
        ),
    )


def _grown_together(left: Sequence[PauseRecord]) -> str:
    known = [one for one in left if one.queued_now is not None]
    if not known:
        return ""
    total = sum(one.queued_now or 0 for one in known)
    start = sum(one.queued_at_start or 0 for one in known)
    now = f"{plural(total, 'pull request')} queued"
    return now if total == start else f"{now}, {start:,} when paused"


def snoozed(repository: RepositoryName, next_at: datetime, group: str | None = None) -> Message:
    """To the person who pressed *Snooze*; `group` when it speaks for all that it has paused."""
    what = escape(repository) if group is None else name_of(group)
    text = f":zzz: No reminder of {what} before"
    return Message(
        text=f"{text} {utc_time(next_at)}.",
        blocks=(blocks.section(f"{text} {local_time(next_at)}."),),
    )
