"""People who opened the Home tab recently, and what it showed them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.audit import Actor

RECENT = timedelta(hours=1)
"""Slack does not tell when somebody looks away."""

RENEWED_EVERY = timedelta(minutes=1)
VIEWERS = 50
"""Half of the hundred tabs a minute that Slack lets a workspace's app publish.

https://docs.slack.dev/reference/methods/views.publish
"""


@dataclass(slots=True)
class RecentViewer:
    """One person: `seen` is what the tab showed them, without the times on it, as of `read_at`.

    `first`: where the page begins that they look at.
    """

    actor: Actor
    opened_at: datetime
    first: int = 0
    read_at: datetime | None = None
    seen: str = ""

    def saw(self, seen: str, read_at: datetime) -> None:
        self.seen, self.read_at = seen, read_at


class RecentViewers:
    """At most VIEWERS people; those who opened the tab last are kept."""

    def __init__(self) -> None:
        self.people: dict[str, RecentViewer] = {}

    def opened(self, actor: Actor, now: datetime) -> RecentViewer:
        recent = self.people.pop(actor.user_id, None) or RecentViewer(actor, now)
        recent.actor, recent.opened_at = actor, now
        self.people[actor.user_id] = recent
        while len(self.people) > VIEWERS:
            del self.people[next(iter(self.people))]
        return recent

    def forget(self, recent: RecentViewer) -> None:
        self.people.pop(recent.actor.user_id, None)

    def due(self, now: datetime) -> Sequence[RecentViewer]:
        """Those whose tab may be renewed now; people who looked long ago are forgotten."""
        for one in [each for each in self.people.values() if now - each.opened_at > RECENT]:
            self.forget(one)
        return [
            one
            for one in self.people.values()
            if one.read_at is not None and now - one.read_at >= RENEWED_EVERY
        ]
