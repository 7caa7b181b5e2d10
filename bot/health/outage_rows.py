"""Outages: of event logs together, and of Slack."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select

from bot.health.outage import Outage, SlackOutage
from bot.health.tables import outages, slack_outages
from bot.store.statements import Numbered, as_row


class Outages(Numbered[Outage]):
    """Outages of event logs.

    Processes that notify of them take the lock `lock("outages")` first.
    """

    kind = Outage
    rows = select(outages)
    number = outages.c.outage_id

    def add(self, begun: Outage) -> int:
        return self._add(outages, as_row(outages, begun))

    def save(self, changed: Outage) -> bool:
        """Replace an active outage; False if it has ended."""
        this = outages.c.outage_id == changed.outage_id, outages.c.ended_at.is_(None)
        return self._change(outages, *this, **as_row(outages, changed)) > 0

    def active(self) -> Sequence[Outage]:
        """Active outages, oldest first."""
        active = self.rows.where(outages.c.ended_at.is_(None)).order_by(outages.c.outage_id)
        return self._records(Outage, active)

    def last_end(self) -> datetime | None:
        """When the last outage ended; None if none has."""
        last: datetime | None = self._run(select(func.max(outages.c.ended_at))).scalar_one()
        return last


class SlackOutages(Numbered[SlackOutage]):
    """Outages of Slack, one at a time: only the process that posts adds and ends them."""

    kind = SlackOutage
    rows = select(slack_outages)
    number = slack_outages.c.outage_id

    def begin(self, began_at: datetime) -> int:
        return self._add(slack_outages, {"began_at": began_at})

    def end(self, outage: SlackOutage, at: datetime, late: int) -> bool:
        """End an active outage after which `late` messages wait; False if it has ended."""
        this = slack_outages.c.outage_id == outage.outage_id, slack_outages.c.ended_at.is_(None)
        return self._change(slack_outages, *this, ended_at=at, late=late) > 0

    def active(self) -> SlackOutage | None:
        active = self.rows.where(slack_outages.c.ended_at.is_(None))
        return self._first(SlackOutage, active.order_by(slack_outages.c.outage_id).limit(1))
