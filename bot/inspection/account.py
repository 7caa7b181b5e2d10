"""Everything stored about one message, pull request or event, for an operator's question."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from bot.acts.record import Action, ActResult, AuditRecord
from bot.acts.rows import Audit
from bot.channels.rows import Subscriptions
from bot.channels.subscription import Mismatch, Subscription
from bot.feed.counting_repeats import MessageForm, repeated
from bot.feed.rows import QueueEntries
from bot.feed.topics import topic_of
from bot.freezes.rows import Freezes
from bot.kernel.repository import RepositoryName
from bot.log.around_merges import EARLIER_EVENTS_READ
from bot.log.classification import PAUSE_TYPES, EventKind, kinds
from bot.log.position import LastPoll
from bot.log.rows import Events, Positions, PullRequests
from bot.log.types import FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord, PullRequestRecord, in_order
from bot.merge_queue.event_types import ENTER, LEAVE
from bot.pauses.pause import JUST_ENDED, NEAR
from bot.pauses.rows import Pauses
from bot.posts.delivery import POSTS_OF_LIVE_MESSAGES, Delivery, Subject, SubjectKind
from bot.posts.events import events_about
from bot.posts.live_message import LiveKind, LiveMessage, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.removals.removed_here import preceding_events
from bot.store.coordination import Leases
from bot.store.lease_values import EDIT_LEASE, POLL_LEASE, POST_LEASE, Lease
from bot.store.schema import EPOCH
from bot.store.transaction import Transaction
from bot.storms.rows import Storms

EXPLAINED = 200
"""The newest events of a pull request that are explained."""

LAST_CHANGES = 5
"""How many of the newest changes of subscriptions to show for a pull request without events."""

DIRECT_MESSAGES = "D"
"""Begins the id of a channel with one person."""


_OF_SUBSCRIPTIONS = frozenset({Action.SUBSCRIBE, Action.UNSUBSCRIBE})
_CHANGE_PAUSES = frozenset(
    {Action.PAUSE, Action.RESUME, Action.EXTEND, Action.KEEP, Action.TAKE_OVER}
)
_ABOUT_ACTS = frozenset({SubjectKind.ACT, SubjectKind.REPLACED})
_ABOUT_PAUSES = frozenset(
    {
        SubjectKind.ADOPTED,
        SubjectKind.END_VOID,
        SubjectKind.REMINDER,
        SubjectKind.ESCALATION,
    }
)
_ABOUT_ENDS = frozenset(
    {
        SubjectKind.PAUSE_END,
        SubjectKind.STILL_PAUSED,
        SubjectKind.RESUMED,
        SubjectKind.GROUP_RESUMED,
    }
)
_ABOUT_CHANGES = frozenset({SubjectKind.PAUSE_CHANGED, SubjectKind.REPLACED_ELSEWHERE})
_OF_ENDS = (SubjectKind.PAUSE_END, SubjectKind.STILL_PAUSED)
_OF_FREEZES = (SubjectKind.FREEZE_ANNOUNCED, SubjectKind.FREEZE_BEGUN, SubjectKind.FREEZE_OVER)


@dataclass(frozen=True, slots=True)
class ExplainedPost:
    """One delivery, the summary that covers it, and its message if that is edited later."""

    delivery: Delivery | None
    message: LiveMessage | None = None
    summary: Delivery | None = None


@dataclass(frozen=True, slots=True)
class Unposted:
    """A subscription for which an event has no delivery."""

    subscription: Subscription
    mismatch: Mismatch | None  #: what the event lacks for it; None if it matches
    is_newer: bool  #: somebody subscribed after the event


@dataclass(frozen=True, slots=True)
class EventAccount:
    """One stored event, and what became of it."""

    record: EventRecord
    kind: EventKind
    is_routed: bool  #: it was decided who gets it
    posts: Sequence[ExplainedPost]
    unposted: Sequence[Unposted]


@dataclass(frozen=True, slots=True)
class EventHistory:
    """Events of one repository, all of one pull request or a single one."""

    repository: RepositoryName
    number: int | None
    known: PullRequestRecord | None
    watermark: datetime | None  #: the newest event known from its log
    polled: LastPoll | None
    subscriptions: Sequence[Subscription]  #: as they are now
    #: the acts that changed them since the first event, without any the last ones
    changes: Sequence[AuditRecord]
    messages: Sequence[ExplainedPost]  #: those that are edited as these events happen
    events: Sequence[EventAccount]
    #: which process reads the log, posts and edits, by the name of its lease
    holders: Mapping[str, Lease]


@dataclass(frozen=True, slots=True)
class MessageAccount:
    """One message: its delivery, what it shows if it is edited, and what it is about."""

    post: ExplainedPost
    others: int  #: how many other subjects it is about, as a summary
    acts: Sequence[AuditRecord]  #: those that it tells of
    about: Sequence[EventHistory]  #: the events that it tells of


def of_message(transaction: Transaction, channel_id: str, message_ts: str) -> MessageAccount | None:
    """None for a message that isn't a stored post of this database."""
    if channel_id.startswith(DIRECT_MESSAGES):
        # A delivery to a person has their id.
        channel_id = next(iter(Outbox(transaction).people_at(message_ts)), channel_id)
    shown = LiveMessages(transaction).at(channel_id, message_ts)
    if shown is not None:
        posts = _posts_of(transaction, [shown])
        return _of_post(transaction, posts[0])
    delivery = Outbox(transaction).at(channel_id, message_ts)
    return _of_post(transaction, ExplainedPost(delivery)) if delivery is not None else None


