"""Freezes and planned pauses: their cards, and who made them, why, when, and for what."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.acts.reason import REASON_LIMIT, unsigned_reason
from bot.acts.record import Action, ActResult, AuditRecord
from bot.blocks import blocks, controls
from bot.blocks.groups import name_of, names, queues
from bot.blocks.message import Block, Colour, Message
from bot.blocks.text import (
    NAME_LIMIT,
    countdown,
    duration,
    escape,
    listed,
    literal,
    local_time,
    person,
    plural,
    quote,
    time_ago,
    time_and_age,
)
from bot.freezes import actions as freeze_actions
from bot.freezes.freeze import Ending, Freeze, Stage
from bot.kernel.actor import Origin
from bot.kernel.durations import zone_named
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import FreezeAttributes
from bot.merge_queue.freezes import moment

FREEZE_MARK = ":snowflake:"
RUNS = ":arrow_forward:"
FREEZES_LISTED = 3
LIMIT_OF_ANSWERS = 200
ZONE_LIMIT = 40
YEARS = range(1970, 9000)
"""Times outside these are shown as sent, because they don't exist in every zone."""

FREEZE_CARD_BLOCK = "freeze-"
"""Prefix of the block id of a card's buttons."""


def freeze_card(freeze: Freeze, buttons: Sequence[blocks.Element] = ()) -> Message:
    """The freeze as it is now; once it is over, its record without buttons."""
    if freeze.ending is not None:
        return _over_card(freeze, freeze.ending)
    is_in_force = freeze.stage is Stage.IN_FORCE
    name = escape(freeze.repository)
    state = f"*{name} is frozen*" if is_in_force else f"*A freeze of {name} is planned*"
    terms = freeze.terms
    shown = [
        blocks.section(blocks.state_line(FREEZE_MARK, state, freeze_reason(freeze))),
        *blocks.facts(
            ("By", person(freeze.by)),
            ("Since" if is_in_force else "From", _time(terms.start, terms, time_and_age)),
            ("Until", _time(terms.end, terms, time_and_age) or "someone ends it"),
            *times_and_limits(terms),
        ),
        blocks.context("Checks continue", queued(freeze)),
    ]
    if buttons:
        block_id = blocks.with_state(f"{FREEZE_CARD_BLOCK}{freeze.row_id}", freeze.ends_at)
        shown.append(blocks.actions(buttons, block_id=block_id))
    return blocks.coloured(Colour.BLUE, blocks.message(*shown))


def _over_card(freeze: Freeze, ending: Ending) -> Message:
    name = escape(freeze.repository)
    state = f"*{name} was frozen*"
    if not freeze.lasted:
        state = f"*The planned freeze of {name} was canceled*"
    terms = freeze.terms
    ended_by = person(ending.by) or ("someone" if freeze.is_removed else "")
    shown = [
        blocks.section(blocks.state_line(RUNS, state, freeze_reason(freeze))),
        *blocks.facts(
            ("By", person(freeze.by)),
            ("From", _time(terms.start, terms)),
            ("Until", _time(terms.end, terms)),
            ("Lasted", duration(freeze.lasted) if freeze.lasted else ""),
            ("Ended by" if freeze.lasted else "Canceled by", ended_by),
            *times_and_limits(terms),
        ),
    ]
    if ending.reason:
        shown.append(
            blocks.context(f"Reason for ending it: {literal(ending.reason, REASON_LIMIT)}")
        )
    return blocks.coloured(Colour.GREEN, blocks.message(*shown))


def labelled(by: str | None, terms: FreezeAttributes) -> list[Block]:
    """By whom it is, when, and for which pull requests if not for all."""
    return blocks.facts(
        ("By", person(by)),
        ("From", _time(terms.start, terms)),
        ("Until", _time(terms.end, terms) or "someone ends it"),
        *times_and_limits(terms),
    )


def times_and_limits(terms: FreezeAttributes) -> list[tuple[str, str]]:
    """Its times in its own zone, and for which pull requests it is."""
    return [
        ("Local time", _in_own_zone(terms)),
        ("Only", conditions(terms.matching_conditions)),
        ("Except", conditions(terms.exclude_conditions)),
    ]


def queued(freeze: Freeze) -> str:
    """How many pull requests it keeps waiting; empty if none, as far as known."""
    if not freeze.queued:
        return ""
    if freeze.stage is Stage.IN_FORCE:
        return f"{freeze.queued:,} queued when it started"
    count = plural(freeze.queued, "queued pull request")
    # Only the service knows which ones the conditions leave out.
    if freeze.has_unread_conditions:
        return f"Up to {count} won't merge before it"
    return f"{count} won't merge before it"


@dataclass(frozen=True, slots=True)
class FrozenTogether:
    """The queues of a group whose freezes begin, or end, at one time."""

    group: str
    repositories: Sequence[RepositoryName]

    @property
    def listed(self) -> str:
        """Escaped."""
        return f"{queues(len(self.repositories))}: {names(self.repositories)}"


