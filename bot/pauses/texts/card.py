"""The card of a pause, and the notifications that the pause is over."""

from collections.abc import Mapping
from datetime import datetime

from bot.acts.reason import REASON_LIMIT
from bot.acts.record import SOMEBODY, Evidence
from bot.blocks import blocks, controls
from bot.blocks.message import Message
from bot.blocks.text import (
    NAME_LIMIT,
    by_count,
    clean,
    duration,
    escape,
    listed,
    local_time,
    mention_group,
    plural,
    pull_request,
    quote,
)
from bot.kernel.actor import Actor
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import PullRequestRecord
from bot.pauses import actions as pause_actions
from bot.pauses.by_rule import AUTO_PAUSE
from bot.pauses.pause import PauseEnding, PauseRecord
from bot.pauses.texts import ends as pause_ends
from bot.people import actions as people_actions

CHECK_LIMIT = 60
BRANCH_SHOWN = 40
FAILURES_NAMED = 5
"""Pull requests in the reason of a pause by rule."""

END_UNKNOWN = "its end is no longer known"

CONFIRMED_NAME = 50
CONFIRMED_REASON = 80
"""Slack allows 300 characters in a confirmation, and no dates in the reader's zone."""

PAUSE_CARD_BLOCK = "pause-"
"""Prefix of the block id of a card's buttons."""

NONE_SEEN: Mapping[int, PullRequestRecord] = {}


def card(
    record: PauseRecord,
    evidence: Evidence | None = None,
    seen: Mapping[int, PullRequestRecord] = NONE_SEEN,
) -> Message:
    """The pause as it is now; once it is over, its record without buttons.

    `evidence`: why a rule made it, if one did. `seen`: the pull requests named there.
    """
    mark = ":double_vertical_bar:"
    word = "Queue paused"
    by = "by"
    block_id = None
    details = []
    buttons = []
    if record.is_open:
        was = quote(record.previous_reason or "", REASON_LIMIT)
        facts = [
            f"since {local_time(record.since)}",
            pause_ends.resumes(record.resumes_at, is_overdue=record.is_overdue),
            queued(record.queued_now, record.queued_at_start),
            stopped(len(record.stopped)),
            f"previous reason: {was}" if was else "",
            END_UNKNOWN if record.has_unknown_end else "",
        ]
        buttons = _buttons(record)
        block_id = blocks.with_state(f"{PAUSE_CARD_BLOCK}{record.pause_id}", record.resumes_at)
    else:
        mark = ":arrow_forward:"
        word = "Pause ended"
        by = "paused by"
        facts = [ending(record), stopped(len(record.stopped)), _joined(record)]
    reason = quote(record.reason, REASON_LIMIT)
    headline = f"{mark} *{word}* {escape(record.repository)}: {reason}"
    if evidence is not None and record.is_open:
        called = f" {mention_group(evidence.mention)}" if evidence.mention is not None else ""
        headline = f"{headline}.{called}"
        shown = [
            pull_request(number, seen[number].title, seen[number].url)
            if number in seen
            else f"#{number}"
            for number in evidence.pull_requests
        ]
        details = [f"Failed: {listed(shown, most=FAILURES_NAMED)}"]
    return blocks.post(
        headline,
        _by(by, record.by),
        *facts,
        details=details,
        buttons=buttons,
        block_id=block_id,
    )


def reason_of(found: Evidence) -> str:
    """The reason of a pause by rule, plain text of at most 200 characters."""
    numbers = listed(
        [f"#{pull_request}" for pull_request in found.pull_requests], most=FAILURES_NAMED
    )
    branch = f" on {clean(found.branch, BRANCH_SHOWN)}" if found.branch else ""
    return f"{clean(found.check, CHECK_LIMIT)} failed in a row for {numbers}{branch}"


def _buttons(record: PauseRecord) -> list[blocks.Element]:
    repository = record.repository
    paused_at = record.paused_at
    by = record.by_name
    value = controls.held_value(repository, paused_at)
    second = blocks.button("Notify me when it resumes", action_id=people_actions.WATCH, value=value)
    if record.timer is not None and record.timer.set_by.user_id == AUTO_PAUSE.user_id:
        second = blocks.button("Keep paused", action_id=pause_actions.KEEP, value=value)
    return [
        resume_button(repository, paused_at, record.reason, by, record.queued_now),
        second,
        pause_ends.extend_menu(repository, paused_at, record.resumes_at),
    ]


def queued(now: int | None, at_start: int | None) -> str:
    """How many pull requests are in batches and in line, and how many were at the start."""
    if now is None:
        return ""
    said = f"{now:,} queued"
    if at_start is None or at_start == now:
        return said
    return f"{said} ({now - at_start:+,} since the pause)"


def stopped(batches: int) -> str:
    """How many batches it stopped; empty if none, as far as known."""
    return f"{plural(batches, 'batch', 'batches')} stopped" if batches else ""


def ending(record: PauseRecord) -> str:
    """How it ended, by whom, and how long it lasted."""
    how = f"resumed {_resumed_by(record)}"
    return f"{how.rstrip()} {_lasted(record)}".rstrip()


def _resumed_by(record: PauseRecord) -> str:
    if record.ending is PauseEnding.TIMER:
        return _by("by the timer set by", record.ended_by) or "by its timer"
    return _by("by", record.ended_by)


def _lasted(record: PauseRecord) -> str:
    return f"after {duration(record.lasted)}" if record.lasted is not None else ""


def _joined(record: PauseRecord) -> str:
    if not record.joined:
        return ""
    return by_count(
        len(record.joined),
        "{count} pull request was added during the pause",
        "{count} pull requests were added during the pause",
    )