def of_delivery(transaction: Transaction, delivery_id: str) -> MessageAccount | None:
    """None if there is none with this id."""
    delivery = Outbox(transaction).by_id(delivery_id)
    if delivery is None:
        return None
    message = None
    if delivery.subject.kind in POSTS_OF_LIVE_MESSAGES:
        number = delivery.subject.subject_id
        message = LiveMessages(transaction).get([number]).get(number)
    summary = Outbox(transaction).summary_of(delivery)
    return _of_post(transaction, ExplainedPost(delivery, message, summary))


def _of_post(transaction: Transaction, post: ExplainedPost) -> MessageAccount:
    delivery = post.delivery
    message = post.message
    others = delivery.summarizes if delivery is not None else 0
    about: Sequence[EventHistory] = ()
    acts: Sequence[AuditRecord] = ()
    if message is not None:
        about = _shown_by(transaction, message.subject)
        if message.subject.kind is LiveKind.PAUSE:
            acts = _acts_of_pause(transaction, int(message.subject.key))
    elif delivery is not None:
        about, acts = _tells_of(transaction, delivery.subject)
    return MessageAccount(post, others, acts, about)


class _Told(NamedTuple):
    """What a message tells of."""

    about: Sequence[EventHistory] = ()
    acts: Sequence[AuditRecord] = ()


def _tells_of(transaction: Transaction, subject: Subject) -> _Told:
    if subject.kind is SubjectKind.EVENT:
        account = of_event(transaction, subject.repository, subject.subject_id)
        return _Told(about=[account] if account is not None else [])
    return _Told(acts=_acts_told(transaction, subject))


def _acts_told(transaction: Transaction, subject: Subject) -> Sequence[AuditRecord]:
    number = subject.subject_id
    pause_id: int | None = None
    if subject.kind in _ABOUT_ACTS:
        act = Audit(transaction).one(number)
        return [act] if act is not None else []
    if subject.kind in _ABOUT_PAUSES:
        pause_id = number
    elif subject.kind in _ABOUT_ENDS:
        pause = Pauses(transaction).with_end(number)
        pause_id = pause.pause_id if pause is not None else None
    elif subject.kind in _ABOUT_CHANGES:
        line = Pauses(transaction).line(number)
        pause_id = line.pause_id if line is not None else None
    return _acts_of_pause(transaction, pause_id) if pause_id is not None else []


def _acts_of_pause(transaction: Transaction, pause_id: int) -> Sequence[AuditRecord]:
    """What people did about the pause through this bot, oldest first."""
    pause = Pauses(transaction).one(pause_id)
    if pause is None:
        return []
    acts = Audit(transaction).since(pause.repository, pause.since - JUST_ENDED)
    if pause.ended_at is not None:
        latest = pause.ended_at + JUST_ENDED
        acts = [act for act in acts if act.at <= latest]
    return [act for act in acts if act.action in _CHANGE_PAUSES]


