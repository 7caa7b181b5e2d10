"""Values for tests: valid by default, with keywords for what matters."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bot.acts.confirmation import ConfirmationRequest
from bot.acts.permission import Right
from bot.acts.record import Action, ActResult, AuditRecord, Previous, Where
from bot.channels.subscription import (
    DEFAULT_TOPICS,
    ListedSubscription,
    Style,
    Subscription,
    SubscriptionSource,
)
from bot.freezes.calendar import CalendarEntry
from bot.health.outage import SlackOutage
from bot.home.choices import BotHealth, FirstEntries, HomeState, Viewer
from bot.kernel.actor import Actor, Origin
from bot.kernel.configured import Configured, Policies, Policy
from bot.kernel.groups import Groups, Repositories
from bot.kernel.metrics import OutboxSummary, SuspendedChannel
from bot.kernel.repository import RepositoryName
from bot.merge_queue.event_records import EventDetails, EventRecord, PullRequestRecord, read_event
from bot.merge_queue.queue import (
    Account,
    Batch,
    BatchStatus,
    ChecksSummary,
    QueuedPullRequest,
    QueueStatus,
)
from bot.pauses.pause import PauseLine, PauseRecord, Timer
from bot.people.actions import MutablePullRequest
from bot.people.notices import AboutPerson, Notice, wanted
from bot.posts.delivery import Delivery, Progress, Subject, SubjectKind
from bot.questions.statistics import QueueStatistics, TimeInQueue, count, span_back
from bot.queues.estimate import Outlook
from bot.queues.snapshot import ReadQueue, Snapshot
from tests.support.clock import NOON
from tests.support.directories import HOME

SITE = RepositoryName("acme/site")
API = RepositoryName("acme/api")
DOCS = RepositoryName("acme/docs")
CHANNEL = "C0MERGEQ"
ALICE = Actor("U0ALICE", "alice", "T0ACME")
BOB = Actor("U0BOB", "bob", "T0ACME")
CAROL = Actor("U0CAROL", "carol", "T0ACME")


def make_configured(*names: RepositoryName, policy: Policy | None = None) -> Configured:
    repositories = Repositories(names or (SITE,))
    return Configured(
        Groups((), repositories), frozenset({HOME}), Policies(policy or Policy(), own={})
    )


def make_event_record(
    type_: str = "action.queue.enter",
    *,
    event_id: int = 1,
    repository: RepositoryName = SITE,
    received_at: datetime = NOON,
    pull_request: int | None = 41,
    base_ref: str | None = "main",
    **details: Any,
) -> EventRecord:
    return EventRecord(
        repository=repository,
        event_id=event_id,
        received_at=received_at,
        type=type_,
        pull_request=pull_request,
        base_ref=base_ref,
        session_id=None,
        details=EventDetails(**details),
    )


def make_event(
    event_id: int = 1,
    type_: str = "action.queue.enter",
    *,
    received_at: datetime = NOON,
    pull_request: int | None = 41,
    base_ref: str | None = "main",
    trigger: str = "",
    metadata: Mapping[str, Any] | None = None,
    repository: RepositoryName = SITE,
) -> EventRecord:
    """An event as the service sends it."""
    event, _ = read_event(
        {
            "id": event_id,
            "received_at": received_at.isoformat(),
            "type": type_,
            "pull_request": pull_request,
            "base_ref": base_ref,
            "trigger": trigger,
            "metadata": metadata,
        },
        repository,
    )
    return event


def make_pull_request_record(
    number: int = 41, *, title: str = "Add search", seen_at: datetime = NOON
) -> PullRequestRecord:
    address = f"https://code.example/{SITE}/pull/{number}"
    return PullRequestRecord(SITE, number, title, address, "ana", seen_at)


def make_queued(
    number: int = 41,
    *,
    title: str = "Add search",
    url: str | None = None,
    author: str = "ana",
    queued_at: datetime | None = None,
    priority_alias: str = "medium",
) -> QueuedPullRequest:
    return QueuedPullRequest(
        number=number,
        title=title,
        url=f"https://code.example/acme/site/pull/{number}" if url is None else url,
        author=Account(login=author),
        queued_at=queued_at or NOON - timedelta(minutes=12),
        priority_alias=priority_alias,
    )


def make_batch(
    *pull_requests: QueuedPullRequest,
    name: str = "batch-7",
    code: str = "running",
    checks: tuple[int, int] = (3, 5),
    estimated_merge_at: datetime | None = None,
) -> Batch:
    return Batch(
        id=f"id-of-{name}",
        name=name,
        parent_ids=(),
        status=BatchStatus(code=code),
        started_at=NOON - timedelta(minutes=5),
        estimated_merge_at=estimated_merge_at,
        checks_summary=ChecksSummary(passed=checks[0], total=checks[1]),
        pull_requests=pull_requests or (make_queued(),),
    )


def make_bisected(*pieces: Batch, name: str = "bisected", code: str = "bisecting") -> Batch:
    """A batch under bisection as the hosted service sends it: all stand in its pieces."""
    whole = make_batch(name=name, code=code, checks=(0, 0))
    return whole.model_copy(update={"pull_requests": (), "sub_batches": pieces})


def make_status(
    *batches: Batch,
    waiting: Sequence[QueuedPullRequest] = (),
    paused: bool | None = None,
    mode: str | None = None,
    unreadable: int = 0,
) -> QueueStatus:
    return QueueStatus(
        batches=batches,
        waiting_pull_requests=tuple(waiting),
        paused=paused,
        mode=mode,
        unreadable=unreadable,
    )


def make_act(
    action: Action = Action.PAUSE,
    result: ActResult = ActResult.DONE,
    *,
    at: datetime = NOON,
    actor: Actor = ALICE,
    reason: str | None = "CI runners are down",
    paused_at: datetime | None = NOON,
    previous_reason: str | None = None,
    previous_paused_at: datetime | None = None,
    channel_id: str | None = CHANNEL,
    origin: Origin = Origin.COMMAND,
    resumes_at: datetime | None = None,
    record_id: int = 0,
    act_id: int = 0,
) -> AuditRecord:
    pauses = action is Action.PAUSE
    return AuditRecord(
        at=at,
        actor=actor,
        action=action,
        where=Where(origin, channel_id),
        resumes_at=resumes_at,
        repository=SITE,
        result=result,
        reason=reason if pauses else None,
        stored_reason="CI runners are down (by alice via Slack)" if pauses else None,
        paused_at=paused_at if pauses else None,
        previous=Previous(previous_reason, previous_paused_at),
        act_id=act_id,
        record_id=record_id,
    )


def saying(pause: PauseRecord, **line: Any) -> PauseRecord:
    """The pause with these fields of its line."""
    return replace(pause, line=replace(pause.line, **line))


def make_known_pause(
    reason: str = "CI runners are down",
    *,
    actor: Actor | None = ALICE,
    resumes_at: datetime | None = None,
) -> PauseRecord:
    by = actor
    timer = make_timer(resumes_at=resumes_at) if resumes_at is not None else None
    return PauseRecord(SITE, PauseLine(NOON, reason, reason, by), timer=timer)


def make_snapshot(
    status: QueueStatus | None = None,
    *,
    pause: PauseRecord | None = None,
    repository: RepositoryName = SITE,
    branch: str | None = None,
    read_at: datetime = NOON,
) -> Snapshot:
    return Snapshot(repository, status or make_status(), pause, read_at, branch)


def make_outbox(
    waiting: int = 0,
    in_doubt: int = 0,
    oldest_at: datetime | None = None,
    suspended: Sequence[tuple[str, str]] = (),
) -> OutboxSummary:
    """`suspended`: ids of channels with Slack's codes."""
    refused = [SuspendedChannel(*one, NOON, NOON) for one in suspended]
    return OutboxSummary(waiting, 0, in_doubt, oldest_at, refused)


