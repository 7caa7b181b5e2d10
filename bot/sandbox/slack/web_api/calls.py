"""One Web API call: its arguments read by type, and the log of the calls received."""

import json
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.sandbox.slack.web_api.credentials import Token
from bot.sandbox.slack.wire import Json, SlackRefusal, invalid_arguments

_TRUE = {"1", "true", "True"}
_CALLS_KEPT = 10_000


@dataclass
class Call:
    """The arguments of a call; forms send text only, JSON bodies send values."""

    method: str
    token: Token
    arguments: Mapping[str, object]
    warnings: list[str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        return self.arguments.get(name) is not None

    def text(self, name: str, default: str = "") -> str:
        value = self.arguments.get(name)
        if value is None:
            return default
        if isinstance(value, dict | list | bool):
            raise invalid_arguments(f"must provide a string [json-pointer:/{name}]")
        return str(value)

    def required(self, name: str) -> str:
        """Give a text that must be there; raises SlackRefusal `invalid_arguments`."""
        value = self.text(name)
        if not value:
            raise invalid_arguments(f"missing required field: {name}")
        return value

    def flag(self, name: str) -> bool:
        return str(self.arguments.get(name)) in _TRUE

    def whole_number(self, name: str, default: int, maximum: int) -> int:
        """Give a number from 1 to `maximum`; raises SlackRefusal `invalid_arguments`."""
        text = self.text(name)
        if text in {"", "0"}:
            return default
        if not text.isdecimal():
            raise invalid_arguments(f"must be a valid integer [json-pointer:/{name}]")
        return min(int(text), maximum)

    def listed(self, name: str) -> list[str]:
        """Give a list that was sent as JSON or as text joined by commas."""
        value = self.arguments.get(name)
        parts = value if isinstance(value, list) else str(value or "").split(",")
        return [str(each).strip() for each in parts if str(each).strip()]

    def structured(self, name: str, refusal: str) -> object:
        """Give a value that forms send as JSON; raises SlackRefusal `refusal` if unreadable."""
        value = self.arguments.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise SlackRefusal(refusal) from None


class CallLog:
    """The Web API calls received, the newest few thousand, without their tokens."""

    def __init__(self) -> None:
        self._entries: deque[Json] = deque(maxlen=_CALLS_KEPT)
        self.count = 0

    def add(self, method: str, kind: str | None, arguments: Mapping[str, object]) -> Json:
        """Record a call; the entry's `ok` and `error` are filled in when it is answered."""
        shown = {name: value for name, value in arguments.items() if name != "token"}
        self.count += 1
        entry: Json = {
            "n": self.count,
            "method": method,
            "token_kind": kind,
            "arguments": shown,
            "ok": None,
            "error": None,
            "at": time.time(),
        }
        self._entries.append(entry)
        return entry

    def since(self, number: int) -> list[Json]:
        return [dict(each) for each in self._entries if each["n"] > number]
