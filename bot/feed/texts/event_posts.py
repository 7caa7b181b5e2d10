"""One short post for one event: `style:feed`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import NamedTuple

from bot.acts.reason import REASON_LIMIT, signed_by, unsigned_reason
from bot.acts.record import SOMEBODY
from bot.blocks import blocks, controls
from bot.blocks.message import Block, Colour, Message
from bot.blocks.text import (
    by_count,
    code,
    cut_markup,
    duration,
    escape,
    link,
    listed,
    literal,
    local_time,
    person,
    plural,
    pull_request as linked_pull_request,
    quote,
    without_markup,
)
from bot.feed.repeats import Repeats
from bot.feed.texts.wording import other_event
from bot.freezes.freeze import Freeze, is_start_known_past
from bot.freezes.texts.cards import FREEZE_MARK, RUNS, freeze_changes, freeze_period
from bot.freezes.texts.together import still_frozen
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind, classify, turn_after
from bot.log.preceding import is_aborted, is_put_back, is_stopped_by_pause
from bot.log.types import FREEZE_CREATE, FREEZE_DELETE
from bot.merge_queue.event_records import (
    EventDetails,
    EventRecord,
    FreezeAttributes,
    PullRequestRecord,
)
from bot.merge_queue.event_types import (
    DEQUEUE_COMMAND,
    LEAVE,
    QUEUE_COMMAND,
    REQUEUE_COMMAND,
    CodeClass,
    Turn,
    class_of,
)
from bot.people.texts import mute_button
from bot.verdicts.texts.leaving import NO_STEP, leaving
from bot.verdicts.texts.verdict import remover_of, said
from bot.verdicts.verdict import Facts, Verdict, judge

DETAILS_SHOWN = 3
DETAIL_LIMIT = 120
CALLED = 3
INTERNAL_NAMES = {"__default__", "default"}


@dataclass(frozen=True, slots=True)
class PostParts:
    """The parts of a feed post, each already safe to show."""

    mark: str
    word: str
    verdict: str = ""
    next_step: str = ""  #: for the person who has to act
    run: str = ""  #: a link to the failed run
    evidence: tuple[str, ...] = ()  #: sentences that support the verdict
    details: tuple[str, ...] = ()
    #: how long it was queued, where it has left
    time_in_queue: str = ""
    aside: str = ""  #: for a grey line of its own
    by: str = ""  #: who did it
    has_labels: bool = False  #: it says so much that each fact has a label


class AtPause(Enum):
    """The pause during which an event happened."""

    NONE = "none that the post mentions"
    IN_FORCE = "one that is still in force"
    OVER = "one that has ended since"


def event(  # noqa: PLR0913  # seven are keywords
    record: EventRecord,
    pull_request: PullRequestRecord | None,
    kind: EventKind | None = None,
    *,
    calls: Sequence[str] = (),
    pause: AtPause = AtPause.NONE,
    is_brief: bool = False,
    asked: str | None = None,
    repeats: Repeats | None = None,
    verdict: Verdict | None = None,
    others: Sequence[Freeze] = (),
) -> Message:
    """The post for an event, with the pull request's title when it was seen in the queue.

    `kind`: the event's kind in the context of its neighbours; by default that of the event alone.
    `calls`: mentions of the people who have to act, or "you".
    `pause`: the pause during which it happened.
    `asked`: the login of the person whose turn it is, empty for nobody; None for the author.
    `is_brief`: beside the first message of its thread, which has the details.
    `repeats`: how often the verdict was the same, if the event can have been repeated.
    `verdict`: why it left; None to judge by this event alone.
    `others`: the freezes that are still in force after the end of one.
    """
    kind = kind or classify(record)
    post = _post_parts(record, kind, verdict)
    if others:
        post = replace(post, details=(still_frozen(others),))
    post = _at_pause(post, record, kind, pause)
    if is_brief:
        post = replace(post, evidence=(), details=())
    if asked is None:
        asked = pull_request.author if pull_request is not None else ""
    head = _event_headline(post, record, pull_request)
    step = _step(post, _whose_step(record, kind, calls, asked))
    below = [*filter(None, [_how_often(repeats), " ".join(post.evidence), step, *post.details])]
    shown = blocks.lines([head, *below])
    if post.has_labels and not is_brief:
        shown = [blocks.section(head), *blocks.lines(below)]
    said = [head, *below, f"by {post.by}" if post.by and is_brief else ""]
    if not is_brief:
        facts = _event_facts(record, pull_request, post)
        shown += _fact_blocks(record, facts, has_labels=post.has_labels)
        shown += _grey(post.aside)
        said += [" · ".join(facts), post.aside]
        shown += _questions(record) if kind is EventKind.FAILURE else ()
    text = cut_markup(without_markup("\n".join(filter(None, said))), NOTIFICATION_LENGTH)
    return Message(
        text=f"{text} ({escape(record.repository)})",
        blocks=tuple(shown),
        colour=_COLOURS.get(kind),
    )


def _at_pause(post: PostParts, record: EventRecord, kind: EventKind, pause: AtPause) -> PostParts:
    """The parts as that pause changes them."""
    if kind is EventKind.ENTER and pause is AtPause.IN_FORCE:
        return replace(post, verdict="the queue is paused")
    if _is_queued_again(record, kind, pause):
        return PostParts(":inbox_tray:", "Queued", "the queue has resumed")
    return post


def _step(post: PostParts, whose: str) -> str:
    return f"*{whose}:* {post.next_step}" if post.next_step else ""


def _fact_blocks(record: EventRecord, facts: Sequence[str], *, has_labels: bool) -> list[Block]:
    repository = escape(record.repository)
    if has_labels:
        return [blocks.section(" · ".join([f"*Repository* {repository}", *facts]))]
    named = "" if record.type.startswith(OF_A_QUEUE) else repository
    return _grey(named, *facts)


def _grey(*facts: str) -> list[Block]:
    return [blocks.context(*facts)] if any(facts) else []


NOTIFICATION_LENGTH = 3000
"""Of the text for notifications, in front of the repository's name."""

