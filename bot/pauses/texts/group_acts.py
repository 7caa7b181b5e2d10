"""Messages about acts on a group of repositories, within Slack's limits for a group of any size."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.acts.group_act import GroupAct, GroupOutcome, RepositoryResult
from bot.acts.reason import REASON_LIMIT
from bot.acts.record import Action
from bot.blocks import blocks
from bot.blocks.groups import name_of, names, queues, show_all
from bot.blocks.message import Colour, Message
from bot.blocks.text import (
    NAME_LIMIT,
    by_count,
    clean,
    duration,
    escape,
    listed,
    literal,
    local_time,
    person,
    plural,
    quote,
    time_and_age,
)
from bot.kernel.actor import Origin
from bot.kernel.groups import ALL, Group, Target
from bot.kernel.repository import RepositoryName
from bot.pauses import actions as pause_actions
from bot.pauses.pause import MergedSince, PauseRecord
from bot.pauses.texts import card as pause_card, ends as pause_ends

TOGETHER = timedelta(minutes=1)
"""Ends that are no further apart are shown as one time."""

PAUSED_AGAIN_LENGTH = 600
DETAIL_LIMIT = 120
LIMITS_SHOWN = 120
FOLLOWS = "I keep checking, and will change this message and tell you the outcome."


_MARK_OF = {
    Action.PAUSE: pause_card.PAUSED,
    Action.RESUME: pause_card.RUNS,
    Action.EXTEND: ":alarm_clock:",
    Action.FREEZE: ":snowflake:",
    Action.UNFREEZE: pause_card.RUNS,
}
_SO_FAR = {
    Action.PAUSE: "Pausing {group}: {done} of {queues} so far",
    Action.RESUME: "Resuming {group}: {done} of {queues} so far",
    Action.EXTEND: "Extending {group}: {done} of {queues} so far",
    Action.FREEZE: "Freezing {group}: {done} of {queues} so far",
    Action.UNFREEZE: "Unfreezing {group}: {done} of {queues} so far",
}
_DONE = {
    Action.PAUSE: "{group}: {done} of {queues} paused",
    Action.RESUME: "{group}: {done} of {queues} resumed",
    Action.EXTEND: "{group}: the pauses of {done} of {queues} extended",
    Action.FREEZE: "{group}: {done} of {queues} frozen",
    Action.UNFREEZE: "{group}: {done} of {queues} unfrozen",
}
_RESTARTED = {
    Action.PAUSE: "I was restarted while pausing {group}",
    Action.RESUME: "I was restarted while resuming {group}",
    Action.EXTEND: "I was restarted while extending {group}",
    Action.FREEZE: "I was restarted while freezing {group}",
    Action.UNFREEZE: "I was restarted while unfreezing {group}",
}
_PLANNED = "{group}: a freeze of {done} of {queues} is planned"
_STILL_PAUSED = "{group}: {done} of {queues} still paused"
_LAST = {
    Action.PAUSE: "{who} paused {group} last, {when}",
    Action.RESUME: "{who} resumed {group} last, {when}",
    Action.EXTEND: "{who} extended the pause of {group} last, {when}",
    Action.FREEZE: "{who} froze {group} last, {when}",
    Action.UNFREEZE: "{who} ended the freeze of {group} last, {when}",
}

_OUTCOMES = {
    (Action.PAUSE, GroupOutcome.CHANGED): "paused",
    (Action.PAUSE, GroupOutcome.AS_ASKED): "already paused",
    (Action.PAUSE, GroupOutcome.ALREADY_PAUSED): "already paused",
    (Action.RESUME, GroupOutcome.CHANGED): "resumed",
    (Action.RESUME, GroupOutcome.NOT_PAUSED): "not paused",
    (Action.RESUME, GroupOutcome.NOT_OURS): "still paused",
    (Action.RESUME, GroupOutcome.REPLACED): "paused again since (left alone)",
    (Action.RESUME, GroupOutcome.ASKED): "waiting for a second person",
    (Action.EXTEND, GroupOutcome.CHANGED): "extended",
    (Action.EXTEND, GroupOutcome.NOT_PAUSED): "no longer paused",
    (Action.EXTEND, GroupOutcome.REPLACED): "paused again since (left alone)",
    (Action.FREEZE, GroupOutcome.CHANGED): "frozen",
    (Action.FREEZE, GroupOutcome.AS_ASKED): "already frozen",
    (Action.FREEZE, GroupOutcome.ALREADY_PAUSED): "already frozen",
    (Action.FREEZE, GroupOutcome.ALREADY_PLANNED): "already planned",
    (Action.UNFREEZE, GroupOutcome.CHANGED): "unfrozen",
    (Action.UNFREEZE, GroupOutcome.NOT_PAUSED): "not frozen",
    (Action.UNFREEZE, GroupOutcome.ALREADY_PLANNED): "only planned (left alone)",
    (Action.UNFREEZE, GroupOutcome.NOT_OURS): "still frozen",
    (Action.UNFREEZE, GroupOutcome.ASKED): "waiting for a second person",
}
_FAILED = {
    GroupOutcome.UNCERTAIN: "where I can't tell yet",
    GroupOutcome.FAILED: "failed",
    GroupOutcome.NOT_TRIED: "not tried",
}


def _filled(sentence: str, group: str, done: int, count: int) -> str:
    """The sentence about so many of the group's queues."""
    return sentence.format(group=name_of(group), done=f"{done:,}", queues=queues(count))


