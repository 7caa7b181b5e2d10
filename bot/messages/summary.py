"""One post in place of many, when a channel would fall far behind."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.domain.classification import EventKind
from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.messages import blocks
from bot.messages.events import headline
from bot.messages.text import escape, local_time, utc_time

REPOSITORIES_SHOWN = 10

WORDS = {
    EventKind.FAILURE: "left the queue",
    EventKind.MERGE: "merged",
    EventKind.ENTER: "queued",
    EventKind.DEQUEUE: "removed from the queue",
    EventKind.CHECKS_STARTED: "checks started",
    EventKind.CHECKS_ENDED: "checks ended",
    EventKind.CHECKS_NOT_STARTED: "checks could not start",
    EventKind.BISECTION_STARTED: "bisections started",
    EventKind.BISECTION_ENDED: "bisections ended",
}


def summary(
    counts: Mapping[tuple[RepositoryName, str | None], int],
    since: datetime,
    failures: Sequence[tuple[EventRecord, PullRequestRecord | None]],
    *,
    is_digest: bool = False,
) -> Message:
    """How much happened since `since`, by repository; the latest `failures` by name.

    `is_digest`: at its own time, not because the channel would fall behind.
    """
    by_repository: dict[str, Counter[str]] = {}
    for (repository, kind), count in counts.items():
        by_repository.setdefault(repository, Counter())[_word(kind)] += count
    total = sum(counts.values())
    lines = [f"*{escape(name)}*: {_counted(found)}" for name, found in by_repository.items()]
    left = len(lines) - REPOSITORIES_SHOWN
    more = [f"and {left} more repositories"] if left > 0 else []
    named = [f"• {headline(record, seen)}" for record, seen in failures]
    mark, word = (":newspaper:", "Digest") if is_digest else (":fast_forward:", "Catching up")
    head = f"{mark} *{word}:* {total:,} events in one message"
    plain = "; ".join(f"{escape(name)}: {_counted(found)}" for name, found in by_repository.items())
    return Message(
        text=f"{word}: {total:,} events since {utc_time(since)}. {plain}"[:3000],
        blocks=(
            blocks.section("\n".join([head, *lines[:REPOSITORIES_SHOWN], *more])),
            *([blocks.section("\n".join(named))] if named else []),
            blocks.context(f"since {local_time(since)}"),
        ),
        told=total,
    )


def _word(kind: str | None) -> str:
    return WORDS.get(EventKind(kind), "other events") if kind in set(EventKind) else "other events"


def _counted(found: Counter[str]) -> str:
    order = [*WORDS.values(), "other events"]
    return ", ".join(f"{found[word]:,} {word}" for word in order if found[word])
