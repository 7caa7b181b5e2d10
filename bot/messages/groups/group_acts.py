"""Everything said about acts on a group of repositories, within Slack's sizes whatever its size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.audit import Action, Origin
from bot.domain.durations import For, written
from bot.domain.group_acts import GroupAct, GroupOutcome
from bot.domain.message import Block, Message
from bot.domain.pause_records import PauseRecord
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks, pause_card, timers
from bot.messages.groups.names import name_of, names, queues, show_all
from bot.messages.groups.results import lines, summary
from bot.messages.text import (
    NAME_LIMIT,
    clean,
    cut_markup,
    escape,
    listed,
    local_time,
    quote,
    utc_time,
)

TOGETHER = timedelta(minutes=1)
"""Ends that are no further apart are one time for people."""

ANEW_LENGTH = 600


def progress(group: str, action: Action, done: int, total: int) -> Message:
    doing = f"{_DOING[action]} {name_of(group)}"
    return blocks.sentence(f":hourglass_flowing_sand: {doing}: {done:,} of {total:,} …")


def act(done: GroupAct) -> Message:
    """The one post about an act on a group, with a line for each way its repositories ended."""
    if done.ended_at is None:
        return going_on(done)
    if done.action is Action.PAUSE:
        return card(done, [one.repository for one in done.of(GroupOutcome.CHANGED)])
    return _told(done, _again_button(done))


def going_on(act: GroupAct) -> Message:
    """The post while the act goes on: how far it has come."""
    count = f"{len(act.results):,} of {queues(len(act.repositories))}"
    headline = f"{_DOING[act.action]} {name_of(act.group)}: {count} so far"
    by = f"by {quote(act.actor.name, NAME_LIMIT)}"
    counts = ", ".join(summary(act))
    return Message(
        text=f"{headline} ({counts}, {by})",
        blocks=(
            blocks.section(f":hourglass_flowing_sand: *{headline}*"),
            blocks.context(counts, by, f"since {local_time(act.at)}"),
        ),
    )


def card(
    paused: GroupAct,
    left: Sequence[RepositoryName],
    ends: "Ends | None" = None,
    anew: Sequence[PauseRecord] = (),
) -> Message:
    """The post about a group that was paused; `left` of what it paused is paused still.

    `ends` of these are known. `anew` are other pauses that are in force in place of the group's.
    """
    ends = ends or Ends()
    others = listed(
        [f"{escape(one.repository)}{pause_card.by_whom(one)}" for one in anew], length=ANEW_LENGTH
    )
    paused_anew = f"paused again since: {others}" if anew else ""
    if not left:
        state = "; ".join(filter(None, ("these pauses are over", paused_anew)))
        return _told(paused, [], state, is_over=True)
    all_paused = len(left) == len(paused.of(GroupOutcome.CHANGED))
    still = "" if all_paused else f"still paused: {names(left)}"
    state = "; ".join(filter(None, (still, paused_anew)))
    target = actions.group_value(actions.GroupTarget(paused.group))
    controls = [
        resume_button(paused),
        blocks.button("Notify me when it resumes", action_id=actions.WATCH_GROUP, value=target),
        extend_menu(paused.group, has_end=bool(ends.ends)),
        *_again_button(paused),
    ]
    told_of = None if all_paused else len(left)
    return _told(paused, controls, state, ends, left=told_of)


@dataclass(frozen=True, slots=True)
class Ends:
    """When some of so many paused queues lift themselves; `overdue` of them should have.

    `stopped`: how many batches these pauses stopped.
    """

    ends: tuple[datetime, ...] = ()
    paused: int = 0
    overdue: int = 0
    stopped: int = 0

    def said(self, time: Callable[[datetime], str] = local_time) -> str:
        """Empty where none does."""
        if not self.ends:
            return ""
        first, last = min(self.ends), max(self.ends)
        if self.overdue:
            return self._overdue(time(first))
        if self.paused == 1:
            return f"resumes {time(first)}"
        if len(self.ends) < self.paused:
            return f"{len(self.ends):,} of them resume, the first {time(first)}"
        until = "" if last - first < TOGETHER else f" to {time(last)}"
        return f"they resume {time(first)}{until}"

    def _overdue(self, since: str) -> str:
        if self.paused == 1:
            return f"should have resumed {since}; {timers.STILL_TRYING}"
        which = "they" if self.overdue == self.paused else f"{self.overdue:,} of them"
        return f"{which} should have resumed {since}; {timers.STILL_TRYING}"


def ends_of(pauses: Sequence[PauseRecord]) -> Ends:
    times = tuple(one.lifts_at for one in pauses if one.lifts_at is not None)
    overdue, stopped = (one.is_overdue for one in pauses), (len(one.stopped) for one in pauses)
    return Ends(times, len(pauses), sum(overdue), sum(stopped))


def extend_menu(group: str, *, has_end: bool) -> blocks.Element:
    """*Extend…*: all of them later by so much; *Set an end…* where none of them has one."""
    endless = None if has_end else f"What is paused for {name_of(group)}"
    return timers.end_menu(group, actions.EXTEND_GROUP, endless)


def nothing_held(group: str) -> Message:
    """Somebody wants more of a pause that is over."""
    return blocks.sentence(f"Nothing is paused for {name_of(group)} any more. Nothing was changed.")


def will_tell(group: str, *, is_new: bool) -> Message:
    """To a person who pressed *Notify me when it resumes*."""
    promise = f"a direct message when everything paused for {name_of(group)} has resumed."
    return blocks.sentence(
        f"You'll get {promise}" if is_new else f"You've already asked: you'll get {promise}"
    )


def resumed(paused: GroupAct, last: PauseRecord, *, is_yours: bool = False) -> Message:
    """To a person who had asked for it; `last` is the pause that ended after all others.

    `is_yours`: to the person who paused the group, when somebody else resumed it.
    """
    why = f"You had paused it: {quote(last.reason, REASON_LIMIT)}"
    return blocks.sentence(
        f":arrow_forward: Everything paused for {name_of(paused.group)} has resumed; the last was "
        f"{escape(last.repository)}, {pause_card.ending(last)}. "
        + (why if is_yours else "You asked to be notified.")
    )


def answer(done: GroupAct, *, posted_here: bool) -> Message:
    """To the person who acted; what the channel's post offers is not offered twice."""
    return _told(done, [] if posted_here else _again_button(done))