def progress(act: GroupAct, done: int) -> Message:
    said = _filled(_SO_FAR[act.action], act.group, done, len(act.repositories))
    return blocks.sentence(f":hourglass_flowing_sand: {said} …")


def group_act_post(done: GroupAct) -> Message:
    """The one post about an act on a group, with a line for each way its repositories ended."""
    if done.ended_at is None:
        return going_on(done)
    if done.action is Action.PAUSE:
        left = tuple(result.repository for result in done.of(GroupOutcome.CHANGED))
        return group_card(done, GroupNow(left))
    return answer_to_actor(done, posted_here=False)


def group_outcome_follows(act: GroupAct) -> Message:
    """To a person whose act a restart cut off, while the service doesn't show what became of it."""
    began = _RESTARTED[act.action].format(group=name_of(act.group))
    left = [result.repository for result in act.of(GroupOutcome.UNCERTAIN)]
    return blocks.sentence(
        f":warning: {began}, and can't tell yet what became of {names(left)}. "
        "I keep checking and will tell you the outcome."
    )


def going_on(act: GroupAct) -> Message:
    """The post while the act is running, with its progress."""
    said = _filled(_SO_FAR[act.action], act.group, len(act.results), len(act.repositories))
    shown = [
        blocks.section(f":hourglass_flowing_sand: *{said}*"),
        *blocks.facts(
            ("By", person(act.actor.name)), ("Since", time_and_age(act.at, is_near=True))
        ),
    ]
    counted = counts_of_outcomes(act)
    if counted:
        shown.append(blocks.context(*counted))
    return blocks.message(*shown)


@dataclass(frozen=True, slots=True)
class Ends:
    """When paused queues of a group resume by themselves."""

    ends: tuple[datetime, ...] = ()  #: the known times
    paused: int = 0  #: how many queues are paused; `overdue` of them should have resumed
    overdue: int = 0
    stopped: int = 0  #: how many batches these pauses stopped

    def until(self) -> str:
        """When they resume, as a fact behind its label."""
        if not self.ends:
            return "someone resumes them" if self.paused > 1 else "someone resumes it"
        first = min(self.ends)
        last = max(self.ends)
        if self.overdue and self.overdue == self.paused:
            return f"{local_time(first)}: overdue, {pause_ends.STILL_TRYING}"
        when = time_and_age(first)
        if last - first >= TOGETHER:
            when = f"between {local_time(first)} and {local_time(last)}"
        if self.overdue:
            overdue = by_count(self.overdue, "{count} is overdue", "{count} are overdue")
            return f"{when}; {overdue}, {pause_ends.STILL_TRYING}"
        if len(self.ends) < self.paused:
            some = by_count(len(self.ends), "{count} resumes", "{count} resume")
            return f"someone resumes them; {some} {when}"
        return when


