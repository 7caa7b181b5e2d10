"""What the words of several verdicts share."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.blocks.text import code, listed

CHECKS_NAMED = 3
NUMBERS_NAMED = 5
SAID_LIMIT = 200


@dataclass(frozen=True, slots=True)
class CauseInWords:
    """One cause in words, each part safe to show."""

    cause: str  #: a clause, to follow what has not merged for how long
    evidence: tuple[str, ...] = ()  #: sentences that somebody can check
    who: str = ""  #: the sentence that says who can act


def checks(names: Sequence[str]) -> str:
    return listed([code(name) for name in names], most=CHECKS_NAMED)


def numbers(numbers: Sequence[int]) -> str:
    return listed([f"#{number}" for number in numbers], most=NUMBERS_NAMED)
