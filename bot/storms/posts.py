"""How the message about a storm is rendered when it is sent and edited."""

from collections.abc import Mapping
from dataclasses import replace

from bot.blocks.message import Message
from bot.log.classification import kinds
from bot.log.preceding import with_preceding_events
from bot.log.rows import Events, PullRequests
from bot.merge_queue.event_types import ENTER, LEAVE
from bot.pauses.by_rule import is_verdict
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.rendering import RenderLiveMessage
from bot.removals.removed_here import preceding_events
from bot.store.transaction import Transaction
from bot.storms.rows import Storms
from bot.storms.storm import FailureStorm
from bot.storms.texts import Failed, storm
from bot.verdicts.verdict import RECORD_SPAN

FAILURES_READ = 500
"""The latest of a storm; older ones aren't counted."""


def _storm(transaction: Transaction, subject: LiveSubject) -> Message | None:
    found = Storms(transaction).one(subject.repository, subject.key)
    if found is None:
        return None
    repository = found.repository
    read = Events(transaction).between(
        repository, LEAVE, found.began_at, found.last_at, limit=FAILURES_READ
    )
    left = [record for record in read if record.base_ref == found.branch]
    around = preceding_events(transaction, repository, left)
    kind_of = kinds(left, around)
    complete = [with_preceding_events(record, around) for record in left]
    failed = [record for record in complete if is_verdict(record, kind_of[record.event_id])]
    numbers = {record.pull_request for record in failed if record.pull_request is not None}
    seen = PullRequests(transaction).linked(repository, numbers)
    failures = [Failed(record, seen.get(record.pull_request or 0)) for record in failed]
    message = storm(found, failures, is_only_branch=_is_only_branch(transaction, found))
    return replace(message, happened_at=found.began_at)


def _is_only_branch(transaction: Transaction, found: FailureStorm) -> bool:
    """Whether nothing entered the queue of another branch within a day of it."""
    since = found.began_at - RECORD_SPAN
    entered = Events(transaction).between(
        found.repository, ENTER, since, found.last_at, limit=FAILURES_READ
    )
    return {record.base_ref for record in entered} <= {found.branch, None}


STORM_LIVE_MESSAGES: Mapping[LiveKind, RenderLiveMessage] = {LiveKind.STORM: _storm}