@dataclass(frozen=True, slots=True)
class GroupNow:
    """What became of the queues that an act on a group paused."""

    left: tuple[RepositoryName, ...] = ()  #: those still paused
    ends: Ends = field(default_factory=Ends)
    over: tuple[PauseRecord, ...] = ()  #: the pauses that have ended
    again: tuple[PauseRecord, ...] = ()  #: other pauses in force instead of the act's
    taken_over: PauseRecord | None = None  #: one that somebody took over, as all others
    merged: MergedSince = pause_card.NOTHING_MERGED  #: since they are over

    @property
    def ended_at(self) -> datetime | None:
        """When the last of them ended."""
        return max((pause.ended_at for pause in self.over if pause.ended_at), default=None)


def group_card(paused: GroupAct, now: GroupNow) -> Message:
    """The post about a group that was paused, as it is now; in the end, its record."""
    if not paused.has_changed:
        return answer_to_actor(paused, posted_here=False)
    return _group_card_in_force(paused, now) if now.left else _card_of_past_group_pause(paused, now)


def _group_card_in_force(paused: GroupAct, now: GroupNow) -> Message:
    changed = paused.of(GroupOutcome.CHANGED)
    is_whole = len(now.left) == len(changed)
    state = _group_headline(paused)
    if not is_whole:
        state = _filled(_STILL_PAUSED, paused.group, len(now.left), len(paused.results))
    shown = [
        blocks.section(blocks.state_line(mark_of_act(paused), f"*{state}*", reason_of_act(paused))),
        *blocks.facts(
            *_people(paused, now),
            ("Since", time_and_age(paused.at, is_near=True)),
            ("Until", now.ends.until() if now.ends.paused else _typed_until(paused)),
        ),
        *blocks.lines([*_states(now, is_whole=is_whole), *_other_lines(paused)]),
    ]
    counted = [pause_card.stopped(now.ends.stopped), cut_short_note(paused)]
    if any(counted):
        shown.append(blocks.context(*counted))
    buttons = [
        resume_group_button(paused.group),
        extend_group_menu(paused.group, has_end=bool(now.ends.ends)),
        pause_card.more_menu(f"@{paused.group}"),
        *again_button(paused),
        *show_all(paused.group, len(paused.results)),
    ]
    shown.append(blocks.actions(buttons, block_id=block_id_of_act(paused)))
    return blocks.coloured(Colour.YELLOW, blocks.message(*shown))


def _card_of_past_group_pause(paused: GroupAct, now: GroupNow) -> Message:
    ended_at = now.ended_at
    shown = [
        blocks.section(
            blocks.state_line(
                pause_card.RUNS, f"*{_was_paused(paused.group)}*", reason_of_act(paused)
            )
        ),
        *blocks.facts(
            *_people(paused, now),
            ("Lasted", duration(ended_at - paused.at) if ended_at is not None else ""),
        ),
        *blocks.lines([*_states(now, is_whole=False), *_other_lines(paused)]),
    ]
    counted = [
        pause_card.stopped(sum(len(pause.queue.stopped) for pause in now.over)),
        pause_card.waited(sum(pause.queue.waiting for pause in now.over)),
        pause_card.merged(now.merged),
        pause_card.added(sum(pause.queue.added for pause in now.over)),
        cut_short_note(paused),
    ]
    if any(counted):
        shown.append(blocks.context(*counted))
    buttons = show_all(paused.group, len(paused.results))
    if buttons:
        shown.append(blocks.actions(buttons, block_id=block_id_of_act(paused)))
    return blocks.coloured(Colour.GREEN, blocks.message(*shown))


def _was_paused(group: str) -> str:
    return "All queues were paused" if group == ALL else f"{name_of(group)} was paused"


