"""From facts to a diagnosis: why nothing merges, or why it is slow."""

from datetime import datetime

from bot.doctor.case import case_of
from bot.doctor.diagnosis import Diagnosis, Finding, Unknown
from bot.doctor.facts import QueueFacts
from bot.doctor.rules.order import VERDICT_RULES
from bot.doctor.rules.standing import normal


def diagnose(facts: QueueFacts, at: datetime) -> Diagnosis:
    """The same facts give the same diagnosis; missing ones make it say less.

    Every rule that holds is a cause; without any it merges normally, or nobody can tell.
    """
    case = case_of(facts, at)
    found: list[Finding] = [
        finding for rule in VERDICT_RULES if (finding := rule(case)) is not None
    ]
    if not found:
        found.append(normal(case) or Unknown())
    return Diagnosis(facts, at, tuple(found), case.seen)
