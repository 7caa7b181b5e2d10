"""Wakes a job that waits for work."""

from typing import Protocol


class Wake(Protocol):
    """Wakes the schedule because there is something to post, now or `after` some seconds."""

    def __call__(self, after: float = 0.0) -> None: ...