def _people(paused: GroupAct, now: GroupNow) -> list[tuple[str, str]]:
    """Who paused the group, and who took it over, if somebody did."""
    if now.taken_over is None:
        return [("By", person(paused.actor.name))]
    line = replace(now.taken_over.line, by=paused.actor)
    return pause_card.people(replace(now.taken_over, line=line))


def _states(now: GroupNow, *, is_whole: bool) -> list[str]:
    """A line for each state that the queues paused together have now."""
    shown = []
    if now.left:
        label = "paused" if is_whole else "still paused"
        shown.append(f"*{len(now.left):,} {label}:* {names(now.left)}")
    if now.over:
        said = [_how_resumed(pause) for pause in now.over]
        shown.append(f"*{len(now.over):,} resumed:* {listed(said)}")
    if now.again:
        said = [f"{escape(pause.repository)}{pause_card.by_whom(pause)}" for pause in now.again]
        again = listed(said, length=PAUSED_AGAIN_LENGTH)
        shown.append(f"*{len(now.again):,} paused again since:* {again}")
    return shown


def _how_resumed(pause: PauseRecord) -> str:
    """The queue, and by whom or what it was resumed."""
    by = pause_card.ended_by(pause)
    return f"{escape(pause.repository)} by {by}" if by else escape(pause.repository)


def _other_lines(paused: GroupAct) -> list[str]:
    """What the act found or failed to change."""
    others = [result for result in paused.results if result.outcome is not GroupOutcome.CHANGED]
    return outcome_lines(replace(paused, results=tuple(others)))


def reason_of_act(done: GroupAct) -> str:
    return literal(done.asked.reason, REASON_LIMIT)


def cut_short_note(done: GroupAct) -> str:
    return "Interrupted by a restart of the bot" if done.is_cut_short else ""


def block_id_of_act(done: GroupAct) -> str:
    return blocks.with_state(f"group-{done.group_act_id}", done.resumes_at)


def ends_of(pauses: Sequence[PauseRecord]) -> Ends:
    times = tuple(pause.resumes_at for pause in pauses if pause.resumes_at is not None)
    overdue = (pause.is_overdue for pause in pauses)
    stopped = (len(pause.queue.stopped) for pause in pauses)
    return Ends(times, len(pauses), sum(overdue), sum(stopped))


def extend_group_menu(group: str, *, has_end: bool) -> blocks.Element:
    """*Extend…* for all pauses of the group, or *Set an end…* if none has an end."""
    endless = None if has_end else name_of(group)
    return pause_ends.end_menu(f"@{group}", pause_actions.EXTEND, endless)


def paused_alone(group: Group, paused: Sequence[PauseRecord]) -> Message:
    """The reply to resuming a group whose queues were paused one by one, with a button for each."""
    name = f"all {queues(len(group.repositories))}" if group.name == ALL else name_of(group.name)
    shown = [
        blocks.section(
            f":double_vertical_bar: Nothing was changed: nobody paused {name} together. "
            f"{plural(len(paused), 'queue is', 'queues are')} paused alone:"
        )
    ]
    for pause in paused[:SHOWN_ALONE]:
        reason = literal(pause.line.reason, NAME_LIMIT)
        button = pause_card.resume_button(
            pause.repository, pause.drawn, pause.line.reason, pause.by_name
        )
        line = f"*{escape(pause.repository)}*{pause_card.by_whom(pause)}: {reason}"
        shown.append(blocks.section(line, accessory=button))
    if paused[SHOWN_ALONE:]:
        shown.append(blocks.context(f"and {len(paused) - SHOWN_ALONE:,} more"))
    return blocks.message(*shown)


def nothing_held(group: str) -> Message:
    """The reply to a person who extends, or waits for, a pause that has ended or never was."""
    return blocks.sentence(f"No pause of {name_of(group)} is in force. Nothing was changed.")


SHOWN_ALONE = 5


