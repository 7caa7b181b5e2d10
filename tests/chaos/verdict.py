"""Compares what the channels show with what was expected."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.sandbox.slack.state.workspace import Message, Workspace
from tests.chaos.freezes import OF_A_FREEZE
from tests.chaos.outbox import DeliveryRow, Outbox
from tests.chaos.traffic import LEFT, MERGED, QUEUED, REMOVED, SUBSCRIPTIONS, Expected, Key

_POST = re.compile(
    rf"({QUEUED}|{MERGED}|{LEFT}|{REMOVED}) #(\d+)\b.*\(([^()\s]+/[^()\s]+)\)$", re.DOTALL
)

_BATCH = re.compile(r"Merged (\d+) pull requests together: .*\(([^()\s]+/[^()\s]+)\)$", re.DOTALL)

_OF_THE_LOG = re.compile(r"The event log of .+ (can't be read, last read|can be read again)")
"""The words of an outage notice, which is not an event."""


@dataclass(slots=True)
class Verdict:
    """The findings of a run; each list holds sentences, and is empty in a good run.

    `longest_delay`: seconds from an event to its post. `longest_calm`: the same, but counted from
    the last time before the post that a process, the database or a service came back.
    """

    events: int = 0
    posts: int = 0
    threads: int = 0
    edits: int = 0
    replies: int = 0
    summaries: int = 0
    covered_by_summaries: int = 0
    longest_delay: float = 0.0
    longest_calm: float = 0.0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    disordered: list[str] = field(default_factory=list)
    unsettled: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        return not (self.lost or self.doubled or self.disordered or self.unsettled or self.wrong)

    def findings(self) -> list[str]:
        return [*self.lost, *self.doubled, *self.disordered, *self.unsettled, *self.wrong]


def judge(
    outbox: Outbox,
    states: Mapping[tuple[str, int], str],
    workspace: Workspace,
    calm_from: Sequence[float],
) -> Verdict:
    """Match every post with its events, then every event with its posts.

    `states` has the word for how each pull request is in the end, by repository and number.
    """
    expected = outbox.expected
    verdict = Verdict(events=len(expected))
    reported = _reported(outbox, states, workspace, verdict)
    came_back = sorted(calm_from)
    edited = _shown_by_edits(outbox)
    for event in expected:
        times = reported[event]
        if event in edited and not times:
            verdict.edits += 1
            continue
        name = f"{event.word} #{event.number} of {event.repository} in {event.channel}"
        if not times:
            verdict.lost.append(f"lost: {name} (event {event.event_id})")
        if len(times) > 1:
            verdict.doubled.append(f"doubled: {name}, at {', '.join(times)}")
        if times:
            reported_at = float(times[0])
            before = bisect_right(came_back, reported_at)
            calm = max([event.written_at, *came_back[before - 1 : before]])
            verdict.longest_delay = max(verdict.longest_delay, reported_at - event.written_at)
            verdict.longest_calm = max(verdict.longest_calm, reported_at - calm)
    _check_order(reported, verdict)
    verdict.unsettled += [
        f"left {row.state}: event {row.event}, card {row.card} of {row.repository}"
        f" for {row.channel_id}"
        for row in outbox.rows
        if row.state not in {"delivered", "summarized"}
    ]
    return verdict


def _reported(
    outbox: Outbox, states: Mapping[tuple[str, int], str], workspace: Workspace, verdict: Verdict
) -> dict[Expected, list[str]]:
    """When each event was posted, as message times."""
    reported: dict[Expected, list[str]] = defaultdict(list)
    for message in _posts(workspace):
        if _OF_THE_LOG.match(message.text) or OF_A_FREEZE.match(message.text):
            continue
        verdict.posts += 1
        found = outbox.summarized_by(message)
        events = [outbox.event(row) for row in found]
        verdict.wrong += _untrue(message, found, events)
        if len(found) == 1:
            verdict.wrong += _misplaced(message, outbox, found[0])
            verdict.replies += message.is_reply
        if len(found) == 1 and found[0].card is not None:
            verdict.threads += 1
            verdict.wrong += _outdated(message, states)
        if len(found) > 1:
            verdict.summaries += 1
            verdict.covered_by_summaries += len(found)
        for event in events:
            if event is not None:
                reported[event].append(message.ts)
    return reported


def _shown_by_edits(outbox: Outbox) -> set[Expected]:
    """The events that the first message of a thread shows; `_outdated` checks it."""
    found = set()
    for row in outbox.rows:
        card = outbox.card(row.thread)
        event = outbox.event(row)
        is_reported = row.state == "summarized" and not row.summarized_by
        if is_reported and event is not None and card is not None and card.is_up_to_date:
            found.add(event)
    return found


def _untrue(
    message: Message, found: Sequence[DeliveryRow], events: Sequence[Expected | None]
) -> list[str]:
    """Errors in a post; a summary must count its events."""
    shown = repr(message.text)
    if not found:
        return [f"a post of no delivery: {shown}"]
    problems = [f"nobody asked for {shown}" for event in events if event is None]
    if found[0].message_ts != message.ts:
        problems.append(f"the outbox does not know {shown} at {message.ts}")
    payload = (message.metadata or {}).get("event_payload") or {}
    reported = payload.get("updates", 1)
    if reported != len(found):
        problems.append(f"{shown} says it tells {reported}, the outbox {len(found)}")
    if len(found) > 1:
        problems += _miscounted(message.text, events)
    is_event = len(found) == 1 and found[0].card is None
    if is_event and events[0] is not None and _key(message) != events[0].key:
        problems.append(f"{shown} does not tell {events[0].key}")
    return problems


def _misplaced(message: Message, outbox: Outbox, row: DeliveryRow) -> list[str]:
    """Posts in the wrong place: a thread's events belong in it, all others in the channel."""
    card = outbox.card(row.thread)
    thread = card.message_ts if card is not None else ""
    is_alone = message.thread_ts in {None, message.ts}
    if is_alone if not thread else message.thread_ts == thread:
        return []
    return [f"{message.text!r} is in the thread {message.thread_ts}, not in {thread or 'none'}"]


