"""People who opened the Home tab recently, and what it showed them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.audit import Actor
from bot.slack.web_api.remembered import Bounded

RECENT = timedelta(hours=1)
"""Slack doesn't say when somebody closes the tab."""

RENEWED_EVERY = timedelta(minutes=1)
VIEWERS = 50
"""Half of the hundred tabs a minute that Slack lets a workspace's app publish.

https://docs.slack.dev/reference/methods/views.publish
"""


@dataclass(slots=True)
class RecentViewer:
    """One person.

    `first`: where the page that they look at begins.
    `seen`: the tab as of `read_at`, without its times.
    """

    actor: Actor
    opened_at: datetime
    first: int = 0
    read_at: datetime | None = None
    seen: str = ""


class RecentViewers:
    """At most VIEWERS people; those who opened the tab last are kept."""

    def __init__(self) -> None:
        self.people = Bounded[str, RecentViewer](VIEWERS)

    def opened(self, actor: Actor, now: datetime) -> RecentViewer:
        recent = self.people.get(actor.user_id) or RecentViewer(actor, now)
        recent.actor, recent.opened_at = actor, now
        self.people[actor.user_id] = recent
        return recent

    def forget(self, recent: RecentViewer) -> None:
        self.people.pop(recent.actor.user_id, None)

    def due(self, now: datetime) -> Sequence[RecentViewer]:
        """People whose tab may be renewed now; forgets those who opened it long ago."""
        for one in [each for each in self.people.values() if now - each.opened_at > RECENT]:
            self.forget(one)
        return [
            one
            for one in self.people.values()
            if one.read_at is not None and now - one.read_at >= RENEWED_EVERY
        ]
