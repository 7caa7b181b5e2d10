"""Trigger ids: minted for one act of one person, good for three seconds and one use."""

import itertools
import random
import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from bot.sandbox.slack.wire import SlackRefusal

TRIGGER_SECONDS = 3.0
_KEPT = 10_000
_FORM = re.compile(r"\d+\.\d+\.[0-9a-f]+")


@dataclass
class Trigger:
    """Who acted, in which view if any, and when."""

    user: str
    view_id: str | None
    minted_at: float
    is_exchanged: bool = False


class Triggers:
    """Mints trigger ids and exchanges each of them once.

    `used_by_refusals`: a call that is refused for its view has used its trigger up as well. Slack
    says only that a trigger can be used once (https://docs.slack.dev/reference/methods/views.open,
    `exchanged_trigger_id`), so an app has to get on with both.
    """

    def __init__(
        self,
        monotonic: Callable[[], float],
        chance: random.Random,
        seconds: float = TRIGGER_SECONDS,
        *,
        used_by_refusals: bool = False,
    ) -> None:
        self.used_by_refusals = used_by_refusals
        self._monotonic = monotonic
        self._seconds = seconds
        self._chance = chance
        self._serial = itertools.count(1_000_000_000_001)
        self._triggers: OrderedDict[str, Trigger] = OrderedDict()

    def mint(self, user: str, view_id: str | None = None) -> str:
        trigger_id = f"{next(self._serial)}.{next(self._serial)}.{self._chance.getrandbits(128):x}"
        self._triggers[trigger_id] = Trigger(user, view_id, self._monotonic())
        if len(self._triggers) > _KEPT:
            self._triggers.popitem(last=False)
        return trigger_id

    def exchange(self, trigger_id: str) -> Trigger:
        """Use a trigger up.

        Raises SlackRefusal: `invalid_trigger_id`, `exchanged_trigger_id`, `expired_trigger_id`.
        """
        trigger = self._triggers.get(trigger_id)
        if trigger is None:
            well_formed = _FORM.fullmatch(trigger_id)
            raise SlackRefusal("expired_trigger_id" if well_formed else "invalid_trigger_id")
        if trigger.is_exchanged:
            raise SlackRefusal("exchanged_trigger_id")
        if self._monotonic() - trigger.minted_at > self._seconds:
            raise SlackRefusal("expired_trigger_id")
        trigger.is_exchanged = True
        return trigger

    def refused(self, trigger_id: str) -> None:
        """A call with this trigger is refused."""
        trigger = self._triggers.get(trigger_id)
        if trigger is not None and self.used_by_refusals:
            trigger.is_exchanged = True