def will_notify(target: Target, *, is_new: bool) -> Message:
    """To a person who asked to be notified."""
    when = f"everything paused for {name_of(target.name)} has resumed"
    if not isinstance(target, Group):
        when = f"{escape(target)} resumes"
    you = "You'll" if is_new else "You've already asked: you'll"
    return blocks.sentence(f"{you} get a direct message when {when}.")


def group_resumed(paused: GroupAct, last: PauseRecord, *, is_yours: bool = False) -> Message:
    """To a person who asked to be notified; `last` is the pause that ended last.

    `is_yours`: to the person who paused the group, when somebody else resumed it.
    """
    why = f"You had paused it: {literal(last.line.reason, REASON_LIMIT)}"
    return blocks.sentence(
        f":arrow_forward: Everything paused for {name_of(paused.group)} has resumed. "
        f"The last: {pause_card.ending(last)} " + (why if is_yours else "You asked to be notified.")
    )


def answer_to_actor(done: GroupAct, *, posted_here: bool) -> Message:
    """To the person who acted; without the buttons of the channel's post."""
    changed_nothing = _changed_nothing(done)
    reason = "" if changed_nothing else reason_of_act(done)
    by = person(done.actor.name)
    is_new = done.action is Action.PAUSE and not changed_nothing
    times = [] if changed_nothing else _from_and_until(done)
    shown = [
        blocks.section(blocks.state_line(mark_of_act(done), f"*{_group_headline(done)}*", reason)),
        *blocks.facts(
            ("By", f"the timer set by {by}" if done.origin is Origin.TIMER else by),
            ("Since", time_and_age(done.at, is_near=True) if is_new else ""),
            *times,
        ),
        *blocks.lines(outcome_lines(done)),
    ]
    said = [
        pause_ends.late_by(done.at, done.resumes_at),
        quote(done.asked.limits, LIMITS_SHOWN) if done.action is Action.FREEZE else "",
        cut_short_note(done),
    ]
    if any(said):
        shown.append(blocks.context(*said))
    buttons = [] if posted_here else again_button(done)
    buttons = [*buttons, *show_all(done.group, len(done.results))]
    if buttons:
        shown.append(blocks.actions(buttons, block_id=block_id_of_act(done)))
    return blocks.message(*shown)


def _from_and_until(done: GroupAct) -> list[tuple[str, str]]:
    """From when a freeze is, and until when a freeze or a pause."""
    if done.action is Action.EXTEND:
        return [("Until", pause_ends.until(done.resumes_at))]
    if done.action is Action.PAUSE:
        return [("Until", _typed_until(done))]
    if done.action is Action.FREEZE:
        start = pause_ends.instant(done.asked.start)
        begins = local_time(start) if start is not None else ""
        end = local_time(done.resumes_at) if done.resumes_at is not None else "someone ends it"
        return [("From", begins), ("Until", end)]
    return []


def _typed_until(done: GroupAct) -> str:
    """The end of the pauses that an act makes, before they are known."""
    if done.resumes_at is not None:
        return time_and_age(done.resumes_at)
    if done.asked.lasting is not None:
        return pause_ends.typed_ending(done.asked)
    return "someone resumes them"


def _group_headline(done: GroupAct) -> str:
    if _changed_nothing(done):
        return _nothing_changed(done)
    sentence = _PLANNED if done.is_planned else _DONE[done.action]
    return _filled(sentence, done.group, len(done.of(GroupOutcome.CHANGED)), len(done.results))


_LEFT_AS_THEY_WERE = frozenset(
    {
        GroupOutcome.AS_ASKED,
        GroupOutcome.ALREADY_PAUSED,
        GroupOutcome.ALREADY_PLANNED,
        GroupOutcome.NOT_PAUSED,
        GroupOutcome.NOT_OURS,
        GroupOutcome.REPLACED,
    }
)


def _changed_nothing(done: GroupAct) -> bool:
    """Whether every queue was left as it was, and none failed."""
    return bool(done.results) and all(
        result.outcome in _LEFT_AS_THEY_WERE for result in done.results
    )