def make_home(
    *queues: ReadQueue,
    left_out: int = 0,
    polled: Mapping[RepositoryName, datetime] | None = None,
    subscriptions: Sequence[Subscription] = (),
    outbox: OutboxSummary | None = None,
    timed: Sequence[PauseRecord] = (),
    slack_outage: SlackOutage | None = None,
    calendar: Sequence[CalendarEntry] = (),
    outlooks: Mapping[RepositoryName, Outlook] | None = None,
) -> HomeState:
    return HomeState(
        queues=queues,
        first=0,
        total=len(queues) + left_out,
        polled=polled or {},
        subscriptions=FirstEntries(
            [ListedSubscription(each, 1) for each in subscriptions], len(subscriptions)
        ),
        health=BotHealth(outbox or make_outbox(), (), slack_outage),
        read_at=NOON,
        timed=timed,
        calendar=FirstEntries(calendar[:3], len(calendar)),
        offers_freezes=True,
        outlooks=outlooks or {},
    )


def make_person(login: str | None = None, **choices: bool) -> AboutPerson:
    """With the notices switched that are named, `mentions=False`."""
    return AboutPerson(login, wanted({Notice(one): is_on for one, is_on in choices.items()}))


def make_viewer(
    login: str | None = None,
    *,
    may_pause: bool = True,
    muted: frozenset[MutablePullRequest] = frozenset(),
    proposals: Sequence[ConfirmationRequest] = (),
) -> Viewer:
    """One who may pause may also freeze and subscribe."""
    rights = frozenset({Right.PAUSE, Right.FREEZE, Right.SUBSCRIBE} if may_pause else ())
    return Viewer(rights, make_person(login), muted, proposals)


