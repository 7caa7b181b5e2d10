"""Buttons that act on a queue."""

from bot.freezes.actions import (
    FREEZE_CONFIRMED,
    FREEZE_END,
    FREEZE_READINGS,
    FREEZE_WITHOUT_END,
    MOVE_AGAIN,
    SKIP,
    UNFREEZE_AGAIN,
)
from bot.groups.actions import APPROVE, REFUSE
from bot.pauses.actions import (
    AGAIN,
    EXTEND,
    KEEP,
    MORE,
    PAUSE_CONFIRMED,
    PAUSE_READINGS,
    PAUSE_WITHOUT_END,
    REPLACE,
    RESUME,
    RESUME_OTHER,
)
from bot.removals.actions import REMOVE

PAUSE_BUTTONS = frozenset(
    {
        RESUME,
        RESUME_OTHER,
        EXTEND,
        KEEP,
        MORE,
        REPLACE,
        PAUSE_CONFIRMED,
        PAUSE_WITHOUT_END,
        *PAUSE_READINGS,
        AGAIN,
        REMOVE,
        SKIP,
        FREEZE_CONFIRMED,
        FREEZE_WITHOUT_END,
        *FREEZE_READINGS,
        FREEZE_END,
        MOVE_AGAIN,
        UNFREEZE_AGAIN,
        APPROVE,
        REFUSE,
    }
)
"""Those that act on a queue: a button with the same value does the same again."""
