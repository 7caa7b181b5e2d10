"""Which failures and arrivals the message about a storm counts instead of posts of their own."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind
from bot.merge_queue.event_records import EventRecord
from bot.merge_queue.event_types import ENTER, MERGED
from bot.pauses.by_rule import is_verdict
from bot.posts.delivery import NewDelivery
from bot.posts.enqueueing import first_post
from bot.posts.live_message import LiveMessage, Priority
from bot.posts.live_messages import LiveMessages
from bot.store.transaction import Transaction
from bot.storms.rows import Storms
from bot.storms.storm import FailureStorm
from bot.storms.subject import storm_subject
from bot.verdicts.reading import facts_about
from bot.verdicts.verdict import judge, merges_outnumber


class StormCount:
    """The storms of one repository while a slice of its events is routed, in order."""

    def __init__(self, transaction: Transaction, repository: RepositoryName, now: datetime) -> None:
        self.transaction = transaction
        self.now = now
        self._repository = repository
        self._of_branch: dict[str | None, _StormsOfBranch] = {}

    def of(self, branch: str | None) -> "_StormsOfBranch":
        """The storms of one base branch; None for events without one."""
        if branch not in self._of_branch:
            latest = Storms(self.transaction).latest(self._repository, branch)
            self._of_branch[branch] = _StormsOfBranch(self.transaction, latest, self.now)
        return self._of_branch[branch]

    def finish(self, edit_at: datetime) -> None:
        """Store the storms, and have their messages edited."""
        for of_branch in self._of_branch.values():
            of_branch.finish(edit_at)


class _StormsOfBranch:
    """The storms of one branch: the last one that is stored, and those that begin since."""

    def __init__(
        self, transaction: Transaction, latest: FailureStorm | None, now: datetime
    ) -> None:
        self.transaction = transaction
        self.now = now
        self._storm = latest
        self._shown = self._messages()
        #: by key: where one ends, the next may begin in the same slice
        self._changed: dict[str, FailureStorm] = {}

    def _messages(self) -> dict[str, LiveMessage | None]:
        """By channel; None for a message that is added now."""
        if self._storm is None or self._storm.ended_at is not None:
            return {}
        shown = LiveMessages(self.transaction).of(storm_subject(self._storm))
        return {message.channel_id: message for message in shown}

    def see(self, record: EventRecord, kind: EventKind) -> bool:
        """Whether the event, with the details of earlier ones, belongs to a storm."""
        at = record.received_at
        if record.type == MERGED:
            self._see_merge(at)
            return False
        storm = self._storm
        if storm is None or not storm.lasts_at(at):
            return is_verdict(record, kind) and self._begin(record)
        if record.type == ENTER:
            return True
        if not is_verdict(record, kind):
            return False
        # In a busy queue there may never be ten minutes without a failure.
        if at >= storm.last_at and merges_outnumber(facts_about(self.transaction, record)):
            self._change(storm.outnumbered(at))
            return False
        self._change(storm.after_failure(at))
        return True

    def _see_merge(self, at: datetime) -> None:
        storm = self._storm
        if storm is not None and storm.after_merge(at) != storm:
            self._change(storm.after_merge(at))

    def _begin(self, record: EventRecord) -> bool:
        facts = facts_about(self.transaction, record)
        over_at = self._storm.ended_at if self._storm is not None else None
        if over_at is not None:
            others = [event for event in facts.others if event.received_at > over_at]
            facts = replace(facts, others=others)
        found = judge(facts).found.storm
        if found is None:
            return False
        at = record.received_at
        since = min(found.since, at)
        key = str(record.event_id)
        begun = FailureStorm(record.repository, key, since, at, branch=record.base_ref)
        self._change(begun)
        self._shown = {}
        return True

    def _change(self, storm: FailureStorm) -> None:
        self._storm = storm
        self._changed[storm.key] = storm

    def showing(self, channels: Collection[str]) -> Collection[str]:
        """Those of the channels in which people see the storm's message kept up to date."""
        found = []
        for channel_id in channels:
            message = self._shown.get(channel_id)
            is_new = channel_id in self._shown and message is None
            if is_new or (message is not None and message.is_first):
                found.append(channel_id)
        return found

    def begin_messages(self, channels: Collection[str]) -> list[NewDelivery]:
        """The first post of the storm's message in each of the channels without one."""
        storm = self._storm
        if storm is None:
            return []
        subject = storm_subject(storm)
        posts = []
        for channel_id in sorted(set(channels) - self._shown.keys()):
            message_id = LiveMessages(self.transaction).add(subject, channel_id, now=self.now)
            if message_id is None:
                continue
            self._shown[channel_id] = None
            kind = EventKind.FAILURE
            posts.append(first_post(subject, message_id, channel_id, self.now, storm.key, kind))
        return posts

    def finish(self, edit_at: datetime) -> None:
        for storm in self._changed.values():
            Storms(self.transaction).save(storm)
            LiveMessages(self.transaction).mark(
                storm_subject(storm),
                due_at=edit_at,
                closed=storm.ended_at is not None,
                priority=Priority.FAILURE,
            )
