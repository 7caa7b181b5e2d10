"""Everything said about acts on a group of repositories, within Slack's sizes whatever its size."""

from collections.abc import Sequence
from datetime import datetime

from bot.domain.audit import Action, Origin
from bot.domain.durations import For, written
from bot.domain.errors import InvalidDuration
from bot.domain.group_acts import Asked, GroupAct, GroupOutcome, RepositoryResult, read_asked
from bot.domain.groups import ALL, Group
from bot.domain.message import Block, Message
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Snapshot
from bot.messages import actions, blocks, timers
from bot.messages.pause import will_stop
from bot.messages.text import clean, cut_markup, escape, local_time, plural, quote, utc_time

NAME_LIMIT = 60
DETAIL_LIMIT = 120
LINE_LENGTH = 1500
"""Of a line that names repositories; with all its lines a message stays within Slack's size."""

STATUS_LENGTH = 8500
SECTION_LENGTH = 2800


def confirm(
    group: Group,
    asked: str,
    read: Sequence[Snapshot | RepositoryName],
    lifts_at: datetime | None = None,
) -> Message:
    """The question before a group is paused: what would stop, and what stays as it is.

    `asked` is kept by the button to be read again; `lifts_at` is when it lifts itself, if it does.
    """
    count = queues(len(group.repositories))
    question = f"Pause {_all_of(group)}?"
    reason = f"Reason: {quote(_asked(asked).reason, REASON_LIMIT)}"
    lifting = f"It lifts itself {local_time(lifts_at)}." if lifts_at is not None else ""
    facts = [lifting, *impact(read)]
    value = actions.group_value(actions.GroupTarget(group.name, asked))
    label = f"Pause {count}"
    return Message(
        text=f"{question} {reason}. {' '.join(fact for fact in facts if fact)}",
        blocks=(
            blocks.section(f":double_vertical_bar: *{question}* {reason}"),
            blocks.section("\n".join(fact for fact in facts if fact)),
            blocks.context(names(group.repositories)),
            blocks.actions(
                [
                    blocks.button(
                        label, action_id=actions.PAUSE_GROUP, value=value, style="danger"
                    ),
                    blocks.button("Leave it", action_id=actions.DISMISS, value=group.name),
                ]
            ),
        ),
    )


def _all_of(group: Group) -> str:
    count = queues(len(group.repositories))
    if group.name != ALL:
        return f"{count} of {group.mention}"
    return (
        f"all {count}"
        if len(group.repositories) > 1
        else f"{count}, {escape(group.repositories[0])}"
    )


def _asked(text: str) -> Asked:
    """A text that cannot be read is all reason."""
    try:
        return read_asked(text)
    except InvalidDuration:
        return Asked(text)


def name_of(group: str) -> str:
    """As people write it."""
    return ALL if group == ALL else f"@{escape(group)}"


def queues(count: int) -> str:
    return plural(count, "queue")


def impact(read: Sequence[Snapshot | RepositoryName]) -> list[str]:
    """What would stop, what stays as it is, and what could not be read; empty where nothing is."""
    snapshots = [one for one in read if isinstance(one, Snapshot)]
    paused = [one for one in snapshots if one.pause is not None]
    return [_stopping(snapshots), _already(paused), _unread(len(read) - len(snapshots))]


def _stopping(snapshots: Sequence[Snapshot]) -> str:
    running = [one.impact() for one in snapshots if one.pause is None]
    waiting = sum(one.waiting + one.in_batches for one in running)
    batches = sum(one.running_batches for one in running)
    due = min((one.next_merge_at for one in running if one.next_merge_at), default=None)
    next_merge = f", next merge was due {local_time(due)}" if due is not None else ""
    return f"{plural(waiting, 'pull request')} in the queues, {will_stop(batches)}{next_merge}."


def _already(paused: Sequence[Snapshot]) -> str:
    if not paused:
        return ""
    told = []
    for one in paused:
        actor = one.pause.actor if one.pause is not None else None
        by = f" by {quote(actor.name, NAME_LIMIT)}" if actor is not None else ""
        told.append(f"{escape(one.repository)}{by}")
    return f"{len(paused)} paused already, left as they are: {_listed(told)}."


def _unread(count: int) -> str:
    return f"{count} could not be read just now; they are tried all the same." if count else ""


def names(repositories: Sequence[RepositoryName]) -> str:
    return _listed([escape(one) for one in repositories])


def _listed(parts: Sequence[str], joined_by: str = ", ", length: int = LINE_LENGTH) -> str:
    """As many of the parts as fit, and how many more there are."""
    shown, room = 0, length
    for part in parts:
        room -= len(part) + len(joined_by)
        if room < 0:
            break
        shown += 1
    left = len(parts) - shown
    more = f"{joined_by if joined_by != ', ' else ' '}and {left:,} more" if left else ""
    return joined_by.join(parts[:shown]) + more