_COLOURS = {
    EventKind.FAILURE: Colour.RED,
    EventKind.PAUSE: Colour.YELLOW,
    EventKind.PAUSE_UPDATE: Colour.YELLOW,
    EventKind.RESUME: Colour.GREEN,
    EventKind.FREEZE: Colour.BLUE,
}


def _is_queued_again(record: EventRecord, kind: EventKind, pause: AtPause) -> bool:
    """Whether a pause stopped its checks, and is over."""
    has_ended = kind is EventKind.CHECKS_ENDED and is_stopped_by_pause(record)
    return has_ended and pause is AtPause.OVER


def _post_parts(record: EventRecord, kind: EventKind, verdict: Verdict | None = None) -> PostParts:
    writer = _VERDICT_WRITERS.get(kind)
    if writer is not None:
        return writer(record, verdict or judge(Facts(record)))
    return _POST_WRITERS[kind](record)


def _how_often(repeats: Repeats | None) -> str:
    """How often and when; empty for what happened once."""
    if repeats is None or repeats.count == 1:
        return ""
    first = local_time(repeats.first_at)
    last = local_time(repeats.latest.received_at)
    return f"*{repeats.count:,} times* since {first}, last {last}"


def _whose_step(record: EventRecord, kind: EventKind, calls: Sequence[str], asked: str) -> str:
    """Who has to take the next step; no name unless it is the author's turn."""
    if turn_after(record, kind) is not Turn.AUTHOR:
        return "Next step"
    called = ", ".join(calls[:CALLED]) or quote(asked)
    return f"Next step for {called}" if called else "Next step"


def _questions(record: EventRecord) -> list[Block]:
    """The buttons of a failure."""
    if record.pull_request is None:
        return []
    why, log = asking(record.repository, record.pull_request)
    buttons = [
        blocks.button("Why?", action_id=controls.WHY_BUTTON, value=why),
        blocks.button("Log", action_id=controls.LOG_OF, value=log),
        mute_button(record.repository, record.pull_request),
    ]
    return [blocks.actions(buttons)]


class AskingCommands(NamedTuple):
    """What people type about a pull request."""

    why: str  #: explains where it is
    log: str  #: shows its events


