"""`docs/noise.md`: what was counted in the week, for each level."""

from collections.abc import Sequence

from bot.channels.subscription import TOPICS_OF_LEVELS, Style
from bot.log.classification import EventKind
from tests.noise.busy_repository import CHECKS, PER_HOUR, RULES, TEMPO
from tests.noise.figures import Day, together
from tests.noise.listening import LEVEL_WAYS, WAYS, Way

COMMAND = "python -m tests.noise"
HEADS = """\
| Subscription | In the channel | per merge | In threads | Edits | Mentions |
| --- | --: | --: | --: | --: | --: |"""


def page(seed: int, days: Sequence[Day], nights: Sequence[Day]) -> str:
    """The whole document."""
    week = together(days)
    parts = [
        "# Noise",
        "How many messages a channel gets in a busy repository's working week, at each level.",
        f"`{COMMAND}` makes this page with seed {seed}.",
        "## Levels",
        "\n".join([HEADS, *(_row(way, week) for way in WAYS)]),
        (
            "*In the channel* are posts and broadcast replies, which everybody sees. Replies in "
            "threads and edits notify only people who follow the thread."
        ),
        "\n".join(
            f"- `{way.level}`: {', '.join(sorted(TOPICS_OF_LEVELS[way.level]))}"
            for way in LEVEL_WAYS
        ),
        "## When much fails",
        _nights(nights),
        "## The week",
        _assumptions(days),
        (
            "The service and Slack are fakes. One channel has each subscription; three of six "
            "authors have linked their login."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _row(way: Way, week: Day) -> str:
    channel_id = way.channel_id
    heard = week.heard[way.channel_id]
    style = "" if way.style is Style.THREAD else f", `style:{way.style}`"
    numbers = [f"{heard[what]:,}" for what in ("replies", "edits", "mentions")]
    seen = week.in_channel(channel_id)
    per_merge = week.per_merge(channel_id)
    return f"| `{way.level}`{style} | {seen:,} | {per_merge:.2f} | {' | '.join(numbers)} |"


def _nights(nights: Sequence[Day]) -> str:
    bad, returning = nights
    failures = bad.happened[EventKind.FAILURE.value]
    returns = returning.happened[EventKind.FAILURE.value]
    heads = "| | " + " | ".join(f"`{way.level}`" for way in LEVEL_WAYS) + " |"
    line = "| --- |" + " --: |" * len(LEVEL_WAYS)
    rows = [
        _night(f"{failures} pull requests fail in an hour", bad),
        _night(f"one pull request fails {returns} times, queued again by a script", returning),
    ]
    return "\n".join(["Messages in the channel:", "", heads, line, *rows])


def _night(what: str, lived: Day) -> str:
    counts = [f"{lived.in_channel(way.channel_id):,}" for way in LEVEL_WAYS]
    return f"| {what} | {' | '.join(counts)} |"


def _assumptions(days: Sequence[Day]) -> str:
    week = together(days)
    working = days[:5]
    average = sum(day.merges for day in working) / len(working)
    slowest = max(CHECKS, key=lambda check: check.longest)
    size = max(rule.batch_size for rule in RULES)
    counts = ", ".join(
        f"{week.happened[kind.value]:,} {word}"
        for word, kind in (
            ("entered", EventKind.ENTER),
            ("merged", EventKind.MERGE),
            ("failed", EventKind.FAILURE),
            ("were removed", EventKind.DEQUEUE),
        )
    )
    return (
        "The local merge queue service simulates one repository: "
        f"{sum(PER_HOUR.values())} new pull requests on an average working day from "
        f"{min(PER_HOUR)}:00 to {max(PER_HOUR) + 1}:00 UTC, of which {average:.0f} merge. In the "
        f"week {counts}. Batches hold up to {size}, five are checked at a time, and checks take "
        f"{slowest.shortest / 60:.0f} to {slowest.longest / 60:.0f} minutes. "
        f"Of the pull requests {TEMPO.broken:.0%} are broken, {TEMPO.conflicting:.0%} conflict, "
        f"{TEMPO.urgent:.0%} are urgent, {TEMPO.regretted:.0%} removed by their authors and "
        f"{TEMPO.pushed:.0%} pushed to; {TEMPO.flaky:.0%} of the runs fail by chance. "
        "The queue is paused on Monday for 20 minutes and on Wednesday for 75. Someone pushes "
        "to the base branch on Tuesday and Friday."
    )