def progress(group: str, action: Action, done: int, total: int) -> Message:
    doing = "Pausing" if action is Action.PAUSE else "Unpausing"
    return _line(f":hourglass_flowing_sand: {doing} {name_of(group)}: {done:,} of {total:,} …")


def act(done: GroupAct) -> Message:
    """The one post about an act on a group, with a line for each way its repositories ended."""
    if done.action is Action.PAUSE:
        return card(done, [one.repository for one in done.of(GroupOutcome.CHANGED)])
    return _told(done, _again_button(done))


def card(paused: GroupAct, left: Sequence[RepositoryName]) -> Message:
    """The post about a group that was paused; `left` of what it paused is paused still."""
    if not left:
        return _told(paused, [], "none of them is paused any more")
    paused_now = len(paused.of(GroupOutcome.CHANGED))
    state = f"still paused: {names(left)}" if len(left) < paused_now else ""
    return _told(paused, [unpause_button(paused), *_again_button(paused)], state)


def answer(done: GroupAct, *, posted_here: bool) -> Message:
    """To the person who acted; what the channel's post offers is not offered twice."""
    return _told(done, [] if posted_here else _again_button(done))


def _told(done: GroupAct, controls: Sequence[blocks.Element], state: str = "") -> Message:
    """`state` is what has become of it since."""
    lines = _lines(done)
    by = f"by {_timer_of(done)}{quote(done.actor.name, NAME_LIMIT)}"
    late = timers.late_by(done.at, done.lifts_at)
    wanted = done.wanted
    reason = quote(wanted.reason, REASON_LIMIT) if done.action is Action.PAUSE else ""
    lasting = _lasting(wanted)
    told_reason = f": {reason}" if reason else ""
    headline = _headline(done)
    counts = ", ".join(summary(done))
    facts = [fact for fact in (by, late, utc_time(done.at), lasting) if fact]
    since = f"since {local_time(done.at)}" if reason else ""
    shown: list[Block] = [
        blocks.section(f"{_mark(done)} *{headline}*{told_reason}"),
        *(blocks.section(line) for line in lines),
        blocks.context(by, late, since, lasting, _cut_short(done)),
    ]
    if state:
        shown.append(blocks.section(f"*{_sentence(state)}*"))
    if controls:
        # The same through all edits: a press just before one is still a press of this button.
        shown.append(blocks.actions(controls, block_id=f"group-{done.group_act_id}"))
    now = f"; {state}" if state else ""
    return Message(
        text=f"{headline}{told_reason}. {counts}{now} ({', '.join(facts)})",
        blocks=tuple(shown),
    )


def _sentence(state: str) -> str:
    return state[:1].upper() + state[1:]


def _timer_of(done: GroupAct) -> str:
    return "the timer of " if done.origin is Origin.TIMER else ""


def _lasting(wanted: Asked) -> str:
    """How long the pauses last, as the person said it: a time of day is one of theirs."""
    if wanted.lasting is None:
        return ""
    said = written(wanted.lasting)
    return f"for {said}" if isinstance(wanted.lasting, For) else f"{said} (their time)"


def _headline(done: GroupAct) -> str:
    word = "paused" if done.action is Action.PAUSE else "unpaused"
    changed = len(done.of(GroupOutcome.CHANGED))
    return f"{name_of(done.group)}: {changed:,} of {queues(len(done.results))} {word}"


def _mark(done: GroupAct) -> str:
    if done.left_to_try:
        return ":warning:"
    return ":double_vertical_bar:" if done.action is Action.PAUSE else ":arrow_forward:"


def _cut_short(done: GroupAct) -> str:
    return "" if done.ended_at is not None else "cut short by a restart of the bot"


def summary(done: GroupAct) -> list[str]:
    """The counts: "48 paused", "1 already paused by bob", "1 failed"."""
    return [
        f"{len(some):,} {_WORDS[done.action, outcome]}{_by_one(some)}"
        for outcome, some in _sorted(done)
    ]


def _by_one(some: Sequence[RepositoryResult]) -> str:
    """Who made all these pauses, if it was one person."""
    return _by(some[0]) if len({one.who for one in some}) == 1 else ""


_WORDS = {
    (Action.PAUSE, GroupOutcome.CHANGED): "paused",
    (Action.PAUSE, GroupOutcome.ALREADY_PAUSED): "already paused",
    (Action.UNPAUSE, GroupOutcome.CHANGED): "unpaused",
    (Action.UNPAUSE, GroupOutcome.NOT_PAUSED): "not paused",
    (Action.UNPAUSE, GroupOutcome.NOT_OURS): "paused apart from the group (left alone)",
    (Action.UNPAUSE, GroupOutcome.REPLACED): "paused anew since (left alone)",
} | {
    (action, outcome): word
    for action in (Action.PAUSE, Action.UNPAUSE)
    for outcome, word in (
        (GroupOutcome.FAILED, "failed"),
        (GroupOutcome.NOT_TRIED, "not done as far as I know"),
    )
}


