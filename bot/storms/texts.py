"""The message about a storm of failures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bot.blocks import blocks
from bot.blocks.message import Colour, Message
from bot.blocks.text import (
    by_count,
    code,
    duration,
    escape,
    listed,
    local_time,
    pull_request,
    quote,
    since,
)
from bot.merge_queue.event_records import EventRecord, PullRequestRecord
from bot.queues.texts.parts import pause_button
from bot.storms.storm import FailureStorm, StormEnd
from bot.verdicts.verdict import STORM_SPAN

NEXT_STEP = (
    "*Next step:* find out what these failures have in common. Don't requeue anything until pull "
    "requests merge again."
)

STOPS_OTHERS = "A pause would stop the other branches too."

NOTHING_FAILED = f"Nothing failed in the {duration(STORM_SPAN)} after that."

CHECKS_NAMED = 3
PULL_REQUESTS_NAMED = 5
"""As many as a phone shows without scrolling."""


@dataclass(frozen=True, slots=True)
class Failed:
    """One failure of a storm."""

    record: EventRecord
    seen: PullRequestRecord | None


def storm(
    found: FailureStorm, failures: Sequence[Failed], *, is_only_branch: bool = True
) -> Message:
    """To channels subscribed to failures. `failures`: the latest first."""
    if found.ended_at is None:
        return _lasting(found, failures, is_only_branch=is_only_branch)
    name = escape(found.repository)
    if found.ending is StormEnd.LAPSED:
        return _without_a_merge(found, failures, NOTHING_FAILED)
    if found.ending is StormEnd.UNFOLLOWED:
        why = f"I don't follow {name} any more: it was removed from my settings."
        return _without_a_merge(found, failures, why)
    over = blocks.message(
        blocks.section(f":white_check_mark: *{name}: pull requests are merging again*"),
        *blocks.facts(("Since", since(found.ended_at)), _branch(found)),
        *map(blocks.section, [f"{_from_first_to_last(found, failures)}.", *_details(failures)]),
    )
    return blocks.coloured(Colour.GREEN, over)


def _branch(found: FailureStorm) -> tuple[str, str]:
    return "Branch", code(found.branch) if found.branch else ""


def _lasting(found: FailureStorm, failures: Sequence[Failed], *, is_only_branch: bool) -> Message:
    count = len(_failed_numbers(failures))
    began = local_time(found.began_at)
    # Their events may be pruned already.
    failed = f"pull requests have been failing since {began}"
    if count:
        failed = by_count(
            count,
            f"1 pull request has failed since {began}",
            f"{{count}} pull requests have failed since {began}",
        )
    post = blocks.message(
        blocks.section(f":x: *{escape(found.repository)}: {failed}*"),
        *map(blocks.section, [*_details(failures), NEXT_STEP]),
        *blocks.facts(("Latest failure", since(found.last_at)), _branch(found)),
        *([] if is_only_branch else [blocks.context(STOPS_OTHERS)]),
        blocks.actions([pause_button(found.repository)]),
    )
    return blocks.coloured(Colour.RED, post)


def _without_a_merge(found: FailureStorm, failures: Sequence[Failed], why: str) -> Message:
    """`why`: it is over, escaped."""
    count = len(_failed_numbers(failures))
    # Their events may be pruned already.
    failed = "pull requests failed"
    if count:
        failed = by_count(count, "1 pull request failed", "{count} pull requests failed")
    return blocks.message(
        blocks.section(f":heavy_minus_sign: *{escape(found.repository)}: {failed}*"),
        *blocks.facts(
            ("From", local_time(found.began_at)),
            ("Until", local_time(found.last_at)),
            _branch(found),
        ),
        blocks.section(why),
        *map(blocks.section, _details(failures)),
    )


def _from_first_to_last(found: FailureStorm, failures: Sequence[Failed]) -> str:
    began = local_time(found.began_at)
    ended = local_time(found.last_at)
    count = len(_failed_numbers(failures))
    if not count:
        return f"pull requests failed between {began} and {ended}"
    return by_count(
        count,
        f"1 pull request failed between {began} and {ended}",
        f"{{count}} pull requests failed between {began} and {ended}",
    )


def _failed_numbers(failures: Sequence[Failed]) -> set[int | None]:
    return {failed.record.pull_request for failed in failures}


def _details(failures: Sequence[Failed]) -> list[str]:
    checks = Counter(
        check.name
        for failed in failures
        for check in failed.record.details.blamed_checks
        if check.name
    )
    named = [f"{quote(name)} ({count:,})" for name, count in checks.most_common()]
    first_of_each = {failed.record.pull_request: failed for failed in reversed(failures)}
    latest = [_linked_pull_request(failed) for failed in reversed(first_of_each.values())]
    lines = []
    if named:
        lines.append(f"*Failed checks* {listed(named, most=CHECKS_NAMED)}")
    if latest:
        lines.append(f"*Pull requests* {listed(latest, most=PULL_REQUESTS_NAMED)}")
    return lines


def _linked_pull_request(failed: Failed) -> str:
    if failed.seen is None:
        return f"#{failed.record.pull_request}"
    return pull_request(failed.seen.number, failed.seen.title, failed.seen.url)
