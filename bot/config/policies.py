"""The policy of each repository: of its own table, its group's, its owner's, or of all."""

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from bot.config.settings import Settings
from bot.config.tables import repositories_of
from bot.domain.auto_pause import AutoPause
from bot.domain.configured import OwnToken, Policies, Policy
from bot.domain.permissions import Right
from bot.domain.queue_health import AlertKind
from bot.domain.repository import RepositoryName

AUTO_PAUSE_MINUTES = 20


def policies(settings: Settings) -> Policies:
    own = {name: _policy(settings, given) for name, given in _given(settings).items()}
    return Policies(_policy(settings, {}), own)


def own_tokens(settings: Settings) -> Mapping[RepositoryName, OwnToken]:
    """The credentials of repositories that have their own."""
    found: dict[RepositoryName, OwnToken] = {}
    for name, table in sorted(settings.policy.items(), key=_distance):
        if table.api_token is not None:
            key = "api_token_file" if table.api_token_file else "api_token"
            own = OwnToken(f'{key} in MQBOT_POLICY."{name}"', table.api_token)
            for repository in repositories_of(name, settings.repositories, settings.groups):
                found.setdefault(repository, own)
    return found


def _given(settings: Settings) -> Mapping[RepositoryName, Mapping[str, Any]]:
    """What the tables say of each repository; of two about it the nearer one, else the first."""
    found: dict[RepositoryName, dict[str, Any]] = {}
    for name, table in sorted(settings.policy.items(), key=_distance):
        for repository in repositories_of(name, settings.repositories, settings.groups):
            found[repository] = {**table.given, **found.get(repository, {})}
    return found


def _distance(named: tuple[str, object]) -> int:
    """A repository's own table is the nearest, its owner's the farthest."""
    name, _ = named
    if name.startswith("@"):
        return 1
    return 2 if name.endswith("/*") else 0


def _policy(settings: Settings, given: Mapping[str, Any]) -> Policy:
    def rule(name: str) -> Any:  # noqa: ANN401 - of that setting's type
        return given.get(name, getattr(settings, name))

    thresholds = {
        AlertKind.HEAD: math.ceil(rule("health_head_minutes") * 60),
        AlertKind.BATCH: math.ceil(rule("health_batch_minutes") * 60),
        AlertKind.DEPTH: rule("health_depth"),
        AlertKind.FAILURES: rule("health_failures"),
    }
    return Policy(
        who_may={
            Right.PAUSE: rule("who_may_pause"),
            Right.RESUME: given.get("who_may_resume", rule("who_may_pause")),
            Right.REMOVE: given.get("who_may_remove", rule("who_may_pause")),
            Right.FREEZE: rule("who_may_freeze") or rule("who_may_pause"),
        },
        first_reminder=timedelta(minutes=rule("reminder_minutes")),
        thresholds={kind: threshold for kind, threshold in thresholds.items() if threshold},
        alert_mention=given.get("alert_mention"),
        second_person=given.get("second_person", False),
        auto_pause=_auto_pause(given),
    )


def _auto_pause(given: Mapping[str, Any]) -> AutoPause | None:
    failures = given.get("auto_pause_failures", 0)
    length = timedelta(minutes=given.get("auto_pause_minutes", AUTO_PAUSE_MINUTES))
    return AutoPause(failures, length) if failures else None
