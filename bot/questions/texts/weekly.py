"""The summary of a week in a queue, beside the week before."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from bot.blocks import blocks
from bot.blocks.message import Block, Message
from bot.blocks.text import by_count, duration, escape, local_time, plural
from bot.questions.texts.statistics import intro, removals
from bot.questions.weekly_figures import WeekComparison, WeekFigures

MINUTE = timedelta(minutes=1)

DAY_LABELS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
"""A week ends on a Monday morning; each of its days does at the same hour."""


def weekly(week: WeekComparison) -> Message:
    """For the channels subscribed to `weekly`. Its text has all that the chart shows."""
    found = week.removals
    head = f"Last week in *{escape(found.repository)}*: {plural(week.now.merged, 'merge')}"
    notes = [f"{local_time(found.start)} to {local_time(found.end)}"]
    if week.before is not None:
        head += f" ({week.before.merged:,} the week before)"
    else:
        notes.append("The week before isn't fully known")
    shown = intro(head, [*_figures(week), *removals(found.now, found.before)])
    return blocks.message(*shown, *_chart(week), blocks.context(*notes))


def _figures(week: WeekComparison) -> Iterable[str]:
    """Each with its figure of the week before, if that is known."""
    now = week.now
    before = week.before
    length = now.time_in_queue
    if length is not None:
        yield (
            f"Time in the queue: median {duration(length.median)}, "
            f"90% within {duration(length.ninetieth)}{_time_before(before)}"
        )
    if now.attempts is not None:
        was = _was(before.attempts if before is not None else None)
        yield f"Runs of checks for each merge: {now.attempts:.1f}{was}"
    count = week.removals.now.count
    if count:
        was_removed = week.removals.before
        was = f" (was {was_removed.count:,})" if was_removed is not None else ""
        yield (
            by_count(
                count,
                "{count} pull request left the queue unmerged",
                "{count} pull requests left the queue unmerged",
            )
            + was
        )
    yield from _disturbances(now, before)


def _disturbances(now: WeekFigures, before: WeekFigures | None) -> Iterable[str]:
    if now.restarted or (before is not None and before.restarted):
        was = f" (was {before.restarted:,})" if before is not None else ""
        yield f"Batches that started over: {now.restarted:,}{was}"
    if now.around or (before is not None and before.around):
        was = f" (was {before.around:,})" if before is not None else ""
        yield f"Merged around the queue: {now.around:,}{was}"


def _was(attempts: float | None) -> str:
    return f" (was {attempts:.1f})" if attempts is not None else ""


def _time_before(before: WeekFigures | None) -> str:
    length = before.time_in_queue if before is not None else None
    if length is None:
        return ""
    return f" (was {duration(length.median)}, {duration(length.ninetieth)})"


def _chart(week: WeekComparison) -> list[Block]:
    """The median of each day as bars, and the same in words for clients without charts."""
    if not any(week.now.by_day):
        return []
    series = {"Last week": _minutes(week.now)}
    if week.before is not None:
        series["Week before"] = _minutes(week.before)
    chart = blocks.bar_chart("Median minutes in the queue", DAY_LABELS, series)
    return [chart, blocks.context(f"Median time in the queue: {_in_words(week)}")]


def _minutes(figures: WeekFigures) -> list[int]:
    return [round(length / MINUTE) if length is not None else 0 for length in figures.by_day]


def _in_words(week: WeekComparison) -> str:
    """The chart's figures, without days on which nothing merged."""
    before: Mapping[int, timedelta | None] = {}
    if week.before is not None:
        before = dict(enumerate(week.before.by_day))
    said = []
    for place, (day, length) in enumerate(zip(DAY_LABELS, week.now.by_day, strict=True)):
        if length is None:
            continue
        earlier = before.get(place)
        was = f" (was {duration(earlier)})" if earlier is not None else ""
        said.append(f"{day} {duration(length)}{was}")
    return ", ".join(said)
