"""Statistics of a queue over some days: figures, a chart, and the same in words.

Of its merges and failures, and of what threw pull requests out, against the period before.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from bot.blocks import blocks
from bot.blocks.controls import SHARE
from bot.blocks.groups import name_of
from bot.blocks.message import Block, Message
from bot.blocks.overview import of_those_read, overview
from bot.blocks.paging import since_option
from bot.blocks.text import (
    NAME_LIMIT,
    by_count,
    clean,
    code,
    duration,
    escape,
    local_time,
    period,
    plural,
    quote,
)
from bot.kernel.groups import Group, GroupAnswers
from bot.questions.check_statistics import CheckStatistics, Removals
from bot.questions.statistics import DAY, QueueStatistics, Tally
from bot.verdicts.texts.leaving import leaving

TEN = 10
"""Smaller figures have a digit more."""

CUT = "The log is longer than I can read in one go"
GROUP_PAGE = 10
"""Queues of a group: the whole log of each is read."""


class StoppedTexts(NamedTuple):
    """For how long the queue was paused or frozen, now and in the period before."""

    only_now: str  #: the period before isn't fully known
    not_before: str
    both: str
    only_before: str


PAUSED_FOR = StoppedTexts(
    "Paused for {now}",
    "Paused for {now} (period before: never)",
    "Paused for {now} (period before: {before})",
    "Never paused (period before: {before})",
)
FROZEN_FOR = StoppedTexts(
    "Frozen for {now}",
    "Frozen for {now} (period before: never)",
    "Frozen for {now} (period before: {before})",
    "Never frozen (period before: {before})",
)

RANKED = 5
CHARTED = 6
CHECK_NAME_LIMIT = 60


def intro(head: str, lines: Sequence[str]) -> list[Block]:
    """The headline, and a bullet for each line."""
    shown: list[Block] = [blocks.section(f":bar_chart: {head}")]
    if lines:
        shown.append(blocks.section("\n".join(f"• {line}" for line in lines)))
    return shown


def _share_button(command: str) -> Block:
    share = blocks.button("Share in channel", action_id=SHARE, value=command)
    return blocks.actions([share])


def statistics(found: QueueStatistics) -> Message:
    """Merges and failures of one queue."""
    where = f"*{escape(found.repository)}*"
    command = f"stats {found.repository} {since_option(found.span.asked)}"
    if found.branch is not None:
        where += f" on {code(found.branch, NAME_LIMIT)}"
        command += f" branch:{found.branch}"
    shown = intro(f"{where}: {_pace(found)}", _figures(found))
    notes = [f"Counted since {local_time(found.span.start)}"]

    has_chart = len(found.tallies) > 1 and found.merged + found.failed > 0
    if has_chart:
        shown.append(_chart(found))
        shown.append(blocks.section(_in_words(found)))
        notes.append(f"days of {escape(found.span.zone.key)}")
    if found.cut:
        notes.append(CUT)
    return blocks.message(*shown, blocks.context(*notes), _share_button(command))


def statistics_of_group(
    group: Group, since: timedelta, branch: str | None, found: GroupAnswers[QueueStatistics]
) -> Message:
    """The figures of each queue, and their sum."""
    merged = sum(queue.merged for queue in found.known)
    failed = sum(queue.failed for queue in found.known)
    where = f"*{name_of(group.name)}*"
    if branch:
        where = f"*{name_of(group.name)}* on {code(branch, NAME_LIMIT)}"
    figures = f"{plural(merged, 'merge')}, {failed:,} failed in the last {period(since)}"
    title = f":bar_chart: {where}: {figures}{of_those_read(found)}"
    command = f"stats {group.mention} {since_option(since)}"
    if branch:
        command += f" branch:{branch}"
    context = CUT if any(queue.cut for queue in found.known) else ""
    return overview(title, found, _in_short, command=command, size=GROUP_PAGE, context=context)


def _in_short(found: QueueStatistics) -> str:
    failed = f"{found.failed:,} failed"
    if found.failure_share:
        failed = f"{found.failed:,} failed ({found.failure_share:.1%})"
    facts = [plural(found.merged, "merge"), failed]
    if found.time_in_queue is not None:
        facts.append(f"median {duration(found.time_in_queue.median)} in the queue")
    if found.cut:
        facts.append(f"only since {local_time(found.span.start)}")
    return ", ".join(facts)


def checks_of_group(
    group: Group, since: timedelta, found: GroupAnswers[CheckStatistics]
) -> Message:
    """What threw pull requests out of each queue, and how many in all."""
    count = plural(sum(queue.now.count for queue in found.known), "pull request")
    left = f"{count} left the queues unmerged in the last {period(since)}"
    title = f":bar_chart: *{name_of(group.name)}*: {left}{of_those_read(found)}"
    command = f"stats checks {group.mention} {since_option(since)}"
    return overview(title, found, _checks_in_short, command=command, size=GROUP_PAGE)


def _checks_in_short(found: CheckStatistics) -> str:
    left = f"{found.now.count:,} left unmerged"
    if found.before is not None:
        left = f"{found.now.count:,} left unmerged (was {found.before.count:,})"
    checks = _ranked("failed checks", _shown_checks(found.now), None)
    return f"{left}, {checks}" if checks else left


def _pace(found: QueueStatistics) -> str:
    """How many merges in which time, and how many a day."""
    merges = plural(found.merged, "merge")
    length = found.span.end - found.span.start
    is_whole = length >= DAY and not found.cut
    a_day = _a_day(found)
    if is_whole and a_day:
        return f"{merges} in {plural(found.span.days, 'day')}, {a_day} a day"
    if is_whole:
        return f"{merges} in {plural(found.span.days, 'day')}"
    if a_day:
        return f"{merges} in the last {period(length)}, {a_day} a day"
    return f"{merges} in the last {period(length)}"


def _a_day(found: QueueStatistics) -> str:
    """How many merges, with a digit more if they are few; empty if that says nothing."""
    a_day = found.merges_a_day
    if a_day is None or not found.merged:
        return ""
    return f"{a_day:,.0f}" if a_day >= TEN else f"{a_day:,.1f}"


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


def _chart(found: QueueStatistics) -> Block:
    title = "Merged and failed, day by day"
    if any(tally.first != tally.last for tally in found.tallies):
        title = "Merged and failed, week by week"
    series = {
        "Merged": [tally.merged for tally in found.tallies],
        "Failed": [tally.failed for tally in found.tallies],
    }
    return blocks.bar_chart(title, [_label(tally) for tally in found.tallies], series)


def _label(tally: Tally) -> str:
    if tally.first == tally.last:
        return f"{tally.first:%a} {_month_day(tally.first)}"
    return f"{_month_day(tally.first)} to {_month_day(tally.last)}"


def _month_day(day: date) -> str:
    return f"{day:%b} {day.day}"


def _in_words(found: QueueStatistics) -> str:
    """The chart's figures, without days on which nothing happened."""
    lines = []
    for tally in found.tallies:
        facts = (
            (tally.merged, "merged"),
            (tally.failed, "failed"),
            (tally.left, "left for another reason"),
        )
        figures = " · ".join(f"{many:,} {word}" for many, word in facts if many)
        if figures:
            lines.append(f"{_label(tally)}: {figures}")
    return "\n".join(lines)


