"""`docs/noise.md`: what was counted as tables, and read back from them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from bot.domain.classification import EventKind
from bot.domain.subscriptions import DEFAULT_TOPICS, Style
from tests.noise.busy_repository import CHECKS, PER_HOUR, RULES, TEMPO
from tests.noise.figures import PUT_BACK, Day, Heard, merges, together
from tests.noise.listening import WAYS, Way

COMMAND = "python -m tests.noise"
NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
TOLD = {
    "entered": EventKind.ENTER,
    "merged": EventKind.MERGE,
    "left on a failure": EventKind.FAILURE,
    "removed": EventKind.DEQUEUE,
    "checks started": EventKind.CHECKS_STARTED,
    "checks ended": EventKind.CHECKS_ENDED,
    "put back": PUT_BACK,
    "checks not started": EventKind.CHECKS_NOT_STARTED,
    "bisections begun": EventKind.BISECTION_STARTED,
    "bisections ended": EventKind.BISECTION_ENDED,
    "commands": EventKind.COMMAND,
    "paused": EventKind.PAUSE,
    "resumed": EventKind.RESUME,
    "other": EventKind.OTHER,
}
HEADS = ["Channel", "In the channel", "of them broadcast", "In threads", "Edits", "Mentions"]
_PUT_BACK = (
    "*Put back* are checks that were stopped and start again by themselves. *Other* events are "
    "told only to channels that subscribe to their very type."
)
_IN_THE_CHANNEL = (
    "*In the channel* is what everybody who reads the channel passes: posts and broadcast "
    "replies. Replies in threads and edits notify nobody who does not follow the thread."
)
_ROW = re.compile(r"^\| (.+) \|$", re.MULTILINE)


def page(seed: int, days: Sequence[Day]) -> str:
    """The whole document."""
    week = together(days)
    working = days[:5]
    average = sum(map(merges, working)) / len(working)
    parts = [
        "# Noise",
        "How much a channel gets to see of a busy repository's working week, in each style.",
        f"Made by `{COMMAND}` with seed {seed}; tests hold the page to it.",
        "## The week",
        _assumptions(average),
        _table(["Day", *TOLD], [*_happened(days), ["week", *_counts(week)]]),
        _PUT_BACK,
        "## What channels get",
        _IN_THE_CHANNEL,
        _table(HEADS, [_heard_row(_name(way), _of(week, way)) for way in WAYS]),
        _conclusion(week),
        "## Day by day",
        _table(["Day", *HEADS], list(_daily(days))),
    ]
    return "\n\n".join(parts) + "\n"


def read_days(document: str) -> list[Day]:
    """The days that a page was made of. Raises LookupError when it has none."""
    names = {_name(way): way.channel_id for way in WAYS}
    found = {name: Day(Counter(), {}) for name in NAMES}
    for name, *cells in (match[1].split(" | ") for match in _ROW.finditer(document)):
        if name not in found:
            continue
        day = found[name]
        if cells[0] not in names:
            kinds = [str(kind) for kind in TOLD.values()]
            day.happened.update(dict(zip(kinds, map(_number, cells), strict=True)))
            continue
        _, broadcasts, replies, edits, mentions = numbers = list(map(_number, cells[1:]))
        posts = numbers[0] - broadcasts
        day.heard[names[cells[0]]] = Heard(posts, broadcasts, replies, edits, mentions)
    return [found[name] for name in NAMES if found[name].heard]


def ratio(day: Day, topics: frozenset[str]) -> float:
    """How many messages in the channel style:feed makes of one that style:thread makes."""
    feed, thread = (_of(day, Way(style, topics)) for style in (Style.FEED, Style.THREAD))
    return feed.in_channel / thread.in_channel


def _assumptions(average: float) -> str:
    slowest = max(CHECKS, key=lambda check: check.longest)
    size = max(rule.batch_size for rule in RULES)
    return (
        f"The repository is one of the local merge queue service's own simulation, whose clock is "
        f"moved: {sum(PER_HOUR.values())} pull requests enter on an average working day, from "
        f"{min(PER_HOUR)}:00 to {max(PER_HOUR) + 1}:00 UTC, most before and after noon, besides "
        f"those that are mended and come again; {average:.0f} merge. Batches hold up to {size}, "
        f"five are checked at a time, and checks take {slowest.shortest / 60:.0f} to "
        f"{slowest.longest / 60:.0f} minutes. "
        f"{TEMPO.broken:.0%} of the pull requests are broken, {TEMPO.flaky:.0%} of the runs fail "
        f"by chance, {TEMPO.conflicting:.0%} conflict, {TEMPO.urgent:.0%} are urgent, "
        f"{TEMPO.regretted:.0%} are removed by their authors and {TEMPO.pushed:.0%} pushed to. "
        "The queue is paused on Monday for 20 minutes and on Wednesday for 75; on Tuesday and "
        "Friday somebody pushes past it.\n\n"
        "Events are read, routed, posted and edited by the bot's own use cases, on the fakes of "
        "the service and of Slack that the contract tests hold to the real ones, with SQLite. "
        "One channel is subscribed in each style with the default topics, one with `all`; the "
        "digest comes at 09:00 Europe/Paris. Three of the six who open pull requests have told "
        "the bot their login: they are mentioned where one of theirs fails and needs them."
    )


def _conclusion(week: Day) -> str:
    everything = next(way.topics for way in WAYS if way.topics != DEFAULT_TOPICS)
    entered, failed = (week.happened[one.value] for one in (EventKind.ENTER, EventKind.FAILURE))
    each = _of(week, Way(Style.FEED, DEFAULT_TOPICS)).in_channel / entered
    return (
        f"With `all`, `style:feed` makes {ratio(week, everything):.1f} times as many messages in "
        f"the channel as `style:thread`; with the default topics "
        f"{ratio(week, DEFAULT_TOPICS):.1f} times. A channel that is told in threads gets one "
        f"message for each stay in the queue, {entered:,} here, and one for each failure, "
        f"{failed:,}, whatever topics are told in the threads. A feed gets one for each event of "
        f"its topics, and one for what a batch merged: with the default ones that is {each:.1f} "
        "for each stay, so nothing that has a message for each stay can be five times quieter."
    )


def _happened(days: Sequence[Day]) -> Iterator[list[str]]:
    for name, day in zip(NAMES, days, strict=False):
        yield [name, *_counts(day)]


def _counts(day: Day) -> list[str]:
    return [f"{day.happened[str(kind)]:,}" for kind in TOLD.values()]


def _daily(days: Sequence[Day]) -> Iterator[list[str]]:
    for name, day in zip(NAMES, days, strict=False):
        for way in WAYS:
            yield [name, *_heard_row(_name(way), _of(day, way))]


def _heard_row(name: str, heard: Heard) -> list[str]:
    numbers = (heard.in_channel, heard.broadcasts, heard.replies, heard.edits, heard.mentions)
    return [name, *(f"{number:,}" for number in numbers)]


def _of(day: Day, way: Way) -> Heard:
    return day.heard.get(way.channel_id, Heard())


def _name(way: Way) -> str:
    topics = "default topics" if way.topics == DEFAULT_TOPICS else "`all`"
    return f"`style:{way.style}`, {topics}"


def _number(cell: str) -> int:
    return int(cell.replace(",", ""))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["--:"] * (len(heads) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, rule, *rows])
