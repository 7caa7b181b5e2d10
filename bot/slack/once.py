"""Drops requests that came before."""

import logging
from collections.abc import Coroutine, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from bot.domain.errors import StoreUnavailable
from bot.ports import Clock
from bot.slack.web_api.remembered import Bounded
from bot.store.transactions import Store, Transaction

logger = logging.getLogger(__name__)

EVENT_LIFETIME = timedelta(hours=25)
"""Slack retries delayed events for a day (https://docs.slack.dev/apis/events-api#retries)."""

TRIGGER_LIFETIME = timedelta(minutes=10)
"""Slack doesn't retry commands, clicks, forms and shortcuts; signatures are valid for 5 minutes."""

SHOWN = 12
"""Characters of a digest that are enough to find it in a log."""

MOST_REMEMBERED = 20_000


@dataclass(frozen=True, slots=True)
class RequestKey:
    """The same for each delivery of a request. A digest, because a trigger id is a credential."""

    digest: str
    lifetime: timedelta


def request_key(body: Mapping[str, Any]) -> RequestKey | None:
    """By event id, by trigger id, or by who did what when; None if there is none of them.

    https://docs.slack.dev/apis/events-api#event-type-structure
    """
    event_id = body.get("event_id")
    identity = event_id or body.get("trigger_id") or _action(body)
    if not isinstance(identity, str):
        return None
    lifetime = EVENT_LIFETIME if event_id else TRIGGER_LIFETIME
    return RequestKey(sha256(identity.encode()).hexdigest(), lifetime)


def _action(body: Mapping[str, Any]) -> str | None:
    user = body.get("user")
    actions = body.get("actions")
    first = actions[0] if isinstance(actions, list) and actions else body
    acted_at = first.get("action_ts") if isinstance(first, Mapping) else None
    if not isinstance(user, Mapping) or not acted_at:
        return None
    return f"{user.get('id')}:{first.get('action_id')}:{acted_at}"


class Once:
    """Runs the work of each request once among all processes on one database."""

    def __init__(self, clock: Clock, store: Store, *, alone: bool = False) -> None:
        """`alone`: all requests come to this process, so its memory decides without a database."""
        self._clock = clock
        self._store = store
        self._alone = alone
        self._seen = Bounded[str, None](MOST_REMEMBERED)

    async def act(self, body: Mapping[str, Any], work: Coroutine[Any, Any, None]) -> None:
        """Await `work`, unless the request came before.

        Raises StoreUnavailable, having done nothing, if the database must decide and can't.
        """
        with closing(work):
            key = request_key(body)
            if key is None or await self._is_first(key):
                await work
            else:
                extra = {"action": "request_repeated", "request": key.digest[:SHOWN]}
                logger.info("a request came again", extra=extra)

    async def _is_first(self, key: RequestKey) -> bool:
        if key.digest in self._seen:
            return False
        self._seen[key.digest] = None
        try:
            return await self._store.run(_add, key, self._clock.now())
        except StoreUnavailable:
            if self._alone:
                return True
            del self._seen[key.digest]
            raise


def _add(transaction: Transaction, key: RequestKey, now: datetime) -> bool:
    return transaction.seen_requests.add(key.digest, now=now, until=now + key.lifetime)
