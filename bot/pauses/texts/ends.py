"""Timed pauses: when they resume, and the controls that change their end."""

from dataclasses import dataclass
from datetime import UTC, date, datetime

from bot.acts.asked import Asked
from bot.acts.reason import REASON_LIMIT
from bot.acts.record import AuditRecord
from bot.blocks import blocks, controls
from bot.blocks.message import Block, Message, View
from bot.blocks.text import (
    NAME_LIMIT,
    SAME_DAY,
    duration,
    escape,
    literal,
    local_time,
    quote,
    time_and_age,
    within,
)
from bot.kernel.durations import For, Lasting, Until, written
from bot.kernel.repository import RepositoryName
from bot.pauses import actions as pause_actions
from bot.pauses.pause import EXTENSIONS, WORTH_MENTIONING, DrawnLine, PauseRecord

OTHER_TIME = "other"
ANSWER_SHOWN = 200
UNTIL_RESUMED = "until someone resumes it"
STILL_TRYING = "still trying"
STAYS_PAUSED = "stays paused until someone resumes it. With an end, it resumes automatically."
END_HINT = "Such as 45m, 1.5h, 15:00, tomorrow noon or Monday 9am, in your own time zone"
WITHOUT_END = f"{END_HINT}. Leave it empty to wait until someone ends it."


def resumes(at: datetime | None, *, is_overdue: bool = False) -> str:
    """When a pause resumes by itself; empty if it has no end.

    `is_overdue`: it should have resumed, and resuming failed.
    """
    if at is None:
        return ""
    time = local_time(at)
    return f"should have resumed {time}; {STILL_TRYING}" if is_overdue else f"resumes {time}"


def end_of_act(record: AuditRecord) -> str:
    """When the pause that an act made or changed resumes; a kept end may have passed."""
    is_overdue = record.resumes_at is not None and record.resumes_at <= record.at
    return resumes(record.resumes_at, is_overdue=is_overdue)


def until(at: datetime | None, *, is_overdue: bool = False, since: datetime | None = None) -> str:
    """The same as a fact behind its label; without an end, that somebody has to resume.

    `since`: the beginning, if that is shown beside it.
    """
    if at is None:
        return "someone resumes it"
    if is_overdue:
        return f"{local_time(at)}: overdue, {STILL_TRYING}"
    return time_and_age(at, is_near=since is not None and at - since < SAME_DAY)


def extended(record: AuditRecord) -> Message:
    """The post about a new end, or that there is none any more."""
    by = quote(record.actor.name, NAME_LIMIT)
    name = escape(record.repository)
    if record.resumes_at is None:
        said = f"{by} removed the end: {name} stays paused {UNTIL_RESUMED}."
    else:
        said = f"{by} changed the end: {name} resumes {time_and_age(record.resumes_at)}."
    return blocks.sentence(f":alarm_clock: *{said}*")


def extended_reply(record: AuditRecord) -> Message:
    """The reply to the actor when the channel gets no post."""
    end = resumes(record.resumes_at) or f"stays paused {UNTIL_RESUMED}"
    return blocks.sentence(f":alarm_clock: {escape(record.repository)} {end}.")


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
        f"{literal(record.previous.reason or '', REASON_LIMIT)}"
    )


def timer_refused(record: AuditRecord) -> Message:
    """To the person who set a timer that the service refuses, or in the thread of its card."""
    time = f" {local_time(record.resumes_at)}" if record.resumes_at is not None else ""
    answer = record.outcome.answer or record.outcome.explanation
    why = f": the merge queue service answered “{quote(answer, ANSWER_SHOWN)}”" if answer else ""
    return blocks.sentence(
        f":warning: I couldn't resume {escape(record.repository)}{time}{why}. It's still paused: "
        f"{literal(record.previous.reason or '', REASON_LIMIT)}. I'll keep trying, less and less "
        "often, and post when it has resumed."
    )


def worked(record: PauseRecord) -> Message:
    """To the person who knows that their timer failed: now the queue has resumed."""
    name = escape(record.repository)
    if record.is_ended_by_timer:
        late = late_by(record.ended_at, record.resumes_at)
        return blocks.sentence(f":arrow_forward: {name} has resumed{f', {late}' if late else ''}.")
    by = f" by {quote(record.ended_by.name, NAME_LIMIT)}" if record.ended_by is not None else ""
    return blocks.sentence(f":arrow_forward: {name} was resumed{by}. I've stopped trying.")


def extend_menu(
    repository: RepositoryName, line: DrawnLine, resumes_at: datetime | None
) -> blocks.Element:
    """*Extend…* by a length or to another time, or *Set an end…* if there is none."""
    target = controls.control_value(repository, line.written)
    return end_menu(
        target, pause_actions.EXTEND, escape(repository) if resumes_at is None else None
    )


def end_menu(
    target: str, action_id: str, endless: str | None, stays: str = STAYS_PAUSED
) -> blocks.Element:
    """The menu that changes or sets an end.

    `endless`: the escaped name of what has none; `stays`: what that means.
    """
    if endless is None:
        label = "{} more"
        prefix = ""
        seen = pause_actions.EndSeen.SOME
    else:
        label = "in {}"
        prefix = controls.FROM_NOW
        seen = pause_actions.EndSeen.NONE
    options = [
        blocks.option(
            label.format(duration(length)),
            pause_actions.extend_value(For(length), target, seen),
        )
        for length in EXTENSIONS
    ]
    options.append(blocks.option("Another time…", f"{prefix}{OTHER_TIME} {target}"))
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


