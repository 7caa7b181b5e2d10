"""Questions about the end that somebody typed, before anything is done."""

import re
from calendar import month_abbr, month_name
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.acts.asked import Asked, TypedEnd, TypedEnds
from bot.blocks import blocks, controls
from bot.blocks.message import Message
from bot.blocks.text import (
    alternatives,
    clean,
    duration,
    escape,
    listed,
    literal,
    local_time,
    within,
)
from bot.freezes import actions as freeze_actions
from bot.kernel.durations import WEEKDAYS, For, at_instant, written
from bot.kernel.ends.spans import AT_WORD
from bot.kernel.groups import Group, Target, target_value
from bot.pauses import actions as pause_actions
from bot.pauses.texts.ends import EndQuestion, instant

REASON_IN_LABEL = 34
"""Characters of the reason in the label of a button."""

END_TYPED_SHOWN = 120
"""Characters of what was typed, and of the reason."""

FACTS_LENGTH = 900

MOST_READINGS = 2
"""With another time and no end these are four buttons."""

_IN_24_HOURS = re.compile(r"\b(?:1[3-9]|2[0-4])\b|\d[:.h]\d\d|\buhr\b", re.IGNORECASE)
_IN_12_HOURS = re.compile(r"\d\s*[ap]\.?m\b", re.IGNORECASE)


def which_end(
    target: Target,
    asked: Asked,
    typed: TypedEnds,
    facts: Sequence[str] = (),
    *,
    is_freeze: bool = False,
) -> Message:
    """Ask what the typed end means, or whether an end that is far away is meant.

    `facts`: what the pause or freeze would stop.
    """
    ends = typed.ends[:MOST_READINGS]
    if is_freeze:
        mark = ":snowflake:"
        verb = "Freeze"
    else:
        mark = ":double_vertical_bar:"
        verb = "Pause"
    name = escape(target.mention if isinstance(target, Group) else target)
    start = instant(typed.start)
    begins = f" from {local_time(start)}" if start is not None else ""
    if typed.is_doubt:
        is_either = is_freeze and _may_begin_then(asked, typed)
        question = f"{mark} *{verb} {name}{begins} {'when' if is_either else 'until when'}?*"
        said = []
        words = f"“{literal(asked.reason or asked.written, END_TYPED_SHOWN)}”"
    else:
        at = ends[0].at
        question = f"{mark} *{verb} {name}{begins} until {local_time(at)}?*"
        said = [f"That's {within(at - typed.now)} from now."]
        words = ""
    kept = [literal(end.asked.reason, END_TYPED_SHOWN) for end in ends if end.asked.reason]
    reasons = list(dict.fromkeys(kept))
    impact = listed(facts, " ", length=FACTS_LENGTH)
    return blocks.message(
        blocks.section(question),
        *blocks.lines([*said, *filter(None, [impact])]),
        *blocks.facts(("You typed", words), ("Reason", alternatives(reasons) if reasons else "")),
        blocks.actions(_buttons_for_ends(target, asked, typed, is_freeze=is_freeze)),
    )


def _buttons_for_ends(
    target: Target, asked: Asked, typed: TypedEnds, *, is_freeze: bool
) -> list[blocks.Element]:
    action_id = freeze_actions.FREEZE_FOR if is_freeze else pause_actions.PAUSE_FOR
    other = freeze_actions.FREEZE_OTHER_TIME if is_freeze else pause_actions.PAUSE_OTHER_TIME
    endless = freeze_actions.FREEZE_WITHOUT_END if is_freeze else pause_actions.PAUSE_WITHOUT_END
    verb = "End" if is_freeze else "Resume"
    meant = [(verb, end, end.asked) for end in typed.ends[:MOST_READINGS]]
    if is_freeze and _may_begin_then(asked, typed):
        end = typed.ends[0]
        begun = replace(end.asked, start=at_instant(end.at), lasting=None)
        meant = [*meant[:1], ("Begin", end, begun)]
    found = [
        blocks.button(
            clean(
                f"{does} {in_words(end, typed.now, typed.zone, asked.reason)}",
                blocks.BUTTON_LIMIT,
            ),
            # One action id occurs once in a row.
            action_id=f"{action_id}_{place}" if place else action_id,
            value=_button_value(target, chosen),
        )
        for place, (does, end, chosen) in enumerate(meant)
    ]
    reason = typed.ends[0].asked.reason if typed.ends else asked.reason
    without = Asked(reason, start=asked.start, branches=asked.branches, excepted=asked.excepted)
    found.append(
        blocks.button("Another time…", action_id=other, value=_button_value(target, without))
    )
    if typed.is_doubt:
        label = f"No end; the reason is “{clean(asked.reason, REASON_IN_LABEL)}”"
        found.append(
            blocks.button(
                clean(label, blocks.BUTTON_LIMIT),
                action_id=endless,
                value=_button_value(target, typed.with_end(asked)),
            )
        )
    else:
        label = f"Don't {'freeze' if is_freeze else 'pause'}"
        found.append(blocks.button(label, action_id=controls.DISMISS, value="no"))
    return found


