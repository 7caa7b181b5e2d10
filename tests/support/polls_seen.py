"""The polls as seen by the merge queue service: how many, of what, and how many at once."""

import re
from collections import Counter
from collections.abc import Callable, Collection

from typing_extensions import override

from bot.sandbox.merge_queue.controls import SeenRequest
from bot.sandbox.merge_queue.faults import ArmedFaults, Fault
from bot.sandbox.merge_queue.server import MergeQueueSandbox
from tests.support.waiting import until

POLL = re.compile(r"/repos/([^/]+/[^/]+)/logs")

Begun = Callable[[str], None]


class _FirstLook(ArmedFaults):
    """Where every request passes before it is answered."""

    begun: Begun

    @override
    def meet(self, method: str, path: str, *, has_cursor: bool) -> Fault | None:
        if found := POLL.search(path):
            self.begun(found[1])
        return super().meet(method, path, has_cursor=has_cursor)


class PollsSeen:
    """Counted as it happens: looking again at all of the requests would cost too much.

    `doubled`: repositories that were read by two at a time. `on_begun` is called with the
    repository, before its poll is answered.
    """

    def __init__(self, queue: MergeQueueSandbox) -> None:
        self.polled: Counter[str] = Counter()
        self.doubled: list[str] = []
        self.on_begun: Begun | None = None
        self._being_read: Counter[str] = Counter()
        self._queue = queue
        first = _FirstLook(queue.faults.armed)
        first.begun = self._begin
        queue.faults = first
        queue.watchers.append(self._end)

    @property
    def count(self) -> int:
        return self.polled.total()

    def _begin(self, repository: str) -> None:
        if self._being_read[repository]:
            self.doubled.append(repository)
        self._being_read[repository] += 1
        if self.on_begun is not None:
            self.on_begun(repository)

    def _end(self, seen: SeenRequest) -> None:
        if found := POLL.search(seen.path):
            self._being_read[found[1]] -= 1
            self.polled[found[1]] += 1

    async def all_again(self, repositories: Collection[str], seconds: float) -> None:
        """Wait until each has been read by a poll that began after this."""
        before = {name: self.polled[name] + self._being_read[name] for name in repositories}

        def behind() -> set[str]:
            return {name for name, count in before.items() if self.polled[name] <= count}

        await until(lambda: not behind(), f"polls of all {len(before)}", seconds)
