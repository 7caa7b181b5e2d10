"""The calendar of freezes and recurring windows, and the form that moves one."""

from collections.abc import Sequence
from datetime import datetime

from bot.acts.permission import Right
from bot.acts.reason import REASON_LIMIT
from bot.blocks import blocks, controls
from bot.blocks.message import Block, View
from bot.blocks.text import NAME_LIMIT, countdown, escape, listed, literal, local_time, person
from bot.freezes import actions
from bot.freezes.calendar import CalendarEntry, EntryState
from bot.freezes.texts.cards import FREEZE_MARK, conditions
from bot.freezes.texts.forms import CANCEL, STAYS_FROZEN, move_button
from bot.pauses.texts import ends as pause_ends

OVERLAPS_NAMED = 3
SKIPPED_MARK = ":fast_forward:"
PLANNED_MARK = ":alarm_clock:"
SKIP_QUESTION = "Merging isn't stopped at that time. The next times stay planned."
STARTS_LABEL = "Starts"
ENDS_LABEL = "Ends"
PAST_START = "Pick a time that is still to come."
NO_END_HINT = "Leave it empty to wait until someone ends it."
END_BEFORE_START = "Pick an end after the start."


def calendar_line(entry: CalendarEntry) -> str:
    """What it is, of which queue, why, and when."""
    return f"{_entry_headline(entry)}\n{_when(entry)}"


def short_calendar_line(entry: CalendarEntry) -> str:
    """The same in one line, among others."""
    return f"{_entry_headline(entry)} · {_when(entry)}"


def _entry_headline(entry: CalendarEntry) -> str:
    reason = literal(entry.reason, REASON_LIMIT)
    about = f": {reason}" if reason else ""
    return f"{_mark(entry)} *{escape(entry.repository)}*{about}"


def _mark(entry: CalendarEntry) -> str:
    if entry.state is EntryState.SKIPPED:
        return SKIPPED_MARK
    return FREEZE_MARK if entry.state is EntryState.IN_FORCE else PLANNED_MARK


def _when(entry: CalendarEntry) -> str:
    """In force until then, or from when until when; the nearer time is counted down."""
    ends_at = entry.ends_at
    if entry.state is EntryState.IN_FORCE:
        end = f"ends {countdown(ends_at)}" if ends_at is not None else "until someone ends it"
        return f"*In force*, {end}"
    end = f"until {local_time(ends_at)}" if ends_at is not None else "until someone ends it"
    if entry.state is EntryState.SKIPPED:
        return f"*Skipped this time*, was planned from {local_time(entry.begins_at)} {end}"
    return f"*Planned*, starts {countdown(entry.begins_at)}, {end}"


def calendar_rows(
    entries: Sequence[CalendarEntry], rights: frozenset[Right], *, offers_freezes: bool
) -> list[Block]:
    """Each with its facts, and with the buttons of what the person may do."""
    shown: list[Block] = []
    for entry in entries:
        shown += [blocks.divider(), blocks.section(calendar_line(entry))]
        facts = _entry_facts(entry)
        if any(facts):
            shown.append(blocks.context(*facts))
        buttons = _freeze_buttons(entry, rights, offers_freezes=offers_freezes)
        if buttons:
            shown.append(blocks.actions(buttons))
    return shown


def _entry_facts(entry: CalendarEntry) -> list[str]:
    matching = conditions(entry.terms.matching_conditions)
    excepted = conditions(entry.terms.exclude_conditions)
    return [
        f"By {person(entry.by)}" if entry.by else "",
        f"Only {matching}" if matching else "",
        f"Except {excepted}" if excepted else "",
        _overlap(entry),
    ]


def _overlap(entry: CalendarEntry) -> str:
    """What else is in force at the same time."""
    if not entry.overlaps:
        return ""
    names = [f"“{literal(reason, NAME_LIMIT)}”" for reason in entry.overlaps]
    others = listed(names, most=OVERLAPS_NAMED)
    return f"Overlaps with {others}: merging starts again once all are over"


def _freeze_buttons(
    entry: CalendarEntry, rights: frozenset[Right], *, offers_freezes: bool
) -> list[blocks.Element]:
    if entry.state is EntryState.SKIPPED:
        return []
    may_freeze = Right.FREEZE in rights and offers_freezes
    if entry.occurrence is not None:
        # Moving it skips it and makes a freeze.
        if Right.PAUSE not in rights:
            return []
        value = controls.control_value(entry.repository, entry.occurrence.name)
        shown = [_skip_button(entry, value)]
        if may_freeze:
            shown.append(move_button(entry.repository, actions.WINDOW_MOVE, value))
        return shown
    if entry.freeze_id is None or not may_freeze:
        return []
    value = controls.control_value(entry.repository, entry.freeze_id)
    if entry.state is EntryState.PLANNED:
        label = "Skip…" if entry.is_recurring else CANCEL
        return [
            _end_button(entry, label, value),
            move_button(entry.repository, actions.FREEZE_MOVE, value),
        ]
    endless = escape(entry.repository) if entry.ends_at is None else None
    extend = pause_ends.end_menu(value, actions.FREEZE_END, endless, STAYS_FROZEN)
    return [_end_button(entry, "End now…", value), extend]


def _end_button(entry: CalendarEntry, label: str, value: str) -> blocks.Element:
    spoken = f"{label.removesuffix('…')}: freeze of {entry.repository}"
    return blocks.button(label, action_id=actions.UNFREEZE, value=value, spoken=spoken)


def _skip_button(entry: CalendarEntry, value: str) -> blocks.Element:
    return blocks.button(
        "Skip",
        action_id=actions.SKIP,
        value=value,
        spoken=f"Skip: {entry.repository}",
        confirm=blocks.confirmation(
            "Skip this time?", SKIP_QUESTION, confirm="Skip", deny="Keep it", style="primary"
        ),
    )


def move_form(entry: CalendarEntry, action_id: str, value: str, channel_id: str | None) -> View:
    """Asks for other times."""
    starts = blocks.date_time_picker(actions.START_BLOCK, entry.begins_at)
    ends = blocks.date_time_picker(controls.END_AT_ACTION, entry.ends_at)
    hint = "In your own time zone." if entry.ends_at is not None else NO_END_HINT
    shown = [
        blocks.section(calendar_line(entry)),
        blocks.input_field(actions.START_BLOCK, STARTS_LABEL, starts),
        blocks.input_field(
            controls.END_AT_BLOCK,
            ENDS_LABEL,
            ends,
            hint=hint,
            optional=entry.ends_at is None,
        ),
    ]
    if entry.occurrence is not None:
        shown.append(
            blocks.context("A freeze at the new time takes the place of this one time only")
        )
    carried = {
        "target": value,
        "channel": channel_id,
        "action": action_id,
        "seen": drawn_for(entry.begins_at, entry.ends_at),
    }
    return blocks.modal(actions.MOVE_VIEW, "Move a freeze", shown, carried, submit="Move")


def drawn_for(begins_at: datetime, ends_at: datetime | None) -> str:
    """The times that the form shows, as it carries them."""
    times = [begins_at.isoformat()]
    if ends_at is not None:
        times.append(ends_at.isoformat())
    return " ".join(times)
