"""Statistics of a queue over some days: figures, a chart, and the same in words.

Of its merges and failures, and of what threw pull requests out, against the period before.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from bot.blocks import blocks
from bot.blocks.controls import SHARE
from bot.blocks.groups import name_of
from bot.blocks.message import Block, Message
from bot.blocks.overview import of_those_read, overview
from bot.blocks.paging import since_option
from bot.blocks.text import (
    NAME_LIMIT,
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
from bot.questions.statistics import DAY, CheckStatistics, QueueStatistics, Removals, Tally
from bot.verdicts.texts.leaving import leaving

TEN = 10
"""Smaller figures have a digit more."""

CUT = "The log is longer than I can read in one go"
GROUP_PAGE = 10
"""Queues of a group: the whole log of each is read."""

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
    shown = intro(f"{where}: {_verdict(found)}", _figures(found))
    notes = [f"Counted since {local_time(found.span.start)}"]

    has_chart = len(found.tallies) > 1 and found.merged + found.failed > 0
    if has_chart:
        shown.append(_chart(found))
        shown.append(blocks.section(_in_words(found)))
        notes.append(f"days of {escape(found.span.zone.key)}")
    if found.cut:
        notes.append(CUT)
    return blocks.message(*shown, blocks.context(*notes), _share_button(command))


def of_group(
    group: Group, since: timedelta, branch: str | None, found: GroupAnswers[QueueStatistics]
) -> Message:
    """The figures of each queue, and their sum."""
    merged = sum(queue.merged for queue in found.known)
    failed = sum(queue.failed for queue in found.known)
    on = f" on {code(branch, NAME_LIMIT)}" if branch else ""
    figures = f"{plural(merged, 'merge')}, {failed:,} failed in the last {period(since)}"
    title = f":bar_chart: *{name_of(group.name)}*{on}: {figures}{of_those_read(found)}"
    command = f"stats {group.mention} {since_option(since)}"
    if branch:
        command += f" branch:{branch}"
    context = CUT if any(queue.cut for queue in found.known) else ""
    return overview(title, found, _in_short, command=command, size=GROUP_PAGE, context=context)


def _in_short(found: QueueStatistics) -> str:
    failed = f"{found.failed:,} failed"
    if found.failure_share:
        failed += f" ({found.failure_share:.1%})"
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
    before = f" (was {found.before.count:,})" if found.before is not None else ""
    left = f"{found.now.count:,} left unmerged{before}"
    checks = _ranked("failed checks", _checks(found.now), None)
    return f"{left}, {checks}" if checks else left


def _verdict(found: QueueStatistics) -> str:
    """How many merges in which time, and how many a day."""
    length = found.span.end - found.span.start
    is_whole = length >= DAY and not found.cut
    back = plural(found.span.days, "day") if is_whole else f"the last {period(length)}"
    merges = f"{plural(found.merged, 'merge')} in {back}"

    a_day = found.merges_a_day
    if a_day is None or not found.merged:
        return merges
    digits = 0 if a_day >= TEN else 1
    return f"{merges}, {a_day:,.{digits}f} a day"


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
    count = f"{plural(now.count, 'pull request')} left the queue unmerged"
    notes = [f"{local_time(found.start)} to {local_time(found.end)}"]
    if before is not None:
        count += f" ({before.count:,} in the {period(found.asked)} before)"
    else:
        notes.append("The period before isn't fully known")

    shown = intro(f"*{escape(found.repository)}*: {count}", removals(now, before))
    if now.checks:
        shown.append(_check_chart(now, before))
    return [*shown, blocks.context(*notes)]


def removals(now: Removals, before: Removals | None) -> list[str]:
    """What threw pull requests out most, and how long the queue was held."""
    if before is None:
        lines = [
            _ranked("Failed checks", _checks(now), None),
            _ranked("Reasons", _reasons(now), None),
            _held("Paused", now.paused, None),
            _held("Frozen", now.frozen, None),
        ]
    else:
        lines = [
            _ranked("Failed checks", _checks(now), _checks(before)),
            _ranked("Reasons", _reasons(now), _reasons(before)),
            _held("Paused", now.paused, before.paused),
            _held("Frozen", now.frozen, before.frozen),
        ]
    return [line for line in lines if line]


def _checks(of: Removals) -> Mapping[str, int]:
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
    parts = [f"{name} {now[name]:,}{_was(name, before)}" for name in names[:RANKED]]
    if len(names) > RANKED:
        parts.append(f"and {len(names) - RANKED:,} more")
    return f"{title}: {', '.join(parts)}"


def _most_frequent(counts: Mapping[str, int]) -> list[str]:
    """All names, those with the highest count first."""
    return sorted(counts, key=lambda name: (-counts[name], name))


def _was(name: str, before: Mapping[str, int] | None) -> str:
    return f" (was {before.get(name, 0):,})" if before is not None else ""


def _held(word: str, now: timedelta, before: timedelta | None) -> str:
    """How long the queue was paused or frozen; empty if it never was."""
    if not now and not before:
        return ""
    said = f"{word} for {duration(now)}" if now else f"Never {word.lower()}"
    if before is None:
        return said
    return f"{said} (period before: {_length(before)})"


def _length(held: timedelta) -> str:
    return duration(held) if held else "never"


def _check_chart(now: Removals, before: Removals | None) -> Block:
    """Its labels are unique, as a chart needs: outside names may differ only beyond its limit."""
    names = _most_frequent(now.checks)[:CHARTED]
    labels = [f"{rank}. {clean(name, CHECK_NAME_LIMIT)}" for rank, name in enumerate(names, 1)]
    series = {"Now": [now.checks[name] for name in names]}
    if before is not None:
        series["Before"] = [before.checks.get(name, 0) for name in names]
    return blocks.bar_chart("Failures by check", labels, series)