def asking(repository: RepositoryName, number: int) -> AskingCommands:
    return AskingCommands(f"why {number} {repository}", f"log {repository} pr:{number}")


def event_headline(
    record: EventRecord,
    pull_request: PullRequestRecord | None,
    kind: EventKind | None = None,
    *,
    verdict: Verdict | None = None,
) -> str:
    """The first line alone: mark, word, linked pull request, verdict."""
    return _event_headline(
        _post_parts(record, kind or classify(record), verdict), record, pull_request
    )


def who(record: EventRecord, kind: EventKind | None = None) -> str:
    """Who did it, with "by"; empty if the service doesn't say, or the headline does."""
    name = _post_parts(record, kind or classify(record)).by
    return f"by {name}" if name else ""


def in_words(
    record: EventRecord, kind: EventKind | None = None, *, verdict: Verdict | None = None
) -> str:
    """What happened, without saying to which pull request, and what to do about it."""
    post = _post_parts(record, kind or classify(record), verdict)
    said = f"{post.word}: {post.verdict}" if post.verdict else post.word
    return f"{said}, by {post.by}" if post.by else said


OF_A_QUEUE = ("queue.pause.", "scheduled_freeze.")
"""Beginnings of the types of events about a whole queue, which the headline names."""


def _event_headline(
    post: PostParts, record: EventRecord, pull_request: PullRequestRecord | None
) -> str:
    linked = subject(record, pull_request)
    if not linked and record.type.startswith(OF_A_QUEUE):
        linked = escape(record.repository)
    line = f"{post.mark} *{post.word}* {linked}".rstrip()
    if post.verdict:
        line += f": {post.verdict}" if linked else f" {post.verdict}"
    return f"{line} · {post.run}" if post.run else line


def subject(record: EventRecord, seen: PullRequestRecord | None) -> str:
    """The linked pull request; empty for an event about several."""
    if record.pull_request is None or record.details.pull_requests:
        return ""
    if seen is None:
        return f"#{record.pull_request}"
    return linked_pull_request(record.pull_request, seen.title, seen.url)


def _event_facts(record: EventRecord, seen: PullRequestRecord | None, post: PostParts) -> list[str]:
    """Besides the repository: each with its label, or in short."""
    branch = code(record.base_ref) if record.base_ref else ""
    author = person(seen.author) if seen is not None else ""
    waited = post.time_in_queue
    queue = _queue(record)
    if post.has_labels:
        known = [
            (branch, f"*Branch* {branch}"),
            (author, f"*Author* {author}"),
            (post.by, f"*Removed by* {post.by}"),
            (queue, f"*Queue* {queue}"),
            (waited, f"*Time in queue* {waited}"),
        ]
    else:
        known = [
            (branch, branch),
            (author, f"by {author}"),
            (queue, f"queue {queue}"),
            (post.by, f"by {post.by}"),
            (waited, f"{waited} in the queue"),
        ]
    return [shown for value, shown in known if value]


def _queue(record: EventRecord) -> str:
    """The rule by its name, if it has one."""
    name = record.details.queue_name
    return quote(name, 40) if name and name not in INTERNAL_NAMES else ""


def _merge(record: EventRecord) -> PostParts:
    is_by_hand = record.details.code == "PR_MANUALLY_MERGED"
    verdict = "by hand, outside the queue" if is_by_hand else ""
    waited = _time_in_queue(record)
    return PostParts(":white_check_mark:", "Merged", verdict, time_in_queue=waited)


def _failure(record: EventRecord, verdict: Verdict) -> PostParts:
    why = said(verdict)
    return PostParts(
        ":x:",
        "Left the queue",
        why.cause,
        why.next_step,
        run=why.run,
        evidence=why.evidence,
        details=why.checks,
        time_in_queue=_time_in_queue(record),
        aside=why.aside,
        has_labels=True,
    )


def _dequeue(record: EventRecord, verdict: Verdict) -> PostParts:
    why = said(verdict)
    remover = person(remover_of(record))
    is_asked = record.details.code == "PR_MANUALLY_DEQUEUED" and remover
    if class_of(record.details.code) is CodeClass.REQUEUED:
        return replace(_put_back(record, why.cause), time_in_queue=_time_in_queue(record))
    return PostParts(
        ":leftwards_arrow_with_hook:",
        "Removed from the queue",
        "" if is_asked else why.cause,
        "" if why.next_step == NO_STEP else why.next_step,
        time_in_queue=_time_in_queue(record),
        by=remover,
        has_labels=True,
    )


