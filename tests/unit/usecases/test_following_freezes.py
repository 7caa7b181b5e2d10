"""What the card of a freeze says when its first event is read."""

from datetime import timedelta

import pytest

from bot.freezes.following import see_freeze_event, shown_freeze
from bot.freezes.freeze import Stage
from bot.freezes.rows import Freezes
from bot.log.types import FREEZE_CREATE
from bot.merge_queue.event_records import FreezeAttributes
from bot.runtime.renderers import RENDERERS
from tests.support.clock import NOON
from tests.support.make import CHANNEL, SITE, make_event_record
from tests.support.store import InMemoryStore
from tests.support.transactions import begin

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("starts_in", "lasts", "said"),
    [
        (-30, 600, "acme/site is frozen"),
        (0, 600, "acme/site is frozen"),
        # The service's time is known to a second or two.
        (1, 600, "acme/site is frozen"),
        (5, 600, "acme/site is frozen"),
        (1, 3, "acme/site is frozen"),
        (6, 600, "A freeze of acme/site is planned"),
        (3600, 600, "A freeze of acme/site is planned"),
        (-600, 600, "acme/site was frozen"),
    ],
)
def test_a_freeze_made_to_begin_now_is_not_called_planned(
    starts_in: int, lasts: int, said: str
) -> None:
    start = NOON + starts_in * SECOND
    terms = FreezeAttributes(
        reason="release", start=start.isoformat(), end=(start + lasts * SECOND).isoformat()
    )
    record = make_event_record(FREEZE_CREATE, pull_request=None, actor="alice", freeze=terms)
    with begin(InMemoryStore()) as transaction:
        see_freeze_event(transaction, record, [CHANNEL], NOON, NOON)
        (freeze,) = Freezes(transaction).locked(SITE)
        shown = shown_freeze(freeze)
        text = RENDERERS.render(transaction, [shown]).messages[shown].text
    assert text.startswith(said), text
    assert (freeze.stage is Stage.IN_FORCE) == ("is frozen" in said)
