"""Messages about acts on a group of repositories, within Slack's limits for a group of any size."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from bot.domain.audit import Action, Origin
from bot.domain.durations import For, written
from bot.domain.group_acts import GroupAct, GroupOutcome, RepositoryResult
from bot.domain.groups import Group, Target
from bot.domain.message import Message
from bot.domain.pause_records import PauseRecord
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.messages import actions, blocks, pause_card, timers
from bot.messages.groups import name_of, names, queues, show_all
from bot.messages.text import NAME_LIMIT, clean, escape, listed, local_time, quote

TOGETHER = timedelta(minutes=1)
"""Ends that are no further apart are shown as one time."""

PAUSED_AGAIN_LENGTH = 600
DETAIL_LIMIT = 120


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
    (Action.RESUME, GroupOutcome.NOT_OURS): "paused separately (left alone)",
    (Action.RESUME, GroupOutcome.REPLACED): "paused again since (left alone)",
    (Action.EXTEND, GroupOutcome.CHANGED): "extended",
    (Action.EXTEND, GroupOutcome.NOT_PAUSED): "no longer paused",
    (Action.EXTEND, GroupOutcome.REPLACED): "paused again since (left alone)",
    (Action.FREEZE, GroupOutcome.CHANGED): "frozen",
    (Action.FREEZE, GroupOutcome.ALREADY_PAUSED): "already frozen",
    (Action.UNFREEZE, GroupOutcome.CHANGED): "unfrozen",
    (Action.UNFREEZE, GroupOutcome.NOT_PAUSED): "not frozen",
    (Action.UNFREEZE, GroupOutcome.NOT_OURS): "frozen separately (left alone)",
}
_FAILED = {GroupOutcome.FAILED: "failed", GroupOutcome.NOT_TRIED: "not confirmed"}


def progress(act: GroupAct, done: int) -> Message:
    doing = f"{_WORDS_OF[act.action].doing} {name_of(act.group)}"
    total = len(act.repositories)
    return blocks.sentence(f":hourglass_flowing_sand: {doing}: {done:,} of {total:,} …")


def act(done: GroupAct) -> Message:
    """The one post about an act on a group, with a line for each way its repositories ended."""
    if done.ended_at is None:
        return going_on(done)
    if done.action is Action.PAUSE:
        return card(done, [one.repository for one in done.of(GroupOutcome.CHANGED)])
    return answer(done, posted_here=False)


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
    changed, ends = len(paused.of(GroupOutcome.CHANGED)), ends or Ends()
    again = listed(
        [f"{escape(one.repository)}{pause_card.by_whom(one)}" for one in again_paused],
        length=PAUSED_AGAIN_LENGTH,
    )
    again = f"paused again since: {again}" if again else ""
    if not left:
        headline = f":arrow_forward: *{_headline(paused, 'was ' if changed == 1 else 'were ')}*"
        state = "; ".join(filter(None, ["these pauses are over", again]))
        return _post(paused, headline, state=state, is_past=True)
    is_whole = len(left) == changed
    headline, still = _headline(paused), ""
    if not is_whole:
        headline = f"{name_of(paused.group)}: {len(left):,} of {queues(len(paused.results))}"
        headline, still = f"{headline} still paused", f"still paused: {names(left)}"
    return _post(
        paused,
        f"{_mark(paused)} *{headline}*",
        ends.said() or _lasting(paused),
        pause_card.stopped(ends.stopped),
        state="; ".join(filter(None, [still, again])),
        buttons=[
            resume_button(paused),
            blocks.button(
                "Notify me when it resumes", action_id=actions.WATCH, value=f"@{paused.group}"
            ),
            extend_menu(paused.group, has_end=bool(ends.ends)),
            *_again_button(paused),
        ],
        is_past=not is_whole,
    )


@dataclass(frozen=True, slots=True)
class Ends:
    """When paused queues of a group resume by themselves.

    `ends`: the known times.
    `paused`: how many queues are paused; `overdue` of them should have resumed.
    `stopped`: how many batches these pauses stopped.
    """

    ends: tuple[datetime, ...] = ()
    paused: int = 0
    overdue: int = 0
    stopped: int = 0

    def said(self) -> str:
        """When they resume; empty if none does."""
        if not self.ends:
            return ""
        first, last = min(self.ends), max(self.ends)
        if self.overdue:
            which = f"{self.overdue:,} "
            if self.overdue == self.paused:
                which = "" if self.paused == 1 else "they "
            return f"{which}should have resumed {local_time(first)}; {timers.STILL_TRYING}"
        if self.paused == 1:
            return f"resumes {local_time(first)}"
        which = "they resume"
        if len(self.ends) < self.paused:
            which = "1 resumes" if len(self.ends) == 1 else f"{len(self.ends):,} resume"
        until = "" if last - first < TOGETHER else f" to {local_time(last)}"
        return f"{which} {local_time(first)}{until}"


def ends_of(pauses: Sequence[PauseRecord]) -> Ends:
    times = tuple(one.resumes_at for one in pauses if one.resumes_at is not None)
    overdue, stopped = (one.is_overdue for one in pauses), (len(one.stopped) for one in pauses)
    return Ends(times, len(pauses), sum(overdue), sum(stopped))


def extend_menu(group: str, *, has_end: bool) -> blocks.Element:
    """*Extend…* for all pauses of the group, or *Set an end…* if none has an end."""
    endless = None if has_end else name_of(group)
    return timers.end_menu(f"@{group}", actions.EXTEND, endless)


def nothing_held(group: str) -> Message:
    """The reply to a person who extends a pause that has ended."""
    return blocks.sentence(f"The pause of {name_of(group)} has ended. Nothing was changed.")


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
    reason = f": {quote(said, REASON_LIMIT)}" if said else ""
    whose = "the timer set by " if done.origin is Origin.TIMER else ""
    closing = [f"*{state[:1].upper()}{state[1:]}*"] if state else []
    return blocks.post(
        f"{headline}{reason}",
        f"by {whose}{quote(done.actor.name, NAME_LIMIT)}",
        timers.late_by(done.at, done.resumes_at),
        f"since {local_time(done.at)}" if done.action is Action.PAUSE else "",
        *facts,
        "interrupted by a restart of the bot" if done.is_cut_short else "",
        details=[*lines(done, is_past=is_past), *closing],
        buttons=[*buttons, *show_all(done.group, len(done.results))],
        # The id survives edits, so that a click just before one still counts.
        block_id=f"group-{done.group_act_id}",
    )


def _lasting(done: GroupAct) -> str:
    """How long the pauses last, as typed: a time of day is in the person's zone."""
    if done.action is Action.EXTEND and done.resumes_at is not None:
        changed = len(done.of(GroupOutcome.CHANGED))
        return Ends((done.resumes_at,) * changed, changed).said()
    if done.action is Action.FREEZE:
        end = f"until {local_time(done.resumes_at)}" if done.resumes_at else "no end given"
        return ", ".join(filter(None, [end, quote(done.asked.limits, 120)]))
    lasting = done.asked.lasting
    if lasting is None or done.action is not Action.PAUSE:
        return ""
    said = written(lasting)
    if isinstance(lasting, For):
        return f"for {said}"
    return said if lasting.zone is not None else f"{said} (their time)"


