"""Posts and replies about pausing and resuming a queue."""

from bot.domain.audit import Action, AuditRecord
from bot.domain.durations import Lasting, written
from bot.domain.message import Message
from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Impact
from bot.messages import actions, blocks, timers
from bot.messages.pause_card import by_whom, resume_button, resume_button_of
from bot.messages.text import (
    NAME_LIMIT,
    escape,
    local_time,
    plural,
    quote,
    time_ago,
    utc_time,
)


def act(record: AuditRecord) -> Message:
    """The post in a channel about an act: a new reason, another end, a timer that did nothing."""
    if record.action is Action.PAUSE:
        return _paused(record)
    return timers.extended(record) if record.action is Action.EXTEND else timers.void(record)


def _paused(record: AuditRecord) -> Message:
    name = quote(record.actor.name, NAME_LIMIT)
    reason = quote(record.reason or "", REASON_LIMIT)
    repository = escape(record.repository)
    replaced = record.previous_paused_at is not None
    word = "Pause reason changed" if replaced else "Queue paused"
    since = record.paused_at or record.at
    was = quote(record.previous_reason or "", REASON_LIMIT)
    ends = timers.lifts_text(record.lifts_at)
    return Message(
        text=f"{word}: {repository}, by {name} since {utc_time(since)}{ends}: {reason}",
        blocks=(
            blocks.section(f":double_vertical_bar: *{word}* {repository}: {reason}"),
            blocks.context(
                f"by {name}",
                f"since {local_time(since)}",
                timers.lifts(record.lifts_at),
                f"before: {was}" if replaced else "",
            ),
            blocks.actions(
                [
                    resume_button_of(
                        record.repository, since, record.actor.name, record.reason or ""
                    ),
                    timers.extend_menu(record.repository, since, record.lifts_at),
                ]
            ),
        ),
    )


def paused_reply(record: AuditRecord) -> Message:
    """To the actor alone, where the channel cannot be posted to or there is none."""
    told = f":double_vertical_bar: {escape(record.repository)} is paused"
    return Message(
        text=f"{told}{timers.lifts_text(record.lifts_at)}.",
        blocks=(
            blocks.section(
                f"{told}, {timers.lifts(record.lifts_at)}." if record.lifts_at else f"{told}."
            ),
        ),
    )


def replaced(record: AuditRecord) -> Message:
    """To the person whose pause was replaced by another's."""
    said = (
        f":double_vertical_bar: {quote(record.actor.name, NAME_LIMIT)} replaced your pause of "
        f"{escape(record.repository)}. It now says: {quote(record.reason or '', REASON_LIMIT)} "
        f"(before: {quote(record.previous_reason or '', REASON_LIMIT)})"
    )
    if record.lifts_at is None:
        return blocks.sentence(said)
    return Message(
        text=f"{said}{timers.lifts_text(record.lifts_at)}",
        blocks=(blocks.section(said), blocks.context(timers.lifts(record.lifts_at))),
    )


def not_paused(repository: RepositoryName, ended: PauseRecord | None = None) -> Message:
    """`ended` is the last pause, when it is known who resumed the queue, or what did."""
    if ended is None or ended.ended_at is None:
        return blocks.sentence(f"{escape(repository)} is not paused. Nothing to do.")
    how = "it resumed"
    if ended.ended_by is not None and ended.ending is PauseEnding.TIMER:
        how = f"it resumed by itself at the time {quote(ended.ended_by.name, NAME_LIMIT)} set,"
    elif ended.ended_by is not None:
        how = f"{quote(ended.ended_by.name, NAME_LIMIT)} resumed it"
    told = f"{escape(repository)} is already running: {how}"
    return Message(
        text=f"{told} {utc_time(ended.ended_at)}.",
        blocks=(blocks.section(f"{told} {time_ago(ended.ended_at)}."),),
    )


def already_paused(
    repository: RepositoryName,
    known: PauseRecord,
    wanted: str,
    lasting: Lasting | None = None,
    *,
    is_same: bool = False,
) -> Message:
    """Who, since when and why; the person may put the new reason in its place.

    `is_same`: it is their own pause, with that reason and that end.
    """
    sentence = f"{escape(repository)} is already paused{by_whom(known)}"
    reason = quote(known.reason, REASON_LIMIT)
    value = actions.replacement_value(
        actions.Replacement(repository, wanted, known.paused_at, lasting)
    )
    shown = (
        blocks.section(f":double_vertical_bar: {sentence}: {reason}"),
        blocks.context(*pause_times(known)),
    )
    text = f"{sentence} since {utc_time(known.paused_at)}{_ends(known)}: {reason}"
    if is_same:
        return Message(text=text, blocks=(*shown, blocks.context("That's your pause already.")))
    return Message(
        text=text,
        blocks=(
            *shown,
            blocks.context(
                f"your reason: {quote(wanted, REASON_LIMIT)}", _would_last(known, lasting)
            ),
            blocks.actions(
                [
                    blocks.button(
                        _replace_label(known, wanted, lasting),
                        action_id=actions.REPLACE,
                        value=value,
                    ),
                    blocks.button("Leave it", action_id=actions.DISMISS, value=repository),
                ]
            ),
        ),
    )


