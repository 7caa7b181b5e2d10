"""A page of the event log, newest first."""

from collections.abc import Collection
from datetime import datetime, timedelta

from bot.blocks import blocks, controls
from bot.blocks.groups import name_of
from bot.blocks.message import Message
from bot.blocks.overview import GROUP_QUEUES_PER_PAGE as GROUP_PAGE, overview
from bot.blocks.paging import since_option
from bot.blocks.text import NAME_LIMIT, code, cut_markup, escape, local_time, period, plural
from bot.feed.texts.event_posts import event_headline, who
from bot.kernel.groups import Group, GroupAnswers
from bot.merge_queue.event_records import EventRecord
from bot.questions import actions as question_actions
from bot.questions.snapshots import LogPage, LogPlace

LINES_ROOM = 8000
"""Characters that the events of a page share."""


def event_log(page: LogPage) -> Message:
    """A line for each event, and buttons for other pages."""
    selection = page.place.selection
    name = escape(selection.repository)
    title = _title(name, selection.pull_request, selection.branch, selection.types)
    shown = [blocks.section(title)]
    if page.restarted:
        shown.append(blocks.context(RESTARTED))
    if not page.records:
        shown.append(blocks.section(_nothing(page)))
    room = LINES_ROOM // max(len(page.records), 1)
    shown += [blocks.section(cut_markup(_of_event(page, record), room)) for record in page.records]
    times = [record.received_at for record in page.records]
    unreadable = plural(page.unreadable, "entry", "entries")
    facts = [
        f"{_span(times[-1], times[0])}, newest first" if times else "",
        f"{unreadable} couldn't be read" if page.unreadable else "",
    ]
    if any(facts):
        shown.append(blocks.context(*facts))
    buttons = _page_buttons(page)
    if buttons:
        shown.append(blocks.actions(buttons))
    return blocks.message(*shown)


def _title(name: str, pull_request: int | None, branch: str | None, types: Collection[str]) -> str:
    """`name`: escaped. What was asked for follows."""
    parts = [
        f"*Event log · {name}*",
        f"#{pull_request}" if pull_request is not None else "",
        code(branch, NAME_LIMIT) if branch is not None else "",
        ", ".join(code(event_type, NAME_LIMIT) for event_type in sorted(types)),
    ]
    return f":scroll: {' · '.join(filter(None, parts))}"


def log_of_group(
    group: Group,
    found: GroupAnswers[LogPage],
    *,
    since: timedelta,
    pull_request: int | None = None,
    branch: str | None = None,
    types: Collection[str] = (),
) -> Message:
    """The newest event of each queue."""
    typed = [
        f"log {group.mention}",
        f"pr:{pull_request}" if pull_request is not None else "",
        f"branch:{branch}" if branch is not None else "",
        f"type:{','.join(sorted(types))}" if types else "",
        since_option(since),
    ]
    return overview(
        _title(name_of(group.name), pull_request, branch, types),
        found,
        _newest,
        command=" ".join(filter(None, typed)),
        size=GROUP_PAGE,
        context=f"The newest event of each in the last {period(since)}",
    )


def _newest(page: LogPage) -> str:
    if not page.records:
        return "no events"
    return _of_event(page, page.records[0]).replace("\n", " · ")


RESTARTED = "That page has expired; this is the newest one."


def _nothing(page: LogPage) -> str:
    if page.unreadable:
        return "Nothing on this page can be read."
    if page.place.cursor is not None:
        return "Nothing more."
    window = page.place.selection.window
    return f"No events from {_span(window.received_from, window.received_to)}."


def _of_event(page: LogPage, record: EventRecord) -> str:
    seen = page.seen.get(record.pull_request) if record.pull_request is not None else None
    kind = page.kinds.get(record.event_id)
    said = event_headline(record, seen, kind)
    branch = record.base_ref if page.place.selection.branch is None else None
    facts = [
        who(record, kind),
        local_time(record.received_at),
        code(branch, NAME_LIMIT) if branch else "",
    ]
    return f"{said}\n{' · '.join(fact for fact in facts if fact)}"


def _span(oldest: datetime, newest: datetime) -> str:
    return f"{local_time(oldest)} to {local_time(newest)}"


def _page_buttons(page: LogPage) -> list[blocks.Element]:
    buttons: list[blocks.Element] = []
    if page.newer is not None:
        label = "Newest" if page.newer.cursor is None else "Newer"
        newest = LogPlace(page.newer.selection)
        buttons += _button(label, question_actions.LOG_NEWER, page.newer, newest)
    if page.older is not None:
        instead = LogPlace(page.older.selection)
        if page.records:
            instead = page.older.ending_at(page.records[-1].received_at)
        buttons += _button("Older", question_actions.LOG_OLDER, page.older, instead)
    return buttons


def _button(label: str, action_id: str, place: LogPlace, instead: LogPlace) -> list[blocks.Element]:
    """The button of a page, or of the one `instead` if its cursor is too long for a button."""
    values = [controls.value_of(place), controls.value_of(instead)]
    fitting = [value for value in values if len(value) <= blocks.VALUE_LIMIT][:1]
    return [blocks.button(label, action_id=action_id, value=value) for value in fitting]
