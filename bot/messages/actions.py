"""The names that buttons, menus and forms carry to Slack and back."""

import json
from dataclasses import dataclass
from datetime import datetime

from bot.domain.repositories import Repositories
from bot.domain.repository import RepositoryName

PREFIX = "mq:"
PAUSE = "mq:pause"
UNPAUSE = "mq:unpause"
REPLACE = "mq:replace"
DISMISS = "mq:dismiss"
REFRESH = "mq:refresh"
SHARE = "mq:share"
MORE = "mq:more"
RETRY = "mq:retry"
CHOOSE = "mq:choose"
PAUSE_REPOSITORY = "mq:pause_repository"

PAUSE_VIEW = "mq:pause_view"
"""Callback of the pause-reason modal."""

PAUSE_SHORTCUT = "pause_queue"
"""Callback of the global shortcut, as manifest.yml declares it."""

REPOSITORY_BLOCK = "repository"
REASON_BLOCK = "reason"
REASON_ACTION = "reason"


def unpause_value(repository: RepositoryName, paused_at: datetime) -> str:
    """What a *Resume queue* button carries: the pause it was drawn for."""
    return f"{repository} {paused_at.isoformat()}"


def more_value(repository: RepositoryName, branch: str | None, first: int) -> str:
    """What *Show more* carries: the queue shown, and the place of the first to show next."""
    return f"{first} {repository} {branch or ''}".strip()


@dataclass(frozen=True, slots=True)
class PauseTarget:
    """The repository of a button, and the pause it was drawn for, if it was drawn for one."""

    repository: RepositoryName
    paused_at: datetime | None


def read_pause_target(value: str, repositories: Repositories) -> PauseTarget:
    """Read `unpause_value` back; raises RepositoryNotAllowed for one no longer configured."""
    name, _, paused_at = value.partition(" ")
    return PauseTarget(
        repositories.allowed(name), datetime.fromisoformat(paused_at) if paused_at else None
    )


@dataclass(frozen=True, slots=True)
class Replacement:
    """What a *Replace reason* button carries: the new reason and the pause it would replace."""

    repository: RepositoryName
    reason: str
    paused_at: datetime


def replacement_value(replacement: Replacement) -> str:
    fields = [replacement.repository, replacement.paused_at.isoformat(), replacement.reason]
    return json.dumps(fields, ensure_ascii=False)


def read_replacement(value: str, repositories: Repositories) -> Replacement:
    name, paused_at, reason = json.loads(value)
    return Replacement(repositories.allowed(name), reason, datetime.fromisoformat(paused_at))
