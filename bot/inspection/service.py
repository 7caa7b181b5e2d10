"""Checks the merge queue service: the credentials, each repository, and its clock."""

import asyncio
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import Enum

from bot.blocks.text import duration, listed, plural
from bot.inspection import machine
from bot.inspection.results import (
    GROUP_SECONDS,
    Area,
    CheckResult,
    CheckStatus,
    age_of,
    as_sentence,
    guarded,
    together,
)
from bot.kernel import errors as kernel_errors
from bot.kernel.clock import Clock
from bot.kernel.repository import RepositoryName
from bot.merge_queue import errors as merge_queue_errors
from bot.merge_queue.client import MergeQueueClient
from bot.merge_queue.own_token import OwnToken
from bot.merge_queue.queue import Application, QueueStatus
from bot.merge_queue.window import BELIEVED_ALONE, Window

RECENTLY_READ = timedelta(minutes=10)
"""A log that the bot read to its end since then vouches for its repository, at least."""

NEVER_READ = datetime(1970, 1, 1, tzinfo=UTC)

REPOSITORY_SECONDS = 0.25
"""Additional time for each repository: three requests, partly concurrent."""

UNAUTHORIZED = 401
MERGE_QUEUE = Area.MERGE_QUEUE

SHARED = merge_queue_errors.CredentialRefused.setting
"""The setting of the credential for all repositories without their own."""


@dataclass(slots=True)
class Survey:
    """The repositories that are asked about now; of the others, the bot knows when it read them."""

    repositories: Sequence[RepositoryName]
    #: when the bot last read the log of each to its end
    last_read: Mapping[RepositoryName, datetime] = field(default_factory=dict)
    asks_all: bool = False  #: also if that takes a minute
    recent: timedelta = RECENTLY_READ  #: how long such a reading vouches for its repository
    all_up_to: int = 500  #: of more repositories, only as many are asked for as `seconds` allow
    seconds: float = 2.0
    asked: set[RepositoryName] = field(default_factory=set)
    paused: set[RepositoryName] = field(default_factory=set)
    readable: set[RepositoryName] = field(default_factory=set)
    unauthorized: set[RepositoryName] = field(default_factory=set)
    unknown: set[RepositoryName] = field(default_factory=set)
    """Those that are nowhere, as the service or another web server says."""

    @property
    def is_complete(self) -> bool:
        """Whether there is time to ask about all."""
        return self.asks_all or len(self.repositories) <= self.all_up_to

    async def ask(
        self, service: MergeQueueClient, name: RepositoryName, clock: Clock
    ) -> Sequence[CheckResult]:
        """Ask the service for the queue, its pause and its log."""
        self.asked.add(name)
        try:
            status = await service.status(name)
            state = await _queue_state(service, name, status)
        except kernel_errors.MergeQueueError as error:
            if (
                isinstance(error, merge_queue_errors.CredentialRefused)
                and error.status == UNAUTHORIZED
            ):
                self.unauthorized.add(name)
            if isinstance(error, merge_queue_errors.ResourceNotFound):
                self.unknown.add(name)
            return [_unreadable(name, error)]
        self.readable.add(name)
        if state is _QueueState.PAUSED:
            self.paused.add(name)
        return [_readable(name, state), *await _event_log(service, name, clock)]

    def in_order(self) -> Sequence[RepositoryName]:
        """First those that the bot read longest ago, or never."""
        return sorted(self.repositories, key=lambda name: self.last_read.get(name, NEVER_READ))

    def total(self, now: datetime) -> Iterable[CheckResult]:
        """How many queues can be read, and what is known of those that weren't asked about."""
        count = len(self.repositories)
        read_by_bot = {
            name
            for name in self.repositories
            if name not in self.asked and now - self.last_read.get(name, NEVER_READ) <= self.recent
        }
        well = len(self.readable) + len(read_by_bot)
        if not well:
            return
        sentence = f"{well:,} of {plural(count, 'queue')} can be read"
        if read_by_bot:
            sentence += f": {len(self.readable):,} by this check, and {len(read_by_bot):,} whose"
            sentence += f" logs the bot has read in the last {duration(self.recent)}"
        if self.paused:
            sentence += f"; paused: {listed(sorted(self.paused), most=5)}"
        left = count - len(self.asked) - len(read_by_bot)
        if not left:
            yield MERGE_QUEUE.ok("queues", f"{sentence}.")
            return
        yield MERGE_QUEUE.warning(
            "queues",
            f"{sentence}; {left:,} weren't checked.",
            "Run mqbot check --all to check each, or check again once the bot has run for "
            f"{duration(self.recent)}.",
        )


