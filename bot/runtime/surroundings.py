"""What a process takes from the machine it runs on, beside its settings."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bot.desk.background import Inbox
from bot.kernel.clock import Clock
from bot.runtime.adapters import OpenStore, open_store
from bot.runtime.clock import SystemClock
from bot.runtime.intervals import USUAL, Intervals
from bot.slack.app import PersonalPace


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Tests and the demo move the clock and shorten the intervals; tests also keep work waiting."""

    clock: Clock = field(default_factory=SystemClock)
    every: Intervals = USUAL
    pace: PersonalPace = field(default_factory=PersonalPace)
    open_store: OpenStore = open_store
    open_inbox: Callable[[], Inbox] = Inbox
