"""Messages about acts on a group of repositories, within Slack's limits for a group of any size."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.acts.group_act import INTERRUPTED, GroupAct, GroupOutcome, RepositoryResult
from bot.acts.reason import REASON_LIMIT
from bot.acts.record import Action
from bot.blocks import blocks
from bot.blocks.groups import name_of, names, queues, show_all
from bot.blocks.message import Message
from bot.blocks.text import NAME_LIMIT, clean, escape, listed, local_time, plural, quote
from bot.kernel.actor import Origin
from bot.kernel.durations import Until
from bot.kernel.groups import ALL, Group, Target
from bot.kernel.repository import RepositoryName
from bot.pauses import actions as pause_actions
from bot.pauses.pause import PauseRecord
from bot.pauses.texts import card as pause_card, ends as pause_ends
from bot.people import actions as people_actions

TOGETHER = timedelta(minutes=1)
"""Ends that are no further apart are shown as one time."""

PAUSED_AGAIN_LENGTH = 600
DETAIL_LIMIT = 120
FOLLOWS = "I keep checking, and will change this message and tell you the outcome."


class _Words(NamedTuple):
    did: str
    doing: str
    mark: str


_WORDS_OF = {
    Action.PAUSE: _Words("paused", "Pausing", ":double_vertical_bar:"),
    Action.RESUME: _Words("resumed", "Resuming", ":arrow_forward:"),
    Action.EXTEND: _Words("extended the pause of", "Extending", ":alarm_clock:"),
    Action.FREEZE: _Words("frozen", "Freezing", ":snowflake:"),
    Action.UNFREEZE: _Words("unfrozen", "Unfreezing", ":arrow_forward:"),
}

_OUTCOMES = {
    (Action.PAUSE, GroupOutcome.CHANGED): "paused",
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
    (Action.FREEZE, GroupOutcome.ALREADY_PAUSED): "already frozen",
    (Action.FREEZE, GroupOutcome.ALREADY_PLANNED): "already planned",
    (Action.UNFREEZE, GroupOutcome.CHANGED): "unfrozen",
    (Action.UNFREEZE, GroupOutcome.NOT_PAUSED): "not frozen",
    (Action.UNFREEZE, GroupOutcome.ALREADY_PLANNED): "only planned (left alone)",
    (Action.UNFREEZE, GroupOutcome.NOT_OURS): "frozen separately (left alone)",
    (Action.UNFREEZE, GroupOutcome.ASKED): "waiting for a second person",
}
_FAILED = {
    GroupOutcome.UNCERTAIN: "where I can't tell yet",
    GroupOutcome.FAILED: "failed",
    GroupOutcome.NOT_TRIED: "not tried",
}


def progress(act: GroupAct, done: int) -> Message:
    doing = f"{_WORDS_OF[act.action].doing} {name_of(act.group)}"
    total = len(act.repositories)
    return blocks.sentence(f":hourglass_flowing_sand: {doing}: {done:,} of {total:,} …")


def act(done: GroupAct) -> Message:
    """The one post about an act on a group, with a line for each way its repositories ended."""
    if done.ended_at is None:
        return going_on(done)
    if done.action is Action.PAUSE:
        return card(done, [result.repository for result in done.of(GroupOutcome.CHANGED)])
    return answer(done, posted_here=False)


def outcome_follows(act: GroupAct) -> Message:
    """To a person whose act a restart cut off, while the service doesn't show what became of it."""
    doing = _WORDS_OF[act.action].doing.lower()
    left = [result.repository for result in act.of(GroupOutcome.UNCERTAIN)]
    return blocks.sentence(
        f":warning: I was restarted while {doing} {name_of(act.group)}, and can't tell yet what "
        f"became of {names(left)}. I keep checking and will tell you the outcome."
    )


def going_on(act: GroupAct) -> Message:
    """The post while the act is running, with its progress."""
    count = f"{len(act.results):,} of {queues(len(act.repositories))}"
    headline = f"{_WORDS_OF[act.action].doing} {name_of(act.group)}: {count} so far"
    return blocks.post(
        f":hourglass_flowing_sand: *{headline}*",
        ", ".join(summary(act)),
        f"by {quote(act.actor.name, NAME_LIMIT)}",
        f"since {local_time(act.at)}",
    )