async def inspect_service(
    service: MergeQueueClient,
    survey: Survey,
    clock: Clock,
    own_tokens: Mapping[RepositoryName, OwnToken],
) -> Sequence[CheckResult]:
    """`own_tokens`: the credentials of repositories that have their own."""
    repositories = survey.repositories
    loop = asyncio.get_running_loop()
    ends_at = math.inf if survey.is_complete else loop.time() + survey.seconds
    users = defaultdict[str, list[RepositoryName]](list, {SHARED: []})
    for name in survey.in_order():
        users[_setting(name, own_tokens)].append(name)
    # A credential works if it reads one repository.
    first = [names[0] for names in users.values() if names]

    async def repository(name: RepositoryName) -> Iterable[CheckResult]:
        if loop.time() > ends_at and name not in first:
            return []
        return await survey.ask(service, name, clock)

    allowed = GROUP_SECONDS + REPOSITORY_SECONDS * len(repositories)
    in_order = repositories
    if not survey.is_complete:
        in_order = list(dict.fromkeys([*first, *survey.in_order()]))
    found, skew = await asyncio.gather(
        together(in_order, MERGE_QUEUE, repository, group_seconds=allowed),
        guarded(Area.CLOCK, "merge queue service", _clock(service)),
    )

    async def credential(setting: str) -> Iterable[CheckResult]:
        names = users[setting]
        reads_something = not survey.readable.isdisjoint(names)
        return [await _credential(service, setting, names, reads_something=reads_something)]

    credentials = await together([*users], MERGE_QUEUE, credential)
    found = _without_repetition(found, survey, zip(users.values(), credentials, strict=True))
    return [*credentials, *survey.total(clock.now()), *found, *skew]


def _without_repetition(
    found: Sequence[CheckResult],
    survey: Survey,
    credentials: Iterable[tuple[Sequence[RepositoryName], CheckResult]],
) -> Sequence[CheckResult]:
    """The results of repositories; where no credential or address is right, one row says so.

    `credentials`: the repositories of each, and what was found of it.
    """
    explained: set[str] = set()
    for names, result in credentials:
        if result.standing is CheckStatus.WRONG:
            explained |= survey.unauthorized.intersection(names)
            if survey.readable.isdisjoint(names):
                explained |= survey.unknown.intersection(names)
    return [
        replace(result, is_detail=result.is_detail or result.subject in explained)
        for result in found
    ]


def _setting(name: RepositoryName, own_tokens: Mapping[RepositoryName, OwnToken]) -> str:
    """That of the credential with which a repository is read."""
    return own_tokens[name].setting if name in own_tokens else SHARED


class _QueueState(Enum):
    """Whether a queue is paused."""

    PAUSED = "paused"
    RUNNING = "running"
    NOT_SAID = "the service has no way to say so"


async def _queue_state(
    service: MergeQueueClient, name: RepositoryName, status: QueueStatus
) -> _QueueState:
    try:
        pause = await service.current_pause(name)
    except merge_queue_errors.PauseNotOffered:
        if status.paused is None:
            return _QueueState.NOT_SAID
        return _QueueState.PAUSED if status.paused else _QueueState.RUNNING
    is_paused = pause is not None or bool(status.paused)
    return _QueueState.PAUSED if is_paused else _QueueState.RUNNING


def _readable(name: RepositoryName, state: _QueueState) -> CheckResult:
    if state is _QueueState.NOT_SAID:
        return MERGE_QUEUE.unknown(
            name,
            "Its queue can be read, but the service has no endpoint that says whether it's paused.",
            "Use a service with the pause endpoints to pause and resume from Slack.",
        )
    return MERGE_QUEUE.detail(name, f"Readable, {state.value}.")


def _unreadable(name: RepositoryName, error: kernel_errors.MergeQueueError) -> CheckResult:
    if isinstance(error, merge_queue_errors.ResourceNotFound) and not error.is_web_page:
        return MERGE_QUEUE.problem(
            name,
            "This key can't see a merge queue there.",
            "Give the key access, or remove the repository from MQBOT_REPOSITORIES.",
        )
    return _failed(name, error, "Give the key access, or set {} to a key that has it.")


