"""The figures: the events in the queue, and the messages in each channel."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.log.classification import EventKind, classify
from bot.log.preceding import REEMBARKED
from bot.merge_queue.event_records import EventRecord
from tests.support.poster import Posted, RecordingPoster

MENTION = "<@"
PUT_BACK = "put back"

Received = Mapping[str, Counter[str]]
"""By channel: `posts`, `broadcasts` (replies that the channel shows too), `replies`, `edits` and
`mentions`."""


@dataclass(frozen=True, slots=True)
class Day:
    """What happened, by kind, and what the channels received."""

    happened: Counter[str]
    heard: Received

    def in_channel(self, channel_id: str) -> int:
        """The messages that everybody in the channel sees."""
        return self.heard[channel_id]["posts"] + self.heard[channel_id]["broadcasts"]

    @property
    def merges(self) -> int:
        return self.happened[EventKind.MERGE.value]

    def per_merge(self, channel_id: str) -> float:
        return self.in_channel(channel_id) / self.merges


def happened(events: Sequence[EventRecord]) -> Counter[str]:
    """Checks that were stopped to start again by themselves are counted apart."""
    return Counter(
        PUT_BACK if event.details.abort_status == REEMBARKED else classify(event).value
        for event in events
    )


def together(days: Iterable[Day]) -> Day:
    whole = Day(Counter(), defaultdict(Counter))
    for day in days:
        whole.happened.update(day.happened)
        for channel_id, more in day.heard.items():
            whole.heard[channel_id].update(more)
    return whole


@dataclass(slots=True)
class Ear:
    """Counts what came since it was asked the last time."""

    poster: RecordingPoster
    _posts: int = field(default=0, init=False)
    _calls: int = field(default=0, init=False)

    def heard(self) -> Received:
        found: dict[str, Counter[str]] = defaultdict(Counter)
        posts = self.poster.history[self._posts :]
        calls = self.poster.calls[self._calls :]
        self._posts += len(posts)
        self._calls += len(calls)
        for post in posts:
            found[post.channel_id].update({_place(post): 1, "mentions": _mentions(post)})
        for call in calls:
            if call.method == "update":
                found[call.channel_id]["edits"] += 1
        return found


def _place(one: Posted) -> str:
    if one.thread is None:
        return "posts"
    return "broadcasts" if one.thread.broadcast else "replies"


def _mentions(one: Posted) -> int:
    """In what is shown: the text beside blocks says the same again."""
    shown = json.dumps([dict(block) for block in one.message.blocks]) or one.message.text
    return shown.count(MENTION)


def as_json(days: Sequence[Day]) -> str:
    found = [
        {"happened": day.happened, "heard": {name: +one for name, one in day.heard.items()}}
        for day in days
    ]
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


def from_json(text: str) -> list[Day]:
    return [
        Day(
            Counter(day["happened"]),
            {name: Counter(numbers) for name, numbers in day["heard"].items()},
        )
        for day in json.loads(text)
    ]