def _headline(done: GroupAct, was: str = "") -> str:
    count = f"{len(done.of(GroupOutcome.CHANGED)):,} of {queues(len(done.results))}"
    if done.action is Action.EXTEND:
        return f"{name_of(done.group)}: the pauses of {count} extended"
    return f"{name_of(done.group)}: {count} {was}{_WORDS_OF[done.action].did}"


def _mark(done: GroupAct) -> str:
    return ":warning:" if done.left_to_try else _WORDS_OF[done.action].mark


def resume_button(done: GroupAct) -> blocks.Element:
    group = name_of(clean(done.group, NAME_LIMIT))
    return blocks.button(
        f"Resume {group}",
        action_id=actions.RESUME,
        value=f"@{done.group}",
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
    return [blocks.button("Try the rest again", action_id=actions.AGAIN, value=value)]


def since_then(group: str, latest: GroupAct | None) -> Message:
    """Reply to a stale *Try the rest again*: the last action on the group."""
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
    return [
        # Names the person who made all these pauses, if it was one.
        f"{count}{_by(some[0]) if len({one.who for one in some}) == 1 else ''}"
        for _, count, some in _counted(done)
    ]


def _counted(
    done: GroupAct, *, is_past: bool = False
) -> list[tuple[GroupOutcome, str, list[RepositoryResult]]]:
    """The results by outcome; `is_past`: not all that was paused is paused still."""
    at_first = {GroupOutcome.CHANGED: " at first"} if is_past else {}
    return [
        (one, f"{len(some):,} {word}{at_first.get(one, '')}", some)
        for one in GroupOutcome
        if (some := done.of(one)) and (word := _FAILED.get(one) or _OUTCOMES[done.action, one])
    ]


def lines(done: GroupAct, *, is_past: bool = False) -> list[str]:
    """A line for each outcome; failures with what went wrong, one below the other."""
    shown = []
    for outcome, count, some in _counted(done, is_past=is_past):
        said = listed([f"{escape(one.repository)}{_by(one)}" for one in some])
        if outcome is GroupOutcome.FAILED:
            failures = [
                f"• {escape(one.repository)}: {quote(one.detail or 'failed', DETAIL_LIMIT)}"
                for one in some
            ]
            said = "\n" + listed(failures, "\n")
        shown.append(f"*{count}:* {said}")
    return shown


def _by(result: RepositoryResult) -> str:
    return f" by {quote(result.who, NAME_LIMIT)}" if result.who else ""
