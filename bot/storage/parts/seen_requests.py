"""Requests of Slack that were acted upon, on whichever machine."""

from datetime import datetime

from sqlalchemy import bindparam, delete, select

from bot.storage.statements import Prepared, Statements
from bot.storage.tables import seen_requests

FORGOTTEN_AT_ONCE = 100


class SqlSeenRequests:
    """The primary key decides which of two machines was first."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def add(self, key: str, *, now: datetime, until: datetime) -> bool:
        added = self._statements.rows(_ADD, request_key=key, until=until)
        self._statements.changed(_FORGET, now=now)
        return bool(added)


_ADD = Prepared(
    lambda insert: (
        insert(seen_requests)
        .values(request_key=bindparam("request_key"), until=bindparam("until"))
        .on_conflict_do_nothing(index_elements=[seen_requests.c.request_key])
        .returning(seen_requests.c.request_key)
    )
)

_FORGET = Prepared(
    lambda _: delete(seen_requests).where(
        seen_requests.c.request_key.in_(
            # Rows that another transaction is forgetting are passed over, not waited for.
            select(seen_requests.c.request_key)
            .where(seen_requests.c.until < bindparam("now"))
            .order_by(seen_requests.c.until)
            .limit(FORGOTTEN_AT_ONCE)
            .with_for_update(skip_locked=True)
        )
    )
)
