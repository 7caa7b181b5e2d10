"""The rules in the order in which they are tried, one for each verdict.

Each says what it needs to see before it blames anybody. A rule that isn't sure says nothing. If all
of them say nothing, the verdict is "I can't tell". A rule's docstring says what it looks for, by
which figures, what that could be mistaken for, and what the doctor says instead. Its words stand in
the file of the same name in `bot/doctor/texts`. `bot/doctor/past.py` says what a limit is.
"""

from collections.abc import Callable, Sequence

from bot.doctor.case import Case
from bot.doctor.diagnosis import Finding
from bot.doctor.rules.advancing import held, restarted
from bot.doctor.rules.failing import comes_back, many_checks, same_check
from bot.doctor.rules.standing import empty, frozen, misconfigured, no_answer, paused
from bot.doctor.rules.testing import done, hangs, never_start, start_late

Rule = Callable[[Case], Finding | None]

VERDICT_RULES: Sequence[Rule] = (
    no_answer,
    paused,
    frozen,
    misconfigured,
    empty,
    same_check,
    many_checks,
    comes_back,
    held,
    never_start,
    start_late,
    hangs,
    done,
    restarted,
)