def announced(freeze: Freeze, together: FrozenTogether | None = None) -> Message:
    """Before its start; `together`: those of its group that begin then, in one post."""
    starts = _time(freeze.terms.start, freeze.terms)
    headline = f"{FREEZE_MARK} *Freeze starts {starts}* {_about(freeze, together)}"
    return blocks.post(headline, queued(freeze), details=_listed_together(together))


def begun(freeze: Freeze, together: FrozenTogether | None = None) -> Message:
    """At its start; the time makes a late post true. `together` as in `announced`."""
    since, until = (_time(at, freeze.terms) for at in (freeze.terms.start, freeze.terms.end))
    return blocks.post(
        f"{FREEZE_MARK} *Merging is frozen* {_about(freeze, together)}",
        f"since {since}",
        f"until {until}" if until else "until someone removes it",
        details=_listed_together(together),
    )


def freeze_over(
    freeze: Freeze, still_frozen: str = "", together: FrozenTogether | None = None
) -> Message:
    """At its end by time, or once it is gone; a removal in the log has a post of its own.

    `still_frozen`: what other freezes keep merges waiting, escaped.
    `together`: those of its group that end then, in one post.
    """
    facts = [f"since {_time(freeze.terms.end, freeze.terms)}"]
    if freeze.over_at is not None and freeze.is_removed:
        facts = [
            f"noticed {local_time(freeze.over_at)}",
            "someone removed it, and the event log doesn't say who",
        ]
    headline = f"{RUNS} *Freeze over* {_about(freeze, together)}"
    return blocks.post(headline, *facts, details=[*_listed_together(together), still_frozen])


def _listed_together(together: FrozenTogether | None) -> list[str]:
    return [together.listed] if together is not None else []


def _about(freeze: Freeze, together: FrozenTogether | None) -> str:
    name = name_of(together.group) if together is not None else escape(freeze.repository)
    reason = freeze_reason(freeze)
    return f"{name}: {reason}" if reason else name


def freeze_reason(freeze: Freeze, limit: int = REASON_LIMIT) -> str:
    """Without the maker's name, which stands beside it."""
    return literal(unsigned_reason(freeze.terms.reason or "", freeze.by), limit)


def _by_name(words: str, name: str | None) -> str:
    return f"{words} {quote(name, NAME_LIMIT)}" if name else ""


def freeze_changes(before: FreezeAttributes, after: FreezeAttributes) -> list[str]:
    """What a change changed: the new reason, times and conditions."""
    reason = [literal(after.reason or "", REASON_LIMIT)] if after.reason != before.reason else []
    facts = zip(
        freeze_facts(before), freeze_facts(after), ("", "for all", "no exceptions"), strict=True
    )
    return reason + [
        f"now {new or none} (was {old or none})" for old, new, none in facts if old != new
    ]


def freeze_blocks(freezes: Sequence[Freeze]) -> list[Block]:
    """A line for each freeze in force."""
    lines = [freeze_line(freeze) for freeze in freezes]
    return [blocks.section(listed(lines, "\n", most=FREEZES_LISTED))] if lines else []


def next_freeze_line(freeze: Freeze | None) -> list[Block]:
    """A line that counts down to the next freeze; none if there is none to come."""
    counted = counted_down(freeze)
    return [blocks.context(counted)] if counted else []


def counted_down(freeze: Freeze | None) -> str:
    """When the next freeze begins, and why; empty if there is none to come."""
    if freeze is None or freeze.begins_at is None or freeze.begins_at.year not in YEARS:
        return ""
    reason = freeze_reason(freeze, NAME_LIMIT)
    about = f": {reason}" if reason else ""
    return f"{FREEZE_MARK} Next freeze {countdown(freeze.begins_at)}{about}"


def freeze_line(freeze: Freeze) -> str:
    """By whom, why, when, and for which pull requests."""
    by = _by_name(" by", freeze.by)
    facts = [freeze_reason(freeze), *freeze_facts(freeze.terms)]
    return f"{FREEZE_MARK} Frozen{by}: {' · '.join(fact for fact in facts if fact)}"


def freeze_facts(terms: FreezeAttributes) -> list[str]:
    """When it is, and for which pull requests if not for all."""
    matching = conditions(terms.matching_conditions)
    excepted = conditions(terms.exclude_conditions)
    return [
        freeze_period(terms),
        f"only {matching}" if matching else "",
        f"except {excepted}" if excepted else "",
    ]


def conditions(sent: Sequence[str]) -> str:
    """Which pull requests they are about, as written; empty for all."""
    said = [
        f"branch {condition.removeprefix('base=')}" if condition.startswith("base=") else condition
        for condition in sent
    ]
    return quote(" and ".join(said), NAME_LIMIT)


