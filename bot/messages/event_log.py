"""A page of the event log, newest first."""

from datetime import datetime

from bot.domain.event_records import EventRecord
from bot.domain.message import Message
from bot.domain.snapshots import LogPage, LogPlace
from bot.messages import actions, blocks
from bot.messages.events.event_posts import headline
from bot.messages.text import NAME_LIMIT, code, cut_markup, escape, local_time, plural

LINES_ROOM = 8000
"""Characters that the events of a page share."""


def event_log(page: LogPage) -> Message:
    """A line for each event, and buttons for other pages."""
    selection = page.place.selection
    parts = [
        f"#{selection.pull_request}" if selection.pull_request is not None else "",
        code(selection.branch, NAME_LIMIT) if selection.branch is not None else "",
        ", ".join(code(one, NAME_LIMIT) for one in sorted(selection.types)),
    ]
    title = " · ".join(filter(None, [f"*{escape(selection.repository)}* event log", *parts]))
    shown = [blocks.section(f":scroll: {title}")]
    if page.restarted:
        shown.append(blocks.context(RESTARTED))
    if not page.records:
        shown.append(blocks.section(_nothing(page)))
    room = LINES_ROOM // max(len(page.records), 1)
    shown += [blocks.section(cut_markup(_line(page, record), room)) for record in page.records]
    times = [record.received_at for record in page.records]
    unreadable = plural(page.unreadable, "entry", "entries")
    facts = [
        _span(times[-1], times[0]) if times else "",
        f"{unreadable} could not be read" if page.unreadable else "",
    ]
    shown.append(blocks.context("newest first", *facts))
    buttons = _buttons(page)
    if buttons:
        shown.append(blocks.actions(buttons))
    return blocks.message(*shown)


RESTARTED = "That page has expired; this is the newest one."


def _nothing(page: LogPage) -> str:
    if page.unreadable:
        return "Nothing on this page can be read."
    if page.place.cursor is not None:
        return "Nothing more."
    window = page.place.selection.window
    return f"No events from {_span(window.received_from, window.received_to)}."


def _line(page: LogPage, record: EventRecord) -> str:
    seen = page.seen.get(record.pull_request) if record.pull_request is not None else None
    said = headline(record, seen, page.kinds.get(record.event_id))
    branch = record.base_ref if page.place.selection.branch is None else None
    facts = [local_time(record.received_at), code(branch, NAME_LIMIT) if branch else ""]
    return f"{said}\n{' · '.join(fact for fact in facts if fact)}"


def _span(oldest: datetime, newest: datetime) -> str:
    return f"{local_time(oldest)} to {local_time(newest)}"


def _buttons(page: LogPage) -> list[blocks.Element]:
    buttons: list[blocks.Element] = []
    if page.newer is not None:
        label = "Newest" if page.newer.cursor is None else "Newer"
        newest = LogPlace(page.newer.selection)
        buttons += _button(label, actions.LOG_NEWER, page.newer, newest)
    if page.older is not None:
        instead = LogPlace(page.older.selection)
        if page.records:
            instead = page.older.ending_at(page.records[-1].received_at)
        buttons += _button("Older", actions.LOG_OLDER, page.older, instead)
    return buttons


def _button(label: str, action_id: str, place: LogPlace, instead: LogPlace) -> list[blocks.Element]:
    """The button of a page, or of the one `instead` if its cursor is too long for a button."""
    values = [actions.value_of(place), actions.value_of(instead)]
    fitting = [one for one in values if len(one) <= blocks.VALUE_LIMIT][:1]
    return [blocks.button(label, action_id=action_id, value=value) for value in fitting]
