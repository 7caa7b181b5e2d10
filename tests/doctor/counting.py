"""How often the doctor is right, says that it can't tell, or is wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from bot.doctor.diagnosing import diagnose
from bot.doctor.diagnosis import Diagnosis, QueueVerdict, Restart, Restarted
from tests.doctor.story import Story


class Outcome(StrEnum):
    RIGHT = "right"
    UNKNOWN = "can't tell"
    WRONG = "wrong"


def outcome(story: Story) -> Outcome:
    """Wrong is also who names one of two causes, or another cause of restarts."""
    diagnosis = diagnose(story.facts, story.at)
    said = set(diagnosis.verdicts)
    if said == {QueueVerdict.UNKNOWN} != story.truth:
        return Outcome.UNKNOWN
    is_right = said == story.truth and story.restarts in (None, restarts(diagnosis))
    return Outcome.RIGHT if is_right else Outcome.WRONG


def restarts(diagnosis: Diagnosis) -> Mapping[Restart, int] | None:
    """How often checks started over for which cause; None if no finding says so."""
    for finding in diagnosis.findings:
        if isinstance(finding, Restarted):
            return {cause.kind: cause.times for cause in finding.causes}
    return None


@dataclass
class Row:
    """The stories of one verdict."""

    name: str
    counted: dict[Outcome, int] = field(default_factory=lambda: dict.fromkeys(Outcome, 0))


def table(stories: Sequence[Story]) -> Sequence[Row]:
    """A row for each truth, in the order of the verdicts."""
    rows: dict[str, Row] = {}
    for story in sorted(stories, key=_place):
        name = " + ".join([verdict for verdict in QueueVerdict if verdict in story.truth])
        row = rows.setdefault(name, Row(name))
        row.counted[outcome(story)] += 1
    return list(rows.values())


def _place(story: Story) -> tuple[int, int]:
    order = list(QueueVerdict)
    return len(story.truth), min(order.index(verdict) for verdict in story.truth)
