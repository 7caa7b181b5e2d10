"""Diagnoses of queues as cases: the first story of each verdict."""

from bot.doctor.diagnosing import diagnose
from bot.doctor.texts import answers, support
from tests.doctor.story import Story
from tests.doctor.verdicts import STORIES
from tests.support.messages.rendering import Cases, cases_of

why_queue = cases_of(answers.why_queue)
for_support = cases_of(support.for_support)


def _named(story: Story) -> str:
    return "-and-".join(sorted(verdict.replace("_", "-") for verdict in story.truth))


FIRST = {_named(story): story for story in reversed(STORIES)}

CASES: Cases = {
    **{
        f"why-queue-{name}": why_queue(diagnose(story.facts, story.at))
        for name, story in FIRST.items()
    },
    "why-queue-for-support": for_support(diagnose(FIRST["done"].facts, FIRST["done"].at)),
}
