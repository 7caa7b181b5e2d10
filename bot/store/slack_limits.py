"""Slack's limits, paces and the sharing of channels, as all processes know them.

Their times are the database's, because machines' clocks may differ.
"""

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import BigInteger, case, or_, select, type_coerce

from bot.kernel.sharing import ChannelSharing
from bot.store.schema import MICROSECOND, UtcTime
from bot.store.statements import Part, insert_into
from bot.store.tables import channel_sharings, paces, slack_limits

SHARING_KEPT = timedelta(hours=6)
"""For how long an event about a channel counts; all channels are listed more often."""


class SlackLimits(Part):
    """Methods and channels that Slack has closed for a time."""

    def close(self, name: str, seconds: float) -> None:
        """Remember that a method or channel is closed for this long; a later end stays.

        A limit met in the future was stored before that clock was corrected, and is ignored.
        """
        now = self._database_time()
        limit = {"name": name, "met_at": now, "until": now + timedelta(seconds=seconds)}
        known = slack_limits.c
        is_longer = or_(limit["until"] > known.until, now < known.met_at)
        new = insert_into(self._dialect, slack_limits).values(limit)
        new_or_longer = new.on_conflict_do_update(
            index_elements=slack_limits.primary_key, set_=limit, where=is_longer
        )
        self._run(new_or_longer)

    def closed(self) -> Mapping[str, float]:
        """The methods and channels that are closed, and the seconds until they open."""
        now = self._database_time()
        is_closed = now < slack_limits.c.until, now >= slack_limits.c.met_at
        limits = self._run(select(slack_limits).where(*is_closed))
        return {limit.name: (limit.until - now).total_seconds() for limit in limits}


class SharedPaces(Part):
    """Paces that are used up in part, by requests and posts of all processes."""

    def spend(self, name: str, seconds: float) -> None:
        """Set a pace back by so many seconds more."""
        now = self._database_time()
        free_at = paces.c.free_at
        row = {"name": name, "free_at": now + timedelta(seconds=seconds)}
        new = insert_into(self._dialect, paces).values(row)
        more = round(seconds / MICROSECOND.total_seconds())
        later = type_coerce(type_coerce(free_at, BigInteger) + more, UtcTime)
        new_or_later = new.on_conflict_do_update(
            index_elements=paces.primary_key,
            set_={"free_at": case((now < free_at, later), else_=new.excluded.free_at)},
        )
        self._run(new_or_later)

    def ahead(self) -> Mapping[str, float]:
        """The paces that were set back, and by how many seconds from now."""
        now = self._database_time()
        rows = self._run(select(paces).where(now < paces.c.free_at))
        return {row.name: (row.free_at - now).total_seconds() for row in rows}


class ChannelSharings(Part):
    """What Slack's events said of channels that others may read."""

    def add(self, channel_id: str, *, is_shared: bool) -> None:
        """Remember that a channel was shared with another organisation, or that this ended."""
        until = self._database_time() + SHARING_KEPT
        row = {"channel_id": channel_id, "is_shared": is_shared, "until": until}
        self._put(channel_sharings, row)

    def all(self) -> Mapping[str, ChannelSharing]:
        """By channel, the newest event about its sharing."""
        is_kept = self._database_time() < channel_sharings.c.until
        rows = self._run(select(channel_sharings).where(is_kept))
        return {row.channel_id: ChannelSharing(row.until, row.is_shared) for row in rows}
