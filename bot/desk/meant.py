"""Which queue a request means where none is named, and which ones to offer first."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.acts.group_act import GroupOutcome
from bot.acts.group_acts import GroupActs
from bot.acts.record import Action
from bot.boards.rows import Boards
from bot.channels.rows import ChannelDefaults, Subscriptions
from bot.desk.question import Asker, Question
from bot.desk.rows import Questions
from bot.desk.situation import KnownPullRequest, Situation, ThreadSubject
from bot.feed.counting_repeats import repeated_of
from bot.feed.rows import QueueEntries
from bot.freezes.rows import Freezes
from bot.kernel.groups import ALL
from bot.kernel.repository import RepositoryName
from bot.log.classification import EventKind
from bot.log.rows import PullRequests
from bot.pauses.rows import Pauses
from bot.people.notices import Notice
from bot.people.rows import People
from bot.posts.delivery import POSTS_OF_LIVE_MESSAGES, Delivery, Subject, SubjectKind
from bot.posts.events import events_about
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.posts.outbox import Outbox
from bot.slack.person import is_for_person
from bot.store.transaction import Transaction

FEW = 50
_OF_SEVERAL = frozenset(
    {
        SubjectKind.GROUP,
        SubjectKind.GROUP_RESUMED,
        SubjectKind.OUTAGE,
        SubjectKind.OUTAGE_OVER,
        SubjectKind.SLACK_OUTAGE_OVER,
    }
)
"""Posts under the name of the first of several repositories."""


OWN_RECENTLY = timedelta(days=14)
"""How far back a person's pull requests are looked for."""


@dataclass(frozen=True, slots=True)
class TypedPlace:
    """Where somebody types."""

    channel_id: str | None  #: None on Home
    thread_ts: str | None  #: the first message of the thread, in one
    #: the person to whom messages in this channel are addressed, in a direct message
    direct_with: str | None
    #: the person, if their own pull requests matter
    person: str | None


def known_here(
    transaction: Transaction, situation: Situation, place: TypedPlace, now: datetime
) -> Situation:
    """The situation with what is stored about the place."""
    names = situation.groups.repositories.names
    if place.person is not None:
        mine = _pull_requests_of(transaction, place.person, names, now)
        situation = replace(situation, mine=mine)
    channel_id = place.channel_id
    if channel_id is None:
        return situation
    thread = None
    if place.thread_ts is not None:
        places = [channel_id, *([place.direct_with] if place.direct_with is not None else [])]
        thread = subject_of_thread(transaction, places, place.thread_ts)
    if len(names) > 1:
        boards = Boards(transaction).open_of(names)
        followed = Subscriptions(transaction).of_channel(channel_id)
        situation = replace(
            situation,
            default=ChannelDefaults(transaction).of(channel_id),
            boards=[board.repository for board in boards if board.channel_id == channel_id],
            subscribed=[subscription.repository for subscription in followed],
        )
    is_known = thread is not None and thread.repository in names
    return replace(situation, thread=thread if is_known else None)


def _pull_requests_of(
    transaction: Transaction, user_id: str, names: Collection[RepositoryName], now: datetime
) -> Sequence[KnownPullRequest] | None:
    """The person's, the last one first; None if nobody knows their login."""
    login = People(transaction).logins([user_id]).get(user_id)
    if login is None:
        return None
    found = PullRequests(transaction).last_of(login, now - OWN_RECENTLY)
    return [
        KnownPullRequest(record.repository, record.number)
        for record in found
        if record.repository in names
    ]


_NOTICE_OF_SUBJECT = {
    SubjectKind.REMINDER: Notice.REMINDER,
    SubjectKind.REPLACED: Notice.REPLACED,
    SubjectKind.REPLACED_ELSEWHERE: Notice.REPLACED,
    SubjectKind.END_VOID: Notice.REPLACED,
}


def subject_of_thread(
    transaction: Transaction, places: Sequence[str], message_ts: str
) -> ThreadSubject | None:
    """None for a message of somebody else, or one about several repositories.

    `places`: the channel; in direct messages also the person, to whom notices are addressed.
    """
    for place in places:
        shown = LiveMessages(transaction).at(place, message_ts)
        if shown is not None:
            return _of_live_message(transaction, shown.subject)
        delivery = Outbox(transaction).at(place, message_ts)
        if delivery is not None:
            found = _of_delivery(transaction, delivery)
            if found is not None and is_for_person(place):
                return replace(found, notice=_notice(delivery))
            return found
    return None


def _notice(delivery: Delivery) -> Notice | None:
    if delivery.subject.kind is SubjectKind.EVENT:
        return Notice.MERGE if delivery.kind == EventKind.MERGE else Notice.FAILURE
    return _NOTICE_OF_SUBJECT.get(delivery.subject.kind)


