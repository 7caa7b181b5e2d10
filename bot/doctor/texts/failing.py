"""The words of checks that fail, in every batch, at random, or for one pull request."""

from bot.blocks.text import by_count, link, local_time, plural
from bot.doctor.diagnosis import ComesBack, Diagnosis, ManyChecks, SameCheck
from bot.doctor.texts.parts import CauseInWords, checks, numbers
from bot.verdicts.texts.leaving import leaving

OPEN_LAST_RUN = "open the last run"


def same_check(found: SameCheck, _: Diagnosis) -> CauseInWords:
    names = checks(found.names)
    cause = by_count(
        len(found.names),
        "the same check fails in every batch",
        "the same checks fail in every batch",
    )
    batches = f"{found.batches:,} of {found.batches:,} batches"
    others = plural(found.pull_requests, "different pull request")
    failed = f"{names} failed in {batches} since {local_time(found.since)}, with {others}"
    evidence = [f"{failed}{_last_run(found.run)}."]
    owner = f"the owners of {names}"
    if not found.passed or found.passed_at is None:
        return CauseInWords(cause, tuple(evidence), f"{owner}.")
    passed = numbers(found.passed)
    evidence.append(f"Checks last passed {local_time(found.passed_at)}, on {passed}.")
    who = f"{owner}, or the author of {passed} if that broke it."
    if len(found.passed) > 1:
        who = f"{owner}, or the authors of {passed} if one of these broke it."
    return CauseInWords(cause, tuple(evidence), who)


def _last_run(address: str) -> str:
    """The link to it in brackets, to end a sentence; empty without an address."""
    linked = link(address, OPEN_LAST_RUN)
    return f" ({linked})" if linked != OPEN_LAST_RUN else ""


def many_checks(found: ManyChecks, _: Diagnosis) -> CauseInWords:
    failed = (
        f"{plural(found.pull_requests, 'pull request')} failed since {local_time(found.since)}, "
        f"at {plural(len(found.names), 'check')}: {checks(found.names)}."
    )
    passed = "None passed in the same time."
    if found.passed:
        passed = by_count(
            found.passed, "1 passed in the same time.", "{count} passed in the same time."
        )
    who = "the people who run CI. Don't queue anything again until pull requests merge."
    return CauseInWords("many different checks fail", (failed, passed), who)


def comes_back(found: ComesBack, _: Diagnosis) -> CauseInWords:
    now = "It is in the queue again." if found.is_queued else "It isn't in the queue right now."
    who = f"the author of #{found.number}, by fixing it before it is queued again."
    return CauseInWords(
        f"#{found.number} comes back again and again", (_how_often(found), now), who
    )


def _how_often(found: ComesBack) -> str:
    since = local_time(found.since)
    if found.code is not None:
        cause = leaving(found.code, None).cause
        return f"It has left {found.times:,} times since {since}, the last time because {cause}."
    at_checks = f", each time at {checks(found.names)}" if found.names else ""
    return f"Its checks have failed {found.times:,} times since {since}{at_checks}."
