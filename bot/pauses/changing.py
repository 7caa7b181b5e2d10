"""Stores what became known of a repository's pauses, and tells it wherever they are shown."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.acts.ends import end_act, end_of
from bot.acts.reason import signed_by, unsigned_reason
from bot.acts.record import FROM_LOG, Action, ActResult, AuditRecord
from bot.acts.rows import Revisions
from bot.kernel.actor import Actor, Origin
from bot.kernel.repository import RepositoryName
from bot.pauses.group_pauses import group_act_of, notified_together, notify_together, touch_group
from bot.pauses.history import (
    cards_of,
    end_pause,
    notify_adopted,
    notify_end,
    notify_end_not_theirs,
    notify_replaced,
    notify_still_paused,
    notify_void_end,
    open_pause_cards,
    pause_subscribers,
    shown_in,
    touch_pause,
)
from bot.pauses.known import (
    ActCertainty,
    Known,
    KnownEnd,
    KnownPause,
    Line,
    TimerState,
    same_reason,
)
from bot.pauses.observe import act_that_made
from bot.pauses.outcomes import timer_of
from bot.pauses.pause import EarlierLine, PauseEnd, PauseEnding, PauseLine, PauseRecord, line_of
from bot.pauses.requests import touch_pause_requests
from bot.pauses.rows import Pauses
from bot.pauses.stored import StoredPause
from bot.pauses.timeline import add_to_timeline
from bot.posts.delivery import Subject, SubjectKind
from bot.posts.enqueueing import reply
from bot.store.transaction import Transaction

SEEN_IN_FORCE = "known from the pause in force"


def to_notify(
    transaction: Transaction, part: AuditRecord | PauseRecord, channels: Collection[str] = ()
) -> set[str]:
    """`channels` and the subscribed ones, except those that get one post about the group."""
    subscribed = {*channels, *pause_subscribers(transaction, part.repository)}
    return subscribed.difference(notified_together(transaction, part))


@dataclass(slots=True)
class Change:
    """What one reading, answer or event made known of a repository's pauses."""

    transaction: Transaction
    repository: RepositoryName
    stored: StoredPause
    after: Known
    now: datetime
    answered: AuditRecord | None = None  #: the stored end of the act that the service answered
    channels: Collection[str] = ()  #: to notify besides those that follow pauses
    is_logged: bool = False  #: an event of the log told of it, which names authors
    #: the ends of acts that it proves, by their ids
    proved: dict[int, AuditRecord] = field(init=False, default_factory=dict)

    def store(self) -> None:
        """Store it and tell it. The caller holds the repository's pauses."""
        before = self.stored.known
        if self.after == before:
            return
        self._complete_acts()
        known = {pause.pause_id: pause for pause in before.pauses}
        for pause in self.after.pauses:
            if not pause.pause_id:
                self._add(pause)
            elif pause != known[pause.pause_id]:
                self._change(known[pause.pause_id], pause)
        self._note_missing()
        if self.after.revision != before.revision:
            Revisions(self.transaction).raise_of(self.repository)
        for act in self.proved.values():
            self._notify_group(act)

    def _note_missing(self) -> None:
        last = self.after.last
        if last is None or not last.pause_id:
            return
        if self.after.missing_since != self.stored.known.missing_since:
            record = Pauses(self.transaction).one(last.pause_id)
            if record is not None and record.is_open:
                missing_since = self.after.missing_since
                Pauses(self.transaction).save(replace(record, missing_since=missing_since))

    # The acts.

    def _complete_acts(self) -> None:
        """Store the end of each act that is known to be done only now."""
        if self.answered is not None:
            self.proved[self.answered.act_id] = self.answered
        was = {act.act_id: act for act in self.stored.known.acts}
        for act in self.after.acts:
            begun = self.stored.acts.get(act.act_id)
            if begun is None or act.act_id in self.proved or act == was.get(act.act_id):
                continue
            if act.state is not ActCertainty.DONE:
                continue
            if self._was_done(act.act_id):
                self.proved[act.act_id] = self.stored.ends[act.act_id]
                continue
            done = end_of(begun, ActResult.DONE, FROM_LOG if self.is_logged else SEEN_IN_FORCE)
            if act.reason is not None:
                done = replace(done, paused_at=self._made_at(act.actor, act.reason))
            self.proved[act.act_id] = end_act(self.transaction, done).record

    def _was_done(self, act_id: int) -> bool:
        """Whether its end was stored before, and so the channel of its actor was notified."""
        stored = self.stored.ends.get(act_id)
        return stored is not None and stored.result is ActResult.DONE

    def _made_at(self, actor: Actor, reason: str) -> datetime | None:
        """The time of the latest line with the reason of an act; None while its event waits."""
        lines = [line for pause in self.after.pauses for line in pause.lines]
        times = [
            line.paused_at
            for line in lines
            if line.by == actor and same_reason(line.reason, reason)
        ]
        return max(times, default=None)

    def _notify_group(self, act: AuditRecord) -> None:
        group_act = group_act_of(self.transaction, act)
        if group_act is not None and group_act.ended_at is not None:
            notify_together(self.transaction, group_act, self.now)

    def _act_of_line(self, line: Line) -> AuditRecord | None:
        """The end of the act that made a line."""
        for act in self.proved.values():
            is_its_reason = same_reason(act.stored_reason or "", line.reason)
            if act.action is Action.PAUSE and act.actor == line.by and is_its_reason:
                return act
        made = act_that_made(self.stored.known, line.shown)
        if made is None or made.actor != line.by:
            return None
        return self.stored.ends.get(made.act_id)

    def _act_of_end(self, end: KnownEnd) -> AuditRecord | None:
        """The act that ended a pause, if it is proved now."""
        for act in self.proved.values():
            if act.action is Action.RESUME and act.actor == end.by:
                return act
        return None

    def _everywhere(self, part: AuditRecord | PauseRecord) -> set[str]:
        here = {*self.channels}
        if (
            isinstance(part, AuditRecord)
            and part.where.channel_id is not None
            and self._is_news(part)
        ):
            # Nobody has looked whether the bot can post there.
            here.add(part.where.channel_id)
        return to_notify(self.transaction, part, here)

    def _is_news(self, act: AuditRecord) -> bool:
        """Whether the channel of its actor gets what it did only now.

        The log may have told of a pause before any reading showed it.
        """
        if act is self.answered:
            return False
        return act.action is Action.PAUSE or not self._was_done(act.act_id)

    # The pauses.

    def _line(self, line: Line) -> PauseLine:
        """A line as it is stored."""
        act = self._act_of_line(line)
        by = line.by
        name = signed_by(line.reason)
        if by is None and name is not None:
            by = Actor("", name)
        reason = act.reason if act is not None else None
        if reason is None:
            stripped = line.reason.strip()
            unsigned = unsigned_reason(stripped, by.name if by is not None else None)
            reason = unsigned if unsigned != stripped else line.reason
        group_act_id = act.group.act_id if act is not None else 0
        return PauseLine(line.paused_at, line.reason, reason, by, line.event_id, group_act_id)

    def _add(self, pause: KnownPause) -> None:
        """A pause that was not known."""
        lines = [self._line(line) for line in pause.lines]
        act = self._act_of_line(pause.last_line)
        record = PauseRecord(
            self.repository,
            lines[-1],
            began_at=pause.first_line.paused_at if len(lines) > 1 else None,
            seen_at=pause.seen_at,
            told_end=pause.told_end,
            timer=timer_of(act) if act is not None and pause.timer is not None else None,
        )
        if pause.end is not None:
            # Only the log tells of a pause that was over before it was known.
            at = pause.end.at
            end = PauseEnd(at, pause.end.by, seen_at=pause.end.seen_at, told_at=at)
            record = replace(record, end=end)
        record = replace(record, pause_id=Pauses(self.transaction).save(record))
        for line in lines[:-1]:
            Pauses(self.transaction).save_line(EarlierLine(record.pause_id, line))
        if not pause.is_open:
            record = Pauses(self.transaction).save_ended(record)
        channels = self._everywhere(act if act is not None else record)
        open_pause_cards(self.transaction, record, channels, self.now)
        if pause.is_open:
            self._notify_adopted(record, channels)
        else:
            notify_end(self.transaction, record, channels, self.now)

    def _notify_adopted(self, record: PauseRecord, channels: Collection[str]) -> None:
        if record.has_unknown_end:
            notify_adopted(self.transaction, record, channels, self.now, is_logged=self.is_logged)

    def _change(self, was: KnownPause, pause: KnownPause) -> None:
        record = self.stored.pauses[pause.pause_id]
        if pause.is_open and not was.is_open:
            record = self._open_again(record)
        record = replace(
            record,
            seen_at=pause.seen_at,
            missing_since=self.after.missing_since if pause is self.after.last else None,
        )
        if pause.is_open:
            record = replace(record, told_end=pause.told_end)
        record = self._with_lines(record, was, pause)
        if pause.end is None:
            return
        if was.end is None:
            self._end(record, pause.end)
        elif record.end is not None and was.end != pause.end:
            self._name_end(record, record.end, pause.end)

    def _open_again(self, ended: PauseRecord) -> PauseRecord:
        """The end was wrong: the cards show the pause again, and the posts are corrected."""
        timer = ended.timer
        if timer is not None:
            timer = replace(timer, due_at=timer.due_at or timer.resumes_at)
        record = replace(ended, end=None, timer=timer)
        Pauses(self.transaction).save(record)
        channels = pause_subscribers(self.transaction, self.repository)
        notify_still_paused(self.transaction, ended, record, channels, self.now)
        return record

    def _with_lines(self, record: PauseRecord, was: KnownPause, pause: KnownPause) -> PauseRecord:
        """The record with what the pause says, and has said, now."""
        known = {
            (earlier.line.stored_reason, earlier.line.paused_at): earlier
            for earlier in self.stored.lines_of(record.pause_id)
        }
        named = {line.shown: line for line in was.lines}
        for line in pause.lines[:-1]:
            earlier = known.get((line.reason, line.paused_at))
            if earlier is None:
                new = EarlierLine(record.pause_id, self._line(line))
                Pauses(self.transaction).save_line(new)
            elif line != named[line.shown]:
                record = self._with_named(record, line, earlier)
        first = pause.first_line.paused_at
        record = replace(record, began_at=min(record.since, first))
        if record.began_at == record.line.paused_at:
            record = replace(record, began_at=None)
        last = pause.last_line
        earlier = known.get((last.reason, last.paused_at))
        if earlier is None and last.is_named and last.event_id == was.last_line.event_id:
            return self._with_name(record, was, pause)
        if earlier is None:
            return self._with_new_line(record, pause)
        if earlier.line_id:
            return self._with_earlier_line(record, earlier)
        return self._with_name(record, was, pause)

    def _with_named(self, record: PauseRecord, line: Line, earlier: EarlierLine) -> PauseRecord:
        """An earlier line, or the last until now, of which the log has told who set it."""
        named = self._named(line, earlier.line)
        if not earlier.line_id:
            return replace(record, line=named)
        Pauses(self.transaction).save_line(replace(earlier, line=named))
        touch_group(self.transaction, replace(record, line=named), self.now)
        return record

    def _named(self, line: Line, known: PauseLine) -> PauseLine:
        """The line as the log tells of it, which doesn't tell of a group."""
        named = self._line(line)
        return replace(named, group_act_id=named.group_act_id or known.group_act_id)

    def _with_name(self, record: PauseRecord, was: KnownPause, pause: KnownPause) -> PauseRecord:
        """The last line is the same; perhaps the log has told who set it."""
        last = pause.last_line
        changed = record
        if last != was.last_line:
            changed = replace(record, line=self._named(last, record.line))
        timer = pause.timer
        is_void = timer is not None and timer.state is TimerState.VOID and was.timer != timer
        if is_void:
            changed = replace(changed, timer=None)
        self._save(changed)
        if is_void and record.timer is not None and pause.is_open:
            notify_end_not_theirs(self.transaction, record.timer, changed, self.now)
        if last.event_id != was.last_line.event_id and pause.is_open:
            self._notify_adopted(changed, to_notify(self.transaction, changed, self.channels))
        return changed

    def _with_earlier_line(self, record: PauseRecord, earlier: EarlierLine) -> PauseRecord:
        """The pause says again what it said before, which is no news."""
        before = replace(line_of(record), line_id=earlier.line_id)
        Pauses(self.transaction).save_line(before)
        is_same = record.line.reason == earlier.line.reason
        changed = replace(
            record,
            line=earlier.line,
            began_at=record.since,
            previous_reason=None if is_same else record.line.reason,
        )
        self._save(changed)
        touch_pause_requests(self.transaction, self.repository, self.now)
        return changed

    def _with_new_line(self, record: PauseRecord, pause: KnownPause) -> PauseRecord:
        """Another reason, or another person's, while the queue stays paused."""
        act = self._act_of_line(pause.last_line)
        line = self._line(pause.last_line)
        shown = shown_in(self.transaction, record, with_group=True)
        lost = line_of(record)
        lost = replace(lost, line_id=Pauses(self.transaction).save_line(lost))
        void = record.timer
        is_same = record.line.reason == line.reason
        timer = pause.timer
        is_set = timer is not None and timer.state is TimerState.SET
        changed = replace(
            record,
            line=line,
            began_at=record.since,
            previous_reason=None if is_same else record.line.reason,
            timer=timer_of(act) if act is not None and is_set else None,
            taken_over=None,
        )
        self._save(changed)
        # What waits for a second person was about the pause as it was.
        touch_pause_requests(self.transaction, self.repository, self.now)
        if not pause.is_open or pause.told_end is not None:
            # No reading has shown it, and it is over.
            return changed
        channels = {*self._everywhere(act if act is not None else changed), *shown}
        open_pause_cards(self.transaction, changed, channels, self.now)
        self._notify_adopted(changed, channels)
        act_id = act.record_id if act is not None else None
        notify_replaced(self.transaction, lost, changed, act_id, self.now)
        if void is not None and changed.timer is None:
            notify_void_end(self.transaction, void, lost, changed, self.now)
        cards = cards_of(self.transaction, changed)
        if act is not None and act.previous.paused_at is not None:
            add_to_timeline(self.transaction, act, cards, self.now)
        else:
            # No act made it, or one that found no pause and would tell of a new one.
            subject = Subject(SubjectKind.PAUSE_CHANGED, self.repository, lost.line_id)
            identity = changed.line_identity
            reply(self.transaction, subject, cards, self.now, identity=identity)
        return changed

    def _save(self, changed: PauseRecord) -> None:
        before = self.stored.pauses[changed.pause_id]
        if changed == before:
            return
        Pauses(self.transaction).save(changed)
        if _as_shown(changed) != _as_shown(before):
            touch_pause(self.transaction, changed, self.now)
        if changed.line.group_act_id != before.line.group_act_id:
            touch_group(self.transaction, before, self.now)
        if changed.line.by != before.line.by:
            # The live message of a group names those who paused its repositories again.
            for earlier in Pauses(self.transaction).earlier_lines([changed.pause_id]):
                touch_group(self.transaction, replace(changed, line=earlier.line), self.now)

    def _end(self, record: PauseRecord, end: KnownEnd) -> None:
        act = self._act_of_end(end)
        told_at: datetime | None = None
        if end.is_named:
            told_at = record.told_end.at if record.told_end is not None else end.at
        ended_at = told_at or self.now
        if act is not None and act is self.answered:
            ended_at = act.at
        is_timers = act is not None and act.where.origin is Origin.TIMER
        how = PauseEnding.TIMER if is_timers else PauseEnding.RESUMED
        over = PauseEnd(ended_at, end.by, how, end.seen_at, told_at)
        ended = end_pause(self.transaction, record, over, self.now)
        if act is not None or end.is_named:
            self._notify_end(ended, act)

    def _name_end(self, record: PauseRecord, before: PauseEnd, end: KnownEnd) -> None:
        """Who ended it is known by now."""
        act = self._act_of_end(end)
        told_at = end.at if end.is_named else None
        named = replace(before, by=end.by, told_at=told_at)
        if told_at is not None and not before.is_notified:
            # No post says yet when it ended.
            named = replace(named, at=min(before.at, told_at))
        if act is not None and act.where.origin is Origin.TIMER:
            named = replace(named, how=PauseEnding.TIMER)
        ended = end_pause(self.transaction, record, named, self.now)
        if not before.is_notified:
            self._notify_end(ended, act)

    def _notify_end(self, ended: PauseRecord, act: AuditRecord | None) -> None:
        channels = self._everywhere(act if act is not None else ended)
        notify_end(self.transaction, ended, channels, self.now, act)


def _as_shown(record: PauseRecord) -> PauseRecord:
    """The record without what no message shows, which needs no edit."""
    line = replace(record.line, event_id=None)
    return replace(record, line=line, seen_at=None, missing_since=None, told_end=None)
