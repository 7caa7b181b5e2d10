"""What a poll says of the service's health."""

from datetime import datetime

from bot.feed.poll_repositories import PollRepositories
from bot.health.outage import PollObservation, PollProblem
from bot.kernel.repository import RepositoryName


def observation(polls: PollRepositories) -> PollObservation:
    """The state of the logs that this process polls; of none while it stands by.

    A log whose last poll succeeded counts as read now, because a delay of this process says
    nothing about the service. One that failed counts as read an interval before its first
    failure, however rarely it is polled.
    """
    now = polls.clock.now()
    usual = polls.interval.usual
    unread_since: dict[RepositoryName, datetime] = {}
    read: dict[RepositoryName, datetime] = {}
    why: dict[RepositoryName, PollProblem] = {}
    for name, schedule in polls.schedules.items():
        if schedule.read_at is None:
            continue
        unread_since[name] = now
        if schedule.failures.count:
            unread_since[name] = max(
                schedule.read_at, (schedule.failures.since or schedule.read_at) - usual
            )
            if schedule.problem is not None:
                why[name] = schedule.problem
        elif schedule.polled_at is not None:
            read[name] = schedule.polled_at
    return PollObservation(now, unread_since, read, polled=polls.repositories, why=why)
