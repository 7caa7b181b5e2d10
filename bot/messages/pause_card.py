"""The card of a pause, and the notifications that the pause is over."""

from collections.abc import Mapping
from datetime import datetime

from bot.domain.audit import Actor, Evidence
from bot.domain.auto_pause import AUTO_PAUSE
from bot.domain.event_records import PullRequestRecord
from bot.domain.message import Message
from bot.domain.pause_records import PauseEnding, PauseRecord
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks, timers
from bot.messages.text import (
    NAME_LIMIT,
    clean,
    duration,
    escape,
    listed,
    local_time,
    mention_group,
    plural,
    pull_request,
    quote,
    utc_time,
)

CHECK_LIMIT = 60
BRANCH_LIMIT = 40
NAMED = 5
"""Pull requests in the reason of a pause by rule."""

CONFIRMED_NAME = 50
CONFIRMED_REASON = 80
"""Slack allows 300 characters in a confirmation, and no dates in the reader's zone."""

CARD_BLOCK = "pause-"
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
    mark, word, block_id = ":double_vertical_bar:", "Queue paused", None
    details, buttons, by = [], [], "by"
    if record.is_open:
        was = quote(record.previous_reason or "", REASON_LIMIT)
        facts = [
            f"since {local_time(record.paused_at)}",
            timers.resumes(record.resumes_at, is_overdue=record.is_overdue),
            queued(record.queued_now, record.queued_at_start),
            stopped(len(record.stopped)),
            f"previous reason: {was}" if was else "",
        ]
        # The id survives edits, so that a click just before one still counts.
        buttons, block_id = _buttons(record), f"{CARD_BLOCK}{record.pause_id}"
    else:
        is_replaced = record.ending is PauseEnding.REPLACED
        mark, word = (mark, "Pause replaced") if is_replaced else (":arrow_forward:", "Was paused")
        by, facts = "paused by", [ending(record), stopped(len(record.stopped)), _joined(record)]
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
        details = [f"Failed: {listed(shown, most=NAMED)}"]
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
    numbers = listed([f"#{one}" for one in found.pull_requests], most=NAMED)
    branch = f" on {clean(found.branch, BRANCH_LIMIT)}" if found.branch else ""
    return f"{clean(found.check, CHECK_LIMIT)} failed in a row for {numbers}{branch}"


def _buttons(record: PauseRecord) -> list[blocks.Element]:
    repository, paused_at, by = record.repository, record.paused_at, record.by_name
    value = actions.held_value(repository, paused_at)
    second = blocks.button("Notify me when it resumes", action_id=actions.WATCH, value=value)
    if record.timer is not None and record.timer.set_by.user_id == AUTO_PAUSE.user_id:
        second = blocks.button("Keep paused", action_id=actions.KEEP, value=value)
    return [
        resume_button(repository, paused_at, record.reason, by, record.queued_now),
        second,
        timers.extend_menu(repository, paused_at, record.resumes_at),
    ]


def queued(now: int | None, at_start: int | None) -> str:
    """How many pull requests are in batches and in line, and how many were at the start."""
    if now is None:
        return ""
    said = f"{plural(now, 'pull request')} queued"
    return said if at_start in {None, now} else f"{said}, {at_start:,} when paused"


def stopped(batches: int) -> str:
    """How many batches it stopped; empty if none, as far as known."""
    return f"stopped {plural(batches, 'batch', 'batches')}" if batches else ""


def ending(record: PauseRecord) -> str:
    """How it ended, by whom, and how long it lasted."""
    how = f"resumed {_resumed_by(record)}"
    if record.ending is PauseEnding.REPLACED:
        how = _by("replaced by", record.ended_by) or "replaced"
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
    return f"{plural(len(record.joined), 'pull request')} joined meanwhile"


def ended(record: PauseRecord) -> Message:
    """Notifies a channel that the queue has resumed: edits of a card notify nobody."""
    is_timer = record.ending is PauseEnding.TIMER
    return blocks.post(
        f":arrow_forward: *Queue resumed* {escape(record.repository)}",
        _resumed_by(record),
        _lasted(record),
        timers.late_by(record.ended_at, record.resumes_at) if is_timer else "",
        f"it was paused for: {quote(record.reason, REASON_LIMIT)}",
        _joined(record),
    )


def still_paused(record: PauseRecord) -> Message:
    """Corrects a post saying that the queue had resumed."""
    return blocks.sentence(
        f":warning: *Correction:* {escape(record.repository)} is still paused. The merge queue "
        "service reported no pause for a while, so the message that it resumed was wrong."
    )


def replaced_elsewhere(record: PauseRecord) -> Message:
    """To the person whose pause was replaced; `record` is the pause in its place."""
    by = _by(" by", record.by)
    return blocks.post(
        f":double_vertical_bar: Your pause of {escape(record.repository)} was replaced outside "
        f"Slack{by}. It now says: {quote(record.reason, REASON_LIMIT)}",
        f"previous reason: {quote(record.previous_reason or '', REASON_LIMIT)}",
    )


def resumed(record: PauseRecord, *, is_paused_again: bool = False) -> Message:
    """To a person who asked to be notified; possibly late."""
    mark = ":double_vertical_bar:" if is_paused_again else ":arrow_forward:"
    rest = ", but it is paused again" if is_paused_again else ""
    how = f"{escape(record.repository)} was {ending(record)}{rest}."
    return blocks.sentence(f"{mark} {how} You asked to be notified.")


def resumed_for_you(record: PauseRecord, *, is_paused_again: bool = False) -> Message:
    """To the person who paused, when someone else resumed the queue."""
    what, by = f"{escape(record.repository)} has resumed", record.ended_by
    if by is not None:
        what = f"{quote(by.name, NAME_LIMIT)} resumed {escape(record.repository)}"
    outside = " outside Slack" if by is None or not by.user_id else ""
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
    impact = f" {plural(queued, 'pull request')} queued." if queued is not None else ""
    return blocks.button(
        "Resume queue",
        action_id=actions.RESUME,
        value=actions.held_value(repository, paused_at),
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
