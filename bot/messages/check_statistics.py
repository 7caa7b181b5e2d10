"""What threw pull requests out of a queue: figures against the period before, and a chart."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta

from bot.domain.check_statistics import CheckStatistics, Removals
from bot.domain.message import Block, Message
from bot.messages import blocks
from bot.messages.actions import SHARE
from bot.messages.events.wording import leaving
from bot.messages.paging import since_option
from bot.messages.text import clean, duration, escape, local_time, period, plural, quote

SHOWN = 5
CHARTED = 6
NAME_LIMIT = 60


def statistics(found: CheckStatistics) -> Message:
    """For the person who asked, with *Share in channel*."""
    command = f"stats checks {found.repository} {since_option(found.asked)}"
    share = blocks.button("Share in channel", action_id=SHARE, value=command)
    return blocks.message(*shared(found).blocks, blocks.actions([share]))


def weekly(found: CheckStatistics) -> Message:
    """For the channels subscribed to `weekly`."""
    return shared(found, "Last week in ")


def shared(found: CheckStatistics, intro: str = "") -> Message:
    """For everybody in a channel."""
    count = f"{plural(found.now.count, 'pull request')} left the queue unmerged"
    head = f"{intro}*{escape(found.repository)}*: {count}{_before(found, _count(found))}"
    shown: list[Block] = [blocks.section(f":bar_chart: {head}")]
    lines = _figures(found)
    if lines:
        shown.append(blocks.section("\n".join(f"• {line}" for line in lines)))
    if found.now.checks:
        shown.append(_chart(found))
    shown.append(
        blocks.context(
            f"{local_time(found.start)} to {local_time(found.end)}",
            "" if found.before is not None else "the time before isn't known in full",
        )
    )
    return blocks.message(*shown)


def _count(found: CheckStatistics) -> str:
    return f"{found.before.count:,}" if found.before is not None else ""


def _before(found: CheckStatistics, figure: str) -> str:
    """The figure of the period before, if that is known."""
    return f" ({figure} in the {period(found.asked)} before)" if figure else ""


def _figures(found: CheckStatistics) -> list[str]:
    now, before = found.now, found.before
    lines = [
        _ranked("Failed checks", _checks(now), _checks(before) if before is not None else None),
        _ranked("Reasons", _reasons(now), _reasons(before) if before is not None else None),
        _held("Paused", now.paused, before.paused if before is not None else None),
        _held("Frozen", now.frozen, before.frozen if before is not None else None),
    ]
    return [line for line in lines if line]


def _checks(of: Removals) -> Mapping[str, int]:
    named: Counter[str] = Counter()
    for name, many in of.checks.items():
        named[quote(name, NAME_LIMIT)] += many
    return named


def _reasons(of: Removals) -> Mapping[str, int]:
    named: Counter[str] = Counter()
    for code, many in of.reasons.items():
        named[leaving(code, None).verdict] += many
    return named


def _ranked(title: str, now: Mapping[str, int], before: Mapping[str, int] | None) -> str:
    """The most frequent first, each with its figure before."""
    if not now:
        return ""
    names = sorted(now, key=lambda one: (-now[one], one))
    parts = [f"{name} {now[name]:,}{_was(name, before)}" for name in names[:SHOWN]]
    more = f", and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return f"{title}: {', '.join(parts)}{more}"


def _was(name: str, before: Mapping[str, int] | None) -> str:
    return f" (was {before.get(name, 0):,})" if before is not None else ""


def _held(word: str, now: timedelta, before: timedelta | None) -> str:
    if not now and not before:
        return ""
    was = f" (was {_length(before)})" if before is not None else ""
    return f"{word} for {_length(now)}{was}"


def _length(held: timedelta) -> str:
    return duration(held) if held else "no time"


def _chart(found: CheckStatistics) -> Block:
    names = sorted(found.now.checks, key=lambda one: (-found.now.checks[one], one))[:CHARTED]
    series = {"Now": [found.now.checks[one] for one in names]}
    if found.before is not None:
        series["Before"] = [found.before.checks.get(one, 0) for one in names]
    return blocks.bar_chart("Pull requests out, by failed check", _labels(names), series)


def _labels(names: list[str]) -> list[str]:
    """Unique labels, as the chart needs them: outside names may differ only beyond its limit."""
    return [f"{place}. {clean(name, NAME_LIMIT)}" for place, name in enumerate(names, 1)]
