"""One post instead of many: for a merged batch, a digest or a backlog."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from bot.blocks import blocks
from bot.blocks.explain import happened
from bot.blocks.message import Message
from bot.blocks.text import (
    by_count,
    code,
    escape,
    listed,
    local_time,
    plural,
    utc_time,
    without_markup,
)
from bot.feed.texts.event_posts import event_headline, subject
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind
from bot.merge_queue.event_records import EventRecord, PullRequestRecord
from bot.verdicts.verdict import Verdict

MOST = 50
"""Pull requests of a batch; more of them get a summary."""

TITLES_SHOWN = 5
TEXT_LENGTH = 3500


def merged(
    members: Sequence[tuple[EventRecord, PullRequestRecord | None]], *, is_late: bool = False
) -> Message:
    """The pull requests in the order of their merges: the first by title, all by number.

    `members` are of one repository, and there is at least one. `is_late`: they merged so long ago
    that the post says when.
    """
    first, _ = members[0]
    when = happened(members[-1][0].received_at) if is_late else ""
    count = plural(len(members), "pull request")
    repository = escape(first.repository)
    linked = [subject(record, seen) for record, seen in members[:TITLES_SHOWN]]
    others = [f"#{record.pull_request}" for record, _ in members[TITLES_SHOWN:]]
    plain = [*map(without_markup, linked), *others]
    rest = [f"and {', '.join(others)}"] if others else []
    lines = [f":white_check_mark: *Merged* {count} together", *linked, *rest]
    branch = code(first.base_ref) if first.base_ref else ""
    facts = [listed(plain, length=TEXT_LENGTH), branch, without_markup(when)]
    named = " · ".join(filter(None, facts))
    return Message(
        text=f"Merged {count} together: {named} ({repository})",
        blocks=(*blocks.lines(lines), blocks.context(repository, branch, when)),
        updates=len(members),
    )


REPOSITORIES_SHOWN = 10


class Counted(NamedTuple):
    """How events of one kind are counted, for one and for any other number."""

    one: str
    many: str


OTHER_EVENTS = Counted("{count} other event", "{count} other events")
COUNTS_BY_KIND = {
    EventKind.FAILURE: Counted("{count} left the queue", "{count} left the queue"),
    EventKind.MERGE: Counted("{count} merged", "{count} merged"),
    EventKind.ENTER: Counted("{count} queued", "{count} queued"),
    EventKind.DEQUEUE: Counted("{count} removed from the queue", "{count} removed from the queue"),
    EventKind.CHECKS_STARTED: Counted(
        "{count} run of checks started", "{count} runs of checks started"
    ),
    EventKind.CHECKS_ENDED: Counted("{count} run of checks ended", "{count} runs of checks ended"),
    EventKind.CHECKS_NOT_STARTED: Counted(
        "{count} run of checks could not start", "{count} runs of checks could not start"
    ),
    EventKind.BISECTION_STARTED: Counted("{count} bisection started", "{count} bisections started"),
    EventKind.BISECTION_ENDED: Counted("{count} bisection ended", "{count} bisections ended"),
}

DIGEST_TITLE = Counted(
    "*Digest:* {count} event since {since}",
    "*Digest:* {count} events since {since}",
)
BACKLOG_TITLE = Counted(
    "*Catching up:* {count} event since {since}",
    "*Catching up:* {count} events since {since}",
)


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
    by_repository: dict[str, Counter[Counted]] = {}
    for (repository, kind), count in counts.items():
        words = OTHER_EVENTS
        if kind in set(EventKind):
            words = COUNTS_BY_KIND.get(EventKind(kind), OTHER_EVENTS)
        by_repository.setdefault(repository, Counter())[words] += count
    total = sum(counts.values())
    lines = [
        f"*{escape(name)}*: {_counted_in_words(found)}" for name, found in by_repository.items()
    ]
    known = verdicts or {}
    named = [
        f"• {event_headline(record, seen, verdict=known.get(record.event_id))}"
        for record, seen in failures
    ]
    mark = ":newspaper:" if is_digest else ":fast_forward:"
    title = by_count(total, *(DIGEST_TITLE if is_digest else BACKLOG_TITLE))
    head = f"{mark} {title.replace('{since}', local_time(since))}"
    plain = [f"{escape(name)}: {_counted_in_words(found)}" for name, found in by_repository.items()]
    begun = without_markup(title).replace("{since}", utc_time(since))
    said = [f"{begun}. {listed(plain, '; ')}"]
    said += map(without_markup, named)
    return Message(
        text=listed(said, "\n", length=TEXT_LENGTH),
        blocks=(
            blocks.section("\n".join([head, listed(lines, "\n", most=REPOSITORIES_SHOWN)])),
            *blocks.lines(named),
        ),
        updates=total,
    )


def _counted_in_words(found: Counter[Counted]) -> str:
    order = [*COUNTS_BY_KIND.values(), OTHER_EVENTS]
    return ", ".join(by_count(found[words], *words) for words in order if found[words])
