"""Posts and replies about pausing and resuming a queue."""

from bot.domain.audit import Action, AuditRecord
from bot.domain.durations import Lasting, written
from bot.domain.message import Message
from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Impact
from bot.messages import actions, blocks, timers
from bot.messages.pause_card import by_whom, resume_button
from bot.messages.text import (
    NAME_LIMIT,
    escape,
    local_time,
    plural,
    quote,
    time_ago,
)


def act(record: AuditRecord) -> Message:
    """The post about a new reason, another end, a timer that did nothing, or a wait."""
    if record.waits_for_second:
        return _second_person(record)
    if record.action is Action.PAUSE:
        return _paused(record)
    is_new_end = record.action in {Action.EXTEND, Action.KEEP}
    return timers.extended(record) if is_new_end else timers.void(record)


def _second_person(record: AuditRecord) -> Message:
    """Asks everybody else who may resume to confirm it."""
    since = record.previous_paused_at or record.at
    reason = record.previous_reason or ""
    return blocks.post(
        f":hourglass_flowing_sand: *Second person needed* {escape(record.repository)}: "
        f"{quote(record.actor.name, NAME_LIMIT)} wants to resume it",
        f"paused since {local_time(since)}: {quote(reason, REASON_LIMIT)}",
        "another person who may resume it can confirm within an hour",
        buttons=[resume_button(record.repository, since, reason)],
    )


def _paused(record: AuditRecord) -> Message:
    name = quote(record.actor.name, NAME_LIMIT)
    reason = quote(record.reason or "", REASON_LIMIT)
    word = "Queue paused"
    was = ""
    if record.previous_paused_at is not None:
        is_same = record.previous_reason == record.reason
        word = "Pause replaced" if is_same else "Pause reason changed"
        was = "" if is_same else quote(record.previous_reason or "", REASON_LIMIT)
    since = record.paused_at or record.at
    return blocks.post(
        f":double_vertical_bar: *{word}* {escape(record.repository)}: {reason}",
        f"by {name}",
        f"since {local_time(since)}",
        timers.resumes(record.resumes_at),
        f"previous reason: {was}" if was else "",
        buttons=[
            resume_button(record.repository, since, record.reason or "", record.actor.name),
            timers.extend_menu(record.repository, since, record.resumes_at),
        ],
    )


def paused_reply(record: AuditRecord) -> Message:
    """To the actor only, if there is no channel to post to."""
    end = f", {timers.resumes(record.resumes_at)}" if record.resumes_at else ""
    return blocks.sentence(f":double_vertical_bar: {escape(record.repository)} is paused{end}.")


def replaced(record: AuditRecord) -> Message:
    """To the person whose pause was replaced by another's."""
    return blocks.post(
        f":double_vertical_bar: {quote(record.actor.name, NAME_LIMIT)} replaced your pause of "
        f"{escape(record.repository)}. It now says: {quote(record.reason or '', REASON_LIMIT)} "
        f"(previous reason: {quote(record.previous_reason or '', REASON_LIMIT)})",
        timers.resumes(record.resumes_at),
    )


def not_paused(repository: RepositoryName, ended: PauseRecord | None = None) -> Message:
    """The reply to resuming a running queue. `ended` is the last pause, if its end is known."""
    if ended is None or ended.ended_at is None:
        return blocks.sentence(f"{escape(repository)} is not paused. Nothing to do.")
    how = "it resumed"
    if ended.ended_by is not None and ended.ending is PauseEnding.TIMER:
        how = f"it resumed by itself at the time {quote(ended.ended_by.name, NAME_LIMIT)} set,"
    elif ended.ended_by is not None:
        how = f"{quote(ended.ended_by.name, NAME_LIMIT)} resumed it"
    return blocks.sentence(
        f"{escape(repository)} is already running: {how} {time_ago(ended.ended_at)}."
    )


def resumed_reply(repository: RepositoryName) -> Message:
    """To a machine, which sees no channel."""
    return blocks.sentence(f":arrow_forward: {escape(repository)} has resumed.")


def left_as_paused(known: PauseRecord) -> Message:
    """To a machine that can't be asked whether to replace the pause."""
    return blocks.sentence(f":double_vertical_bar: {_still_paused(known)}. Nothing was changed.")


def not_yours(known: PauseRecord) -> Message:
    """To a machine that resumes only what it paused, unless it says otherwise."""
    return blocks.sentence(
        f":double_vertical_bar: {_still_paused(known)}. That isn't your pause, so nothing was "
        "changed; `--any` resumes it."
    )


def _still_paused(known: PauseRecord) -> str:
    facts = ", ".join(filter(None, pause_times(known)))
    reason = quote(known.reason, REASON_LIMIT)
    return f"{escape(known.repository)} is already paused{by_whom(known)} ({facts}): {reason}"


def already_paused(
    repository: RepositoryName,
    known: PauseRecord,
    wanted: str,
    lasting: Lasting | None = None,
    *,
    is_same: bool = False,
) -> Message:
    """The reply to a second pause: by whom, since when and why, and a button to replace it.

    `is_same`: it is their own pause, with that reason and that end.
    """
    sentence = f"{escape(repository)} is already paused{by_whom(known)}"
    headline = f":double_vertical_bar: {sentence}: {quote(known.reason, REASON_LIMIT)}"
    times = blocks.context(*pause_times(known))
    if is_same:
        yours = blocks.context("This is your own pause.")
        return blocks.message(blocks.section(headline), times, yours)
    value = actions.value_of(actions.PauseChoice(repository, wanted, lasting, known.paused_at))
    label = _replace_label(known, wanted, lasting)
    return blocks.message(
        blocks.section(headline),
        times,
        blocks.context(f"your reason: {quote(wanted, REASON_LIMIT)}", _would_last(known, lasting)),
        blocks.actions(
            [
                blocks.button(label, action_id=actions.REPLACE, value=value),
                blocks.button("Leave it", action_id=actions.DISMISS, value=repository),
            ]
        ),
    )