def _told(
    done: GroupAct,
    controls: Sequence[blocks.Element],
    state: str = "",
    ends: Ends | None = None,
    *,
    is_over: bool = False,
    left: int | None = None,
) -> Message:
    """`state` is what has become of it since; `ends` of what is paused still.

    `is_over`: nothing of what it did is in force any more; `left`: only so much of it is.
    """
    is_past, ends = is_over or left is not None, ends or Ends()
    told = lines(done, is_past=is_past)
    by = f"by {_timer_of(done)}{quote(done.actor.name, NAME_LIMIT)}"
    late = timers.late_by(done.at, done.lifts_at)
    wanted = done.wanted
    reason = quote(wanted.reason, REASON_LIMIT) if done.action is Action.PAUSE else ""
    # Once it is over, what was wanted at first may not be how long it lasted.
    lasting = "" if is_over else ends.said() or _lasting(done)
    lasting_text = "" if is_over else ends.said(utc_time) or _lasting(done, utc_time)
    stopped = pause_card.stopped(ends.stopped)
    told_reason = f": {reason}" if reason else ""
    headline = _headline(done, is_over=is_over, left=left)
    counts = ", ".join(summary(done, is_past=is_past))
    facts = [fact for fact in (by, late, utc_time(done.at), lasting_text) if fact]
    since = f"since {local_time(done.at)}" if reason else ""
    shown: list[Block] = [
        blocks.section(f"{_mark(done, is_over=is_over)} *{headline}*{told_reason}"),
        *(blocks.section(line) for line in told),
        blocks.context(by, late, since, lasting, stopped, _cut_short(done)),
    ]
    if state:
        shown.append(blocks.section(f"*{_sentence(state)}*"))
    controls = [*controls, *show_all(done.group, len(done.results))]
    if controls:
        # The same through all edits: a press just before one is still a press of this button.
        shown.append(blocks.actions(controls, block_id=f"group-{done.group_act_id}"))
    now = f"; {state}" if state else ""
    return Message(
        text=cut_markup(
            f"{headline}{told_reason}. {counts}{now} ({', '.join(facts)})", blocks.FALLBACK_LIMIT
        ),
        blocks=tuple(shown),
    )