def _shown_by(transaction: Transaction, subject: LiveSubject) -> Sequence[EventHistory]:
    if subject.kind is LiveKind.ENTRY:
        entry = QueueEntries(transaction).one(subject.repository, subject.key)
        if entry is not None:
            return [of_pull_request(transaction, subject.repository, entry.pull_request)]
    account = None
    if subject.kind is LiveKind.PAUSE:
        pause = Pauses(transaction).one(int(subject.key))
        if pause is not None and pause.line.event_id is not None:
            account = of_event(transaction, subject.repository, pause.line.event_id)
    if subject.kind is LiveKind.FREEZE:
        freeze = Freezes(transaction).one(int(subject.key))
        if freeze is not None:
            account = of_event(transaction, subject.repository, freeze.told.first_id)
    if subject.kind is LiveKind.REPEATED:
        event_id, _, _ = subject.key.partition(" ")
        account = of_event(transaction, subject.repository, int(event_id))
    return [account] if account is not None else []


def of_event(
    transaction: Transaction, repository: RepositoryName, event_id: int
) -> EventHistory | None:
    """None if no such event is stored."""
    about = Subject(SubjectKind.EVENT, repository, event_id)
    record = events_about(transaction, [about]).get(about)
    if record is None:
        return None
    if record.pull_request is None:
        return _account(transaction, repository, None, [record], [record])
    around = _events_of(transaction, repository, record.pull_request)
    return _account(transaction, repository, record.pull_request, [record], around)


def of_pull_request(
    transaction: Transaction, repository: RepositoryName, number: int
) -> EventHistory:
    """The newest EXPLAINED events of it; without any, why there are none."""
    around = _events_of(transaction, repository, number)
    return _account(transaction, repository, number, around[-EXPLAINED:], around)


def _events_of(
    transaction: Transaction, repository: RepositoryName, number: int
) -> Sequence[EventRecord]:
    return Events(transaction).of_pull_requests(
        repository, [number], since=EPOCH, limit=EARLIER_EVENTS_READ
    )


def _account(
    transaction: Transaction,
    repository: RepositoryName,
    number: int | None,
    records: Sequence[EventRecord],
    around: Sequence[EventRecord],
) -> EventHistory:
    messages = _messages(transaction, repository, number, around)
    known = PullRequests(transaction).get(repository, [number] if number is not None else [])
    seen = known.get(number) if number is not None else None
    subscriptions = Subscriptions(transaction).of_repository(repository)
    acts = Audit(transaction).since(repository, records[0].received_at if records else EPOCH)
    changes = [act for act in acts if _changed_a_subscription(act)]
    if not records:
        changes = changes[-LAST_CHANGES:]
    leases = [POLL_LEASE, POST_LEASE, EDIT_LEASE]
    return EventHistory(
        repository,
        number,
        seen,
        Positions(transaction).watermark(repository),
        Positions(transaction).polls([repository]).get(repository),
        subscriptions,
        changes,
        messages,
        _accounts(transaction, records, around, subscriptions, seen),
        Leases(transaction).of(leases),
    )


def _changed_a_subscription(act: AuditRecord) -> bool:
    return act.action in _OF_SUBSCRIPTIONS and act.result is ActResult.DONE


def _messages(
    transaction: Transaction,
    repository: RepositoryName,
    number: int | None,
    around: Sequence[EventRecord],
) -> Sequence[ExplainedPost]:
    """The messages that are edited as these events happen, with their first posts."""
    found: list[LiveMessage] = []
    if number is not None:
        entries = QueueEntries(transaction).of(repository, [number], EPOCH)
        keys = [entry.key for entry in entries]
        found += LiveMessages(transaction).of_all(LiveKind.ENTRY, repository, keys)
    counted = [
        repeated(repository, event.event_id, form).key for event in around for form in MessageForm
    ]
    found += LiveMessages(transaction).of_all(LiveKind.REPEATED, repository, counted)
    pauses = _pauses(transaction, repository, around)
    found += LiveMessages(transaction).of_all(LiveKind.PAUSE, repository, pauses)
    found += LiveMessages(transaction).of_all(
        LiveKind.STORM, repository, _storms(transaction, repository, around)
    )
    freezes = _freezes(transaction, repository, around)
    found += LiveMessages(transaction).of_all(LiveKind.FREEZE, repository, freezes)
    return _posts_of(transaction, found)


