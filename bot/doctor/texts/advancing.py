"""The words of pull requests that can't advance, and of checks that start over."""

from bot.blocks.text import by_count, listed, local_time
from bot.doctor.diagnosis import Diagnosis, Held, Restart, Restarted
from bot.doctor.texts.parts import Told, numbers
from bot.queues.texts.parts import obstacle


def held(found: Held, diagnosis: Diagnosis) -> Told:
    waits = f"#{found.number} waits for {obstacle(found.obstacle)}."
    who = f"the author of #{found.number}, or anyone who may remove it from the queue."
    if not found.blocked:
        only = "Nothing else is queued." if diagnosis.seen.queued == 1 else ""
        return Told(f"#{found.number} can't advance", (waits, only), who)
    blocked = by_count(
        len(found.blocked), "{count} other waits for it", "{count} others wait for it"
    )
    cause = f"#{found.number} can't advance, and {blocked}"
    return Told(cause, (waits, f"Behind it: {numbers(found.blocked)}."), who)


_RESTART_WORDS = {
    Restart.PUSH: ("1 push to a queued pull request", "{count} pushes to queued pull requests"),
    Restart.REMOVAL: ("1 removal ahead", "{count} removals ahead"),
    Restart.PRIORITY: (
        "1 pull request with a higher priority",
        "{count} pull requests with a higher priority",
    ),
    Restart.MERGE: (
        "1 merge or push around the queue",
        "{count} merges or pushes around the queue",
    ),
}


def restarted(found: Restarted, _: Diagnosis) -> Told:
    causes = [by_count(count, *_RESTART_WORDS[cause]) for cause, count in found.causes]
    since = f"Since {local_time(found.since)}: {listed(causes)}."
    who = "the people who push and merge around the queue, by letting it finish."
    return Told(f"checks have started over {found.times:,} times", (since,), who)
