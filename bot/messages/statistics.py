"""Queue statistics over some days: figures, a chart, and the same in words."""

from datetime import date

from bot.domain.message import Block, Message
from bot.domain.queue_statistics import DAY, QueueStatistics, Tally
from bot.messages import blocks
from bot.messages.actions import SHARE
from bot.messages.paging import since_option
from bot.messages.text import (
    NAME_LIMIT,
    code,
    duration,
    escape,
    local_time,
    period,
    plural,
)


def statistics(found: QueueStatistics) -> Message:
    """For the person who asked, with *Share in channel*."""
    branch = f" branch:{found.branch}" if found.branch is not None else ""
    command = f"stats {found.repository} {since_option(found.span.asked)}{branch}"
    share = blocks.button("Share in channel", action_id=SHARE, value=command)
    return blocks.message(*shared(found).blocks, blocks.actions([share]))


def shared(found: QueueStatistics) -> Message:
    """For everybody in a channel."""
    lines = _figures(found)
    head = f"*{escape(found.repository)}*{_branch(found)}: {_verdict(found)}"
    shown: list[Block] = [blocks.section(f":bar_chart: {head}")]
    if lines:
        shown.append(blocks.section("\n".join(f"• {line}" for line in lines)))
    if _has_chart(found):
        shown += [_chart(found), blocks.section(_in_words(found))]
    shown.append(
        blocks.context(
            f"Counted since {local_time(found.span.start)}",
            f"days of {escape(found.span.zone.key)}" if _has_chart(found) else "",
            "the log is longer than I can read in one go" if found.cut else "",
        )
    )
    return blocks.message(*shown)


def _branch(found: QueueStatistics) -> str:
    return f" on {code(found.branch, NAME_LIMIT)}" if found.branch is not None else ""


def _verdict(found: QueueStatistics) -> str:
    length = found.span.end - found.span.start
    is_whole = length >= DAY and not found.cut
    back = plural(found.span.days, "day") if is_whole else f"the last {period(length)}"
    a_day = found.merges_a_day
    rate = f", {_number(a_day)} a day" if a_day is not None and found.merged else ""
    return f"{plural(found.merged, 'merge')} in {back}{rate}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"  # noqa: PLR2004 - a digit more below


def _figures(found: QueueStatistics) -> list[str]:
    lines = []
    length = found.time_in_queue
    if length is not None:
        lines.append(
            f"Time in the queue: median {duration(length.median)}, "
            f"90% within {duration(length.ninetieth)}"
        )
    share = found.failure_share
    if share is not None:
        lines.append(f"Failed: {found.failed:,} of {found.merged + found.failed:,} ({share:.1%})")
    if found.left:
        lines.append(f"Left for another reason, mostly removed by a person: {found.left:,}")
    return lines


def _has_chart(found: QueueStatistics) -> bool:
    return len(found.tallies) > 1 and found.merged + found.failed > 0


def _chart(found: QueueStatistics) -> Block:
    title = "Merged and failed, day by day"
    if any(one.first != one.last for one in found.tallies):
        title = "Merged and failed, week by week"
    series = {
        "Merged": [one.merged for one in found.tallies],
        "Failed": [one.failed for one in found.tallies],
    }
    return blocks.bar_chart(title, [_label(one) for one in found.tallies], series)


def _label(one: Tally) -> str:
    if one.first == one.last:
        return f"{one.first:%a} {_month_day(one.first)}"
    return f"{_month_day(one.first)} to {_month_day(one.last)}"


def _month_day(day: date) -> str:
    return f"{day:%b} {day.day}"


def _in_words(found: QueueStatistics) -> str:
    """The chart's figures, without days on which nothing happened."""
    lines = []
    for one in found.tallies:
        facts = (
            (one.merged, "merged"),
            (one.failed, "failed"),
            (one.left, "left for another reason"),
        )
        figures = " · ".join(f"{many:,} {word}" for many, word in facts if many)
        if figures:
            lines.append(f"{_label(one)}: {figures}")
    return "\n".join(lines)
