"""The words of pull requests that can't advance, and of checks that start over."""

from bot.blocks.text import by_count, listed, local_time, quote
from bot.doctor.diagnosis import Diagnosis, Restart, RestartCause, Restarted, StuckBehindOne
from bot.doctor.texts.parts import SAID_LIMIT, CauseInWords, numbers
from bot.queues.texts.parts import obstacle


def held(found: StuckBehindOne, diagnosis: Diagnosis) -> CauseInWords:
    waits = f"#{found.number} waits for {obstacle(found.obstacle)}."
    who = f"the author of #{found.number}, or anyone who may remove it from the queue."
    if not found.blocked:
        only = "Nothing else is queued." if diagnosis.seen.queued == 1 else ""
        return CauseInWords(f"#{found.number} can't advance", (waits, only), who)
    blocked = by_count(
        len(found.blocked), "{count} other waits for it", "{count} others wait for it"
    )
    cause = f"#{found.number} can't advance, and {blocked}"
    return CauseInWords(cause, (waits, f"Behind it: {numbers(found.blocked)}."), who)


_RESTART_WORDS = {
    Restart.PUSH: ("1 push to a queued pull request", "{count} pushes to queued pull requests"),
    Restart.REQUEUE: ("1 requeue", "{count} requeues"),
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
_RESTART_CAUSES = {
    Restart.PUSH: "pushes to queued pull requests have made checks start over {count} times",
    Restart.REQUEUE: "requeues have made checks start over {count} times",
    Restart.REMOVAL: "removals ahead have made checks start over {count} times",
    Restart.PRIORITY: "higher priorities have made checks start over {count} times",
    Restart.MERGE: "merges or pushes around the queue have made checks start over {count} times",
}
_SEVERAL_CAUSES = "checks have started over {count} times"
_WHO_RESTARTS = {
    Restart.PUSH: "the people who push to queued pull requests, by pushing before they queue.",
    Restart.REQUEUE: "the people who requeue, by leaving pull requests where they are.",
    Restart.REMOVAL: "the people who take pull requests out, by letting the queue finish.",
    Restart.PRIORITY: "the people who queue with a higher priority, by letting the queue finish.",
    Restart.MERGE: "the people who merge or push around the queue, by queueing instead.",
}
_WHO_OF_SEVERAL = "the people who did this, by letting the queue finish."


def restarted(found: Restarted, _: Diagnosis) -> CauseInWords:
    first = found.causes[0]
    cause = _SEVERAL_CAUSES
    who = _WHO_OF_SEVERAL
    if len(found.causes) == 1:
        cause = _RESTART_CAUSES[first.kind]
        who = _WHO_RESTARTS[first.kind]
    restarts = listed([_restart(cause) for cause in found.causes])
    evidence = [f"Since {local_time(found.since)}: {restarts}."]
    is_named = any(cause.numbers for cause in found.causes)
    if found.said and not is_named:
        evidence.append(f"The service says: {quote(found.said.rstrip('.'), SAID_LIMIT)}.")
    return CauseInWords(by_count(found.times, cause, cause), tuple(evidence), who)


def _restart(cause: RestartCause) -> str:
    words = by_count(cause.times, *_RESTART_WORDS[cause.kind])
    return f"{words} ({numbers(cause.numbers)})" if cause.numbers else words