def freeze_period(terms: FreezeAttributes) -> str:
    """From when until when, for each reader and in its own zone; empty if nothing is known."""
    start = _time(terms.start, terms)
    end = _time(terms.end, terms)
    if not start and not end:
        return ""
    times = " ".join(filter(None, [start and f"from {start}", end and f"until {end}"]))
    own = _in_own_zone(terms)
    times += f" ({own})" if own else ""
    return times if end else f"{times}, no end given"


def _in_own_zone(terms: FreezeAttributes) -> str:
    """The times in the freeze's own zone, with its name; empty for UTC."""
    zone = zone_named(terms.timezone)
    if zone is None or zone.key == "UTC":
        return ""
    read = [moment(terms.start, terms), moment(terms.end, terms)]
    own = [f"{at.astimezone(zone):%Y-%m-%d %H:%M}" for at in read if at and at.year in YEARS]
    return f"{' to '.join(own)} {quote(zone.key, ZONE_LIMIT)}" if own else ""


def _time(
    sent: str | None, terms: FreezeAttributes, shown: Callable[[datetime], str] = local_time
) -> str:
    """As it was sent, with its time zone, if it can't be read."""
    at = moment(sent, terms)
    if at is not None and at.year in YEARS:
        return shown(at)
    if not sent:
        return ""
    return f"{quote(sent, ZONE_LIMIT)} {quote(terms.timezone or '', ZONE_LIMIT)}".strip()


def planned_pause(plan: AuditRecord) -> Message:
    """The post ahead of the pause, with a button that skips it."""
    value = controls.control_value(plan.repository, plan.setting.after or "")
    skip = blocks.button("Skip this one", action_id=freeze_actions.SKIP, value=value)
    reason = literal(plan.reason or "", REASON_LIMIT)
    return blocks.message(
        blocks.section(f":alarm_clock: *Pause planned* {escape(plan.repository)}: {reason}"),
        *blocks.facts(
            ("From", local_time(plan.paused_at or plan.at)),
            ("Until", local_time(plan.resumes_at) if plan.resumes_at else ""),
            ("By", quote(plan.actor.name)),
        ),
        blocks.actions([skip]),
    )


def window_not_applied(act: AuditRecord) -> Message:
    """The post about a window that can't be applied yet."""
    name = escape(act.repository)
    state = f"{name} isn't frozen" if act.action is Action.FREEZE else f"{name} isn't paused"
    keeps = "I'll keep trying."
    if act.resumes_at is not None:
        keeps = f"I'll keep trying until {local_time(act.resumes_at)}."
    if act.outcome.answer:
        answer = quote(act.outcome.answer, LIMIT_OF_ANSWERS)
        keeps = f"The merge queue service answered “{answer}”. {keeps}"
    planned = act.paused_at
    shown = [
        blocks.section(
            blocks.state_line(":warning:", f"*{state}*", literal(act.reason or "", REASON_LIMIT))
        ),
        blocks.section(keeps),
        *blocks.facts(
            ("Planned by", quote(act.actor.name) if planned is not None else ""),
            ("From", local_time(planned) if planned is not None else ""),
        ),
    ]
    return blocks.coloured(Colour.RED, blocks.message(*shown))


def skipped_pause(act: AuditRecord) -> Message:
    if act.where.origin is Origin.RULE:
        headline = f":fast_forward: *Planned pause withdrawn* {escape(act.repository)}"
        at = f"it was planned from {local_time(act.paused_at)}" if act.paused_at else ""
        return blocks.post(headline, at, "the settings changed", _by_name("by", act.actor.name))
    reason = f": {literal(act.reason, REASON_LIMIT)}" if act.reason else ""
    headline = f":fast_forward: *Skipped this time* {escape(act.repository)}{reason}"
    at = f"it was planned from {local_time(act.paused_at)}" if act.paused_at else ""
    return blocks.post(headline, at, _by_name("by", act.actor.name))


def skip_reply(skipped: AuditRecord, *, is_new: bool) -> Message:
    """To the person who pressed the button."""
    name = quote(skipped.actor.name, NAME_LIMIT)
    queue = escape(skipped.repository)
    if is_new:
        return blocks.sentence(f"{queue} isn't stopped this time. The next times stay planned.")
    if skipped.result is ActResult.UNCHANGED:
        return blocks.sentence(
            f"There's nothing left to skip for that time of {queue}. Nothing was changed."
        )
    ago = time_ago(skipped.at)
    if skipped.action is Action.SKIP:
        return blocks.sentence(f"{name} skipped this time of {queue} {ago} already.")
    if skipped.action is Action.FREEZE:
        return blocks.sentence(
            f"There is a freeze of {queue} for this time already, made {ago}. Nothing was changed. "
            "You can end that freeze."
        )
    return blocks.sentence(
        f"The planned pause of {queue} began {ago}. Nothing was changed. You can resume the queue."
    )
