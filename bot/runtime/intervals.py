"""How often a process does what nobody asks for."""

from dataclasses import dataclass

from bot.feed.observe_queue import EDIT_SPACING
from bot.feed.poll_repositories import (
    NEW_PAUSE_READ_AFTER,
    PAUSES_READ_EVERY,
    POLL_TICK_SECONDS,
)
from bot.feed.polling import FLOOR
from bot.feed.route_subscribers import EDIT_DELAY


@dataclass(frozen=True, slots=True)
class Intervals:
    """Seconds from one run of a job to the next; a job that is woken runs sooner.

    The last three are how long somebody waits for something that takes long.
    """

    polls: float = POLL_TICK_SECONDS
    """Whether a repository is due."""
    shortest_poll: float = FLOOR.total_seconds()
    """From one poll of a repository to the next."""
    pauses_read: float = PAUSES_READ_EVERY.total_seconds()
    new_pause_read: float = NEW_PAUSE_READ_AFTER.total_seconds()
    thread_edits: float = EDIT_DELAY.total_seconds()
    board_edits: float = EDIT_SPACING.total_seconds()
    posts: float = 1.0
    """Posts and edits that are due."""
    pauses: float = 1.0
    """The queues of timed pauses that are due."""
    freezes: float = 1.0
    freezes_gone: float = 300.0
    """Whether the service still has each freeze."""
    windows: float = 2.0
    outcomes: float = 1.0
    """Of acts whose person waits for an answer."""
    cut_short: float = 15.0
    """Acts on groups whose process ended, and requests for a second person that are too old."""
    reminders: float = 5.0
    outages: float = 5.0
    storms: float = 10.0
    """Whether storms of failures have lapsed."""
    home: float = 10.0
    """Home tabs that are open."""
    weekly: float = 60.0
    """Whether weekly statistics are due."""
    freezes_found: float = 60.0
    """Whether the service offers freezes."""
    connections: float = 60.0
    """How many connections to Slack all processes have."""
    channels_listed: float = 300.0
    channels_prepared: float = 1800.0
    prune: float = 3600.0
    prune_first: float = 60.0
    """After the start, when there are more urgent things to do."""
    settings: float = 2.0
    """Whether the files of settings have changed."""
    restarts: float = 30.0
    """Telling `mqbot check` which settings wait for a restart."""
    removed: float = 10.0
    """Whether a removed repository is still paused."""
    followed: float = 10.0
    """Whether channels have changed what they follow."""
    last_days: float = 24 * 60 * 60.0
    """Warning of secrets that end soon."""
    checks: float = 3.0
    """Until a check of readiness, or a scrape, does without its answer."""
    progress: float = 3.0
    """Before the bot says that an answer takes longer."""
    drain: float = 5.0
    """For the work behind acknowledgements, once the bot is to stop."""


USUAL = Intervals()
