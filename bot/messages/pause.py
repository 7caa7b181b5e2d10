"""Posts and replies about pausing and resuming a queue."""

from bot.domain.asked import Asked
from bot.domain.audit import Action, AuditRecord
from bot.domain.durations import written
from bot.domain.message import Message
from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.pauses import REASON_LIMIT, NotPaused, OtherEnd, OtherPause
from bot.domain.queue import QueueStatus
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks, timers
from bot.messages.pause_card import by_whom, resume_button
from bot.messages.text import NAME_LIMIT, escape, local_time, plural, quote, time_ago


def act(record: AuditRecord) -> Message:
    """The post about a new reason, another end, a timer that did nothing, or a wait."""
    name, reason = quote(record.actor.name, NAME_LIMIT), quote(record.reason or "", REASON_LIMIT)
    repository, previous = escape(record.repository), record.previous_reason or ""
    if record.waits_for_second:
        # Asks everybody else who may resume to confirm it.
        since = record.previous_paused_at or record.at
        return blocks.post(
            f":hourglass_flowing_sand: *Second person needed* {repository}: "
            f"{name} wants to resume it",
            f"paused since {local_time(since)}: {quote(previous, REASON_LIMIT)}",
            "another person who may resume it can confirm within an hour",
            buttons=[resume_button(record.repository, since, previous)],
        )
    if record.action in {Action.EXTEND, Action.KEEP}:
        return timers.extended(record)
    if record.action is not Action.PAUSE:
        return timers.void(record)
    word, was = "Queue paused", ""
    if record.previous_paused_at is not None:
        word = "Pause replaced"
        if record.previous_reason != record.reason:
            word, was = "Pause reason changed", quote(previous, REASON_LIMIT)
    since = record.paused_at or record.at
    return blocks.post(
        f":double_vertical_bar: *{word}* {repository}: {reason}",
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
    return blocks.post(
        f":double_vertical_bar: {quote(record.actor.name, NAME_LIMIT)} replaced your pause of "
        f"{escape(record.repository)}. It now says: {quote(record.reason or '', REASON_LIMIT)} "
        f"(previous reason: {quote(record.previous_reason or '', REASON_LIMIT)})",
        timers.resumes(record.resumes_at),
    )


def left_alone(repository: RepositoryName, found: NotPaused | OtherPause | OtherEnd) -> Message:
    """The reply to a person for whom nothing was changed: what is in force now."""
    match found:
        case NotPaused(ended=ended):
            return not_paused(repository, ended)
        case OtherPause(known=known):
            return other_pause(repository, known)
        case OtherEnd(known=known):
            return timers.other_end(repository, known)


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
    facts, reason = ", ".join(filter(None, pause_times(known))), quote(known.reason, REASON_LIMIT)
    return f"{escape(known.repository)} is already paused{by_whom(known)} ({facts}): {reason}"


def already_paused(
    repository: RepositoryName, known: PauseRecord, asked: Asked, *, is_same: bool = False
) -> Message:
    """The reply to a second pause: by whom, since when and why, and a button to replace it.

    `is_same`: it is their own pause, with that reason and that end. Without an end, the replacement
    keeps the current one.
    """
    paused = f"{escape(repository)} is already paused{by_whom(known)}"
    shown = [
        blocks.section(f":double_vertical_bar: {paused}: {quote(known.reason, REASON_LIMIT)}"),
        blocks.context(*pause_times(known)),
    ]
    if is_same:
        return blocks.message(*shown, blocks.context("This is your own pause."))
    label, end = "Replace reason", timers.NO_END if known.is_overdue else ""
    if asked.lasting is not None:
        label = "Replace end" if known.reason == asked.reason else "Replace reason and end"
        end = timers.said(written(asked.lasting))
    elif known.resumes_at is not None and not known.is_overdue:
        label, end = "Replace reason, keep end", f"still {timers.resumes(known.resumes_at)}"
    value = actions.value_of(actions.PauseChoice(repository, asked, known.paused_at))
    buttons = [
        blocks.button(label, action_id=actions.REPLACE, value=value),
        blocks.button("Leave it", action_id=actions.DISMISS, value=repository),
    ]
    yours = blocks.context(f"your reason: {quote(asked.reason, REASON_LIMIT)}", end)
    return blocks.message(*shown, yours, blocks.actions(buttons))


def is_it_an_end(
    repository: RepositoryName, asked: Asked, timed: Asked, running: QueueStatus | None = None
) -> Message:
    """The question whether a duration in or at the end of a reason is the length of the pause."""
    end, before = timers.ending(timed), timed.reason
    yes, no = (actions.value_of(actions.PauseChoice(repository, one)) for one in (timed, asked))
    why = f" with the reason “{quote(before, REASON_LIMIT)}”" if before else ""
    question, reason = (
        f"Pause {escape(repository)} {escape(end)}?",
        quote(asked.reason, REASON_LIMIT),
    )
    return blocks.post(
        f":double_vertical_bar: *{question}* {_stops(running)}".rstrip(),
        f"Yes: it resumes by itself{why}",
        f"No: it stays paused {timers.NO_END}, with the reason “{reason}”",
        buttons=[
            blocks.button(f"Yes, pause {end}", action_id=actions.PAUSE_FOR, value=yes),
            blocks.button(
                "No, pause without an end", action_id=actions.PAUSE_WITHOUT_END, value=no
            ),
        ],
    )


def confirm(repository: RepositoryName, asked: Asked, status: QueueStatus, command: str) -> Message:
    """The question before a typed pause stops running batches, with the numbers."""
    count, due = len(status.waiting_pull_requests), status.next_merge_at
    waiting = f" {plural(count, 'pull request')} waiting." if count else ""
    value = actions.value_of(actions.PauseChoice(repository, asked))
    return blocks.message(
        blocks.section(
            f":double_vertical_bar: *Pause {escape(repository)}?* {_stops(status)}{waiting}"
        ),
        blocks.context(
            f"next merge due {local_time(due)}" if due is not None else "",
            f"Reason: {quote(asked.reason, REASON_LIMIT)}",
            escape(timers.ending(asked) or timers.NO_END),
        ),
        blocks.actions(
            [
                blocks.button(
                    "Pause queue", action_id=actions.PAUSE_CONFIRMED, value=value, style="danger"
                ),
                blocks.button("Don't pause", action_id=actions.DISMISS, value="no"),
            ]
        ),
        blocks.context(
            f"`{escape(command)} pause now …` doesn't ask; "
            f"`{escape(command)} me confirmations off` turns the question off"
        ),
    )


def _stops(status: QueueStatus | None) -> str:
    """The batches that a pause stops, and their checks; empty if none is known to be running."""
    if status is None:
        return ""
    stop = plural(len(status.running), "running batch stops", "running batches stop")
    checks = sum(one.checks_summary.total for one in status.running)
    if not checks:
        return f"{stop}, and their checks start over later."
    start = plural(checks, "check starts", "checks start")
    return f"{stop}, and {start} over after the pause."


def resume_other(running: RepositoryName, known: PauseRecord) -> Message:
    """The question before resuming another queue than the channel's own, which is running."""
    value = actions.held_value(known.repository, known.paused_at)
    return blocks.post(
        f":double_vertical_bar: {escape(running)} is running. {escape(known.repository)} is "
        f"paused{by_whom(known)}: {quote(known.reason, REASON_LIMIT)}. *Resume it?*",
        *pause_times(known),
        buttons=[
            blocks.button("Resume queue", action_id=actions.RESUME_OTHER, value=value),
            blocks.button("Leave it paused", action_id=actions.DISMISS, value="no"),
        ],
    )


def other_pause(repository: RepositoryName, known: PauseRecord) -> Message:
    """Reply to a stale button: the pause in force now, with a button for it."""
    return blocks.post(
        f":double_vertical_bar: That pause is over. {escape(repository)} is now "
        f"paused{by_whom(known)}: {quote(known.reason, REASON_LIMIT)}",
        *pause_times(known),
        buttons=[resume_button(repository, known.paused_at, known.reason, known.by_name)],
    )


def pause_times(known: PauseRecord) -> tuple[str, str]:
    return (
        f"since {local_time(known.paused_at)}",
        timers.resumes(known.resumes_at, is_overdue=known.is_overdue),
    )


def unchanged() -> Message:
    return blocks.sentence("Nothing was changed. You can close this.")


def over(repository: RepositoryName) -> Message:
    return blocks.sentence(f":arrow_forward: {escape(repository)} is no longer paused.")
