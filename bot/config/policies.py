"""The policy of each repository: of its own table, its group's, its owner's, or of all."""

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from bot.acts.approval import Approval, ApprovalRules
from bot.acts.permission import MACHINE, Right, RightRules
from bot.acts.record import Action
from bot.config.settings import Settings
from bot.config.tables import ApprovalTable, repositories_named, windows
from bot.freezes.windows import WindowRules
from bot.health.alert import AlertKind, AlertRules
from bot.kernel.configured import Policies, Policy
from bot.kernel.groups import distance
from bot.kernel.repository import RepositoryName
from bot.merge_queue.own_token import OwnToken
from bot.pauses.by_rule import AutoPause, PauseRules

AUTO_PAUSE_MINUTES = 20


def policies(settings: Settings, left: Sequence[RepositoryName] = ()) -> Policies:
    """Also of the repositories `left`, which aren't configured any more."""
    given = _given(settings, left)
    own = {name: _policy(settings, rules) for name, rules in given.items()}
    found = windows(settings.window, settings.repositories, settings.groups)
    everywhere = _policy(settings, {})
    return Policies(Policy([*everywhere.given, WindowRules(found)]), own)


def own_tokens(
    settings: Settings, left: Sequence[RepositoryName] = ()
) -> Mapping[RepositoryName, OwnToken]:
    """The credentials of repositories that have their own, also of those `left`."""
    names = (*settings.repositories, *left)
    found: dict[RepositoryName, OwnToken] = {}
    for name, table in sorted(settings.policy.items(), key=_distance):
        if table.api_token is not None:
            key = "api_token_file" if table.api_token_file else "api_token"
            own = OwnToken(f'{key} in MQBOT_POLICY."{name}"', table.api_token)
            for repository in repositories_named(name, names, settings.groups):
                found.setdefault(repository, own)
    return found


def _given(
    settings: Settings, left: Sequence[RepositoryName]
) -> Mapping[RepositoryName, Mapping[str, Any]]:
    """What the tables say of each repository; of two about it the nearer one, else the first."""
    found: dict[RepositoryName, dict[str, Any]] = {}
    names = (*settings.repositories, *left)
    for name, table in sorted(settings.policy.items(), key=_distance):
        for repository in repositories_named(name, names, settings.groups):
            nearer = found.get(repository, {})
            approval = _approval(nearer.get("approval", {}), table.given.get("approval", {}))
            found[repository] = {**table.given, **nearer, "approval": approval}
    return found


def _approval(
    nearer: Mapping[str, ApprovalTable], farther: Mapping[str, ApprovalTable]
) -> Mapping[str, ApprovalTable]:
    """Of each machine what the nearer tables say, and else the farther ones.

    A nearer table about one machine lets no other machine act by itself.
    """
    found = {**farther, **nearer}
    for machine in nearer.keys() & farther.keys():
        table = nearer[machine]
        said = {name: getattr(table, name) for name in table.model_fields_set}
        found[machine] = farther[machine].model_copy(update=said)
    return found


def _distance(named: tuple[str, object]) -> int:
    name, _ = named
    return distance(name)


def _policy(settings: Settings, given: Mapping[str, Any]) -> Policy:
    def rule(name: str) -> Any:  # noqa: ANN401 - of that setting's type
        return given.get(name, getattr(settings, name))

    thresholds = {
        AlertKind.HEAD: math.ceil(rule("health_head_minutes") * 60),
        AlertKind.BATCH: math.ceil(rule("health_batch_minutes") * 60),
        AlertKind.DEPTH: rule("health_depth"),
        AlertKind.FAILURES: rule("health_failures"),
        AlertKind.CAUSE: math.ceil(rule("health_cause_minutes") * 60),
    }
    rights = RightRules(
        {
            Right.READ: settings.who_may_read,
            Right.SUBSCRIBE: settings.who_may_subscribe,
            Right.PAUSE: rule("who_may_pause"),
            Right.RESUME: given.get("who_may_resume", rule("who_may_pause")),
            Right.REMOVE: given.get("who_may_remove", rule("who_may_pause")),
            Right.FREEZE: rule("who_may_freeze") or rule("who_may_pause"),
        }
    )
    pauses = PauseRules(
        first_reminder=timedelta(minutes=rule("reminder_minutes")),
        escalates_to=given.get("alert_mention"),
        second_person=given.get("second_person", False),
        auto_pause=_auto_pause(given),
    )
    alerts = AlertRules(
        thresholds={kind: threshold for kind, threshold in thresholds.items() if threshold},
        mention=given.get("alert_mention"),
    )
    return Policy([rights, pauses, alerts, _approvals(given.get("approval", {}))])


def _approvals(tables: Mapping[str, ApprovalTable]) -> ApprovalRules:
    return ApprovalRules(
        {
            f"{MACHINE}{name}": Approval(
                frozenset(map(Action, table.acts)),
                timedelta(minutes=table.minutes),
                table.most_open,
                table.run_by,
            )
            for name, table in tables.items()
        }
    )


def _auto_pause(given: Mapping[str, Any]) -> AutoPause | None:
    failures = given.get("auto_pause_failures", 0)
    length = timedelta(minutes=given.get("auto_pause_minutes", AUTO_PAUSE_MINUTES))
    return AutoPause(failures, length) if failures else None