def card(
    paused: GroupAct,
    left: Sequence[RepositoryName],
    ends: "Ends | None" = None,
    again_paused: Sequence[PauseRecord] = (),
) -> Message:
    """The post about a group that was paused, as it is now.

    `left`: the repositories it paused that are still paused; `ends`: when those resume.
    `again_paused`: other pauses in force instead of the group's.
    """
    changed = len(paused.of(GroupOutcome.CHANGED))
    if ends is None:
        ends = Ends()
    again = listed(
        [f"{escape(pause.repository)}{pause_card.by_whom(pause)}" for pause in again_paused],
        length=PAUSED_AGAIN_LENGTH,
    )
    again = f"paused again since: {again}" if again else ""
    if not left:
        headline = f":arrow_forward: *{_headline(paused, 'was ' if changed == 1 else 'were ')}*"
        state = "; ".join(filter(None, ["these pauses are over", again]))
        return _post(paused, headline, state=state, is_past=True)
    is_whole = len(left) == changed
    headline = _headline(paused)
    still = ""
    if not is_whole:
        total = queues(len(paused.results))
        headline = f"{name_of(paused.group)}: {len(left):,} of {total} still paused"
        still = f"still paused: {names(left)}"
    return _post(
        paused,
        f"{_mark(paused)} *{headline}*",
        ends.said() or _lasting(paused),
        pause_card.stopped(ends.stopped),
        state="; ".join(filter(None, [still, again])),
        buttons=[
            resume_button(paused.group),
            blocks.button(
                "Notify me when it resumes",
                action_id=people_actions.WATCH,
                value=f"@{paused.group}",
            ),
            extend_menu(paused.group, has_end=bool(ends.ends)),
            *_again_button(paused),
        ],
        is_past=not is_whole,
    )


@dataclass(frozen=True, slots=True)
class Ends:
    """When paused queues of a group resume by themselves."""

    ends: tuple[datetime, ...] = ()  #: the known times
    paused: int = 0  #: how many queues are paused; `overdue` of them should have resumed
    overdue: int = 0
    stopped: int = 0  #: how many batches these pauses stopped

    def said(self) -> str:
        """When they resume; empty if none does."""
        if not self.ends:
            return ""
        first = min(self.ends)
        last = max(self.ends)
        if self.overdue:
            which = f"{self.overdue:,} "
            if self.overdue == self.paused:
                which = "" if self.paused == 1 else "they "
            return f"{which}should have resumed {local_time(first)}; {pause_ends.STILL_TRYING}"
        if self.paused == 1:
            return f"resumes {local_time(first)}"
        which = "they resume"
        if len(self.ends) < self.paused:
            which = "1 resumes" if len(self.ends) == 1 else f"{len(self.ends):,} resume"
        if last - first < TOGETHER:
            return f"{which} {local_time(first)}"
        return f"{which} between {local_time(first)} and {local_time(last)}"


def ends_of(pauses: Sequence[PauseRecord]) -> Ends:
    times = tuple(pause.resumes_at for pause in pauses if pause.resumes_at is not None)
    overdue = (pause.is_overdue for pause in pauses)
    stopped = (len(pause.stopped) for pause in pauses)
    return Ends(times, len(pauses), sum(overdue), sum(stopped))


def extend_menu(group: str, *, has_end: bool) -> blocks.Element:
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
        reason = quote(pause.reason, NAME_LIMIT)
        button = pause_card.resume_button(
            pause.repository, pause.paused_at, pause.reason, pause.by_name
        )
        line = f"*{escape(pause.repository)}*{pause_card.by_whom(pause)}: {reason}"
        shown.append(blocks.section(line, accessory=button))
    if paused[SHOWN_ALONE:]:
        shown.append(blocks.context(f"and {len(paused) - SHOWN_ALONE:,} more"))
    return blocks.message(*shown)


def nothing_held(group: str) -> Message:
    """The reply to a person who extends a pause that has ended."""
    return blocks.sentence(f"The pause of {name_of(group)} has ended. Nothing was changed.")


SHOWN_ALONE = 5


def will_notify(target: Target, *, is_new: bool) -> Message:
    """To a person who pressed *Notify me when it resumes*."""
    when = f"everything paused for {name_of(target.name)} has resumed"
    if not isinstance(target, Group):
        when = f"{escape(target)} resumes"
    you = "You'll" if is_new else "You've already asked: you'll"
    return blocks.sentence(f"{you} get a direct message when {when}.")


def resumed(paused: GroupAct, last: PauseRecord, *, is_yours: bool = False) -> Message:
    """To a person who asked to be notified; `last` is the pause that ended last.

    `is_yours`: to the person who paused the group, when somebody else resumed it.
    """
    why = f"You had paused it: {quote(last.reason, REASON_LIMIT)}"
    return blocks.sentence(
        f":arrow_forward: Everything paused for {name_of(paused.group)} has resumed; the last was "
        f"{escape(last.repository)}, {pause_card.ending(last)}. "
        + (why if is_yours else "You asked to be notified.")
    )


def answer(done: GroupAct, *, posted_here: bool) -> Message:
    """To the person who acted; without the buttons of the channel's post."""
    headline = f"{_mark(done)} *{_headline(done)}*"
    buttons = [] if posted_here else _again_button(done)
    return _post(done, headline, _lasting(done), buttons=buttons)


