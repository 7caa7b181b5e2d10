"""Diagnoses of queues as cases: the first story of each verdict."""

from collections.abc import Sequence
from dataclasses import replace

from bot.doctor.diagnosing import diagnose
from bot.doctor.diagnosis import Diagnosis
from bot.doctor.texts import answers, support
from bot.merge_queue.queue import BatchStatusCode
from tests.doctor import detectors
from tests.doctor.look_alikes import LOOK_ALIKES
from tests.doctor.mixed import MIXED
from tests.doctor.story import Story
from tests.doctor.verdicts import STORIES
from tests.support.messages.rendering import Cases, cases_of
from tests.support.messages.values import OUTLOOK

why_queue = cases_of(answers.why_queue)
for_support = cases_of(support.for_support)


def _named(story: Story) -> str:
    return "-and-".join(sorted(verdict.replace("_", "-") for verdict in story.truth))


FIRST = {_named(story): story for story in reversed(STORIES)}


def _beginning(name: str, stories: Sequence[Story]) -> Diagnosis:
    """What is said of the story whose name begins so."""
    story = next(story for story in stories if story.name.startswith(name))
    return diagnose(story.facts, story.at)


NORMAL = diagnose(FIRST["normal"].facts, FIRST["normal"].at)

_REFUSED = _beginning("the service fails twice", detectors.STORIES)
NEVER_STARTED = replace(
    _REFUSED, seen=replace(_REFUSED.seen, head_code=BatchStatusCode.WAITING_FOR_BATCH, total=3)
)

CASES: Cases = {
    **{
        f"why-queue-{name}": why_queue(diagnose(story.facts, story.at))
        for name, story in FIRST.items()
    },
    "why-queue-normal-and-how-long": why_queue(replace(NORMAL, outlook=OUTLOOK)),
    "why-queue-never-start-in-a-batch-that-waits": why_queue(NEVER_STARTED),
    "why-queue-restarted-by-pushes": why_queue(_beginning("four authors", detectors.STORIES)),
    "why-queue-restarted-by-a-requeue": why_queue(_beginning("#50 is taken", detectors.STORIES)),
    "why-queue-restarted-by-several": why_queue(_beginning("one push", detectors.STORIES)),
    "why-queue-comes-back-with-a-conflict": why_queue(_beginning("#41 is queued again", MIXED)),
    "why-queue-of-a-log-that-is-late": why_queue(_beginning("the log hasn't", LOOK_ALIKES)),
    "why-queue-for-support": for_support(diagnose(FIRST["done"].facts, FIRST["done"].at)),
}