def other_end(
    repository: RepositoryName, known: PauseRecord, lasting: Lasting | None = None
) -> Message:
    """The reply to extending a pause that got or lost its end meanwhile, or never had one.

    `lasting`: what they asked for, which a button sets.
    """
    name = escape(repository)
    if known.resumes_at is not None:
        end = resumes(known.resumes_at, is_overdue=known.is_overdue)
        said = f"the pause of {name} already has an end. It {end}"
        return blocks.sentence(f"Nothing was changed: {said}.")
    said = f"{name} is paused {UNTIL_RESUMED}, so there is no end to move. Nothing was changed."
    if not isinstance(lasting, For):
        return blocks.sentence(said)
    target = controls.control_value(repository, known.drawn.written)
    value = pause_actions.extend_value(lasting, target, pause_actions.EndSeen.NONE)
    label = f"Resume in {duration(lasting.length)}"
    button = blocks.button(label, action_id=pause_actions.EXTEND, value=value)
    return blocks.post(said, buttons=[button])


def far_extension(what: str, target: str, lasting: Lasting, at: datetime, now: datetime) -> Message:
    """The question before a pause gets an end that is far away.

    `what`: escaped. `target`: the pause or the group.
    """
    value = pause_actions.extend_value(lasting, target)
    return blocks.post(
        f":alarm_clock: *Extend the pause of {what} until {local_time(at)}?*",
        f"That is {within(at - now)} from now.",
        buttons=[
            blocks.button("Extend", action_id=pause_actions.EXTEND, value=value, style="primary"),
            blocks.button("Leave it", action_id=controls.DISMISS, value="no"),
        ],
    )


@dataclass(frozen=True, slots=True)
class EndQuestion:
    """What a form asks about its end, shown once more before anything is done."""

    note: str

    seen: str = ""
    """An end that is far away: it counts if the form is sent again."""

    choices: tuple[blocks.Option, ...] = ()
    """What may be meant by an end in the reason."""

    @property
    def shown(self) -> list[Block]:
        if not self.choices:
            return blocks.alert(self.note, "warning")
        meant = blocks.radio_buttons(controls.END_MEANT_ACTION, self.choices)
        field = blocks.input_field(controls.END_MEANT_BLOCK, "Until when?", meant, optional=True)
        return [blocks.section(self.note), field]


def end_form(
    what: str,
    target: str,
    channel_id: str | None,
    *,
    end_seen: pause_actions.EndSeen = pause_actions.EndSeen.SOME,
    action_id: str = pause_actions.EXTEND,
    again: EndQuestion | None = None,
) -> View:
    """The form for the new end of `what` (escaped): of a pause, a group's pauses or a freeze.

    `target`: the pause, the group or the freeze that the form is for.
    `end_seen`: whether it has an end already.
    `action_id`: the menu that it belongs to.
    `again`: it was sent with an end that is far away.
    """
    if end_seen is pause_actions.EndSeen.SOME:
        title = f"Extend a {'pause' if action_id == pause_actions.EXTEND else 'freeze'}"
        submit = "Extend"
        hint = f"{END_HINT}. A length counts from the end that is set now."
    else:
        title = "Set an end"
        submit = "Set end"
        hint = END_HINT
    shown = [
        blocks.section(f"*{what}*"),
        *(again.shown if again is not None else []),
        *end_fields(hint=hint, is_focused=True),
    ]
    carried = {
        "target": target,
        "channel": channel_id,
        "end_seen": end_seen.name,
        "action": action_id,
    }
    carried |= {"seen": again.seen if again is not None else ""}
    return blocks.modal(pause_actions.END_VIEW, title, shown, carried, submit=submit)


def end_fields(
    typed: str | None = None,
    at: datetime | None = None,
    *,
    label: str = controls.END_LABEL,
    hint: str = END_HINT,
    is_focused: bool = False,
) -> list[Block]:
    """The fields for an end in every form: in words, or by Slack's own picker.

    Both are in the person's zone.
    https://docs.slack.dev/reference/block-kit/block-elements/datetime-picker-element
    """
    words = blocks.text_input(
        controls.END_ACTION, max_length=60, typed=typed, is_focused=is_focused
    )
    picker = blocks.date_time_picker(controls.END_AT_ACTION, at)
    return [
        blocks.input_field(controls.END_BLOCK, label, words, hint=hint, optional=True),
        blocks.input_field(controls.END_AT_BLOCK, controls.END_AT_LABEL, picker, optional=True),
    ]


def ending(asked: Asked) -> str:
    """How long, as people write it: "for 45 min", "until …"; empty without an end."""
    match asked.lasting:
        case None:
            return ""
        case For(length=length):
            return f"for {duration(length)}"
        case lasting:
            at = instant(lasting)
            return f"until {local_time(at)}" if at is not None else quote(written(lasting))


def typed_ending(asked: Asked) -> str:
    """The same, with a length as people type it: "for 1h30m"."""
    if isinstance(asked.lasting, For):
        return f"for {written(asked.lasting)}"
    return ending(asked)


def instant(lasting: Lasting | None) -> datetime | None:
    """The time of an end that means the same whenever it is read; None for another."""
    match lasting:
        case Until(clock=clock, day=date() as day, zone="UTC"):
            return datetime.combine(day, clock, UTC)
        case _:
            return None


def end_under_way(repository: RepositoryName) -> View:
    doing = f"{escape(repository)}: setting the new end …"
    shown = [blocks.section(f":hourglass_flowing_sand: {doing}")]
    return blocks.modal(f"{pause_actions.END_VIEW}_result", "Extend a pause", shown, {})
