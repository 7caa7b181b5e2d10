"""Reminders of a pause that is still in force."""

from collections.abc import Sequence
from datetime import datetime

from bot.acts.group_act import GroupAct
from bot.acts.permission import is_machine
from bot.acts.reason import REASON_LIMIT
from bot.blocks import blocks, controls
from bot.blocks.groups import name_of, names, queues
from bot.blocks.message import Message
from bot.blocks.text import NAME_LIMIT, duration, escape, local_time, quote, utc_time
from bot.kernel.durations import For
from bot.kernel.repository import RepositoryName
from bot.pauses import actions as pause_actions
from bot.pauses.pause import SHORTEST_SNOOZE, PauseRecord
from bot.pauses.texts import card as pause_card, ends as pause_ends, group_acts


def reminder(record: PauseRecord, now: datetime, *, is_direct: bool = False) -> Message:
    """How long, by whom, why, how the queue has grown, and who is asked.

    `is_direct`: to the person who paused, and not to a channel.
    """
    repository = escape(record.repository)
    by = pause_card.by_whom(record)
    reason = quote(record.reason, REASON_LIMIT)
    since = duration(now - record.since)
    grown = pause_card.queued(record.queued_now, record.queued_at_start)
    resumes_at = record.resumes_at if record.is_overdue else record.end_to_come(now)
    text = f"{repository} is still paused{by}, for {since}: {reason}"
    return Message(
        text=f"{text} ({grown})" if grown else text,
        blocks=(
            blocks.section(
                f":hourglass_flowing_sand: *{repository} is still paused* ({since}): {reason}"
            ),
            blocks.context(
                f"paused{by} since {local_time(record.since)}",
                grown,
                pause_ends.resumes(resumes_at, is_overdue=record.is_overdue),
                _asked(record, is_direct=is_direct),
            ),
            blocks.actions(
                [
                    pause_card.resume_button(
                        record.repository,
                        record.paused_at,
                        record.reason,
                        record.by_name,
                        record.queued_now,
                    ),
                    _snooze_button(record),
                    pause_ends.extend_menu(record.repository, record.paused_at, resumes_at),
                ]
            ),
        ),
    )


def _asked(record: PauseRecord, *, is_direct: bool) -> str:
    """The person who paused is asked first, if possible, and then the channels."""
    if is_direct:
        return ""
    if record.by is None or not record.by.user_id or is_machine(record.by.user_id):
        return "Asking this channel"
    return f"Asking {quote(record.by.name, NAME_LIMIT)} and this channel"


def _snooze_button(record: PauseRecord) -> blocks.Element:
    plan = record.reminders
    length = plan.snooze_length if plan is not None else SHORTEST_SNOOZE
    value = pause_actions.extend_value(
        For(length), controls.held_value(record.repository, record.paused_at)
    )
    return blocks.button(f"Snooze {duration(length)}", action_id=pause_actions.SNOOZE, value=value)


def over(record: PauseRecord) -> Message:
    """What a reminder becomes once its pause is over."""
    what = f"The pause of {escape(record.repository)} was {pause_card.ending(record)}."
    return blocks.sentence(f":arrow_forward: {what}")


def group_over(act: GroupAct) -> Message:
    return blocks.sentence(f":arrow_forward: The pauses for {name_of(act.group)} are over.")


def of_group(
    act: GroupAct, left: Sequence[PauseRecord], now: datetime, *, is_direct: bool = False
) -> Message:
    """One reminder for all queues paused together; `left` are still paused."""
    count = f"{queues(len(left))} of {name_of(act.group)}"
    by = quote(act.actor.name, NAME_LIMIT)
    reason = quote(act.asked.reason, REASON_LIMIT)
    since = duration(now - act.at)
    known = [pause for pause in left if pause.queued_now is not None]
    total = sum(pause.queued_now or 0 for pause in known) if known else None
    grown = pause_card.queued(total, sum(pause.queued_at_start or 0 for pause in known))
    ends = group_acts.ends_of(left)
    text = f"{count} still paused by {by}, for {since}: {reason}"
    return Message(
        text=f"{text} ({grown})" if grown else text,
        blocks=(
            blocks.section(f":hourglass_flowing_sand: *{count} still paused* ({since}): {reason}"),
            blocks.context(
                f"paused by {by} since {local_time(act.at)}",
                grown,
                ends.said(),
                _asked(left[0], is_direct=is_direct),
            ),
            blocks.context(names([pause.repository for pause in left])),
            blocks.actions(
                [
                    group_acts.resume_button(act.group),
                    _snooze_button(left[0]),
                    group_acts.extend_menu(act.group, has_end=bool(ends.ends)),
                ]
            ),
        ),
    )


def snoozed(repository: RepositoryName, next_at: datetime, group: str | None = None) -> Message:
    """To the person who pressed *Snooze*; `group` if it covers all of the group's pauses."""
    what = escape(repository) if group is None else name_of(group)
    text = f":zzz: No reminders about {what} before"
    return Message(
        text=f"{text} {utc_time(next_at)}.",
        blocks=(blocks.section(f"{text} {local_time(next_at)}."),),
    )