_PUT_BACK = (":arrows_counterclockwise:", "Put back")
NOTHING_TO_DO = "No action needed."


def _put_back(record: EventRecord, cause: str) -> PostParts:
    if is_stopped_by_pause(record):
        return PostParts(":double_vertical_bar:", "Waiting", f"{cause}. It keeps its place.")
    return PostParts(*_PUT_BACK, f"{cause}. {NOTHING_TO_DO}")


def _checks_started(record: EventRecord) -> PostParts:
    """Only a later start has a reason worth reading."""
    reason = record.details.start_reason or ""
    is_first = not reason or reason.lower().startswith("first time")
    verdict = "" if is_first else quote(reason.strip().rstrip("."), DETAIL_LIMIT)
    return PostParts(":hourglass_flowing_sand:", "Checks started", verdict)


def _checks_ended(record: EventRecord) -> PostParts:
    known = record.details.code
    reason = record.details.reason
    why = leaving(known, reason)
    if is_put_back(record):
        # Nothing to do, whatever the code would mean if the pull request had left.
        is_explained = bool(known or reason)
        return (
            _put_back(record, why.cause) if is_explained else PostParts(*_PUT_BACK, NOTHING_TO_DO)
        )
    if is_aborted(record):
        is_of_batch = len(record.details.members) > 1
        verdict = _OF_BATCHES.get(known or "", why.cause) if is_of_batch else why.cause
        return PostParts(":warning:", "Checks ended", verdict, details=_failing_checks(record))
    conclusion = record.details.conclusion
    if conclusion == "success":
        return PostParts(":heavy_check_mark:", "Checks passed", details=_failing_checks(record))
    verdict = quote(conclusion.replace("_", " "), 40) if conclusion else ""
    return PostParts(
        ":information_source:", "Checks ended", verdict, details=_failing_checks(record)
    )


_OF_BATCHES = {
    "CHECKS_FAILED": "its batch failed. Looking for the cause.",
    "CHECKS_TIMEOUT": "its batch took too long. Looking for the cause.",
}
"""Most members of a failed batch are innocent; the cause is known only when they leave."""


def _checks_not_started(record: EventRecord) -> PostParts:
    reason = record.details.reason
    problem = quote(reason.strip().rstrip("."), DETAIL_LIMIT) if reason else ""
    verdict = f"{problem}. The service retries." if problem else ""
    return PostParts(":warning:", "Checks couldn't start", verdict)


def _bisection_started(record: EventRecord) -> PostParts:
    numbers = record.details.pull_requests
    among = f"{_list(numbers)}, to find what broke it" if numbers else ""
    return PostParts(":mag:", "Bisecting a batch", among)


def _bisection_ended(record: EventRecord) -> PostParts:
    unverified = record.details.unverified
    remaining = record.details.remaining
    culprits = [culprit for culprit in record.details.culprits if culprit not in unverified]
    said: list[str] = []
    if culprits:
        said.append(f"{_list(culprits)} broke the batch")
    if unverified:
        said.append(f"{_list(unverified)} dropped by elimination, never tested alone")
    if not said:
        none = record.details.culprit_found is False
        return PostParts(":mag:", "Bisection ended", "no culprit was found" if none else "")
    if remaining:
        rest = by_count(
            len(remaining), f"{_list(remaining)} continues", f"{_list(remaining)} continue"
        )
        said.append(rest)
    return PostParts(":mag:", "Bisection ended", "; ".join(said))


def _pause_event(record: EventRecord, word: str) -> PostParts:
    reason = unsigned_reason(record.details.reason or "", _who_paused(record))
    said = literal(reason, REASON_LIMIT) if reason else ""
    return PostParts(":double_vertical_bar:", word, said, by=person(_who_paused(record)))


