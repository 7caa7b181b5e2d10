"""The card of a pause, and the notifications that the pause is over."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.acts.reason import REASON_LIMIT
from bot.acts.record import Evidence
from bot.blocks import blocks, controls
from bot.blocks.message import Block, Colour, Message
from bot.blocks.text import (
    NAME_LIMIT,
    by_count,
    clean,
    clock_time,
    duration,
    escape,
    listed,
    literal,
    local_time,
    mention_group,
    person,
    plural,
    pull_request,
    quote,
    time_and_age,
)
from bot.kernel.actor import Actor
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import PullRequestRecord
from bot.pauses import actions as pause_actions
from bot.pauses.by_rule import AUTO_PAUSE
from bot.pauses.pause import DrawnLine, EarlierLine, MergedSince, PauseRecord
from bot.pauses.texts import ends as pause_ends

CHECK_LIMIT = 60
BRANCH_SHOWN = 40
FAILURES_NAMED = 5
"""Pull requests in the reason of a pause by rule."""

END_UNKNOWN = "someone resumes it: the end that was set is no longer known"

CONFIRMED_NAME = 50
CONFIRMED_REASON = 80
"""Slack allows 300 characters in a confirmation, and no dates in the reader's zone."""

PAUSE_CARD_BLOCK = "pause-"
"""Prefix of the block id of a card's buttons."""

ADOPTED = (
    "It was paused through me, but I have no record of that, as after a restored backup. "
    "If it should resume automatically, set an end again."
)

PAUSED = ":double_vertical_bar:"
RUNS = ":arrow_forward:"

NOTHING_MERGED = MergedSince()


@dataclass(frozen=True, slots=True)
class Around:
    """What a card says beside the pause itself."""

    #: what the pause said first, if it was changed since
    first: EarlierLine | None = None
    #: why a rule made it, if one did
    evidence: Evidence | None = None
    #: the pull requests named there, by number
    seen: Mapping[int, PullRequestRecord] = field(default_factory=dict)
    merged: MergedSince = NOTHING_MERGED  #: since it is over


ALONE = Around()


def card(record: PauseRecord, around: Around = ALONE) -> Message:
    """The pause as it is now; once it is over, its record without buttons."""
    return _card_in_force(record, around) if record.is_open else _card_of_past_pause(record, around)


def _card_in_force(record: PauseRecord, around: Around) -> Message:
    reason = literal(record.line.reason, REASON_LIMIT)
    evidence = around.evidence
    if evidence is not None and evidence.mention is not None:
        reason = f"{reason}. {mention_group(evidence.mention)}"
    state = f"*{escape(record.repository)} is paused*"
    was = literal(record.previous_reason or "", REASON_LIMIT)
    shown = [
        blocks.section(blocks.state_line(PAUSED, state, reason)),
        *blocks.facts(
            *people(record, around.first),
            ("Since", time_and_age(record.since, is_near=True)),
            ("Until", _until(record)),
        ),
        *_failed(around),
        *_counts(
            queued(record.queue.queued_now, record.queue.queued_at_start),
            stopped(len(record.queue.stopped)),
            f"Previous reason: {was}" if was else "",
        ),
        blocks.actions(
            _card_buttons(record),
            block_id=blocks.with_state(f"{PAUSE_CARD_BLOCK}{record.pause_id}", record.resumes_at),
        ),
    ]
    return blocks.coloured(Colour.YELLOW, blocks.message(*shown))


def _card_of_past_pause(record: PauseRecord, around: Around) -> Message:
    state = f"*{escape(record.repository)} was paused*"
    shown = [
        blocks.section(blocks.state_line(RUNS, state, literal(record.line.reason, REASON_LIMIT))),
        *blocks.facts(
            *people(record, around.first),
            ("Lasted", duration(record.lasted) if record.lasted is not None else ""),
            ("Resumed by", ended_by(record)),
        ),
        *_counts(
            stopped(len(record.queue.stopped)),
            waited(record.queue.waiting),
            merged(around.merged),
            added(record.queue.added),
        ),
    ]
    return blocks.coloured(Colour.GREEN, blocks.message(*shown))


def people(record: PauseRecord, first: EarlierLine | None = None) -> list[tuple[str, str]]:
    """Who began it, and who is responsible since, if that is somebody else."""
    began = first.line.by if first is not None else record.line.by
    shown = [("By", person(began.name if began is not None else None))]
    responsible = record.responsible
    if responsible is not None and responsible != began:
        taken_over = record.taken_over
        since = taken_over.at if taken_over is not None else record.line.paused_at
        shown.append(("With", f"{person(responsible.name)} since {clock_time(since)}"))
    return shown


