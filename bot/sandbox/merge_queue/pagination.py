"""Pages of the event log: opaque cursors that stay good while events arrive, and links."""

import hashlib
import hmac
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from bot.sandbox.merge_queue.credentials import Refusal
from bot.sandbox.merge_queue.parameters import LogRequest
from bot.sandbox.merge_queue.simulation.event_log import Event, EventLog, Key, Selection
from bot.sandbox.merge_queue.simulation.moments import Moment

_LAYOUT = struct.Struct(">cqqqqB")
_SEAL_BYTES = 9

FIRST = b"f"
OLDER = b"o"
NEWER = b"n"
LAST = b"l"


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in one reading of the log: a direction from a key, within a fixed window.

    It says where an event stands, not how many came before it, so pages neither repeat nor skip
    an event when others arrive. `size` is the length of the last page.
    """

    direction: bytes
    key: Key
    received_from: Moment
    received_to: Moment
    size: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """One page, newest first, and the cursors of the pages that can be reached from it."""

    events: list[Event]
    cursors: dict[str, Cursor]


class CursorSeal:
    """Turns cursors into opaque text and back, for one sandbox and one repository at a time."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def _sign(self, repository: str, packed: bytes) -> bytes:
        whole = hmac.digest(self._secret, repository.encode() + packed, hashlib.sha256)
        return whole[:_SEAL_BYTES]

    def write(self, repository: str, cursor: Cursor) -> str:
        packed = _LAYOUT.pack(
            cursor.direction,
            *cursor.key,
            cursor.received_from,
            cursor.received_to,
            cursor.size,
        )
        return urlsafe_b64encode(packed + self._sign(repository, packed)).decode()

    def read(self, repository: str, text: str) -> Cursor:
        """Read a cursor; raise a 422 refusal for one that this repository's log did not give."""
        try:
            sealed = urlsafe_b64decode(text.encode("ascii"))
        except ValueError as error:
            raise Refusal(422, "cursor: not a cursor of this log") from error
        packed = sealed[:-_SEAL_BYTES]
        seal = sealed[-_SEAL_BYTES:]
        genuine = hmac.compare_digest(seal, self._sign(repository, packed))
        if not genuine or len(packed) != _LAYOUT.size:
            raise Refusal(422, "cursor: not a cursor of this log")
        direction, received_at, event_id, start, end, size = _LAYOUT.unpack(packed)
        return Cursor(direction, (received_at, event_id), start, end, size)


def read_page(log: EventLog, asked: LogRequest, cursor: Cursor | None) -> Page:
    """Read a page. The cost does not grow with the log: a bisection and the page itself."""
    selection = asked.selection
    if cursor is not None:
        selection = replace(
            selection,
            received_from=cursor.received_from,
            received_to=cursor.received_to,
        )
    events = _events(log, selection, cursor, asked.per_page)
    return Page(events, _cursors(log, selection, events, asked.per_page))


def _events(
    log: EventLog,
    selection: Selection,
    cursor: Cursor | None,
    per_page: int,
) -> list[Event]:
    direction = FIRST if cursor is None else cursor.direction
    if cursor is not None and direction == OLDER:
        return list(islice(log.newest_first(selection, cursor.key), per_page))
    if cursor is not None and direction == NEWER:
        return list(islice(log.oldest_first(selection, cursor.key), per_page))[::-1]
    if cursor is not None and direction == LAST:
        return list(islice(log.oldest_first(selection), min(cursor.size, per_page)))[::-1]
    return list(islice(log.newest_first(selection), per_page))


def _cursors(
    log: EventLog,
    selection: Selection,
    events: list[Event],
    per_page: int,
) -> dict[str, Cursor]:
    if not events:
        return {}
    start = Cursor(FIRST, (0, 0), selection.received_from, selection.received_to)
    cursors = {}
    if _any(log.newest_first(selection, events[-1].key)):
        cursors["next"] = replace(start, direction=OLDER, key=events[-1].key)
    if _any(log.oldest_first(selection, events[0].key)):
        cursors["prev"] = replace(start, direction=NEWER, key=events[0].key)
    if cursors:
        rest = log.count(selection) % per_page or per_page
        cursors["first"] = start
        cursors["last"] = replace(start, direction=LAST, size=rest)
    return cursors


def _any(events: Iterable[Event]) -> bool:
    return next(iter(events), None) is not None
