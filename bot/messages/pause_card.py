"""The card of a pause, and the notifications that the pause is over."""

from datetime import datetime

from bot.domain.message import Block, Message
from bot.domain.pause_records import PauseEnding, PauseRecord, Who
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks, timers
from bot.messages.text import (
    NAME_LIMIT,
    clean,
    duration,
    escape,
    local_time,
    plural,
    quote,
    utc_time,
)


def card(record: PauseRecord) -> Message:
    """The pause as it is now; once it is over, its record without buttons."""
    return _in_force(record) if record.is_open else _over(record)


def _in_force(record: PauseRecord) -> Message:
    repository = escape(record.repository)
    reason = quote(record.reason, REASON_LIMIT)
    by = _by("by", record.by)
    since = f"since {utc_time(record.paused_at)}"
    lifts = timers.lifts_text(record.lifts_at, is_overdue=record.is_overdue)
    grown = queued(record)
    told = f"{by} {since}" if by else since
    was = quote(record.previous_reason or "", REASON_LIMIT)
    return Message(
        text=f"Queue paused: {repository}, {told}{lifts}: {reason}"
        + (f" ({grown})" if grown else ""),
        blocks=(
            blocks.section(f":double_vertical_bar: *Queue paused* {repository}: {reason}"),
            blocks.context(
                by,
                f"since {local_time(record.paused_at)}",
                timers.lifts(record.lifts_at, is_overdue=record.is_overdue),
                grown,
                stopped(len(record.stopped)),
                f"before: {was}" if was else "",
            ),
            _buttons(record),
        ),
    )


CONFIRMED_NAME = 50
CONFIRMED_REASON = 80
"""Slack takes 300 characters for the question of a button, and no dates of the reader's own."""

CARD_BLOCK = "pause-"
"""Begins the name of the block with a card's buttons."""


def _buttons(record: PauseRecord) -> Block:
    value = actions.resume_value(record.repository, record.paused_at)
    return blocks.actions(
        [
            resume_button(record, record.queued_now),
            blocks.button("Notify me when it resumes", action_id=actions.WATCH, value=value),
            timers.extend_menu(record.repository, record.paused_at, record.lifts_at),
        ],
        # The same through all edits: a press just before one is still a press of this button.
        block_id=f"{CARD_BLOCK}{record.pause_id}",
    )


def queued(record: PauseRecord) -> str:
    """How many pull requests are in batches and in line, and how many were at the start."""
    if record.queued_now is None:
        return ""
    now = f"{plural(record.queued_now, 'pull request')} queued"
    at_start = record.queued_at_start
    if at_start is None or at_start == record.queued_now:
        return now
    return f"{now}, {at_start:,} when paused"


def stopped(batches: int) -> str:
    """Empty where it stopped none, as far as is known."""
    return f"stopped {plural(batches, 'batch', 'batches')}" if batches else ""


def _over(record: PauseRecord) -> Message:
    repository = escape(record.repository)
    reason = quote(record.reason, REASON_LIMIT)
    halted = stopped(len(record.stopped))
    facts = [_by("paused by", record.by), ending(record), halted, _joined(record)]
    replaced = record.ending is PauseEnding.REPLACED
    mark = ":double_vertical_bar:" if replaced else ":arrow_forward:"
    word = "Pause replaced" if replaced else "Was paused"
    told = ", ".join(fact for fact in facts if fact)
    return Message(
        text=f"{word}: {repository}, {told}: {reason}",
        blocks=(
            blocks.section(f"{mark} *{word}* {repository}: {reason}"),
            blocks.context(*facts),
        ),
    )


def ending(record: PauseRecord) -> str:
    """How it ended, by whom, and how long it lasted."""
    lasted = f"after {duration(record.lasted)}" if record.lasted is not None else ""
    match record.ending:
        case PauseEnding.REPLACED:
            how = _by("replaced by", record.ended_by) or "replaced"
        case PauseEnding.TIMER:
            how = _by("resumed by the timer of", record.ended_by) or "resumed by its timer"
        case _:
            how = _by("resumed by", record.ended_by) or "resumed"
    return f"{how} {lasted}".rstrip()


def _joined(record: PauseRecord) -> str:
    if not record.joined:
        return ""
    return f"{plural(len(record.joined), 'pull request')} joined meanwhile"