def _who_paused(record: EventRecord) -> str | None:
    """Who paused or resumed the queue."""
    details = record.details
    if details.actor is None and details.is_ours:
        return signed_by(details.reason or "") or SOMEBODY.name
    return details.actor


def _freeze_event(record: EventRecord) -> PostParts:
    freeze = record.details.freeze or FreezeAttributes()
    before = record.details.freeze_before
    has_ended = record.type == FREEZE_DELETE
    if has_ended:
        said = [_because(record.details)]
    elif before is not None:
        said = freeze_changes(before, freeze)
    else:
        said = [_because(freeze), freeze_period(freeze)]
    mark = RUNS if has_ended else FREEZE_MARK
    word = _freeze_word(record, is_in_force=is_start_known_past(freeze, record.received_at))
    verdict = " · ".join(filter(None, said))
    return PostParts(mark, word, verdict, by=person(record.details.actor))


def _freeze_word(record: EventRecord, *, is_in_force: bool) -> str:
    """As its card calls it: planned until it begins."""
    if record.type == FREEZE_CREATE:
        return "Queue frozen" if is_in_force else "Freeze planned"
    if record.type == FREEZE_DELETE:
        return "Freeze ended" if is_in_force else "Planned freeze canceled"
    return "Freeze changed" if is_in_force else "Planned freeze changed"


def _command(record: EventRecord) -> PostParts:
    # Slack doesn't treat this @ as a mention.
    login = record.details.actor and f"@{record.details.actor}"
    return PostParts(":speech_balloon:", _COMMANDS.get(record.type, "Command"), by=person(login))


_COMMANDS = {
    QUEUE_COMMAND: "Queueing requested",
    DEQUEUE_COMMAND: "Removal requested",
    REQUEUE_COMMAND: "Requeueing requested",
}


def _other(record: EventRecord) -> PostParts:
    if record.type == LEAVE:
        return PostParts(":outbox_tray:", "Out of the queue", "merged by the queue")
    return PostParts(":information_source:", *other_event(record))


_VERDICT_WRITERS: dict[EventKind, Callable[[EventRecord, Verdict], PostParts]] = {
    EventKind.FAILURE: _failure,
    EventKind.DEQUEUE: _dequeue,
}
_POST_WRITERS: dict[EventKind, Callable[[EventRecord], PostParts]] = {
    EventKind.ENTER: lambda _: PostParts(":inbox_tray:", "Queued"),
    EventKind.CHECKS_STARTED: _checks_started,
    EventKind.CHECKS_ENDED: _checks_ended,
    EventKind.CHECKS_NOT_STARTED: _checks_not_started,
    EventKind.MERGE: _merge,
    EventKind.BISECTION_STARTED: _bisection_started,
    EventKind.BISECTION_ENDED: _bisection_ended,
    EventKind.PAUSE: lambda record: _pause_event(record, "Queue paused"),
    EventKind.PAUSE_UPDATE: lambda record: _pause_event(record, "Pause reason changed"),
    EventKind.RESUME: lambda record: PostParts(
        ":arrow_forward:", "Queue resumed", by=person(_who_paused(record))
    ),
    EventKind.FREEZE: _freeze_event,
    EventKind.COMMAND: _command,
    EventKind.CI: lambda record: PostParts(":wrench:", *other_event(record)),
    EventKind.OTHER: _other,
}


def _list(numbers: Sequence[int]) -> str:
    if len(numbers) > DETAILS_SHOWN * 2:
        return plural(len(numbers), "pull request")
    return ", ".join(f"#{number}" for number in numbers) or "its pull requests"


def _because(of: EventDetails | FreezeAttributes) -> str:
    return literal(of.reason, REASON_LIMIT) if of.reason else ""


def _time_in_queue(record: EventRecord) -> str:
    queued_at = record.details.queued_at
    return "" if queued_at is None else duration(record.received_at - queued_at)


def _failing_checks(record: EventRecord) -> tuple[str, ...]:
    checks = record.details.checks
    left_out = record.details.checks_left_out
    lines = [
        f"• {link(check.url or '', quote(check.name or '', DETAIL_LIMIT))}" for check in checks
    ]
    return (listed(lines, "\n", most=DETAILS_SHOWN, besides=left_out),) if lines else ()