def make_timer(*, resumes_at: datetime = NOON + timedelta(minutes=45), failures: int = 0) -> Timer:
    return Timer(resumes_at, resumes_at, Actor("U0ALICE", "alice"), "CI is down", failures=failures)


def make_subscription(
    *topics: str,
    channel_id: str = CHANNEL,
    repository: RepositoryName = SITE,
    branches: frozenset[str] = frozenset(),
    except_logins: frozenset[str] = frozenset(),
    source: SubscriptionSource = SubscriptionSource.COMMAND,
    style: Style = Style.FEED,
) -> Subscription:
    wanted = frozenset(topics) or DEFAULT_TOPICS
    return Subscription(
        channel_id, repository, wanted, branches, except_logins, source, style=style
    )


def make_subject(event_id: int = 1) -> Subject:
    return Subject(SubjectKind.EVENT, SITE, event_id)


def make_delivery(**progress: Any) -> Delivery:
    """A delivery whose sending has come that far."""
    return Delivery(
        delivery_id=f"{CHANNEL}1",
        channel_id=CHANNEL,
        subject=make_subject(),
        sequence=1,
        created_at=NOON,
        progress=Progress(NOON, **progress),
    )


def make_statistics(
    repository: RepositoryName = SITE,
    branch: str | None = None,
    *,
    days: float = 7,
    each: tuple[int, int, int] = (206, 22, 9),
) -> QueueStatistics:
    """Statistics with `each` in every span but the last, which is empty."""
    span = span_back(NOON, timedelta(days=days), ZoneInfo("Europe/Paris"))
    merged, failed, left = each
    tallies = [replace(one, merged=merged, failed=failed, left=left) for one in count([], span)[0]]
    if len(tallies) > 1:
        tallies[-1] = replace(tallies[-1], merged=0, failed=0, left=0)
    length = TimeInQueue(timedelta(minutes=24), timedelta(hours=1, minutes=10))
    return QueueStatistics(repository, branch, span, tuple(tallies), length if merged else None)
