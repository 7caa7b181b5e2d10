"""What a visitor of the demo may try first, and what shows that it was done."""

import re
from dataclasses import dataclass

SEE = "see"
PAUSE = "pause"
SECOND = "second"
WHY_MINE = "why-mine"
WHY_QUEUE = "why-queue"
FREEZE = "freeze"
QUIET = "quiet"


@dataclass(frozen=True, slots=True)
class Task:
    """One step of the checklist."""

    name: str
    title: str
    hint: str
    command: str | None = None  #: what may be typed; `{number}` is that of the last failure
    person: str | None = None  #: whom the visitor becomes for it


TASKS = (
    Task(
        SEE,
        "See the queue",
        "Ask what is queued, what is being tested and how long it takes. Checks run faster here "
        "than they did this morning, so times by the queue's past are too long at first.",
        "/mq status",
    ),
    Task(
        PAUSE,
        "Pause it",
        "One card tells everybody who paused, why and until when. It stays up to date.",
        "/mq pause CI runners are down",
    ),
    Task(
        SECOND,
        "Be the second person",
        "Become Bob. Take the pause over in the card's … menu, or resume the queue.",
        person="U0BOB",
    ),
    Task(
        WHY_MINE,
        "Why did mine fail?",
        "A pull request failed and left the queue. Press Why? below it, or ask by its number.",
        "/mq why {number}",
    ),
    Task(
        WHY_QUEUE,
        "Why does nothing merge?",
        "Ask about the whole queue. Try it during a pause and an outage, too.",
        "/mq why acme/site",
    ),
    Task(
        FREEZE,
        "Plan a freeze",
        "Nothing merges into a branch while it is frozen, but checks go on.",
        "/mq freeze acme/site",
    ),
    Task(
        QUIET,
        "Quiet the channel",
        "Keep only failures, pauses and health alerts.",
        "/mq subscribe acme/site quiet",
    ),
)

NOTHING_FAILED = "Choose A pull request fails under What if… first. Then press Why? below it."
"""The hint of the task about a failure while there is none."""

_SEES = re.compile(r"/mq(\s+(status|show|queue)\b.*)?\s*", re.IGNORECASE)
_WHY = re.compile(r"\bwhy\b", re.IGNORECASE)
_NUMBER = re.compile(r"\b\d{2,}\b")
_TAKES_OVER = re.compile(r"(/mq\s+(resume|takeover)|resume queue|take over)\b", re.IGNORECASE)
_QUIET = re.compile(r"\bquiet\b", re.IGNORECASE)


def takes_over(words: str) -> bool:
    """Whether typing these words, or pressing what says them, is to end or take over a pause."""
    return _TAKES_OVER.match(words) is not None


def done_by(words: str) -> str | None:
    """The task that is done by typing these words, or by pressing what says them."""
    if _SEES.fullmatch(words):
        return SEE
    if _WHY.search(words):
        return WHY_MINE if _NUMBER.search(words) else WHY_QUEUE
    if _QUIET.search(words):
        return QUIET
    return None