def is_it_an_end(
    repository: RepositoryName,
    reason: str,
    reason_before: str,
    lasting: Lasting,
    impact: Impact | None = None,
) -> Message:
    """The question whether a duration in or at the end of a reason is the length of the pause."""
    end = timers.said(timers.spelled(lasting))
    question = f"Pause {escape(repository)} {escape(end)}?"
    timed = actions.value_of(actions.PauseChoice(repository, reason_before, lasting))
    whole = actions.value_of(actions.PauseChoice(repository, reason))
    why = f" with the reason “{quote(reason_before, REASON_LIMIT)}”" if reason_before else ""
    return blocks.post(
        f":double_vertical_bar: *{question}* {_stops(impact)}".rstrip(),
        f"Yes: it resumes by itself{why}",
        f"No: it stays paused {timers.NO_END}, with the reason “{quote(reason, REASON_LIMIT)}”",
        buttons=[
            blocks.button(f"Yes, pause {end}", action_id=actions.PAUSE_FOR, value=timed),
            blocks.button(
                "No, pause without an end", action_id=actions.PAUSE_WITHOUT_END, value=whole
            ),
        ],
    )


def confirm(wanted: actions.PauseChoice, impact: Impact, command: str) -> Message:
    """The question before a typed pause stops running batches, with the numbers."""
    question = f"Pause {escape(wanted.repository)}?"
    end = timers.said(timers.spelled(wanted.lasting)) if wanted.lasting is not None else ""
    stops = _stops(impact)
    if impact.waiting:
        stops += f" {plural(impact.waiting, 'pull request')} waiting."
    due = impact.next_merge_at
    reason = f"Reason: {quote(wanted.reason, REASON_LIMIT)}"
    return blocks.message(
        blocks.section(f":double_vertical_bar: *{question}* {stops}"),
        blocks.context(
            f"next merge due {local_time(due)}" if due is not None else "", reason, escape(end)
        ),
        blocks.actions(
            [
                blocks.button(
                    "Pause queue",
                    action_id=actions.PAUSE_CONFIRMED,
                    value=actions.value_of(wanted),
                    style="danger",
                ),
                blocks.button("Don't pause", action_id=actions.DISMISS, value="no"),
            ]
        ),
        blocks.context(
            f"`{escape(command)} pause now …` doesn't ask; "
            f"`{escape(command)} me confirmations off` turns the question off"
        ),
    )


def _stops(impact: Impact | None) -> str:
    """The batches that a pause stops, and their checks; empty if none is known to be running."""
    if impact is None:
        return ""
    stops = "stops" if impact.running_batches == 1 else "stop"
    batches = f"{plural(impact.running_batches, 'running batch', 'running batches')} {stops}"
    if not impact.checks:
        return f"{batches}, and their checks start over later."
    starts = "starts" if impact.checks == 1 else "start"
    return f"{batches}, and {plural(impact.checks, 'check')} {starts} over after the pause."


def resume_other(running: RepositoryName, known: PauseRecord) -> Message:
    """The question before resuming another queue than the channel's own, which is running."""
    name, reason = escape(known.repository), quote(known.reason, REASON_LIMIT)
    is_paused = f"{escape(running)} is running. {name} is paused{by_whom(known)}"
    value = actions.held_value(known.repository, known.paused_at)
    return blocks.post(
        f":double_vertical_bar: {is_paused}: {reason}. *Resume it?*",
        *pause_times(known),
        buttons=[
            blocks.button("Resume queue", action_id=actions.RESUME_OTHER, value=value),
            blocks.button("Leave it paused", action_id=actions.DISMISS, value="no"),
        ],
    )


def other_pause(repository: RepositoryName, known: PauseRecord) -> Message:
    """Reply to a stale button: the pause in force now, with a button for it."""
    sentence = f"That pause is over. {escape(repository)} is now paused{by_whom(known)}"
    return blocks.post(
        f":double_vertical_bar: {sentence}: {quote(known.reason, REASON_LIMIT)}",
        *pause_times(known),
        buttons=[resume_button(repository, known.paused_at, known.reason, known.by_name)],
    )


def pause_times(known: PauseRecord) -> tuple[str, str]:
    return (
        f"since {local_time(known.paused_at)}",
        timers.resumes(known.resumes_at, is_overdue=known.is_overdue),
    )


def _would_last(known: PauseRecord, lasting: Lasting | None) -> str:
    """How long the replacement would last; without an end it keeps the current one."""
    if lasting is not None:
        return timers.said(written(lasting))
    if known.is_overdue:
        return timers.NO_END
    return f"still {timers.resumes(known.resumes_at)}" if known.resumes_at is not None else ""


def _replace_label(known: PauseRecord, wanted: str, lasting: Lasting | None) -> str:
    if lasting is None:
        keeps_end = known.resumes_at is not None and not known.is_overdue
        return "Replace reason, keep end" if keeps_end else "Replace reason"
    return "Replace end" if known.reason == wanted else "Replace reason and end"


def unchanged() -> Message:
    return blocks.sentence("Nothing was changed. You can close this.")


def over(repository: RepositoryName) -> Message:
    """Replaces a post about a pause that has already ended."""
    return blocks.sentence(f":arrow_forward: {escape(repository)} is no longer paused.")
