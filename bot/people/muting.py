"""Mute one pull request for one person."""

from datetime import datetime, timedelta

from bot.people.actions import MutablePullRequest
from bot.people.rows import MutedPullRequests
from bot.store.transaction import Transaction

MUTED_FOR = timedelta(days=30)
"""Longer than a pull request usually waits; then its messages come again."""


def mute(
    transaction: Transaction, user_id: str, about: MutablePullRequest, now: datetime
) -> datetime:
    """Send a person no mentions and direct messages about it; return until when."""
    until = now + MUTED_FOR
    MutedPullRequests(transaction).add(user_id, about.repository, about.number, until=until)
    return until


def unmute(transaction: Transaction, user_id: str, about: MutablePullRequest) -> bool:
    """Whether it was muted."""
    return MutedPullRequests(transaction).remove(user_id, about.repository, about.number)
