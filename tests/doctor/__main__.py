"""`python -m tests.doctor`: how often the doctor of queues is right, on all stories."""

from collections.abc import Sequence

from bot.doctor.diagnosing import diagnose
from tests.doctor import detectors
from tests.doctor.counting import Outcome, outcome, table
from tests.doctor.look_alikes import LOOK_ALIKES
from tests.doctor.mixed import MIXED
from tests.doctor.story import Story
from tests.doctor.verdicts import STORIES


def show(title: str, stories: Sequence[Story]) -> None:
    print(f"{title:<42}" + "".join(f"{column.value:>12}" for column in Outcome))
    totals = dict.fromkeys(Outcome, 0)
    for row in table(stories):
        print(f"  {row.name:<40}" + "".join(f"{row.counted[column]:>12}" for column in Outcome))
        for column, count in row.counted.items():
            totals[column] += count
    print(f"  {'all':<40}" + "".join(f"{totals[column]:>12}" for column in Outcome))
    for story in stories:
        if outcome(story) is not Outcome.RIGHT:
            said = ", ".join(diagnose(story.facts, story.at).verdicts)
            print(f"  ! {story.name}: {', '.join(sorted(story.truth))}, and it said {said}")
    print()


if __name__ == "__main__":
    show("Stories by their true verdict", (*STORIES, *detectors.STORIES))
    show("Look-alikes by their true verdict", (*LOOK_ALIKES, *detectors.LOOK_ALIKES))
    show("Mixed stories by their true verdict", MIXED)