def _of_live_message(transaction: Transaction, subject: LiveSubject) -> ThreadSubject:
    if subject.kind is LiveKind.ENTRY:
        entry = QueueEntries(transaction).one(subject.repository, subject.key)
        return ThreadSubject(subject.repository, entry.pull_request if entry is not None else None)
    if subject.kind is LiveKind.GROUP:
        return _of_group(transaction, subject)
    if subject.kind is LiveKind.PAUSE:
        pause = Pauses(transaction).one(int(subject.key))
        return ThreadSubject(subject.repository, pause=pause.drawn if pause else None)
    if subject.kind is LiveKind.FREEZE:
        freeze = Freezes(transaction).one(int(subject.key))
        return ThreadSubject(subject.repository, freeze_id=freeze.freeze_id if freeze else None)
    if subject.kind is LiveKind.REPEATED:
        about, _ = repeated_of(subject)
        return _of_event(transaction, about)
    return ThreadSubject(subject.repository)


def _of_group(transaction: Transaction, subject: LiveSubject) -> ThreadSubject:
    act = GroupActs(transaction).one(int(subject.key))
    if act is None:
        return ThreadSubject(subject.repository)
    is_known = act.ended_at is not None and not act.of(GroupOutcome.UNCERTAIN)
    is_open = any(pause.is_open for pause in Pauses(transaction).of_act(act.group_act_id))
    is_over = act.action in {Action.PAUSE, Action.RESUME} and is_known and not is_open
    return ThreadSubject(subject.repository, group=act.group, is_group_over=is_over)


def _of_delivery(transaction: Transaction, delivery: Delivery) -> ThreadSubject | None:
    subject = delivery.subject
    if subject.kind in POSTS_OF_LIVE_MESSAGES:
        shown = LiveMessages(transaction).get([subject.subject_id]).get(subject.subject_id)
        return _of_live_message(transaction, shown.subject) if shown is not None else None
    if subject.kind in _OF_SEVERAL or delivery.summarizes:
        return None
    return _of_event(transaction, subject)


def _of_event(transaction: Transaction, about: Subject) -> ThreadSubject:
    event = events_about(transaction, [about]).get(about)
    return ThreadSubject(about.repository, event.pull_request if event is not None else None)


def take_questions(
    transaction: Transaction, asker: Asker, verb: str, now: datetime
) -> Mapping[Question, int | None]:
    """Close the open questions of a command; return them, with the messages that ask them."""
    found = Questions(transaction).open(asker, now, verb)
    return {
        question: message
        for question, message in found.items()
        if Questions(transaction).close(question)
    }


def ask_again(transaction: Transaction, questions: Collection[Question], until: datetime) -> None:
    """Open questions whose answer failed."""
    for question in questions:
        Questions(transaction).add(question, until)


@dataclass(frozen=True, slots=True)
class Fitting:
    """What fits a request, to offer first."""

    groups: Sequence[str] = ()
    repositories: Sequence[RepositoryName] = ()


def paused_targets(transaction: Transaction, names: Sequence[RepositoryName]) -> Fitting:
    """What can be resumed: groups whose pause is in force, then every paused queue."""
    pauses = Pauses(transaction).open(names)
    act_ids = {pause.line.group_act_id for pause in pauses if pause.line.group_act_id}
    acts = GroupActs(transaction).get(sorted(act_ids)).values()
    groups = dict.fromkeys(act.group for act in acts if act.group != ALL)
    everything = dict.fromkeys(act.group for act in acts if act.group == ALL)
    return Fitting((*groups, *everything), sorted(pause.repository for pause in pauses))


def frozen_targets(transaction: Transaction, names: Sequence[RepositoryName]) -> Fitting:
    known = Freezes(transaction).of(names)
    return Fitting(repositories=list(dict.fromkeys(freeze.repository for freeze in known)))


def to_allow(transaction: Transaction, names: Sequence[RepositoryName], number: int) -> Fitting:
    """The frozen queues, first those in which a pull request of that number was seen."""
    all_frozen = frozen_targets(transaction, names).repositories
    seen = with_pull_request(transaction, all_frozen, number).repositories
    others = [name for name in all_frozen if name not in seen]
    return Fitting(repositories=[*seen, *others])


def paused_with(
    transaction: Transaction, names: Sequence[RepositoryName], repository: RepositoryName
) -> str | None:
    """The group for which the repository is paused, if another queue of it is paused for it too."""
    pauses = Pauses(transaction).open(names)
    act_ids = {pause.line.group_act_id for pause in pauses if pause.repository == repository}
    together = [
        pause for pause in pauses if pause.line.group_act_id and pause.line.group_act_id in act_ids
    ]
    if len(together) < len((repository, "another")):
        return None
    act = GroupActs(transaction).one(together[0].line.group_act_id)
    return act.group if act is not None else None


def with_pull_request(
    transaction: Transaction, names: Sequence[RepositoryName], number: int
) -> Fitting:
    """The repositories in whose queue a pull request of that number was seen, latest first.

    Only among few repositories, because each is a question to the database.
    """
    if len(names) > FEW:
        return Fitting()
    seen = [PullRequests(transaction).get(name, [number]).get(number) for name in names]
    known = sorted(
        (record for record in seen if record is not None), key=lambda record: record.seen_at
    )
    return Fitting(repositories=[record.repository for record in reversed(known)])


def followed(transaction: Transaction, names: Sequence[RepositoryName], channel_id: str) -> Fitting:
    """The repositories that the channel is subscribed to."""
    heard = {
        subscription.repository
        for subscription in Subscriptions(transaction).of_channel(channel_id)
    }
    return Fitting(repositories=[name for name in names if name in heard])
