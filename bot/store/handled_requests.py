"""Requests that a process has taken, so that no other takes them again."""

from datetime import datetime

from bot.store.statements import Part, insert_into
from bot.store.tables import handled_requests

_HANDLED_UNTIL = handled_requests.c.until


class HandledRequests(Part):
    """Requests handled by any process; the first to add one is the only one."""

    def add(self, request: str, *, now: datetime, until: datetime) -> bool:
        """Remember it until then; False if it was remembered already."""
        new = insert_into(self._dialect, handled_requests).values(request=request, until=until)
        added = new.on_conflict_do_update(
            index_elements=handled_requests.primary_key,
            set_={"until": until},
            where=now > _HANDLED_UNTIL,
        )
        return self._run(added.returning(handled_requests.c.request)).first() is not None

    def forget(self, request: str) -> None:
        """It wasn't handled after all."""
        self._remove(handled_requests, handled_requests.c.request == request)
