"""A typed text, and the end that it begins with."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from bot.kernel.durations import Lasting

Value = TypeVar("Value")

LONGEST_PHRASE = 12
"""Words in which an end is looked for."""

TYPED_KEPT = 60
"""Characters of a phrase that a refusal repeats."""

EDGE = (
    r"(?:-?ish\b|\+(?=[\s,;:]|$))?(?:,?\s+(?:or\s+so|max(?:imum)?|tops|at\s+(?:the\s+)?(?:most|latest|least)|please)\b)?"
    r"[,;:.!?)\]\"'\u201d]*(?=\s|$)(?:\s+[-\u2013\u2014](?=\s))?"
)
"""What may follow an end, before the reason: "or so", punctuation, or a dash of its own."""

AT_EDGE = re.compile(EDGE)

_SEPARATOR = re.compile(r"[\s,]*")
OPENING = r"[(\[\"\u201c]*"
"""What may stand before an end."""

_AT_OPENING = re.compile(OPENING)
_WITH_T = re.compile(r"(\d{4}-\d{1,2}-\d{1,2})t(?=\d\d:)")
"""The T between date and time, as programs write it."""


@dataclass(frozen=True, slots=True)
class TypedText:
    """The first words that somebody typed."""

    as_typed: str

    small: str
    """In small letters, and of the same length: an index means the same character in `as_typed`."""

    @classmethod
    def of(cls, words: Sequence[str]) -> "TypedText":
        as_typed = " ".join(words[:LONGEST_PHRASE])
        letters: list[str] = []
        for letter in as_typed:
            lower = letter.lower()
            letters.append(lower if len(lower) == 1 else letter)
        small = "".join(letters).replace("\u2019", "'")
        return cls(as_typed, _WITH_T.sub(r"\1 ", small))

    @property
    def start(self) -> int:
        """Where the first word begins, behind a bracket or a quotation mark."""
        found = _AT_OPENING.match(self.small)
        return found.end() if found is not None else 0

    @property
    def count(self) -> int:
        """How many words there are."""
        return len(self.as_typed.split())

    def words_to(self, end: int) -> int:
        """How many words stand before that index."""
        return len(self.as_typed[:end].split())

    def shown_to(self, end: int) -> str:
        """The words that a refusal repeats: from the beginning to that index."""
        return self.as_typed[:end].strip()[:TYPED_KEPT]

    def after_space(self, at: int) -> int:
        """Where the next word begins."""
        found = _SEPARATOR.match(self.small, at)
        return found.end() if found is not None else at

    def rest(self, at: int) -> str:
        """What follows, in small letters."""
        return self.small[at:].strip()


class Piece(NamedTuple, Generic[Value]):
    """What was read of a text, and where it ends."""

    value: Value
    end: int  #: where in the text the next piece begins


@dataclass(frozen=True, slots=True)
class Beginning:
    """A text that begins like an end."""

    readings: tuple[Lasting, ...]
    """What it may mean; none if nobody can say."""

    words: int
    """How many of its words are the end."""

    is_sure: bool
