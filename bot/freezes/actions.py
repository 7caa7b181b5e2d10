"""Names and values of the buttons and fields about freezes."""

from dataclasses import dataclass
from typing import Self

from bot.freezes.outcomes import Times
from bot.kernel.groups import Repositories

SKIP = "mq:skip"


FREEZE_MOVE = "mq:freeze_move"


WINDOW_MOVE = "mq:window_move"
"""The same for an occurrence of a window that is no freeze yet."""


MOVE_AGAIN = "mq:move_again"
"""Moves to the times that were picked, where that was cut off or failed."""


MOVE_VIEW = "mq:move_view"


START_BLOCK = "start_at"


FREEZE_CONFIRMED = "mq:freeze_confirmed"


FREEZE_FOR = "mq:freeze_for"


FREEZE_WITHOUT_END = "mq:freeze_without_end"


FREEZE_OTHER_TIME = "mq:freeze_other"


FREEZE_READINGS = (FREEZE_FOR, f"{FREEZE_FOR}_1")
"""As for a pause; the question goes once it is answered."""


FREEZE_END = "mq:freeze_end"


UNFREEZE = "mq:unfreeze"


UNFREEZE_AGAIN = "mq:unfreeze_again"
"""Ends the same freeze for the reason of the form, where that was cut off or failed."""


PLAN = "mq:freeze_plan"
"""Opens the form for a queue, or one that asks which."""


FREEZE_VIEW = "mq:freeze_view"


UNFREEZE_VIEW = "mq:unfreeze_view"


WHICH_BLOCK = "which_freeze"
"""Which of several freezes ends; its element has the same name."""


BRANCH_BLOCK = "branch"


EXCEPT_BLOCK = "except"


@dataclass(frozen=True, slots=True)
class MoveChoice:
    """The value of the button that moves a freeze, or an occurrence of a window, again."""

    control: str  #: as `control_value` writes it
    times: Times  #: to which it moves
    #: those that the form showed for a freeze; None for an occurrence, which its key identifies
    drawn_for: Times | None = None

    def known_in(self, repositories: Repositories) -> Self:
        """Itself: its queue is looked up like that of another button."""
        del repositories
        return self


@dataclass(frozen=True, slots=True)
class UnfreezeChoice:
    """The value of the button that ends a freeze again."""

    control: str  #: as `control_value` or `target_value` writes it
    reason: str

    def known_in(self, repositories: Repositories) -> Self:
        """Itself: its queue is looked up like that of another button."""
        del repositories
        return self