def ended(record: PauseRecord, reason: str | None = None) -> Message:
    """Notifies a channel that the queue has resumed: edits of a card notify nobody.

    `reason`: of the person who resumed it, if they gave one.
    """
    is_timer = record.ending is PauseEnding.TIMER
    why = f": {quote(reason, REASON_LIMIT)}" if reason else ""
    return blocks.post(
        f":arrow_forward: *Queue resumed* {escape(record.repository)}{why}",
        _resumed_by(record),
        _lasted(record),
        pause_ends.late_by(record.ended_at, record.resumes_at) if is_timer else "",
        f"Reason was: {quote(record.reason, REASON_LIMIT)}",
        _joined(record),
    )


def adopted(record: PauseRecord) -> Message:
    """To each channel and the person who paused, once: nobody ends a pause that isn't on record."""
    name = escape(record.repository)
    reason = quote(record.reason, REASON_LIMIT)
    return blocks.post(
        f":warning: *{name} stays paused until someone resumes it*: {reason}. It was paused "
        "through me, but I have no record of that, as after a restored backup. If it should resume "
        "automatically, set an end again.",
        _by("by", record.by),
        f"since {local_time(record.since)}",
        buttons=[
            resume_button(record.repository, record.paused_at, record.reason, record.by_name),
            pause_ends.extend_menu(record.repository, record.paused_at, None),
        ],
    )


def still_paused(record: PauseRecord) -> Message:
    """Corrects a post saying that the queue had resumed."""
    return blocks.sentence(
        f":warning: *Correction:* {escape(record.repository)} is still paused. The merge queue "
        "service reported no pause for a while, so the message that it resumed was wrong."
    )


def changed(record: PauseRecord) -> Message:
    """In the thread of a card: what the pause says now."""
    return blocks.post(
        f":double_vertical_bar: *Pause reason changed* {escape(record.repository)}: "
        f"{quote(record.reason, REASON_LIMIT)}",
        _by("by", record.by),
    )


def replaced_elsewhere(record: PauseRecord) -> Message:
    """To the person whose pause was replaced; `record` is what it says now."""
    by = _by(" by", record.by)
    where = "" if record.is_adopted else " outside Slack"
    return blocks.post(
        f":double_vertical_bar: Your pause of {escape(record.repository)} was replaced"
        f"{where}{by}. It now says: {quote(record.reason, REASON_LIMIT)}",
        f"previous reason: {quote(record.previous_reason, REASON_LIMIT)}"
        if record.previous_reason
        else "",
    )


def end_void(record: PauseRecord) -> Message:
    """To the person who had set the end of a pause that somebody else changed since."""
    by = _by(" by", record.by)
    return blocks.post(
        f":alarm_clock: {escape(record.repository)} no longer resumes automatically: its pause was "
        f"changed outside Slack{by}. It now says: {quote(record.reason, REASON_LIMIT)}",
        f"previous reason: {quote(record.previous_reason, REASON_LIMIT)}"
        if record.previous_reason
        else "",
    )


def resumed(record: PauseRecord, *, is_paused_again: bool = False) -> Message:
    """To a person who asked to be notified; possibly late."""
    mark = ":double_vertical_bar:" if is_paused_again else ":arrow_forward:"
    rest = ", but it is paused again" if is_paused_again else ""
    how = f"{escape(record.repository)} was {ending(record)}{rest}."
    return blocks.sentence(f"{mark} {how} You asked to be notified.")


def resumed_for_you(record: PauseRecord, *, is_paused_again: bool = False) -> Message:
    """To the person who paused, when someone else resumed the queue."""
    name = escape(record.repository)
    by = record.ended_by
    what = f"{name} has resumed"
    if by == SOMEBODY:
        what = f"{name} was resumed{_by(' by', by)}"
    elif by is not None:
        what = f"{quote(by.name, NAME_LIMIT)} resumed {name}"
    # Where nobody is named, only the log would know.
    outside = " outside Slack" if by is not None and not by.user_id else ""
    again = " It has been paused again since." if is_paused_again else ""
    how = f"{what}{outside} {_lasted(record)}".rstrip()
    return blocks.sentence(
        f":arrow_forward: {how}.{again} You had paused it: {quote(record.reason, REASON_LIMIT)}"
    )


def by_whom(record: PauseRecord) -> str:
    """The words "by" and the person who paused; empty if unknown."""
    return _by(" by", record.by)


def _by(words: str, who: Actor | None) -> str:
    return f"{words} {quote(who.name, NAME_LIMIT)}" if who is not None else ""


def resume_button(
    repository: RepositoryName,
    paused_at: datetime,
    reason: str,
    by: str | None = None,
    queued: int | None = None,
) -> blocks.Element:
    """*Resume queue* with its confirmation; it ends only this pause.

    `queued`: how many pull requests are in the queue, if known.
    """
    # Plain text needs no escaping and can't mention anybody.
    literal = clean(reason, CONFIRMED_REASON).replace("<", "(").replace(">", ")")
    who = f" by {clean(by, CONFIRMED_NAME)}" if by else ""
    impact = f" {queued:,} queued." if queued is not None else ""
    return blocks.button(
        "Resume queue",
        action_id=pause_actions.RESUME,
        value=controls.held_value(repository, paused_at),
        style="primary",
        confirm=blocks.confirmation(
            "Resume the queue?",
            f"{clean(repository, CONFIRMED_NAME)} was paused{who}: "
            f"{literal}. Checks start over.{impact}",
            confirm="Resume",
            deny="Keep it paused",
            style="primary",
        ),
    )
