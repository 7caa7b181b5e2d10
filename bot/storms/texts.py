"""The message about a storm of failures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bot.blocks import blocks
from bot.blocks.message import Colour, Message
from bot.blocks.text import by_count, escape, listed, local_time, pull_request, quote
from bot.merge_queue.event_records import EventRecord, PullRequestRecord
from bot.queues.texts.parts import pause_button
from bot.storms.storm import FailureStorm

NEXT_STEP = (
    "*Next step:* find out what the failures have in common, and queue nothing again until pull "
    "requests merge."
)

CHECKS_NAMED = 3
PULL_REQUESTS_NAMED = 5
"""As many as a phone shows without scrolling."""


@dataclass(frozen=True, slots=True)
class Failed:
    """One failure of a storm."""

    record: EventRecord
    seen: PullRequestRecord | None


def storm(found: FailureStorm, failures: Sequence[Failed]) -> Message:
    """To channels subscribed to failures. `failures`: the latest first."""
    name = escape(found.repository)
    numbers = {failed.record.pull_request for failed in failures}
    began = local_time(found.began_at)
    if found.ended_at is not None:
        merging = f"pull requests merge again since {local_time(found.ended_at)}"
        head = f":white_check_mark: *{name}: {merging}*"
        failed = by_count(len(numbers), "1 pull request failed", "{count} pull requests failed")
        lasted = f"{failed} between {began} and {local_time(found.last_at)}"
        over = blocks.post(head, lasted, details=_details(failures))
        return blocks.coloured(Colour.GREEN, over)
    failed = by_count(
        len(numbers), "1 pull request has failed", "{count} pull requests have failed"
    )
    head = f":x: *{name}: {failed} since {began}*"
    latest = f"The latest failure: {local_time(found.last_at)}"
    post = blocks.post(
        head,
        latest,
        details=[*_details(failures), NEXT_STEP],
        buttons=[pause_button(found.repository)],
    )
    return blocks.coloured(Colour.RED, post)


def _details(failures: Sequence[Failed]) -> list[str]:
    checks = Counter(
        check.name
        for failed in failures
        for check in failed.record.details.checks
        if check.name and check.is_required is not False
    )
    named = [f"{quote(name)} ({count:,})" for name, count in checks.most_common()]
    first_of_each = {failed.record.pull_request: failed for failed in reversed(failures)}
    latest = [_pull_request(failed) for failed in reversed(first_of_each.values())]
    lines = []
    if named:
        lines.append(f"*Failed checks:* {listed(named, most=CHECKS_NAMED)}")
    if latest:
        lines.append(f"*Pull requests:* {listed(latest, most=PULL_REQUESTS_NAMED)}")
    return lines


def _pull_request(failed: Failed) -> str:
    if failed.seen is None:
        return f"#{failed.record.pull_request}"
    return pull_request(failed.seen.number, failed.seen.title, failed.seen.url)