def _until(record: PauseRecord) -> str:
    if record.has_unknown_end:
        return END_UNKNOWN
    return pause_ends.until(record.resumes_at, is_overdue=record.is_overdue, since=record.since)


def _failed(around: Around) -> list[Block]:
    """The pull requests whose failures made a rule pause the queue."""
    if around.evidence is None:
        return []
    shown = [
        pull_request(number, around.seen[number].title, around.seen[number].url)
        if number in around.seen
        else f"#{number}"
        for number in around.evidence.pull_requests
    ]
    return [blocks.section(f"Failed: {listed(shown, most=FAILURES_NAMED)}")]


def _counts(*counted: str) -> list[Block]:
    return [blocks.context(*counted)] if any(counted) else []


def reason_of_rule(found: Evidence) -> str:
    """The reason of a pause by rule, plain text of at most 200 characters."""
    numbers = listed(
        [f"#{pull_request}" for pull_request in found.pull_requests], most=FAILURES_NAMED
    )
    branch = f" on {clean(found.branch, BRANCH_SHOWN)}" if found.branch else ""
    return f"{clean(found.check, CHECK_LIMIT)} failed in a row for {numbers}{branch}"


def _card_buttons(record: PauseRecord) -> list[blocks.Element]:
    repository = record.repository
    line = record.drawn
    shown = [
        resume_button(
            repository, line, record.line.reason, record.by_name, record.queue.queued_now
        ),
        pause_ends.extend_menu(repository, line, record.resumes_at),
    ]
    value = controls.control_value(repository, line.written)
    if record.timer is not None and record.timer.set_by.user_id == AUTO_PAUSE.user_id:
        keep = blocks.button("Keep paused", action_id=pause_actions.KEEP, value=value)
        shown.insert(1, keep)
    return [*shown, more_menu(value)]


def more_menu(target: str) -> blocks.Element:
    """The menu behind three dots; a group has no reason of its own to change."""
    choices = [
        (pause_actions.More.TAKE_OVER, "Take over"),
        (pause_actions.More.REASON, "Change the reason…"),
        (pause_actions.More.NOTIFY, "Notify me when it resumes"),
        (pause_actions.More.LOG, "Show the log"),
    ]
    is_group = target.startswith("@")
    options = [
        blocks.option(label, f"{choice} {target}")
        for choice, label in choices
        if not (is_group and choice is pause_actions.More.REASON)
    ]
    return blocks.overflow(action_id=pause_actions.MORE, options=options)


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
    """A sentence that says how it ended, by whom, and how long it lasted."""
    name = escape(record.repository)
    after = f" after {duration(record.lasted)}" if record.lasted is not None else ""
    by = person(record.ended_by.name) if record.ended_by is not None else ""
    if record.is_ended_by_timer:
        whose = f"the end that {by} had set" if by else "the end that was set"
        return f"{name} resumed{after}, at {whose}."
    if record.ended_by is not None:
        # Where nobody is named, only the log would know.
        outside = "" if record.ended_by.user_id else " outside Slack"
        return f"{by} resumed {name}{outside}{after}."
    return f"{name} resumed{after}."


def ended_by(record: PauseRecord) -> str:
    """Who or what resumed the queue, behind its label; empty if unknown."""
    by = person(record.ended_by.name) if record.ended_by is not None else ""
    if record.is_ended_by_timer:
        return f"the timer set by {by}" if by else "its timer"
    return by


def waited(pull_requests: int) -> str:
    """How many pull requests waited; empty for none."""
    if not pull_requests:
        return ""
    return by_count(pull_requests, "{count} pull request waited", "{count} pull requests waited")


def added(pull_requests: int) -> str:
    """How many of them came during the pause; empty for none."""
    if not pull_requests:
        return ""
    return by_count(
        pull_requests,
        "{count} pull request was added during the pause",
        "{count} pull requests were added during the pause",
    )


def merged(since: MergedSince) -> str:
    """How many of those that waited have merged since, and when the last did; empty for none."""
    if since.last_at is None:
        return ""
    when = local_time(since.last_at)
    if since.waited == 1:
        return f"It merged {when}"
    if since.count >= since.waited:
        return f"All of them merged since, the last {when}"
    return f"{since.count:,} of them merged since, the last {when}"


