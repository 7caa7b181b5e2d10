"""The figures: the events in the queue, and the messages in each channel."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

from bot.domain.classification import EventKind, classify
from bot.domain.event_records import EventRecord
from bot.domain.message import Message
from bot.domain.preceding_events import REEMBARKED
from tests.support.poster import Posted, RecordingPoster

MENTION = "<@"
PUT_BACK = "put back"


@dataclass(frozen=True, slots=True)
class Received:
    """What one channel got. `broadcasts` are replies that the channel itself shows too."""

    posts: int = 0
    broadcasts: int = 0
    replies: int = 0
    edits: int = 0
    mentions: int = 0

    @property
    def in_channel(self) -> int:
        """The messages that everybody in the channel sees."""
        return self.posts + self.broadcasts

    def __add__(self, other: "Received") -> "Received":
        mine, others = asdict(self), asdict(other)
        return Received(**{name: mine[name] + others[name] for name in mine})


@dataclass(frozen=True, slots=True)
class Day:
    """What happened, by kind, and what was heard of it, by channel."""

    happened: Counter[str] = field(default_factory=Counter)
    heard: dict[str, Received] = field(default_factory=dict)


def happened(events: Sequence[EventRecord]) -> Counter[str]:
    """Checks that were stopped to start again by themselves are counted apart."""
    found: Counter[str] = Counter()
    for one in events:
        kind = classify(one)
        is_put_back = one.details.abort_status == REEMBARKED
        found[PUT_BACK if is_put_back else kind.value] += 1
    return found


def together(days: Iterable[Day]) -> Day:
    counted: Counter[str] = Counter()
    heard: dict[str, Received] = {}
    for day in days:
        counted.update(day.happened)
        for channel, more in day.heard.items():
            heard[channel] = heard.get(channel, Received()) + more
    return Day(counted, heard)


@dataclass(slots=True)
class Ear:
    """Counts what came since it was asked the last time."""

    poster: RecordingPoster
    _posts: int = 0
    _calls: int = 0

    def heard(self) -> dict[str, Received]:
        found: dict[str, Received] = {}
        posts = self.poster.history[self._posts :]
        calls = self.poster.calls[self._calls :]
        self._posts += len(posts)
        self._calls += len(calls)
        for one in posts:
            found[one.channel_id] = found.get(one.channel_id, Received()) + _heard(one)
        for call in calls:
            if call.method == "update":
                before = found.get(call.channel_id, Received())
                found[call.channel_id] = before + Received(edits=1)
        return found


def _heard(one: Posted) -> Received:
    mentions = _mentions(one.message)
    if one.thread is None:
        return Received(posts=1, mentions=mentions)
    is_broadcast = int(one.thread.broadcast)
    return Received(broadcasts=is_broadcast, replies=1 - is_broadcast, mentions=mentions)


def _mentions(message: Message) -> int:
    """In what is shown: the text beside blocks says the same again."""
    shown = json.dumps([dict(block) for block in message.blocks]) or message.text
    return shown.count(MENTION)


def as_json(days: Sequence[Day]) -> str:
    found = [
        {"happened": day.happened, "heard": {name: asdict(one) for name, one in day.heard.items()}}
        for day in days
    ]
    return json.dumps(found, indent=1, sort_keys=True) + "\n"


def from_json(text: str) -> list[Day]:
    return [
        Day(
            Counter(day["happened"]),
            {name: Received(**numbers) for name, numbers in day["heard"].items()},
        )
        for day in json.loads(text)
    ]


def merges(day: Day) -> int:
    return day.happened[EventKind.MERGE.value]
