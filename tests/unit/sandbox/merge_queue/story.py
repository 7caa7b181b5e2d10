"""A quiet sandbox on a manual clock, as a story: enqueue, wait, look."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bot.sandbox.merge_queue.controls import Controls, NewPullRequest
from bot.sandbox.merge_queue.payloads import StatusWriter
from bot.sandbox.merge_queue.simulation.event_log import Event
from bot.sandbox.merge_queue.simulation.state import Batch, CheckPlan, Line, QueueRule

REPOSITORY = "acme/site"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CHECKS = (CheckPlan("lint", 20, 20), CheckPlan("unit tests", 60, 60))

_GROUPS = ("action.", "command.", "queue.pause.", "scheduled_freeze.")


class Story:
    """One repository in which nothing happens but what the test asks for.

    Its checks take 20 and 60 seconds, a batch is prepared in 4, a merge takes 3.
    """

    def __init__(
        self,
        *,
        batch_size: int = 1,
        parallel: int = 5,
        dialect: str = "document",
        mode: str = "serial",
        **rule: Any,
    ) -> None:
        self.controls = Controls(
            repositories={REPOSITORY: "quiet"},
            real_time=False,
            start_at=START,
            dialect=dialect,
            mode=mode,
        )
        self.repository = self.controls.repository(REPOSITORY)
        self.repository.tempo = replace(self.repository.tempo, checks=CHECKS)
        self.repository.max_parallel_checks = parallel
        default = QueueRule(
            "default",
            batch_size=batch_size,
            batch_max_wait=rule.pop("batch_max_wait", 30 if batch_size > 1 else 0),
            **rule,
        )
        self.repository.rules = (
            (default,)
            if parallel == 1 and batch_size == 1
            else (*self.repository.rules[:2], default)
        )

    def enter(self, count: int = 1, **fields: Any) -> list[int]:
        """Enqueue so many pull requests, a second apart, and return their numbers."""
        numbers = []
        for _ in range(count):
            numbers.append(self.controls.enqueue(REPOSITORY, NewPullRequest(**fields)))
            self.controls.advance(1)
        return numbers

    def one(self, **fields: Any) -> int:
        return self.enter(1, **fields)[0]

    def pass_time(self, seconds: float) -> list[Event]:
        return self.controls.advance(seconds)

    def wait_for(self, condition: Callable[[], object], within: float = 3_600) -> None:
        """Move the clock second by second until the condition holds."""
        for _ in range(round(within)):
            if condition():
                return
            self.controls.advance(1)
        raise AssertionError(f"still not so after {within} simulated seconds")

    @property
    def line(self) -> Line:
        return self.repository.line("main")

    @property
    def codes(self) -> list[str]:
        return [batch.code for batch in self.line.batches]

    @property
    def members(self) -> list[list[int]]:
        return [[queued.number for queued in batch.members] for batch in self.line.batches]

    @property
    def waiting(self) -> list[int]:
        return [queued.number for queued in self.line.waiting]

    @property
    def batch(self) -> Batch:
        return self.line.batches[0]

    def parts(self) -> list[list[int]]:
        return [[queued.number for queued in part.members] for part in self.batch.sub_batches or ()]

    def log(self, *types: str, pull: int | None = None) -> list[Event]:
        """List the log, oldest first, of some types (short, after `action.queue.`) and one pull."""
        wanted = {name if name.startswith(_GROUPS) else f"action.queue.{name}" for name in types}
        return [
            event
            for event in self.controls.events(REPOSITORY)
            if (not wanted or event.type in wanted) and pull in (None, event.pull_request)
        ]

    def reported(self, pull: int) -> list[str]:
        """The events of one pull request in short types, without labels."""
        return [
            event.type.removeprefix("action.queue.")
            for event in self.log(pull=pull)
            if event.type.startswith(("action.queue.", "command."))
        ]

    def codes_of(self, pull: int) -> list[str | None]:
        """List the abort codes of the runs of one pull request."""
        return [end.metadata["abort_code"] for end in self.log("checks_end", pull=pull)]  # type: ignore[misc]  # the metadata of a log is open

    def left(self) -> dict[int, str]:
        """Give the code with which each pull request left, in order of leaving."""
        return {
            event.pull_request or 0: str(event.metadata["dequeue_code"])
            for event in self.log("leave")
        }

    def merged(self) -> list[int]:
        return [event.pull_request or 0 for event in self.log("merged")]

    def status(self, branch: str | None = None) -> dict[str, Any]:
        writer = StatusWriter(self.controls.service, self.repository, self.controls.speaks)
        return writer.status(branch)

    def batches_shown(self) -> Iterator[dict[str, Any]]:
        yield from self.status()["batches"]