def check_statistics(found: CheckStatistics) -> Message:
    command = f"stats checks {found.repository} {since_option(found.asked)}"
    return blocks.message(*_compared(found), _share_button(command))


def _compared(found: CheckStatistics) -> list[Block]:
    """What left the queue, against the period before."""
    now = found.now
    before = found.before
    notes = [f"{local_time(found.start)} to {local_time(found.end)}"]
    if before is None:
        notes.append("The period before isn't fully known")

    shown = intro(f"*{escape(found.repository)}*: {_left_unmerged(found)}", removals(now, before))
    if now.checks:
        shown.append(_check_chart(now, before))
    return [*shown, blocks.context(*notes)]


def _left_unmerged(found: CheckStatistics) -> str:
    left = by_count(
        found.now.count,
        "{count} pull request left the queue unmerged",
        "{count} pull requests left the queue unmerged",
    )
    if found.before is None:
        return left
    return f"{left} ({found.before.count:,} in the {period(found.asked)} before)"


def removals(now: Removals, before: Removals | None) -> list[str]:
    """What threw pull requests out most, and for how long the queue was paused or frozen."""
    if before is None:
        lines = [
            _ranked("Failed checks", _shown_checks(now), None),
            _ranked("Reasons", _reasons(now), None),
            _stopped_for(PAUSED_FOR, now.paused, None),
            _stopped_for(FROZEN_FOR, now.frozen, None),
        ]
    else:
        lines = [
            _ranked("Failed checks", _shown_checks(now), _shown_checks(before)),
            _ranked("Reasons", _reasons(now), _reasons(before)),
            _stopped_for(PAUSED_FOR, now.paused, before.paused),
            _stopped_for(FROZEN_FOR, now.frozen, before.frozen),
        ]
    return [line for line in lines if line]


def _shown_checks(of: Removals) -> Mapping[str, int]:
    return _added((quote(name, CHECK_NAME_LIMIT), many) for name, many in of.checks.items())


def _reasons(of: Removals) -> Mapping[str, int]:
    return _added((leaving(code, None).cause, many) for code, many in of.reasons.items())


def _added(counts: Iterable[tuple[str, int]]) -> Mapping[str, int]:
    """Different names may look the same when they are shown."""
    named: Counter[str] = Counter()
    for name, many in counts:
        named[name] += many
    return named


def _ranked(title: str, now: Mapping[str, int], before: Mapping[str, int] | None) -> str:
    """The most frequent first, each with its figure before."""
    if not now:
        return ""
    names = _most_frequent(now)
    parts = [_figure(name, now, before) for name in names[:RANKED]]
    if len(names) > RANKED:
        parts.append(f"and {len(names) - RANKED:,} more")
    return f"{title}: {', '.join(parts)}"


def _most_frequent(counts: Mapping[str, int]) -> list[str]:
    """All names, those with the highest count first."""
    return sorted(counts, key=lambda name: (-counts[name], name))


def _figure(name: str, now: Mapping[str, int], before: Mapping[str, int] | None) -> str:
    if before is None:
        return f"{name} {now[name]:,}"
    return f"{name} {now[name]:,} (was {before.get(name, 0):,})"


def _stopped_for(said: StoppedTexts, now: timedelta, before: timedelta | None) -> str:
    """For how long the queue was paused or frozen; empty if it never was."""
    if not now and not before:
        return ""
    if before is None:
        return said.only_now.format(now=duration(now))
    if not before:
        return said.not_before.format(now=duration(now))
    text = said.both if now else said.only_before
    return text.format(now=duration(now), before=duration(before))


def _check_chart(now: Removals, before: Removals | None) -> Block:
    """Its labels are unique, as a chart needs: outside names may differ only beyond its limit."""
    names = _most_frequent(now.checks)[:CHARTED]
    labels = [f"{rank}. {clean(name, CHECK_NAME_LIMIT)}" for rank, name in enumerate(names, 1)]
    series = {"Now": [now.checks[name] for name in names]}
    if before is not None:
        series["Before"] = [before.checks.get(name, 0) for name in names]
    return blocks.bar_chart("Failures by check", labels, series)
