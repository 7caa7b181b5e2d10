"""The scheduled freezes of a chaos run, and what the channels have to show of them."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from bot.sandbox.merge_queue.controls import FreezeTerms
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from bot.sandbox.slack.state.workspace import Message, Workspace

REPOSITORY = "acme/api"
CHANNELS = ("C0MERGEQ", "C0RELEASE")
OF_A_FREEZE = re.compile(
    r"Merging is frozen |Freeze (starts|over|changed|ended) "
    r"|acme/api (is|was) frozen |(A|The planned) freeze of "
)


@dataclass(slots=True)
class Frozen:
    """A freeze; the reason names it. `written_at` is when each of its later events was written."""

    freeze_id: str
    reason: str
    start: datetime
    end: datetime | None
    written_at: dict[str, float] = field(default_factory=dict)

    @property
    def is_over(self) -> bool:
        return self.end is not None or "removed" in self.written_at


@dataclass
class Freezes:
    """Creates freezes that end by themselves, and others that are changed and removed."""

    service: MergeQueueSandbox
    random: Random
    known: list[Frozen] = field(default_factory=list)

    def one(self) -> None:
        ongoing = [one for one in self.known if not one.is_over]
        if not ongoing or self.random.random() < 0.4:
            self._create()
        elif "changed" not in (one := self.random.choice(ongoing)).written_at:
            one.reason += " and audit"
            self.service.change_freeze(
                REPOSITORY, one.freeze_id, FreezeTerms(one.reason, one.start)
            )
            one.written_at["changed"] = time.time()
        else:
            self.service.unfreeze(REPOSITORY, one.freeze_id, f"{one.reason} done")
            one.written_at["removed"] = time.time()

    def _create(self) -> None:
        reason = f"release {len(self.known)}"
        is_short = self.random.random() < 0.5
        length = timedelta(seconds=self.random.uniform(5, 20))
        start = datetime.now(UTC)
        end = start + length if is_short else None
        freeze_id = self.service.freeze(REPOSITORY, FreezeTerms(reason, start, end))
        self.known.append(Frozen(freeze_id, reason, start, end))
        if end is not None:
            self.known[-1].written_at["over"] = end.timestamp()

    def findings(self, workspace: Workspace) -> Iterator[str]:
        """What is lost, doubled or untrue."""
        for channel in CHANNELS:
            messages = [
                message for message in workspace.channels[channel].messages if message.from_app
            ]
            for freeze in self.known:
                yield from _findings(freeze, channel, messages)


def _findings(freeze: Frozen, channel: str, messages: list[Message]) -> Iterator[str]:
    verb = "was" if freeze.is_over else "is"
    name = f"the freeze {freeze.reason!r} in {channel}"
    text = f"{REPOSITORY} {verb} frozen · {freeze.reason}\n"
    cards = [message for message in messages if message.text.startswith(text)]
    if len(cards) != 1:
        yield f"{len(cards)} messages show {name}"
        return
    posts = {
        "changed": f"Freeze changed {REPOSITORY}: {freeze.reason}\n",
        "removed": f"Freeze ended {REPOSITORY}: {freeze.reason} done\n",
        "over": f"Freeze over {REPOSITORY}: {freeze.reason}\n",
    }
    for what, begins in posts.items():
        # Between what happened and by whom, an end names the freezes that are still in force.
        end = "" if what == "over" else "\nby carol "
        found = [
            message
            for message in messages
            if message.text.startswith(begins) and end in message.text
        ]
        # A card that is posted later may show it itself.
        is_needed = float(cards[0].ts) < freeze.written_at.get(what, 0)
        if len(found) > 1 or (is_needed and not found) or (found and what not in freeze.written_at):
            yield f"{len(found)} posts say that {name} is {what}"
        yield from (
            f"{name}: {what} elsewhere" for message in found if message.thread_ts != cards[0].ts
        )