def ended(record: PauseRecord) -> Message:
    """Notifies a channel that the queue has resumed: edits of a card notify nobody."""
    repository = escape(record.repository)
    lasted = f"after {duration(record.lasted)}" if record.lasted is not None else ""
    by, late = _by("by", record.ended_by), ""
    if record.ending is PauseEnding.TIMER:
        by = _by("by the timer of", record.ended_by) or "by its timer"
        late = timers.late_by(record.ended_at, record.lifts_at)
    told = ", ".join(part for part in (f"{by} {lasted}".strip(), late) if part)
    return Message(
        text=f"Queue resumed: {repository}" + (f", {told}" if told else ""),
        blocks=(
            blocks.section(f":arrow_forward: *Queue resumed* {repository}"),
            blocks.context(
                by,
                lasted,
                late,
                f"it was paused for: {quote(record.reason, REASON_LIMIT)}",
                _joined(record),
            ),
        ),
    )


def still_paused(record: PauseRecord) -> Message:
    """Corrects a line that said that the queue had resumed."""
    return blocks.sentence(
        f":warning: *Correction:* {escape(record.repository)} is still paused. The merge queue "
        "service reported no pause for a while, so the message that it resumed was wrong."
    )


def replaced_elsewhere(record: PauseRecord) -> Message:
    """To the person whose pause was replaced; `record` is what is in its place."""
    by = _by(" by", record.by)
    said = (
        f":double_vertical_bar: Your pause of {escape(record.repository)} was replaced outside "
        f"Slack{by}. It now says: {quote(record.reason, REASON_LIMIT)}"
    )
    before = f"before: {quote(record.previous_reason or '', REASON_LIMIT)}"
    return Message(text=f"{said} ({before})", blocks=(blocks.section(said), blocks.context(before)))


def resumed(record: PauseRecord, *, is_paused_again: bool = False) -> Message:
    """To a person who asked for it; possibly late."""
    mark, rest = ":arrow_forward:", ""
    if is_paused_again:
        mark, rest = ":double_vertical_bar:", ", but it is paused again"
    how = f"{escape(record.repository)} was {ending(record)}{rest}."
    return blocks.sentence(f"{mark} {how} You asked to be notified.")


def resumed_for_you(record: PauseRecord, *, is_paused_again: bool = False) -> Message:
    """To the person who paused, when the queue was resumed, but not by them."""
    repository = escape(record.repository)
    lasted = f" after {duration(record.lasted)}" if record.lasted is not None else ""
    told = f":arrow_forward: {repository} has resumed outside Slack{lasted}."
    if record.ended_by is not None:
        name = quote(record.ended_by.name, NAME_LIMIT)
        told = f":arrow_forward: {name} resumed {repository}{lasted}."
        if record.ended_by.user_id is None:
            told = f":arrow_forward: {name} resumed {repository} outside Slack{lasted}."
    again = " It has been paused again since." if is_paused_again else ""
    reason = quote(record.reason, REASON_LIMIT)
    return blocks.sentence(f"{told}{again} You had paused it: {reason}")


def will_tell(repository: RepositoryName, *, is_new: bool) -> Message:
    """To a person who pressed *Notify me when it resumes*."""
    repository_name = escape(repository)
    if is_new:
        text = f"You'll get a direct message when {repository_name} resumes."
    else:
        text = f"You've already asked: you'll get a direct message when {repository_name} resumes."
    return blocks.sentence(text)


def by_whom(record: PauseRecord) -> str:
    """Who paused, to continue a sentence with; empty where nobody knows."""
    return f" {_by('by', record.by)}" if record.by is not None else ""


def _by(words: str, who: Who | None) -> str:
    return f"{words} {quote(who.name, NAME_LIMIT)}" if who is not None else ""


def resume_button(known: PauseRecord, queued: int | None = None) -> blocks.Element:
    """`resume_button_of` for a pause on record."""
    by = known.by.name if known.by is not None else None
    return resume_button_of(known.repository, known.paused_at, by, known.reason, queued)


def resume_button_of(
    repository: RepositoryName,
    paused_at: datetime,
    by: str | None,
    reason: str,
    queued: int | None = None,
) -> blocks.Element:
    """*Resume queue*, with the question asked first; it resumes this very pause and no other.

    `queued`: how many pull requests are in the queue, if that is known.
    """
    # Nothing is escaped in plain text, nor is anything taken for a mention there.
    literal = clean(reason, CONFIRMED_REASON).replace("<", "(").replace(">", ")")
    who = f" by {clean(by, CONFIRMED_NAME)}" if by else ""
    impact = f" {plural(queued, 'pull request')} queued." if queued is not None else ""
    return blocks.button(
        "Resume queue",
        action_id=actions.RESUME,
        value=actions.resume_value(repository, paused_at),
        style="primary",
        confirm=blocks.confirmation(
            "Resume the queue?",
            f"{clean(repository, CONFIRMED_NAME)} was paused{who} on {utc_time(paused_at)}: "
            f"{literal}. Checks start over.{impact}",
            confirm="Resume",
            deny="Keep it paused",
            style="primary",
        ),
    )
