"""One post instead of many: for a merged batch, a digest or a backlog."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.blocks import blocks
from bot.blocks.message import Message
from bot.blocks.text import code, escape, listed, local_time, plural, utc_time, without_markup
from bot.feed.texts.event_posts import headline, subject
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind
from bot.merge_queue.event_records import EventRecord, PullRequestRecord
from bot.verdicts.verdict import Verdict

MOST = 50
"""Pull requests of a batch; more of them get a summary."""

TITLES_SHOWN = 5
TEXT_LENGTH = 3500


def merged(members: Sequence[tuple[EventRecord, PullRequestRecord | None]]) -> Message:
    """The pull requests in the order of their merges: the first by title, all by number.

    `members` are of one repository, and there is at least one.
    """
    first, _ = members[0]
    count = plural(len(members), "pull request")
    repository = escape(first.repository)
    linked = [subject(record, seen) for record, seen in members[:TITLES_SHOWN]]
    others = [f"#{record.pull_request}" for record, _ in members[TITLES_SHOWN:]]
    plain = [*map(without_markup, linked), *others]
    rest = [f"and {', '.join(others)}"] if others else []
    lines = [f":white_check_mark: *Merged* {count} together", *linked, *rest]
    branch = code(first.base_ref) if first.base_ref else ""
    named = " · ".join(filter(None, [listed(plain, length=TEXT_LENGTH), branch]))
    return Message(
        text=f"Merged {count} together: {named} ({repository})",
        blocks=(*blocks.lines(lines), blocks.context(repository, branch)),
        updates=len(members),
    )


REPOSITORIES_SHOWN = 10

OTHER_EVENTS = ("other event", "other events")
WORDS = {
    EventKind.FAILURE: ("left the queue",) * 2,
    EventKind.MERGE: ("merged",) * 2,
    EventKind.ENTER: ("queued",) * 2,
    EventKind.DEQUEUE: ("removed from the queue",) * 2,
    EventKind.CHECKS_STARTED: ("run of checks started", "runs of checks started"),
    EventKind.CHECKS_ENDED: ("run of checks ended", "runs of checks ended"),
    EventKind.CHECKS_NOT_STARTED: (
        "run of checks could not start",
        "runs of checks could not start",
    ),
    EventKind.BISECTION_STARTED: ("bisection started", "bisections started"),
    EventKind.BISECTION_ENDED: ("bisection ended", "bisections ended"),
}
"""For one, and for any other number."""


def summary(
    counts: Mapping[tuple[RepositoryName, str | None], int],
    since: datetime,
    failures: Sequence[tuple[EventRecord, PullRequestRecord | None]],
    *,
    is_digest: bool = False,
    verdicts: Mapping[int, Verdict] | None = None,
) -> Message:
    """How much happened since `since`, by repository; the latest `failures` by name.

    `verdicts`: why these left, by event id; without one, as far as the event alone says.

    `is_digest`: sent on schedule, not because of a backlog.
    """
    by_repository: dict[str, Counter[tuple[str, str]]] = {}
    for (repository, kind), count in counts.items():
        words = WORDS.get(EventKind(kind), OTHER_EVENTS) if kind in set(EventKind) else OTHER_EVENTS
        by_repository.setdefault(repository, Counter())[words] += count
    total = sum(counts.values())
    lines = [f"*{escape(name)}*: {_counted(found)}" for name, found in by_repository.items()]
    known = verdicts or {}
    named = [
        f"• {headline(record, seen, verdict=known.get(record.event_id))}"
        for record, seen in failures
    ]
    if is_digest:
        mark = ":newspaper:"
        word = "Digest"
    else:
        mark = ":fast_forward:"
        word = "Catching up"
    events = plural(total, "event")
    head = f"{mark} *{word}:* {events} since {local_time(since)}"
    plain = [f"{escape(name)}: {_counted(found)}" for name, found in by_repository.items()]
    said = [f"{word}: {events} since {utc_time(since)}. {listed(plain, '; ')}"]
    said += map(without_markup, named)
    return Message(
        text=listed(said, "\n", length=TEXT_LENGTH),
        blocks=(
            blocks.section("\n".join([head, listed(lines, "\n", most=REPOSITORIES_SHOWN)])),
            *blocks.lines(named),
        ),
        updates=total,
    )


def _counted(found: Counter[tuple[str, str]]) -> str:
    order = [*WORDS.values(), OTHER_EVENTS]
    return ", ".join(plural(found[words], *words) for words in order if found[words])
