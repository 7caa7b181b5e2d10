"""The rules in the order in which they are tried, one for each verdict.

Each says what it needs to see before it blames anybody. A rule that isn't sure says nothing. If all
of them say nothing, the verdict is "I can't tell".
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