_MAY_BEGIN_WITH = frozenset(
    {"after", AT_WORD, "next", "on", "this", "today", "tomorrow", "tonight", *WEEKDAYS}
    | {"midday", "midnight", "noon", *(name.lower() for name in (*month_name[1:], *month_abbr[1:]))}
)


def _may_begin_then(asked: Asked, typed: TypedEnds) -> bool:
    """Whether what may be the end of a freeze, "at 5pm", may as well say when it begins."""
    if not typed.is_doubt or not typed.ends or typed.start is not None:
        return False
    first = asked.reason.casefold().partition(" ")[0]
    is_length = isinstance(typed.ends[0].asked.lasting, For)
    is_moment = first in _MAY_BEGIN_WITH or first[:1].isdecimal()
    # "In 2 hours" may begin then, "the next 2 hours" begin now.
    return first == "in" or (is_moment and not is_length)


def _button_value(target: Target, asked: Asked) -> str:
    return controls.value_of(pause_actions.PauseChoice(target_value(target), asked))


def in_words(end: TypedEnd, now: datetime, zone: ZoneInfo, typed: str = "") -> str:
    """For a button, whose text is the same for everybody: "today at 5:00 PM", in the person's zone.

    `typed`: their words, from which the form of their clock is taken.
    """
    if isinstance(end.asked.lasting, For) and end.asked.start is None:
        return f"in {duration(end.asked.lasting.length)}"
    local = end.at.astimezone(zone)
    today = now.astimezone(zone).date()
    is_24 = _IN_24_HOURS.search(typed) is not None and not _IN_12_HOURS.search(typed)
    clock = f"{local:%H:%M}" if is_24 else f"{local.hour % 12 or 12}:{local:%M %p}"
    days = {today: "today", today + timedelta(days=1): "tomorrow"}
    day = days.get(local.date(), f"{local:%a, %b} {local.day}")
    return f"{day} at {clock}"


def far_in_form(at: datetime, now: datetime) -> EndQuestion:
    """In a form whose typed end is far away, before it is sent again."""
    away = within(at - now)
    note = (
        f":alarm_clock: That's {local_time(at)}, {away} from now. Send the form again to confirm."
    )
    return EndQuestion(note, at.isoformat())


def doubt_in_form(asked: Asked, typed: TypedEnds, *, is_freeze: bool = False) -> EndQuestion:
    """In a form whose reason may hold an end, while its fields for an end are empty."""
    verb = "End" if is_freeze else "Resume"
    options = []
    for end in typed.ends[:MOST_READINGS]:
        label = f"{verb} {in_words(end, typed.now, typed.zone, asked.reason)}"
        value = written(end.asked.lasting) if end.asked.lasting is not None else ""
        options.append(blocks.option(label, value))
    options.append(blocks.option("No end: it belongs to the reason", controls.NO_END_OPTION))
    question = f":alarm_clock: “{literal(asked.reason, END_TYPED_SHOWN)}” may say until when."
    note = f"{question} Choose what you mean, or fill in another end below."
    return EndQuestion(note, choices=tuple(options))
