"""Reminders of a pause that is still in force."""

from collections.abc import Sequence
from datetime import datetime

from bot.acts.group_act import GroupAct
from bot.acts.permission import is_machine
from bot.acts.reason import REASON_LIMIT
from bot.blocks import blocks, controls
from bot.blocks.groups import name_of, names
from bot.blocks.message import Block, Colour, Message
from bot.blocks.text import (
    by_count,
    duration,
    escape,
    literal,
    local_time,
    mention_group,
    person,
    utc_time,
)
from bot.kernel.durations import For
from bot.kernel.repository import RepositoryName
from bot.pauses import actions as pause_actions
from bot.pauses.pause import SHORTEST_SNOOZE, PauseRecord
from bot.pauses.texts import card as pause_card, ends as pause_ends, group_acts

STILL_PAUSED = ":hourglass_flowing_sand:"
ESCALATED = ":rotating_light:"


def reminder(record: PauseRecord, now: datetime, *, is_direct: bool = False) -> Message:
    """How long, by whom, why, how the queue has grown, and who is asked.

    `is_direct`: to the person who is responsible, and not to a channel.
    """
    resumes_at = record.resumes_at if record.is_overdue else record.end_to_come(now)
    state = f"*{escape(record.repository)} is still paused* after {duration(now - record.since)}"
    shown = [
        blocks.section(
            blocks.state_line(STILL_PAUSED, state, literal(record.line.reason, REASON_LIMIT))
        ),
        *blocks.facts(
            *pause_card.people(record),
            ("Since", local_time(record.since)),
            ("Until", pause_ends.until(resumes_at, is_overdue=record.is_overdue)),
        ),
        *_counts(
            pause_card.queued(record.queue.queued_now, record.queue.queued_at_start),
            _asked(record, is_direct=is_direct),
        ),
        blocks.actions(
            [
                pause_card.resume_button(
                    record.repository,
                    record.drawn,
                    record.line.reason,
                    record.by_name,
                    record.queue.queued_now,
                ),
                _snooze_button(record),
                pause_ends.extend_menu(record.repository, record.drawn, resumes_at),
            ]
        ),
    ]
    return blocks.coloured(Colour.YELLOW, blocks.message(*shown))


def escalation(record: PauseRecord, mention: str, group: str | None, now: datetime) -> Message:
    """Mentions the policy's user group, once, when nobody answered the reminders.

    `group`: the name of the group, if the queue was paused with it.
    """
    name = escape(record.repository) if group is None else name_of(group)
    verb = "is" if group is None else "has queues that are"
    state = f"*{name} {verb} still paused* after {duration(now - record.since)}"
    value = controls.control_value(record.repository, record.drawn.written)
    resume = pause_card.resume_button(
        record.repository,
        record.drawn,
        record.line.reason,
        record.by_name,
        record.queue.queued_now,
    )
    controls_shown = [resume, pause_card.more_menu(value)]
    if group is not None:
        controls_shown = [group_acts.resume_group_button(group), pause_card.more_menu(f"@{group}")]
    return blocks.coloured(
        Colour.RED,
        blocks.message(
            blocks.section(
                blocks.state_line(ESCALATED, state, literal(record.line.reason, REASON_LIMIT))
            ),
            blocks.section(
                f"{mention_group(mention)} Nobody has answered the reminders. Please resume it, "
                "or take it over."
            ),
            blocks.actions(controls_shown),
        ),
    )


def _counts(*counted: str) -> list[Block]:
    return [blocks.context(*counted)] if any(counted) else []


def _asked(record: PauseRecord, *, is_direct: bool) -> str:
    """The person responsible is asked first, if possible, and then the channels."""
    asked = record.responsible
    if is_direct:
        return ""
    if asked is None or not asked.user_id or is_machine(asked.user_id):
        return "Asking this channel"
    return f"Asking {person(asked.name)} and this channel"


def _snooze_button(record: PauseRecord) -> blocks.Element:
    plan = record.reminders
    length = plan.snooze_length if plan is not None else SHORTEST_SNOOZE
    value = pause_actions.extend_value(
        For(length), controls.control_value(record.repository, record.drawn.written)
    )
    return blocks.button(f"Snooze {duration(length)}", action_id=pause_actions.SNOOZE, value=value)


def reminder_over(record: PauseRecord) -> Message:
    """What a reminder becomes once its pause is over."""
    return blocks.sentence(f":arrow_forward: {pause_card.ending(record)}")


def group_over(act: GroupAct) -> Message:
    return blocks.sentence(
        f":arrow_forward: Everything paused for {name_of(act.group)} has resumed."
    )


def group_reminder(
    act: GroupAct, left: Sequence[PauseRecord], now: datetime, *, is_direct: bool = False
) -> Message:
    """One reminder for all queues paused together; `left` are still paused."""
    still = by_count(
        len(left),
        "{count} queue of {group} is still paused",
        "{count} queues of {group} are still paused",
    )
    state = f"*{still.replace('{group}', name_of(act.group))}* after {duration(now - act.at)}"
    known = [pause for pause in left if pause.queue.queued_now is not None]
    total = sum(pause.queue.queued_now or 0 for pause in known) if known else None
    at_start = sum(pause.queue.queued_at_start or 0 for pause in known)
    ends = group_acts.ends_of(left)
    shown = [
        blocks.section(
            blocks.state_line(STILL_PAUSED, state, literal(act.asked.reason, REASON_LIMIT))
        ),
        *blocks.facts(
            ("By", person(act.actor.name)),
            ("Since", local_time(act.at)),
            ("Until", ends.until()),
        ),
        blocks.section(names([pause.repository for pause in left])),
        *_counts(pause_card.queued(total, at_start), _asked(left[0], is_direct=is_direct)),
        blocks.actions(
            [
                group_acts.resume_group_button(act.group),
                _snooze_button(left[0]),
                group_acts.extend_group_menu(act.group, has_end=bool(ends.ends)),
            ]
        ),
    ]
    return blocks.coloured(Colour.YELLOW, blocks.message(*shown))


def snoozed(repository: RepositoryName, next_at: datetime, group: str | None = None) -> Message:
    """To the person who pressed *Snooze*; `group` if it covers all of the group's pauses."""
    what = escape(repository) if group is None else name_of(group)
    text = f":zzz: No reminders about {what} before"
    return Message(
        text=f"{text} {utc_time(next_at)}.",
        blocks=(blocks.section(f"{text} {local_time(next_at)}."),),
    )
