"""Timed pauses: when they resume, and the controls that change their end."""

from datetime import datetime

from bot.domain.asked import Asked
from bot.domain.audit import AuditRecord
from bot.domain.durations import UNTIL, For, Lasting, written
from bot.domain.message import Block, Message, View
from bot.domain.pause_records import EXTENSIONS, WORTH_MENTIONING, PauseRecord
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks
from bot.messages.text import NAME_LIMIT, duration, escape, local_time, quote

OTHER = "other"
LENGTHS = ("15m", "30m", "1h", "2h", "4h", "1d")
NO_END = "until somebody resumes it"
STILL_TRYING = "still trying"
STAYS_PAUSED = "stays paused until someone resumes it. With an end it resumes by itself."
END_HINT = "45m, 2h, 1h30m, until 15:00, until fri 09:00, in your own time zone"


def resumes(at: datetime | None, *, is_overdue: bool = False) -> str:
    """When a pause resumes by itself; empty if it has no end.

    `is_overdue`: it should have resumed, and resuming failed.
    """
    if at is None:
        return ""
    time = local_time(at)
    return f"should have resumed {time}; {STILL_TRYING}" if is_overdue else f"resumes {time}"


def extended(record: AuditRecord) -> Message:
    end = resumes(record.resumes_at) or f"stays paused {NO_END}"
    return blocks.post(
        f":alarm_clock: *{escape(record.repository)}* now {end}",
        f"set by {quote(record.actor.name, NAME_LIMIT)}",
    )


def extended_reply(record: AuditRecord) -> Message:
    """The reply to the actor when the channel gets no post."""
    end = resumes(record.resumes_at) or f"lasts {NO_END}"
    return blocks.sentence(f":alarm_clock: The pause of {escape(record.repository)} {end}.")


def late_by(at: datetime | None, resumes_at: datetime | None) -> str:
    """How late the timer was; empty if that is too short to mention."""
    if at is None or resumes_at is None or at - resumes_at < WORTH_MENTIONING:
        return ""
    return f"{duration(at - resumes_at)} late"


def void(record: AuditRecord) -> Message:
    """The post about a timer that found another pause."""
    return blocks.sentence(
        f":alarm_clock: The timer that {quote(record.actor.name, NAME_LIMIT)} set for "
        f"{escape(record.repository)} did nothing: another pause is in force: "
        f"{quote(record.previous_reason or '', REASON_LIMIT)}"
    )


def extend_menu(
    repository: RepositoryName, paused_at: datetime, resumes_at: datetime | None
) -> blocks.Element:
    """*Extend…* by a length or to another time, or *Set an end…* if there is none."""
    target = actions.held_value(repository, paused_at)
    return end_menu(target, actions.EXTEND, escape(repository) if resumes_at is None else None)


def end_menu(
    target: str, action_id: str, endless: str | None, stays: str = STAYS_PAUSED
) -> blocks.Element:
    """The menu that changes or sets an end.

    `endless`: the escaped name of what has none; `stays`: what that means.
    """
    label, prefix = ("{} more", "") if endless is None else ("in {}", actions.FROM_NOW)
    options = [
        blocks.option(label.format(duration(one)), prefix + actions.extend_value(one, target))
        for one in EXTENSIONS
    ]
    options.append(blocks.option("Another time…", f"{prefix}{OTHER} {target}"))
    if endless is None:
        return blocks.select("Extend…", action_id=action_id, options=options)
    question = blocks.confirmation(
        "Set an end?",
        f"{endless} {stays}",
        confirm="Set an end",
        deny="Cancel",
        style="primary",
    )
    return blocks.select("Set an end…", action_id=action_id, options=options, confirm=question)


def other_end(repository: RepositoryName, known: PauseRecord) -> Message:
    """The reply to a menu drawn before the pause got or lost its end."""
    has = "has no end to extend. Use *Set an end…*"
    if known.resumes_at is not None:
        has = f"already has an end. It {resumes(known.resumes_at, is_overdue=known.is_overdue)}"
    return blocks.sentence(f"Nothing was changed: the pause of {escape(repository)} {has}.")


def extend_form(
    what: str,
    target: str,
    channel_id: str | None,
    *,
    had_end: bool = True,
    callback_id: str = actions.EXTEND_VIEW,
) -> View:
    """The form for the new end of `what` (escaped), in the same words as the command.

    `target`: the pause, the group or the freeze that the form is for.
    `had_end`: whether it has an end already.
    """
    title, label, submit = "Set an end", "How long from now, or until when", "Set end"
    if had_end:
        title = f"Extend a {'pause' if callback_id == actions.EXTEND_VIEW else 'freeze'}"
        label, submit = "How much longer, or until when", "Extend"
    shown = [blocks.section(f"*{what}*"), end_input(label, is_focused=True)]
    carried = {"target": target, "channel": channel_id, "had_end": had_end}
    return blocks.modal(callback_id, title, shown, carried, submit=submit)


def end_input(
    label: str, typed: str | None = None, *, is_focused: bool = False, hint: str = END_HINT
) -> Block:
    """The field for an end in words, in the extend form or, optional, in the pause form."""
    words = blocks.text_input(actions.END_ACTION, max_length=60, typed=typed, is_focused=is_focused)
    return blocks.input_field(actions.END_BLOCK, label, words, hint=hint, optional=not is_focused)


def lasting_input(otherwise: str = f"Stays paused {NO_END}") -> Block:
    """The menu of durations in the pause form; `otherwise`: what holds without one."""
    options = [blocks.option(f"for {length}", length) for length in LENGTHS]
    menu = blocks.select(otherwise, action_id=actions.LASTING_ACTION, options=options)
    return blocks.input_field(actions.LASTING_BLOCK, "How long", menu, optional=True)


def ending(asked: Asked) -> str:
    """How long, as people write it; empty without an end."""
    return said(spelled(asked.lasting)) if asked.lasting is not None else ""


def said(typed: str) -> str:
    return typed if typed.startswith(UNTIL) else f"for {typed}"


def spelled(lasting: Lasting) -> str:
    """A duration as people write it: "45 min", "until 15:00"."""
    return duration(lasting.length) if isinstance(lasting, For) else written(lasting)


def working_modal() -> View:
    shown = [blocks.section(":hourglass_flowing_sand: Setting the new end …")]
    return blocks.modal(f"{actions.EXTEND_VIEW}_result", "Extend a pause", shown, {})
