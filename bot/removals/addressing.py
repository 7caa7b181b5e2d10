"""Whom a failure of a pull request addresses: its author, unless that is a bot."""

from collections.abc import Sequence
from datetime import timedelta

from bot.log.rows import Events
from bot.merge_queue.event_records import EventRecord, PullRequestRecord
from bot.merge_queue.event_types import ENTER, QUEUE_COMMAND, REQUEUE_COMMAND
from bot.people.rows import People
from bot.store.installation import ProgramLogins
from bot.store.transaction import Transaction

QUEUED_WITHIN = timedelta(days=30)
"""How far back the person who queued a bot's pull request is looked for."""

BY_COMMAND = "@"
"""Begins the trigger of what a person asked for in a comment; their login follows."""


def person_to_ask(
    transaction: Transaction, author: str, records: Sequence[EventRecord] | None, about: EventRecord
) -> str:
    """The login of the author, or for a bot of the person who queued it; empty for nobody.

    An operator may make a person answer for a bot: `MQBOT_LOGINS` assigns its login to them.
    `records`: the pull request's events, oldest first; None to read them.
    """
    bots = ProgramLogins(transaction).all()
    if author not in bots or People(transaction).linked_to([author]):
        return author
    if records is None:
        since = about.received_at - QUEUED_WITHIN
        number = about.pull_request or 0
        records = Events(transaction).of_pull_requests(about.repository, [number], since=since)
    for event in reversed(records):
        login = _queued_by(event)
        if login and event.received_at <= about.received_at:
            return "" if login in bots else login
    return ""


def asked_about(
    transaction: Transaction, record: EventRecord, seen: PullRequestRecord | None
) -> str:
    """The same for a pull request as it was last seen; empty if nobody knows its author."""
    if seen is None or not seen.author or record.pull_request is None:
        return ""
    return person_to_ask(transaction, seen.author, None, record)


def _queued_by(event: EventRecord) -> str:
    """The login of the person who asked to queue it; empty if the event doesn't say."""
    if event.type in {QUEUE_COMMAND, REQUEUE_COMMAND} and event.details.actor:
        return event.details.actor
    if event.type == ENTER and event.details.trigger.startswith(BY_COMMAND):
        return event.details.trigger.removeprefix(BY_COMMAND)
    return ""
