"""The card of a group's freeze: which of its queues are frozen, which aren't, and until when."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.acts.group_act import GroupAct
from bot.blocks import blocks, controls
from bot.blocks.groups import name_of, names, queues, show_all
from bot.blocks.message import Colour, Message
from bot.blocks.text import (
    by_count,
    duration,
    escape,
    listed,
    local_time,
    person,
    quote,
    time_and_age,
)
from bot.freezes import actions as freeze_actions
from bot.freezes.freeze import Freeze, Stage
from bot.freezes.texts.cards import FREEZE_MARK, RUNS, times_and_limits
from bot.freezes.texts.forms import CANCEL, END
from bot.kernel.groups import ALL, Group, mention_of, target_value
from bot.kernel.repository import RepositoryName
from bot.pauses.texts import ends as pause_ends, group_acts


@dataclass(frozen=True, slots=True)
class GroupFreezes:
    """What became of the queues that an act on a group froze."""

    act: GroupAct
    #: in the group's order; None for a freeze that the event log hasn't told of yet
    made: Mapping[RepositoryName, Freeze | None]

    @property
    def left(self) -> list[RepositoryName]:
        """Those that are frozen, or will be."""
        return [*self.in_force, *self.planned]

    @property
    def in_force(self) -> list[RepositoryName]:
        return [name for name, freeze in self.made.items() if self._stage(freeze) is Stage.IN_FORCE]

    @property
    def planned(self) -> list[RepositoryName]:
        before = {Stage.PLANNED, Stage.ANNOUNCED}
        return [name for name, freeze in self.made.items() if self._stage(freeze) in before]

    @property
    def over(self) -> list[Freeze]:
        return [freeze for freeze in self.known if freeze.stage is Stage.OVER]

    @property
    def known(self) -> list[Freeze]:
        return [freeze for freeze in self.made.values() if freeze is not None]

    @property
    def known_left(self) -> list[Freeze]:
        return [freeze for freeze in self.known if freeze.stage is not Stage.OVER]

    @property
    def ends(self) -> list[datetime | None]:
        """When those that are left end; None for one that somebody ends."""
        found = [self.made[name] for name in self.left]
        return [self.act.resumes_at if freeze is None else freeze.ends_at for freeze in found]

    @property
    def others(self) -> GroupAct:
        """The act with what it found, or failed to freeze."""
        results = [result for result in self.act.results if result.repository not in self.made]
        return replace(self.act, results=tuple(results))

    def _stage(self, freeze: Freeze | None) -> Stage:
        if freeze is not None:
            return freeze.stage
        return Stage.PLANNED if self.act.is_planned else Stage.IN_FORCE


def frozen_group_card(now: GroupFreezes, *, is_offered: bool) -> Message:
    """The post about a group that was frozen, as it is now; in the end, its record.

    `is_offered`: whether the service offers freezes, so that people can end them.
    """
    if not now.made:
        return group_acts.answer_to_actor(now.act, posted_here=False)
    return _card_in_force(now, is_offered=is_offered) if now.left else _card_of_past(now)


def _card_in_force(now: GroupFreezes, *, is_offered: bool) -> Message:
    act = now.act
    others = now.others
    mark = group_acts.mark_of_act(others) if others.left_to_try else FREEZE_MARK
    reason = group_acts.reason_of_act(act)
    shown = [
        blocks.section(blocks.state_line(mark, f"*{_headline(now)}*", reason)),
        *blocks.facts(
            ("By", person(act.actor.name)),
            ("Since" if now.in_force else "From", _begin(now)),
            ("Until", _until(now)),
            *_shared_limits(now.known_left),
        ),
        *blocks.lines([*_states(now), *group_acts.outcome_lines(others)]),
        blocks.context(
            "Checks continue",
            # Their own limits are facts.
            "" if now.known_left else quote(act.asked.limits, group_acts.LIMITS_SHOWN),
            _queued(now),
            group_acts.cut_short_note(act),
        ),
    ]
    buttons = [
        *(_controls(now) if is_offered else ()),
        *group_acts.again_button(others),
        *show_all(act.group, len(act.results)),
    ]
    if buttons:
        shown.append(blocks.actions(buttons, block_id=group_acts.block_id_of_act(act)))
    return blocks.coloured(Colour.BLUE, blocks.message(*shown))


def _headline(now: GroupFreezes) -> str:
    group = name_of(now.act.group)
    count = queues(len(now.act.results))
    if not now.in_force:
        return f"{group}: a freeze of {len(now.planned):,} of {count} is planned"
    still = "still frozen" if now.over else "frozen"
    return f"{group}: {len(now.in_force):,} of {count} {still}"


def _begin(now: GroupFreezes) -> str:
    """When the first of them began, or begins."""
    stage_names = now.in_force or now.planned
    freezes = [now.made[name] for name in stage_names]
    known = [freeze.begins_at for freeze in freezes if freeze is not None and freeze.begins_at]
    if known:
        return time_and_age(min(known))
    start = pause_ends.instant(now.act.asked.start)
    if start is not None:
        return time_and_age(start)
    return "" if now.act.is_planned else time_and_age(now.act.at)


def _until(now: GroupFreezes) -> str:
    known = [end for end in now.ends if end is not None]
    if not known:
        return by_count(len(now.ends), "someone ends it", "someone ends them")
    first = min(known)
    last = max(known)
    when = time_and_age(first)
    if last - first >= group_acts.TOGETHER:
        when = f"between {local_time(first)} and {local_time(last)}"
    if len(known) == len(now.ends):
        return when
    some = by_count(len(known), "{count} ends", "{count} end")
    return f"someone ends them; {some} {when}"


def _shared_limits(freezes: Sequence[Freeze]) -> list[tuple[str, str]]:
    """The times in their own zone and the limits, as far as all of them have the same."""
    all_limits = [times_and_limits(freeze.terms) for freeze in freezes]
    if not all_limits:
        return []
    return [fact for fact in all_limits[0] if all(fact in limits for limits in all_limits)]


def _states(now: GroupFreezes) -> list[str]:
    """A line for each state that the queues frozen together have now."""
    still = "still frozen" if now.over else "frozen"
    ended = [freeze for freeze in now.over if freeze.lasted]
    canceled = [freeze for freeze in now.over if not freeze.lasted]
    shown = []
    if now.in_force:
        shown.append(f"*{len(now.in_force):,} {still}:* {names(now.in_force)}")
    if now.planned:
        shown.append(f"*{len(now.planned):,} planned:* {names(now.planned)}")
    if ended:
        shown.append(f"*{len(ended):,} unfrozen:* {listed(list(map(_how_ended, ended)))}")
    if canceled:
        shown.append(f"*{len(canceled):,} canceled:* {listed(list(map(_how_ended, canceled)))}")
    return shown


def _how_ended(freeze: Freeze) -> str:
    """The queue, and by whom its freeze was ended, if its time wasn't up."""
    name = escape(freeze.repository)
    if not freeze.is_removed:
        return name
    by = person(freeze.ending.by) if freeze.ending is not None else ""
    return f"{name} by {by or 'someone'}"