def _sentence(state: str) -> str:
    return state[:1].upper() + state[1:]


def _timer_of(done: GroupAct) -> str:
    return "the timer of " if done.origin is Origin.TIMER else ""


def _lasting(done: GroupAct, time: Callable[[datetime], str] = local_time) -> str:
    """How long the pauses last, as the person said it: a time of day is one of theirs."""
    if done.action is Action.EXTEND and done.lifts_at is not None:
        changed = len(done.of(GroupOutcome.CHANGED))
        return Ends((done.lifts_at,) * changed, changed).said(time)
    wanted = done.wanted
    if wanted.lasting is None or done.action is not Action.PAUSE:
        return ""
    said = written(wanted.lasting)
    if isinstance(wanted.lasting, For):
        return f"for {said}"
    return said if wanted.lasting.zone is not None else f"{said} (their time)"


def _headline(done: GroupAct, *, is_over: bool = False, left: int | None = None) -> str:
    if left is not None:
        return f"{name_of(done.group)}: {left:,} of {queues(len(done.results))} still paused"
    changed = len(done.of(GroupOutcome.CHANGED))
    count = f"{changed:,} of {queues(len(done.results))}"
    if done.action is Action.EXTEND:
        return f"{name_of(done.group)}: the pauses of {count} extended"
    was = ("was " if changed == 1 else "were ") if is_over else ""
    return f"{name_of(done.group)}: {count} {was}{_DID[done.action]}"


_DID = {
    Action.PAUSE: "paused",
    Action.RESUME: "resumed",
    Action.EXTEND: "extended the pause of",
}
_DOING = {Action.PAUSE: "Pausing", Action.RESUME: "Resuming", Action.EXTEND: "Extending"}
_MARKS = {
    Action.PAUSE: ":double_vertical_bar:",
    Action.RESUME: ":arrow_forward:",
    Action.EXTEND: ":alarm_clock:",
}
_AGAIN = {
    Action.PAUSE: actions.AGAIN_PAUSE_GROUP,
    Action.RESUME: actions.AGAIN_RESUME_GROUP,
    Action.EXTEND: actions.AGAIN_EXTEND_GROUP,
}


def _mark(done: GroupAct, *, is_over: bool = False) -> str:
    if is_over:
        return ":arrow_forward:"
    return ":warning:" if done.left_to_try else _MARKS[done.action]


def _cut_short(done: GroupAct) -> str:
    return "cut short by a restart of the bot" if done.is_cut_short else ""


def resume_button(done: GroupAct) -> blocks.Element:
    """Restores what was paused for the group."""
    group = clean(done.group, NAME_LIMIT)
    return blocks.button(
        f"Resume {name_of(group)}",
        action_id=actions.RESUME_GROUP,
        value=actions.group_value(actions.GroupTarget(done.group)),
        style="primary",
        confirm=blocks.confirmation(
            f"Resume {name_of(group)}?",
            "The queues paused for it resume; those paused before, or again since, stay paused.",
            confirm="Resume",
            deny="Keep them paused",
            style="primary",
        ),
    )


def _again_button(done: GroupAct) -> list[blocks.Element]:
    if not done.left_to_try or done.ended_at is None or done.origin is Origin.TIMER:
        # What a timer could not lift it tries again by itself.
        return []
    target = actions.GroupTarget(done.group, done.asked, done.group_act_id)
    value = actions.group_value(target)
    return [blocks.button("Try the rest again", action_id=_AGAIN[done.action], value=value)]


def since_then(group: str, latest: GroupAct | None) -> Message:
    """A stale *Try the rest again*: what has happened to the group since."""
    if latest is None:
        return blocks.sentence(
            f"I know of nothing left to do for {name_of(group)}. Nothing was changed."
        )
    how = ", ".join(summary(latest)) if latest.ended_at is not None else "it is still running"
    return blocks.sentence(
        f"Nothing was changed: {quote(latest.actor.name, NAME_LIMIT)} {_DID[latest.action]} "
        f"{name_of(group)} last, {local_time(latest.at)} ({how})."
    )