def _nothing_changed(done: GroupAct) -> str:
    """What a person would say: "0 of 3 queues paused" isn't true where all of them are."""
    group = name_of(done.group)
    count = len(done.results)
    whose = "" if done.group == ALL else f" of {group}"
    if len(done.of(GroupOutcome.NOT_PAUSED)) < count or done.ended_at is None:
        return f"{group}: nothing was changed"
    stopped = "frozen" if done.action is Action.UNFREEZE else "paused"
    if count == 1:
        return f"{group}: {escape(done.results[0].repository)} isn't {stopped}. Nothing to do."
    return f"None of the {queues(count)}{whose} is {stopped}. Nothing to do."


def mark_of_act(done: GroupAct) -> str:
    if _changed_nothing(done):
        return ":information_source:"
    return ":warning:" if done.left_to_try else _MARK_OF[done.action]


def resume_group_button(name: str) -> blocks.Element:
    group = name_of(clean(name, NAME_LIMIT))
    return blocks.button(
        f"Resume {group}",
        action_id=pause_actions.RESUME,
        value=f"@{name}",
        style="primary",
        confirm=blocks.confirmation(
            f"Resume {group}?",
            "This resumes the queues that it paused. "
            "Queues paused earlier, or again since, stay paused.",
            confirm="Resume",
            deny="Keep them paused",
            style="primary",
        ),
    )


def again_button(done: GroupAct) -> list[blocks.Element]:
    if not done.left_to_try or done.ended_at is None or done.origin is Origin.TIMER:
        # Timers retry by themselves.
        return []
    value = f"@{done.group} {done.group_act_id}"
    return [blocks.button("Retry the rest", action_id=pause_actions.AGAIN, value=value)]


def since_then(group: str, latest: GroupAct | None) -> Message:
    """Reply to a stale *Retry the rest*: the last action on the group."""
    if latest is None:
        return blocks.sentence(
            f"There is nothing left to do for {name_of(group)}. Nothing was changed."
        )
    last = _LAST[latest.action].format(
        who=person(latest.actor.name), group=name_of(group), when=local_time(latest.at)
    )
    how = (
        ", ".join(counts_of_outcomes(latest))
        if latest.ended_at is not None
        else "it is still running"
    )
    return blocks.sentence(f"Nothing was changed. {last}: {how}.")


def counts_of_outcomes(done: GroupAct) -> list[str]:
    """The counts: "48 paused", "1 already paused by bob", "1 failed"."""
    counts = []
    for _, count, some in _by_outcome(done):
        is_by_one = len({result.who for result in some}) == 1
        counts.append(f"{count}{_by_result(some[0])}" if is_by_one else count)
    return counts


def _by_outcome(done: GroupAct) -> list[tuple[GroupOutcome, str, list[RepositoryResult]]]:
    """The results by outcome."""
    counted = []
    for outcome in GroupOutcome:
        some = done.of(outcome)
        if some:
            word = _FAILED.get(outcome) or _OUTCOMES[done.action, outcome]
            if outcome is GroupOutcome.CHANGED and done.is_planned:
                word = "planned"
            counted.append((outcome, f"{len(some):,} {word}", some))
    return counted


def outcome_lines(done: GroupAct) -> list[str]:
    """A line for each outcome; failures with what went wrong, one below the other."""
    shown = []
    for outcome, count, some in _by_outcome(done):
        said = listed([f"{escape(result.repository)}{_by_result(result)}" for result in some])
        if outcome in {GroupOutcome.FAILED, GroupOutcome.UNCERTAIN}:
            failures = [
                f"• {escape(result.repository)}: {quote(result.detail or 'failed', DETAIL_LIMIT)}"
                for result in some
            ]
            said = "\n" + listed(failures, "\n")
            if outcome is GroupOutcome.UNCERTAIN:
                said = f"{said}\n{FOLLOWS}"
        shown.append(f"*{count}:* {said}")
    return shown


def _by_result(result: RepositoryResult) -> str:
    return f" by {quote(result.who, NAME_LIMIT)}" if result.who else ""