def _post(
    done: GroupAct,
    headline: str,
    *facts: str,
    state: str = "",
    buttons: Sequence[blocks.Element] = (),
    is_past: bool = False,
) -> Message:
    """The post about an act, with a line for each outcome.

    `state`: what has changed since. `is_past`: not everything it paused is still paused.
    """
    said = done.asked.reason
    reason = f": {quote(said, REASON_LIMIT)}" if said and not _changed_nothing(done) else ""
    whose = "the timer set by " if done.origin is Origin.TIMER else ""
    is_new_pause = done.action is Action.PAUSE and not _changed_nothing(done)
    closing = [f"*{state[:1].upper()}{state[1:]}*"] if state else []
    return blocks.post(
        f"{headline}{reason}",
        f"by {whose}{quote(done.actor.name, NAME_LIMIT)}",
        pause_ends.late_by(done.at, done.resumes_at),
        f"since {local_time(done.at)}" if is_new_pause else "",
        *facts,
        INTERRUPTED if done.is_cut_short else "",
        details=[*lines(done, is_past=is_past), *closing],
        buttons=[*buttons, *show_all(done.group, len(done.results))],
        block_id=blocks.with_state(f"group-{done.group_act_id}", done.resumes_at),
    )


def _lasting(done: GroupAct) -> str:
    """How long the pauses last, as typed: a time of day is in the person's zone."""
    if done.action is Action.EXTEND and done.resumes_at is not None:
        changed = len(done.of(GroupOutcome.CHANGED))
        return Ends((done.resumes_at,) * changed, changed).said()
    if done.action is Action.FREEZE:
        start = pause_ends.instant(done.asked.start)
        begins = f"from {local_time(start)}" if start is not None else ""
        ends = f"until {local_time(done.resumes_at)}" if done.resumes_at else "no end given"
        return ", ".join(filter(None, [begins, ends, quote(done.asked.limits, 120)]))
    lasting = done.asked.lasting
    if lasting is None or done.action is not Action.PAUSE:
        return ""
    if isinstance(lasting, Until) and done.resumes_at is not None:
        return f"until {local_time(done.resumes_at)}"
    return pause_ends.typed_ending(done.asked)


def _headline(done: GroupAct, was: str = "") -> str:
    if _changed_nothing(done):
        return _nothing_changed(done)
    count = f"{len(done.of(GroupOutcome.CHANGED)):,} of {queues(len(done.results))}"
    if done.action is Action.EXTEND:
        return f"{name_of(done.group)}: the pauses of {count} extended"
    if done.is_planned:
        return f"{name_of(done.group)}: a freeze of {count} is planned"
    return f"{name_of(done.group)}: {count} {was}{_WORDS_OF[done.action].did}"


_LEFT_AS_THEY_WERE = frozenset(
    {
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


def _mark(done: GroupAct) -> str:
    if _changed_nothing(done):
        return ":information_source:"
    return ":warning:" if done.left_to_try else _WORDS_OF[done.action].mark


def resume_button(name: str) -> blocks.Element:
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


def _again_button(done: GroupAct) -> list[blocks.Element]:
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
    how = ", ".join(summary(latest)) if latest.ended_at is not None else "it is still running"
    did = _WORDS_OF[latest.action].did
    return blocks.sentence(
        f"Nothing was changed: {quote(latest.actor.name, NAME_LIMIT)} {did} "
        f"{name_of(group)} last, {local_time(latest.at)} ({how})."
    )


def summary(done: GroupAct) -> list[str]:
    """The counts: "48 paused", "1 already paused by bob", "1 failed"."""
    counts = []
    for _, count, some in _counted(done):
        is_by_one = len({result.who for result in some}) == 1
        counts.append(f"{count}{_by(some[0])}" if is_by_one else count)
    return counts


def _counted(
    done: GroupAct, *, is_past: bool = False
) -> list[tuple[GroupOutcome, str, list[RepositoryResult]]]:
    """The results by outcome; `is_past`: not all that was paused is paused still."""
    counted = []
    for outcome in GroupOutcome:
        some = done.of(outcome)
        if some:
            word = _FAILED.get(outcome) or _OUTCOMES[done.action, outcome]
            if outcome is GroupOutcome.CHANGED and done.is_planned:
                word = "planned"
            if outcome is GroupOutcome.CHANGED and is_past:
                word = f"{word} at first"
            counted.append((outcome, f"{len(some):,} {word}", some))
    return counted


def lines(done: GroupAct, *, is_past: bool = False) -> list[str]:
    """A line for each outcome; failures with what went wrong, one below the other."""
    shown = []
    for outcome, count, some in _counted(done, is_past=is_past):
        said = listed([f"{escape(result.repository)}{_by(result)}" for result in some])
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


def _by(result: RepositoryResult) -> str:
    return f" by {quote(result.who, NAME_LIMIT)}" if result.who else ""