async def _event_log(
    service: MergeQueueClient, name: RepositoryName, clock: Clock
) -> Sequence[CheckResult]:
    """Whether it can be read, and whether its newest events have times in the future."""
    subject = f"event log of {name}"
    now = clock.now()
    try:
        window = Window(now - timedelta(hours=1), now + timedelta(days=1))
        page = await service.event_page(name, window)
    except kernel_errors.MergeQueueError as error:
        return [_failed(subject, error, "Set {} to an application key with the scope admin.")]
    served_at = max(page.served_at or now, now)
    times = [event.received_at for event in page.events]
    ahead = max(times, default=served_at) - served_at
    if ahead <= BELIEVED_ALONE:
        return []
    return [
        Area.CLOCK.problem(
            subject,
            f"Its newest event is dated {age_of(ahead)} in the future.",
            "The bot posts it and loses nothing. Report the wrong time to the service's operators.",
        )
    ]


async def _credential(
    service: MergeQueueClient,
    setting: str,
    names: Sequence[RepositoryName],
    *,
    reads_something: bool,
) -> CheckResult:
    """A personal access token has no application; reading a repository proves that it works."""
    is_shared = setting == SHARED
    subject = "credential" if is_shared else f"credential of {listed(names, most=5)}"
    fix = f"Set {setting} to an application key with the scope admin."
    try:
        found = await service.application(None if is_shared else names[0])
    except merge_queue_errors.CredentialRefused as error:
        if error.is_web_page:
            return _another_server(subject, error)
        if error.status == UNAUTHORIZED or not reads_something:
            sentence = f"The service refuses it (status {error.status})."
            return MERGE_QUEUE.problem(subject, sentence, fix)
        return MERGE_QUEUE.ok(
            subject, "Key works; it is a personal access token, not an application key."
        )
    except kernel_errors.MergeQueueError as error:
        # The service itself has this path for every key.
        is_missing = isinstance(error, merge_queue_errors.ResourceNotFound) and not reads_something
        return _another_server(subject, error) if is_missing else _failed(subject, error, fix)
    return _application(subject, found, fix)


def _application(subject: str, found: Application, fix: str) -> CheckResult:
    scope = f", scope {found.scope}" if found.scope else ""
    name = f"“{found.name}”" if found.name else "an application"
    owner = f" ({found.account.login})" if found.account.login else ""
    sentence = f"Key belongs to {name}{owner}{scope}."
    if found.scope not in {None, "admin"}:
        return MERGE_QUEUE.problem(subject, sentence, fix)
    return MERGE_QUEUE.ok(subject, sentence)


async def _clock(service: MergeQueueClient) -> Iterable[CheckResult]:
    try:
        ahead = await service.clock_ahead()
    except kernel_errors.MergeQueueError:
        ahead = None
    return [machine.clock("merge queue service", ahead)]


def _another_server(subject: str, error: kernel_errors.MergeQueueError) -> CheckResult:
    return MERGE_QUEUE.problem(
        subject,
        f"Another web server answered at MQBOT_API_URL: {as_sentence(str(error))}",
        "Set MQBOT_API_URL to the address of the service's API, ending in /v1.",
    )


def _failed(subject: str, error: kernel_errors.MergeQueueError, credential_fix: str) -> CheckResult:
    """`credential_fix`: with a place for the name of the credential's setting."""
    match error:
        case kernel_errors.MergeQueueError(is_web_page=True):
            return _another_server(subject, error)
        case merge_queue_errors.CredentialRefused():
            sentence = f"The key can't read it (status {error.status})."
            fix = credential_fix.format(error.setting)
        case merge_queue_errors.MergeQueueUnavailable():
            status = f" (status {error.status})" if error.status else ""
            sentence = f"The service doesn't answer{status}: {as_sentence(error.cause)}"
            fix = "Make sure this machine can reach MQBOT_API_URL, or wait for the service."
        case merge_queue_errors.RepositoryMoved():
            where = f" to {error.new_name}" if error.new_name else ""
            sentence = f"It was renamed or moved{where} (status {error.status})."
            fix = "Set its new name in MQBOT_REPOSITORIES."
        case merge_queue_errors.ServiceMoved():
            sentence = (
                f"The service redirects to {error.address}; the bot doesn't follow redirects."
            )
            fix = "Set MQBOT_API_URL to the address of the service, ending in /v1."
        case merge_queue_errors.MergeQueueProtocolError():
            sentence = f"Its answer can't be read: {as_sentence(error.detail)}"
            fix = "Check that MQBOT_API_URL is the address of the service, ending in /v1."
        case _:
            detail = error.detail if isinstance(error, kernel_errors.InvalidRequest) else str(error)
            sentence = f"The service can't answer: {as_sentence(detail)}"
            fix = "Check the configuration of the repository's merge queue."
    return MERGE_QUEUE.problem(subject, sentence, fix)