def _queued(now: GroupFreezes) -> str:
    """How many pull requests the freezes kept waiting when they started, as far as known."""
    count = sum(freeze.queued or 0 for freeze in now.known if freeze.stage is Stage.IN_FORCE)
    return f"{count:,} queued when it started" if count else ""


def _controls(now: GroupFreezes) -> list[blocks.Element]:
    """*End now…* for all that were frozen for the group, and the list with buttons for each."""
    mention = mention_of(now.act.group)
    group = Group(now.act.group, now.act.repositories)
    label = END if now.in_force else CANCEL
    return [
        blocks.button(
            label,
            action_id=freeze_actions.UNFREEZE,
            value=target_value(group),
            spoken=f"{label.removesuffix('…')}: freeze of {mention}",
        ),
        blocks.button("Show freezes", action_id=controls.RETRY, value=f"freezes {mention}"),
    ]


def _card_of_past(now: GroupFreezes) -> Message:
    act = now.act
    shown = [
        blocks.section(
            blocks.state_line(RUNS, f"*{_was_frozen(now)}*", group_acts.reason_of_act(act))
        ),
        *blocks.facts(
            ("By", person(act.actor.name)),
            ("Lasted", _lasted(now.over)),
            *_shared_limits(now.over),
        ),
        *blocks.lines([*_states(now), *group_acts.outcome_lines(now.others)]),
    ]
    note = group_acts.cut_short_note(act)
    if note:
        shown.append(blocks.context(note))
    buttons = show_all(act.group, len(act.results))
    if buttons:
        shown.append(blocks.actions(buttons, block_id=group_acts.block_id_of_act(act)))
    return blocks.coloured(Colour.GREEN, blocks.message(*shown))


def _was_frozen(now: GroupFreezes) -> str:
    is_all = now.act.group == ALL
    if not any(freeze.lasted for freeze in now.over):
        whose = "all queues" if is_all else name_of(now.act.group)
        return f"The planned freeze of {whose} was canceled"
    return "All queues were frozen" if is_all else f"{name_of(now.act.group)} was frozen"


def _lasted(over: Sequence[Freeze]) -> str:
    """From the first start to the last end of those that began."""
    lasted = [freeze for freeze in over if freeze.lasted]
    begins = [freeze.begins_at for freeze in lasted if freeze.begins_at is not None]
    ends = [freeze.over_at for freeze in lasted if freeze.over_at is not None]
    return duration(max(ends) - min(begins)) if begins and ends else ""
