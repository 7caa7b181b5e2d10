"""Values that store tests keep: valid by default, keywords for what matters."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from bot.acts.record import Action, ActResult, AuditRecord, Where
from bot.kernel.actor import Actor, Origin
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import EventDetails, EventRecord, PullRequestRecord
from bot.posts.delivery import Delivery, NewDelivery, Subject, SubjectKind
from bot.posts.outbox import Outbox
from bot.store.transaction import Transaction

NOW = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
SITE = RepositoryName("acme/site")
SHOP = RepositoryName("acme/shop")


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def make_event(
    event_id: int = 1,
    *,
    repository: RepositoryName = SITE,
    received_at: datetime = NOW,
    type_: str = "action.queue.enter",
) -> EventRecord:
    return EventRecord(
        repository=repository,
        event_id=event_id,
        received_at=received_at,
        type=type_,
        pull_request=40 + event_id,
        base_ref="main",
        session_id=None,
        details=EventDetails(queue_name="default", added=("a", "é")),
    )


def make_pull_request(
    number: int = 7,
    *,
    title: str = "Add search",
    author: str = "ada",
    repository: RepositoryName = SITE,
    seen_at: datetime = NOW,
) -> PullRequestRecord:
    return PullRequestRecord(
        repository=repository,
        number=number,
        title=title,
        url=f"https://code.example/acme/site/pull/{number}",
        author=author,
        seen_at=seen_at,
    )


def event_subject(event_id: int, repository: RepositoryName = SITE) -> Subject:
    return Subject(SubjectKind.EVENT, repository, event_id)


def make_new(
    event_id: int = 1,
    *,
    channel_id: str = "C1",
    due_at: datetime = NOW,
    delivery_id: str | None = None,
) -> NewDelivery:
    return NewDelivery(
        delivery_id=delivery_id or f"{channel_id}-{event_id}",
        channel_id=channel_id,
        subject=event_subject(event_id),
        due_at=due_at,
    )


def make_record(
    *,
    at: datetime = NOW,
    action: Action = Action.PAUSE,
    result: ActResult = ActResult.DONE,
    repository: RepositoryName = SITE,
    act_id: int = 0,
) -> AuditRecord:
    return AuditRecord(
        at=at,
        actor=Actor(user_id="U1", name="Ada", team_id="T1"),
        action=action,
        where=Where(Origin.MODAL, "C1"),
        repository=repository,
        result=result,
        reason="deploying 4.2",
        stored_reason="deploying 4.2 (Ada)",
        paused_at=at,
        act_id=act_id,
    )


def add(transaction: Transaction, *deliveries: NewDelivery) -> int:
    return Outbox(transaction).add(deliveries)


def claim(
    transaction: Transaction,
    now: datetime = NOW,
    *,
    seconds: float = 60,
    channels: int = 100,
    per_channel: int = 10,
) -> Sequence[Delivery]:
    return Outbox(transaction).claim(
        now=now,
        claimed_until=now + timedelta(seconds=seconds),
        at_most=channels,
        per_channel=per_channel,
    )


def record(transaction: Transaction, *deliveries: Delivery) -> None:
    Outbox(transaction).record(deliveries)


def stored(transaction: Transaction, event_id: int, channel_id: str = "C1") -> Delivery:
    found = Outbox(transaction).get(channel_id, event_subject(event_id))
    assert found is not None
    return found


def ids(deliveries: Iterable[Delivery]) -> list[str]:
    return [delivery.delivery_id for delivery in deliveries]