def _outdated(message: Message, states: Mapping[tuple[str, int], str]) -> list[str]:
    """Errors in the final state of a thread's first message."""
    _, repository, number, word = _key(message)
    state = states.get((repository, number))
    return [] if word == state else [f"{message.text!r} at the end, though it is {state!r}"]


def _miscounted(text: str, events: Sequence[Expected | None]) -> list[str]:
    """The counts that a summary lacks, by repository and word. Merges of a batch are named."""
    batch = _BATCH.match(text)
    if batch is not None:
        named = {(batch[2], int(number), MERGED) for number in re.findall(r"#(\d+)\b", text)}
        meant = {
            (event.repository, event.number, event.word) for event in events if event is not None
        }
        return [] if named == meant else [f"{text!r} does not name {sorted(meant)}"]
    counts = Counter((event.repository, event.word) for event in events if event is not None)
    parts = {part.strip().partition(":")[0]: part for part in text.partition(". ")[2].split(";")}
    return [
        f"{text!r} does not count {count} {word.lower()} in {repository}"
        for (repository, word), count in counts.items()
        if f" {count} {word.lower()}" not in parts.get(repository, "")
    ]


def _posts(workspace: Workspace) -> Iterable[Message]:
    for channel_id in sorted({channel for channel, _ in SUBSCRIPTIONS}):
        messages = list(workspace.channels[channel_id].messages)
        yield from (message for message in messages if message.from_app and message.subtype is None)


def _key(message: Message) -> Key:
    match = _POST.match(message.text)
    return (message.channel, match[3], int(match[2]), match[1]) if match else ("", "", 0, "")


def _check_order(reported: dict[Expected, list[str]], verdict: Verdict) -> None:
    """Events that are later in the log, and were written later, must be posted later.

    An event that appears late may follow later ones: it was written after them.
    """
    lines: dict[tuple[str, str], list[tuple[Expected, str]]] = defaultdict(list)
    for one, times in reported.items():
        if times:
            lines[one.channel, one.repository].append((one, times[0]))
    for (channel, repository), posts in lines.items():
        posts.sort(key=lambda each: each[0].event_id)
        for index, (later, later_ts) in enumerate(posts):
            for earlier, earlier_ts in posts[:index]:
                in_log = (earlier.received_at, earlier.event_id) < (
                    later.received_at,
                    later.event_id,
                )
                if in_log and later_ts < earlier_ts:
                    verdict.disordered.append(
                        f"out of order: #{later.number} before #{earlier.number}"
                        f" of {repository} in {channel}"
                    )
                    break