def is_it_an_end(
    repository: RepositoryName,
    reason: str,
    reason_before: str,
    lasting: Lasting,
    impact: Impact | None = None,
) -> Message:
    """The question whether a duration typed as a reason, or at its end, is when the pause ends."""
    end = timers.said(timers.spelled(lasting))
    question = f"Pause {escape(repository)} {escape(end)}?"
    timed = actions.choice_value(actions.PauseChoice(repository, reason_before, lasting))
    whole = actions.choice_value(actions.PauseChoice(repository, reason))
    why = f" with the reason “{quote(reason_before, REASON_LIMIT)}”" if reason_before else ""
    return Message(
        text=question,
        blocks=(
            blocks.section(f":double_vertical_bar: *{question}* {_stops(impact)}".rstrip()),
            blocks.context(
                f"Yes: it resumes by itself{why}",
                f"No: it stays paused {timers.NO_END}, with the reason "
                f"“{quote(reason, REASON_LIMIT)}”",
            ),
            blocks.actions(
                [
                    blocks.button(f"Yes, pause {end}", action_id=actions.PAUSE_FOR, value=timed),
                    blocks.button(
                        "No, pause without an end",
                        action_id=actions.PAUSE_WITHOUT_END,
                        value=whole,
                    ),
                ]
            ),
        ),
    )


def confirm(wanted: actions.PauseChoice, impact: Impact, command: str) -> Message:
    """The question before a typed pause stops what runs, with what that is."""
    question = f"Pause {escape(wanted.repository)}?"
    end = timers.said(timers.spelled(wanted.lasting)) if wanted.lasting is not None else ""
    stops = f"{_stops(impact)} {plural(impact.waiting, 'pull request')} waiting."
    due = impact.next_merge_at
    reason = f"Reason: {quote(wanted.reason, REASON_LIMIT)}"
    return Message(
        text=f"{question} {stops} {reason}",
        blocks=(
            blocks.section(f":double_vertical_bar: *{question}* {stops}"),
            blocks.context(
                f"next merge due {local_time(due)}" if due is not None else "", reason, escape(end)
            ),
            blocks.actions(
                [
                    blocks.button(
                        "Pause queue",
                        action_id=actions.PAUSE_CONFIRMED,
                        value=actions.choice_value(wanted),
                        style="danger",
                    ),
                    blocks.button("Don't pause", action_id=actions.DISMISS, value="no"),
                ]
            ),
            blocks.context(
                f"`{escape(command)} pause now …` doesn't ask; "
                f"`{escape(command)} me confirmations off` turns the question off"
            ),
        ),
    )


def _stops(impact: Impact | None) -> str:
    """The batches that a pause stops, and their checks; empty where none is known to run."""
    if impact is None:
        return ""
    stops = "stops" if impact.running_batches == 1 else "stop"
    batches = f"{plural(impact.running_batches, 'running batch', 'running batches')} {stops}"
    if not impact.checks:
        return f"{batches}, and their checks start over later."
    starts = "starts" if impact.checks == 1 else "start"
    return f"{batches}, and {plural(impact.checks, 'check')} {starts} over after the pause."


def other_pause(repository: RepositoryName, known: PauseRecord) -> Message:
    """A stale button was pressed: what is true now, with a button for that."""
    reason = quote(known.reason, REASON_LIMIT)
    sentence = f"That pause is over. {escape(repository)} is now paused{by_whom(known)}"
    return Message(
        text=f"{sentence} since {utc_time(known.paused_at)}{_ends(known)}: {reason}",
        blocks=(
            blocks.section(f":double_vertical_bar: {sentence}: {reason}"),
            blocks.context(*pause_times(known)),
            blocks.actions([resume_button(known)]),
        ),
    )


def _ends(known: PauseRecord) -> str:
    return timers.lifts_text(known.lifts_at, is_overdue=known.is_overdue)


def pause_times(known: PauseRecord) -> tuple[str, str]:
    return (
        f"since {local_time(known.paused_at)}",
        timers.lifts(known.lifts_at, is_overdue=known.is_overdue),
    )


def _would_last(known: PauseRecord, lasting: Lasting | None) -> str:
    """How long the pause would last that is wanted: one without an end keeps the one there is."""
    if lasting is not None:
        return timers.said(written(lasting))
    if known.is_overdue:
        return timers.NO_END
    return f"still {timers.lifts(known.lifts_at)}" if known.lifts_at is not None else ""


def _replace_label(known: PauseRecord, wanted: str, lasting: Lasting | None) -> str:
    if lasting is None:
        keeps_end = known.lifts_at is not None and not known.is_overdue
        return "Replace reason, keep end" if keeps_end else "Replace reason"
    return "Replace end" if known.reason == wanted else "Replace reason and end"


def unchanged() -> Message:
    return blocks.sentence("Nothing was changed. You can close this.")


def over(repository: RepositoryName) -> Message:
    """What a pause post becomes when its pause turns out to be lifted already."""
    return blocks.sentence(f":arrow_forward: {escape(repository)} is no longer paused.")
