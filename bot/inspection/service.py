"""Checks the merge queue service: the credentials, each repository, and its clock."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from bot.domain import errors
from bot.domain.configured import OwnToken
from bot.domain.event_log import BELIEVED_ALONE, Window
from bot.domain.queue import QueueStatus
from bot.domain.repository import RepositoryName
from bot.inspection import machine
from bot.inspection.results import (
    GROUP_SECONDS,
    Area,
    CheckResult,
    age_of,
    as_sentence,
    guarded,
    together,
)
from bot.merge_queue.client import MergeQueueClient
from bot.messages.text import listed
from bot.ports import Clock

REPOSITORY_SECONDS = 0.25
"""Additional time for each repository: three requests, partly concurrent."""

UNAUTHORIZED = 401
MERGE_QUEUE = Area.MERGE_QUEUE

SHARED = errors.CredentialRefused.setting
"""The setting of the credential for all repositories without their own."""


async def inspect_service(
    service: MergeQueueClient,
    repositories: Sequence[RepositoryName],
    clock: Clock,
    own_tokens: Mapping[RepositoryName, OwnToken],
) -> Sequence[CheckResult]:
    """`own_tokens`: the credentials of repositories that have their own."""
    readable: set[RepositoryName] = set()

    async def repository(name: RepositoryName) -> Iterable[CheckResult]:
        try:
            status = await service.status(name)
            paused = await _is_paused(service, name, status)
        except errors.MergeQueueError as error:
            return [_unreadable(name, error)]
        readable.add(name)
        return [_read(name, paused=paused), *await _event_log(service, name, clock)]

    allowed = GROUP_SECONDS + REPOSITORY_SECONDS * len(repositories)
    found, skew = await asyncio.gather(
        together(repositories, MERGE_QUEUE, repository, group_seconds=allowed),
        guarded(Area.CLOCK, "merge queue service", _clock(service)),
    )
    users = defaultdict[str, list[RepositoryName]](list, {SHARED: []})
    for name in repositories:
        users[own_tokens[name].setting if name in own_tokens else SHARED].append(name)

    async def credential(setting: str) -> Iterable[CheckResult]:
        names = users[setting]
        reads_something = not readable.isdisjoint(names)
        return [await _credential(service, setting, names, reads_something=reads_something)]

    return [*await together([*users], MERGE_QUEUE, credential), *found, *skew]


async def _is_paused(
    service: MergeQueueClient, name: RepositoryName, status: QueueStatus
) -> bool | None:
    """Whether it is paused; None when the service has no way to say so."""
    try:
        return await service.current_pause(name) is not None or bool(status.paused)
    except errors.PauseNotOffered:
        return status.paused


def _read(name: RepositoryName, *, paused: bool | None) -> CheckResult:
    if paused is None:
        return MERGE_QUEUE.unknown(
            name,
            "Its queue can be read, but the service has no endpoint that says whether it's paused.",
            "Use a service with the pause endpoints to pause and resume from Slack.",
        )
    state = "paused" if paused else "running"
    return MERGE_QUEUE.ok(name, f"Its queue can be read; it is {state}.")


def _unreadable(name: RepositoryName, error: errors.MergeQueueError) -> CheckResult:
    if isinstance(error, errors.ResourceNotFound):
        return MERGE_QUEUE.problem(
            name,
            "It has no merge queue that this credential can see.",
            "Give the credential access, or take the repository out of MQBOT_REPOSITORIES.",
        )
    return _failed(name, error, "Give the credential access, or set {} to one that has it.")


async def _event_log(
    service: MergeQueueClient, name: RepositoryName, clock: Clock
) -> Sequence[CheckResult]:
    """Whether it can be read, and whether its newest events have times in the future."""
    subject, now = f"event log of {name}", clock.now()
    try:
        window = Window(now - timedelta(hours=1), now + timedelta(days=1))
        page = await service.event_page(name, window)
    except errors.MergeQueueError as error:
        return [_failed(subject, error, "Set {} to an application key with the scope admin.")]
    served_at = max(page.served_at or now, now)
    ahead = max((one.received_at for one in page.events), default=served_at) - served_at
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
    except errors.CredentialRefused as error:
        if error.status == UNAUTHORIZED or not reads_something:
            sentence = f"The service refuses it (status {error.status})."
            return MERGE_QUEUE.problem(subject, sentence, fix)
        return MERGE_QUEUE.ok(
            subject, "The service knows it; it is no application key, so a personal access token."
        )
    except errors.MergeQueueError as error:
        return _failed(subject, error, fix)
    scope = f", scope {found.scope}" if found.scope else ""
    name = f"“{found.name}”" if found.name else "an application"
    owner = f" of {found.account.login}" if found.account.login else ""
    sentence = f"The service knows it: {name}{owner}{scope}."
    if found.scope not in {None, "admin"}:
        return MERGE_QUEUE.problem(subject, sentence, fix)
    return MERGE_QUEUE.ok(subject, sentence)


async def _clock(service: MergeQueueClient) -> Iterable[CheckResult]:
    try:
        ahead = await service.clock_ahead()
    except errors.MergeQueueError:
        ahead = None
    return [machine.clock("merge queue service", ahead)]


def _failed(subject: str, error: errors.MergeQueueError, credential_fix: str) -> CheckResult:
    """`credential_fix`: with a place for the name of the credential's setting."""
    match error:
        case errors.CredentialRefused():
            sentence = f"The credential may not read it (status {error.status})."
            fix = credential_fix.format(error.setting)
        case errors.MergeQueueUnavailable():
            status = f" (status {error.status})" if error.status else ""
            sentence = f"The service does not answer{status}: {as_sentence(error.cause)}"
            fix = (
                "See that MQBOT_API_URL can be reached from this machine, or wait for the service."
            )
        case errors.ServiceMoved():
            sentence = f"The service redirects to {error.address}, which the bot does not follow."
            fix = "Set MQBOT_API_URL to the address of the service, ending in /v1."
        case errors.MergeQueueProtocolError():
            sentence = f"Its answer cannot be read: {as_sentence(error.detail)}"
            fix = "See that MQBOT_API_URL is the address of the service, ending in /v1."
        case _:
            detail = error.detail if isinstance(error, errors.InvalidRequest) else str(error)
            sentence = f"The service cannot answer: {as_sentence(detail)}"
            fix = "See the configuration of the repository's merge queue."
    return MERGE_QUEUE.problem(subject, sentence, fix)