def ended(record: PauseRecord, reason: str | None = None) -> Message:
    """Notifies a channel that the queue has resumed: edits of a card notify nobody.

    `reason`: of the person who resumed it, if they gave one.
    """
    late = ""
    if record.is_ended_by_timer:
        late = pause_ends.late_by(record.ended_at, record.resumes_at)
    state = f"*{escape(record.repository)} has resumed*"
    why = literal(reason, REASON_LIMIT) if reason else ""
    shown = [
        blocks.section(blocks.state_line(RUNS, state, why)),
        *blocks.facts(
            ("By", ended_by(record)),
            ("Paused for", duration(record.lasted) if record.lasted is not None else ""),
        ),
        blocks.context(
            f"The timer was {late}" if late else "",
            f"Reason was: {literal(record.line.reason, REASON_LIMIT)}",
            added(record.queue.added),
        ),
    ]
    return blocks.coloured(Colour.GREEN, blocks.message(*shown))


def adopted(record: PauseRecord) -> Message:
    """To each channel and the person who paused, once: nobody ends a pause that isn't on record."""
    name = escape(record.repository)
    reason = literal(record.line.reason, REASON_LIMIT)
    return blocks.post(
        blocks.state_line(":warning:", f"*{name} stays paused until someone resumes it*", reason),
        _by_actor("By", record.line.by),
        f"Since {local_time(record.since)}",
        details=[ADOPTED],
        buttons=[
            resume_button(record.repository, record.drawn, record.line.reason, record.by_name),
            pause_ends.extend_menu(record.repository, record.drawn, None),
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
    who = person(record.by_name) or "Someone"
    state = f"*{who} changed why {escape(record.repository)} is paused*"
    return blocks.post(
        blocks.state_line(PAUSED, state, literal(record.line.reason, REASON_LIMIT)),
        f"Reason was: {literal(record.previous_reason or '', REASON_LIMIT)}"
        if record.previous_reason
        else "",
    )


def replaced_elsewhere(record: PauseRecord) -> Message:
    """To the person whose pause was replaced; `record` is what it says now."""
    name = escape(record.repository)
    who = person(record.by_name) or "Someone"
    said = f"{PAUSED} {who} changed your pause of {name}{_outside_slack(record)}."
    return _now_says(said, record)


def end_void(record: PauseRecord) -> Message:
    """To the person who had set the end of a pause that somebody else changed since."""
    name = escape(record.repository)
    who = person(record.by_name) or "Someone"
    changed = f"{who} changed its pause{_outside_slack(record)}"
    said = f":alarm_clock: {name} no longer resumes automatically: {changed}."
    return _now_says(said, record)


def _outside_slack(record: PauseRecord) -> str:
    """Where its last change was made, if not through the bot as far as that is known."""
    is_through_slack = record.line.by is not None and bool(record.line.by.user_id)
    return "" if is_through_slack or record.is_adopted else " outside Slack"


def _now_says(what: str, record: PauseRecord) -> Message:
    was = literal(record.previous_reason or "", REASON_LIMIT)
    return blocks.post(
        f"{what} It now says: {literal(record.line.reason, REASON_LIMIT)}",
        f"Reason was: {was}" if was else "",
    )


def resumed(record: PauseRecord, *, is_paused_again: bool = False) -> Message:
    """To a person who asked to be notified; possibly late."""
    mark = PAUSED if is_paused_again else RUNS
    again = " It is paused again." if is_paused_again else ""
    return blocks.sentence(f"{mark} {ending(record)}{again} You asked to be notified.")


def resumed_for_you(record: PauseRecord, *, is_paused_again: bool = False) -> Message:
    """To the person who is responsible, when someone else resumed the queue."""
    again = " It is paused again." if is_paused_again else ""
    reason = literal(record.line.reason, REASON_LIMIT)
    return blocks.sentence(f"{RUNS} {ending(record)}{again} You had paused it: {reason}")


def by_whom(record: PauseRecord) -> str:
    """The words "by" and the person who paused; empty if unknown."""
    return _by_actor(" by", record.line.by)


def _by_actor(words: str, who: Actor | None) -> str:
    return f"{words} {quote(who.name, NAME_LIMIT)}" if who is not None else ""


def resume_button(
    repository: RepositoryName,
    line: DrawnLine,
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
        value=controls.control_value(repository, line.written),
        style="primary",
        spoken=f"Resume queue {repository}",
        confirm=blocks.confirmation(
            "Resume the queue?",
            f"{clean(repository, CONFIRMED_NAME)} was paused{who}: "
            f"{literal}. Checks start over.{impact}",
            confirm="Resume",
            deny="Keep it paused",
            style="primary",
        ),
    )
