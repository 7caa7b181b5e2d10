"""What comes again is acknowledged and acted upon once."""

import logging
from collections import OrderedDict
from collections.abc import Coroutine, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from slack_bolt.request.async_request import AsyncBoltRequest

from bot.domain.errors import StoreUnavailable
from bot.ports import Clock
from bot.store.transactions import Store, Transaction

logger = logging.getLogger(__name__)

EVENT_LIFETIME = timedelta(hours=25)
"""An app that asks for delayed events gets one again for a day.

https://docs.slack.dev/apis/events-api#retries
"""

TRIGGER_LIFETIME = timedelta(minutes=10)
"""Commands, actions, submissions and shortcuts are not sent again; a signature holds 5 minutes."""

RETRY = "x-slack-retry-num"
RETRY_REASON = "x-slack-retry-reason"
"""https://docs.slack.dev/apis/events-api#retries"""

SHOWN = 12
"""Of a digest, so much is enough to find it in a log."""

MOST_REMEMBERED = 20_000
"""Of each lifetime; past that the oldest are forgotten early."""


@dataclass(frozen=True, slots=True)
class RequestKey:
    """The same for the same request every time. A digest: a trigger id is a credential."""

    digest: str
    lifetime: timedelta


def request_key(body: Mapping[str, Any]) -> RequestKey | None:
    """By event id, by trigger id, else by who acted on what when; None for what has none of it.

    https://docs.slack.dev/apis/events-api#event-type-structure
    """
    for kind, identity, lifetime in (
        ("event", body.get("event_id"), EVENT_LIFETIME),
        ("trigger", body.get("trigger_id"), TRIGGER_LIFETIME),
        ("action", _action(body), TRIGGER_LIFETIME),
    ):
        if isinstance(identity, str) and identity:
            return RequestKey(sha256(f"{kind}:{identity}".encode()).hexdigest(), lifetime)
    return None


def _action(body: Mapping[str, Any]) -> str | None:
    user = body.get("user")
    actions = body.get("actions")
    first = actions[0] if isinstance(actions, list) and actions else body
    acted_at = first.get("action_ts") if isinstance(first, Mapping) else None
    if not isinstance(user, Mapping) or not acted_at:
        return None
    return f"{user.get('id')}:{first.get('action_id')}:{acted_at}"


class Once:
    """Lets each request pass once; with a store, once between the machines that share it.

    This process's memory is asked before the acknowledgement and the database after it:
    acknowledging waits for nothing outside this process.
    """

    def __init__(
        self,
        clock: Clock,
        store: Store | None = None,
        *,
        alone: bool = False,
        most: int = MOST_REMEMBERED,
    ) -> None:
        """`alone`: requests come to this process only, or to another when this one has died.

        Then its own memory is enough while the database does not answer.
        """
        self._clock = clock
        self._store = store
        self._alone = alone
        self._most = most
        # Keys of one lifetime end in the order in which they came.
        self._until: dict[timedelta, OrderedDict[str, datetime]] = {
            lifetime: OrderedDict() for lifetime in (EVENT_LIFETIME, TRIGGER_LIFETIME)
        }

    def is_new(self, req: AsyncBoltRequest) -> bool:
        """Whether this process sees the request for the first time; it is remembered.

        A retry is not refused for being one: of what happened while no connection was open it
        is the only delivery.
        """
        if req.headers.get(RETRY, ["0"])[0] not in {"", "0"}:
            extra = {
                "action": "slack_retries",
                "number": req.headers[RETRY][0][:10],
                "reason": req.headers.get(RETRY_REASON, [""])[0][:40],
            }
            logger.info("Slack tries again", extra=extra)
        key = request_key(req.body)
        if key is None or self._remember(key):
            return True
        _log_repeated(key)
        return False

    async def act(self, body: Mapping[str, Any], work: Coroutine[Any, Any, None]) -> None:
        """Await `work`, unless another machine has taken the request.

        Raises StoreUnavailable, having done nothing, when that matters and cannot be known.
        """
        with closing(work):
            if await self._is_first(body):
                await work

    def forget(self, body: Mapping[str, Any]) -> None:
        """Let the request come again: it was not acted upon."""
        key = request_key(body)
        if key is not None:
            self._until[key.lifetime].pop(key.digest, None)

    def _remember(self, key: RequestKey) -> bool:
        """Whether it was not remembered yet."""
        now, kept = self._clock.now(), self._until[key.lifetime]
        while kept and next(iter(kept.values())) < now:
            kept.popitem(last=False)
        if key.digest in kept:
            return False
        if len(kept) >= self._most:
            kept.popitem(last=False)
        kept[key.digest] = now + key.lifetime
        return True

    async def _is_first(self, body: Mapping[str, Any]) -> bool:
        key = request_key(body)
        if key is None or self._store is None:
            return True
        try:
            is_first = await self._store.run(_add, key, self._clock.now())
        except StoreUnavailable:
            if not self._alone:
                raise
            return True
        if not is_first:
            _log_repeated(key)
        return is_first


def _add(transaction: Transaction, key: RequestKey, now: datetime) -> bool:
    return transaction.seen_requests.add(key.digest, now=now, until=now + key.lifetime)


def _log_repeated(key: RequestKey) -> None:
    logger.info(
        "a request came again", extra={"action": "request_repeated", "request": key.digest[:SHOWN]}
    )
