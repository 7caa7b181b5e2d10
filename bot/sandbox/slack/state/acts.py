"""What people do with the app, for everybody who follows along."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

ActKind = Literal["command", "action", "shortcut", "submission"]


@dataclass(frozen=True, slots=True)
class Act:
    """Something that a person did with the app."""

    user: str
    kind: ActKind
    words: str  #: what was typed, or what the element and the choice say, with their values


class Acts:
    """Tells listeners of each act before the app gets it."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[Act], None]] = []

    def on_act(self, listener: Callable[[Act], None]) -> None:
        self._listeners.append(listener)

    def note(self, act: Act) -> None:
        for listener in self._listeners:
            listener(act)