def _sorted(done: GroupAct) -> list[tuple[GroupOutcome, list[RepositoryResult]]]:
    found = [(outcome, done.of(outcome)) for outcome in GroupOutcome]
    return [(outcome, some) for outcome, some in found if some]


def _lines(done: GroupAct) -> list[str]:
    """A line for each outcome; failures with what went wrong, one below the other."""
    return [
        f"*{len(some):,} {_WORDS[done.action, outcome]}:* {_told_apart(outcome, some)}"
        for outcome, some in _sorted(done)
    ]


def _told_apart(outcome: GroupOutcome, some: Sequence[RepositoryResult]) -> str:
    if outcome is GroupOutcome.FAILED:
        return "\n" + _listed([_failure(one) for one in some], "\n")
    return _listed([f"{escape(one.repository)}{_by(one)}" for one in some])


def _by(result: RepositoryResult) -> str:
    return f" by {quote(result.who, NAME_LIMIT)}" if result.who else ""


def _failure(result: RepositoryResult) -> str:
    return f"• {escape(result.repository)}: {quote(result.detail or 'failed', DETAIL_LIMIT)}"


def unpause_button(done: GroupAct) -> blocks.Element:
    """Restores what was paused for the group."""
    group = clean(done.group, NAME_LIMIT)
    return blocks.button(
        f"Unpause {name_of(group)}",
        action_id=actions.UNPAUSE_GROUP,
        value=actions.group_value(actions.GroupTarget(done.group)),
        style="primary",
        confirm=blocks.confirmation(
            f"Unpause {name_of(group)}?",
            "The queues that were paused for it go on; those that were paused before, or anew "
            "since, stay as they are.",
            confirm="Unpause",
            deny="Keep them paused",
            style="primary",
        ),
    )


def _again_button(done: GroupAct) -> list[blocks.Element]:
    if not done.left_to_try or done.ended_at is None or done.origin is Origin.TIMER:
        # What a timer could not lift it tries again by itself.
        return []
    target = actions.GroupTarget(done.group, done.asked, done.group_act_id)
    action_id = (
        actions.AGAIN_PAUSE_GROUP if done.action is Action.PAUSE else actions.AGAIN_UNPAUSE_GROUP
    )
    return [
        blocks.button("Try the rest again", action_id=action_id, value=actions.group_value(target))
    ]


def since_then(group: str, latest: GroupAct | None) -> Message:
    """A stale *Try the rest again*: what has happened to the group since."""
    if latest is None:
        return _line(f"I know of nothing left to do for {name_of(group)}. Nothing was changed.")
    word = "paused" if latest.action is Action.PAUSE else "unpaused"
    how = ", ".join(summary(latest)) if latest.ended_at is not None else "it still goes on"
    return _line(
        f"Nothing was changed: {quote(latest.actor.name, NAME_LIMIT)} {word} "
        f"{name_of(group)} last, {local_time(latest.at)} ({how})."
    )


def status(group: Group, read: Sequence[Snapshot | RepositoryName]) -> Message:
    """A compact line for each repository of a group."""
    paused = sum(isinstance(one, Snapshot) and one.pause is not None for one in read)
    headline = f"{name_of(group.name)}: {paused:,} of {queues(len(read))} paused"
    listed = _listed([_status_line(one) for one in read], "\n", STATUS_LENGTH)
    plain = listed.replace("\n• ", "; ").removeprefix("• ")
    return Message(
        text=cut_markup(f"{headline}. {plain}", blocks.FALLBACK_LIMIT),
        blocks=(
            blocks.section(f"*{headline}*"),
            *(blocks.section(part) for part in _sections(listed)),
        ),
    )


def _sections(text: str) -> list[str]:
    """Whole lines, as many in each as a section holds."""
    sections: list[str] = []
    for line in text.split("\n"):
        if sections and len(sections[-1]) + len(line) < SECTION_LENGTH:
            sections[-1] += f"\n{line}"
        else:
            sections.append(line)
    return sections


def _status_line(one: Snapshot | RepositoryName) -> str:
    if not isinstance(one, Snapshot):
        return f"• *{escape(one)}* could not be read just now"
    impact = one.impact()
    queued = f"{plural(impact.waiting + impact.in_batches, 'pull request')} in the queue"
    if one.pause is None:
        return f"• *{escape(one.repository)}* running · {queued}"
    actor = one.pause.actor
    by = f" by {quote(actor.name, NAME_LIMIT)}" if actor is not None else ""
    return (
        f"• *{escape(one.repository)}* paused{by}: {quote(one.pause.reason, NAME_LIMIT)} · {queued}"
    )


def _line(text: str) -> Message:
    return Message(text=text, blocks=(blocks.section(text),))
