"""What the report says of the merge queue service."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from typing_extensions import override

from bot.domain.errors import (
    CredentialRefused,
    InvalidRequest,
    MergeQueueError,
    MergeQueueProtocolError,
    MergeQueueUnavailable,
    ResourceNotFound,
    ServiceMoved,
)
from bot.domain.inspection import CheckResult
from bot.domain.queue import Application
from bot.domain.repository import RepositoryName
from bot.messages.inspection.findings import CLOCK, MERGE_QUEUE, age_of, as_sentence
from bot.messages.text import listed

UNAUTHORIZED = 401


@dataclass(frozen=True, slots=True)
class Credential:
    """A credential, the repositories that use it, and the setting that holds it."""

    repositories: Sequence[RepositoryName]
    setting: str = CredentialRefused.setting

    @property
    def is_shared(self) -> bool:
        """Whether it's for all repositories without their own."""
        return self.setting == CredentialRefused.setting

    @override
    def __str__(self) -> str:
        return (
            "credential" if self.is_shared else f"credential of {listed(self.repositories, most=5)}"
        )

    @property
    def fix(self) -> str:
        return f"Set {self.setting} to an application key with the scope admin."


def application(used: Credential, found: Application) -> CheckResult:
    scope = f", scope {found.scope}" if found.scope else ""
    name = f"“{found.name}”" if found.name else "an application"
    owner = f" of {found.account.login}" if found.account.login else ""
    sentence = f"The service knows it: {name}{owner}{scope}."
    if found.scope not in {None, "admin"}:
        return MERGE_QUEUE.problem(str(used), sentence, used.fix)
    return MERGE_QUEUE.ok(str(used), sentence)


def application_failed(
    used: Credential, error: MergeQueueError, *, reads_something: bool
) -> CheckResult:
    """A personal access token has no application; reading a repository proves that it works."""
    if isinstance(error, CredentialRefused):
        if error.status != UNAUTHORIZED and reads_something:
            return MERGE_QUEUE.ok(
                str(used),
                "The service knows it; it is no application key, so a personal access token.",
            )
        return MERGE_QUEUE.problem(
            str(used), f"The service refuses it (status {error.status}).", used.fix
        )
    return _service_failed(str(used), error)


def repository_read(repository: RepositoryName, *, paused: bool | None) -> CheckResult:
    if paused is None:
        return MERGE_QUEUE.unknown(
            str(repository),
            "Its queue can be read, but the service has no endpoint that says whether it's paused.",
            "Use a service with the pause endpoints to pause and resume from Slack.",
        )
    state = "paused" if paused else "running"
    return MERGE_QUEUE.ok(str(repository), f"Its queue can be read; it is {state}.")


def repository_failed(repository: RepositoryName, error: MergeQueueError) -> CheckResult:
    name = str(repository)
    if isinstance(error, ResourceNotFound):
        return MERGE_QUEUE.problem(
            name,
            "It has no merge queue that this credential can see.",
            "Give the credential access, or take the repository out of MQBOT_REPOSITORIES.",
        )
    if isinstance(error, CredentialRefused):
        return MERGE_QUEUE.problem(
            name,
            f"The credential may not read it (status {error.status}).",
            f"Give the credential access, or set {error.setting} to one that has it.",
        )
    return _service_failed(name, error)


def log_failed(repository: RepositoryName, error: MergeQueueError) -> CheckResult:
    """Its queue can be read, but what happens in it cannot."""
    subject = f"event log of {repository}"
    if isinstance(error, CredentialRefused):
        return MERGE_QUEUE.problem(
            subject,
            f"The credential may not read it (status {error.status}).",
            f"Set {error.setting} to an application key with the scope admin.",
        )
    return _service_failed(subject, error)


def stamped_ahead(repository: RepositoryName, ahead: timedelta) -> CheckResult:
    return CLOCK.problem(
        f"event log of {repository}",
        f"Its newest event is dated {age_of(ahead)} in the future.",
        "The bot posts it and loses nothing. Report the wrong time to the service's operators.",
    )


def _service_failed(subject: str, error: MergeQueueError) -> CheckResult:
    if isinstance(error, MergeQueueUnavailable):
        status = f" (status {error.status})" if error.status else ""
        return MERGE_QUEUE.problem(
            subject,
            f"The service does not answer{status}: {as_sentence(error.cause)}",
            "See that MQBOT_API_URL can be reached from this machine, or wait for the service.",
        )
    if isinstance(error, ServiceMoved):
        return MERGE_QUEUE.problem(
            subject,
            f"The service redirects to {error.address}, which the bot does not follow.",
            "Set MQBOT_API_URL to the address of the service, ending in /v1.",
        )
    if isinstance(error, MergeQueueProtocolError):
        return MERGE_QUEUE.problem(
            subject,
            f"Its answer cannot be read: {as_sentence(error.detail)}",
            "See that MQBOT_API_URL is the address of the service, ending in /v1.",
        )
    detail = error.detail if isinstance(error, InvalidRequest) else str(error)
    return MERGE_QUEUE.problem(
        subject,
        f"The service cannot answer: {as_sentence(detail)}",
        "See the configuration of the repository's merge queue.",
    )