def _pauses(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> Collection[str]:
    """The pauses that the events began, changed or ended."""
    found: set[str] = set()
    for record in records:
        if record.type not in PAUSE_TYPES:
            continue
        at = record.received_at
        for pause in Pauses(transaction).recent(repository, at - NEAR):
            if pause.line.paused_at <= at + NEAR:
                found.add(str(pause.pause_id))
    return sorted(found)


def _storms(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> Collection[str]:
    """The storms in which the events happened."""
    return sorted(
        {
            storm.key
            for record in records
            if record.type in {ENTER, LEAVE}
            for storm in Storms(transaction).around(
                repository, record.received_at, record.received_at
            )
            if storm.branch == record.base_ref
        }
    )


def _freezes(
    transaction: Transaction, repository: RepositoryName, records: Sequence[EventRecord]
) -> Collection[str]:
    """The freezes that the events made, changed or ended."""
    ids = [record.event_id for record in records if record.type in FREEZE_TYPES]
    return [str(freeze.row_id) for freeze in Freezes(transaction).told_by(repository, ids)]


def _posts_of(transaction: Transaction, found: Sequence[LiveMessage]) -> list[ExplainedPost]:
    """Each with its last first post: it has a second one if Slack refused to edit the first."""
    firsts: dict[int, Delivery] = {}
    by_repository: dict[RepositoryName, list[int]] = defaultdict(list)
    for message in found:
        by_repository[message.subject.repository].append(message.message_id)
    for repository, numbers in by_repository.items():
        for kind in (SubjectKind.LIVE_MESSAGE, SubjectKind.LIVE_MESSAGE_AGAIN):
            for delivery in Outbox(transaction).about(kind, repository, numbers):
                firsts[delivery.subject.subject_id] = delivery
    return [ExplainedPost(firsts.get(message.message_id), message) for message in found]


def _accounts(
    transaction: Transaction,
    records: Sequence[EventRecord],
    around: Sequence[EventRecord],
    subscriptions: Sequence[Subscription],
    known: PullRequestRecord | None,
) -> Sequence[EventAccount]:
    if not records:
        return []
    repository = records[0].repository
    ids = [record.event_id for record in records]
    kind_of = kinds(records, in_order([*preceding_events(transaction, repository, around)]))
    waiting = Events(transaction).unrouted_among(repository, ids)
    posted: dict[int, list[ExplainedPost]] = defaultdict(list)
    for delivery in Outbox(transaction).about(SubjectKind.EVENT, repository, ids):
        summary = Outbox(transaction).summary_of(delivery)
        posted[delivery.subject.subject_id].append(ExplainedPost(delivery, summary=summary))
    for record in records:
        posted[record.event_id] += _others(transaction, record)
    author = known.author if known is not None else None
    return [
        EventAccount(
            record,
            kind_of[record.event_id],
            record.event_id not in waiting,
            posted[record.event_id],
            _unposted(
                record, kind_of[record.event_id], author, subscriptions, posted[record.event_id]
            ),
        )
        for record in records
    ]


def _others(transaction: Transaction, record: EventRecord) -> Sequence[ExplainedPost]:
    """Posts about what the event began, changed or ended: a pause, a freeze."""
    about: list[tuple[SubjectKind, int]] = []
    if record.type in PAUSE_TYPES:
        pauses = _pauses(transaction, record.repository, [record])
        about += [(SubjectKind.ADOPTED, int(pause)) for pause in pauses]
        lines = Pauses(transaction).earlier_lines([int(pause) for pause in pauses])
        about += [(SubjectKind.PAUSE_CHANGED, line.line_id) for line in lines]
        ends = Pauses(transaction).end_numbers([int(pause) for pause in pauses])
        about += [(kind, end) for end in ends for kind in _OF_ENDS]
    if record.type in FREEZE_TYPES:
        about += [(kind, record.event_id) for kind in _OF_FREEZES]
    return [
        ExplainedPost(delivery)
        for kind, number in about
        for delivery in Outbox(transaction).about(kind, record.repository, [number])
    ]


def _unposted(
    record: EventRecord,
    kind: EventKind,
    author: str | None,
    subscriptions: Sequence[Subscription],
    posts: Sequence[ExplainedPost],
) -> Sequence[Unposted]:
    have = {post.delivery.channel_id for post in posts if post.delivery is not None}
    topic = topic_of(kind)
    return [
        Unposted(
            subscription,
            subscription.mismatch(
                topic=topic, event_type=record.type, branch=record.base_ref, author=author
            ),
            subscription.created_at is not None and subscription.created_at > record.received_at,
        )
        for subscription in subscriptions
        if subscription.channel_id not in have
    ]
