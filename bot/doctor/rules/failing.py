"""Rules about checks that fail, in every batch, at random, or for one pull request."""

from collections import Counter
from collections.abc import Sequence

from bot.doctor.attempts import Attempt
from bot.doctor.case import Case
from bot.doctor.diagnosis import ComesBack, ManyChecks, SameCheck
from bot.doctor.rules.limits import IN_A_ROW, LAST_HOURS
from bot.verdicts.verdict import STORM_CHECKS, STORM_SIZE, STORM_SPAN


def same_check(case: Case) -> SameCheck | None:
    """Every batch fails at the same check.

    Looks for three batches or more that failed since checks last passed, all at one check. One bad
    pull request in all of them looks alike, and so does one at the head with batches that were
    tested on top of it at the same time. So the batches may have no pull request in common, and
    one of them must have started after another had failed.
    """
    failing = case.failing
    if len(failing) < IN_A_ROW or not case.is_recent(failing[-1]):
        return None
    names = frozenset.intersection(*(attempt.names for attempt in failing))
    if not names or set.intersection(*(attempt.members for attempt in failing)):
        return None
    if not _is_repeated(failing):
        return None
    passed = next((a for a in reversed(case.attempts) if a.has_passed), None)
    number = min(passed.members, default=None) if passed is not None else None
    passed_at = passed.ended_at if passed is not None else None
    if passed_at is None and case.merges:
        passed_at = case.merges[-1].received_at
        number = case.merges[-1].pull_request
    members = set[int]().union(*(attempt.members for attempt in failing))
    return SameCheck(
        tuple(sorted(names)),
        len(failing),
        len(members),
        failing[0].ended_at,
        passed_at,
        number,
        failing[-1].run,
    )


def _is_repeated(failing: Sequence[Attempt]) -> bool:
    """Whether a batch failed that began after the first failure and without its pull requests."""
    first = failing[0]
    return any(
        attempt.started_at is not None
        and attempt.started_at >= first.ended_at
        and attempt.members.isdisjoint(first.members)
        for attempt in failing
    )


def many_checks(case: Case) -> ManyChecks | None:
    """Many checks fail at random.

    Looks for five pull requests or more that failed within half an hour at three checks or more,
    more than merged in that time, as for the verdict on a pull request. One broken check looks
    alike when it makes others fail too, so none may be in more than half of the failures.
    """
    failed = [attempt for attempt in case.attempts if not attempt.has_passed]
    if not failed or not case.is_recent(failed[-1]):
        return None
    begin = failed[-1].ended_at - STORM_SPAN
    near = [attempt for attempt in failed if attempt.ended_at >= begin]
    members = set[int]().union(*(attempt.members for attempt in near))
    merged = [merge for merge in case.merges if merge.received_at >= begin]
    counted = Counter(name for attempt in near for name in attempt.names)
    is_storm = len(members) > STORM_SIZE and len(members) > len(merged)
    if not is_storm or len(counted) < STORM_CHECKS:
        return None
    names = [name for name, _ in counted.most_common()]
    if counted[names[0]] > len(near) / 2:
        return None
    return ManyChecks(tuple(names), len(members), len(merged), near[0].ended_at)


def comes_back(case: Case) -> ComesBack | None:
    """One pull request comes back again and again.

    Looks for one whose checks failed three times in the last six hours, in three stays in the
    queue, the current one included, and for which most of the batches failed that did. A bisection
    looks alike, which tests one pull request several times within one stay.
    """
    since = case.judged_at - LAST_HOURS
    failed = [a for a in case.attempts if not a.has_passed and a.ended_at >= since]
    if not failed or not case.is_recent(failed[-1]):
        return None
    counted = Counter(number for attempt in failed for number in attempt.members)
    number, times = counted.most_common(1)[0]
    own = [attempt for attempt in failed if number in attempt.members]
    stays = {stay for attempt in own for stay in attempt.stays if stay[0] == number}
    is_queued = any(queued.number == number for queued in case.queued)
    is_in_head = case.lead is not None and number in {m.number for m in case.lead.members}
    is_often = times >= IN_A_ROW and len(stays) + is_queued >= IN_A_ROW
    if not is_often or times <= len(failed) / 2 or not (case.is_long or is_in_head):
        return None
    names = frozenset.intersection(*(attempt.names for attempt in own))
    return ComesBack(number, times, own[0].ended_at, tuple(sorted(names)), is_queued)
