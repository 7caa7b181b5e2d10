"""Which changes redraw the Home tab."""

from dataclasses import replace
from datetime import timedelta

from tests.support.clock import NOON
from tests.support.make import SITE, make_home, make_queued, make_snapshot, make_status

LATER = NOON + timedelta(minutes=1)


def test_without_its_times_the_home_tab_changes_only_on_events() -> None:
    before = make_home(make_snapshot(), polled={SITE: NOON})
    later = replace(
        before,
        queues=[make_snapshot(read_at=LATER)],
        polled={SITE: LATER},
        read_at=LATER,
    )
    assert later != before
    assert later.timeless() == before.timeless()

    queued = make_status(waiting=[make_queued(41)])
    happened = replace(later, queues=[make_snapshot(queued, read_at=LATER)])
    assert happened.timeless() != before.timeless()
