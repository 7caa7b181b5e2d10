"""Scheduled freezes: which pull requests they hold, and changing them."""

from collections.abc import Mapping, Sequence

from bot.sandbox.merge_queue.simulation.moments import Moment, optional_rfc3339, rfc3339
from bot.sandbox.merge_queue.simulation.state import (
    Actor,
    Condition,
    Freeze,
    Person,
    PullRequest,
    Repository,
)
from bot.sandbox.merge_queue.simulation.turn import Turn


def is_frozen(repository: Repository, pull: PullRequest, now: Moment) -> bool:
    """Tell whether a freeze that is in force holds the merging of this pull request."""
    return any(_holds(freeze, pull, now) for freeze in repository.freezes)


def _holds(freeze: Freeze, pull: PullRequest, now: Moment) -> bool:
    if now < freeze.start or (freeze.end is not None and now >= freeze.end):
        return False
    if not all(matches(condition, pull) for condition in freeze.matching_conditions):
        return False
    excluded = freeze.exclude_conditions
    return not (excluded and all(matches(condition, pull) for condition in excluded))


def matches(condition: Condition, pull: PullRequest) -> bool:
    """Judge a condition such as `base=main`, `number=7`, `label!=hotfix`, or `{"not": …}`.

    Raise ValueError for an attribute that the sandbox does not know.
    """
    if isinstance(condition, Mapping):
        return _combination(condition, pull)
    negated = "!=" in condition
    attribute, separator, value = condition.partition("!=" if negated else "=")
    known: dict[str, Sequence[str]] = {
        "base": (pull.base_ref,),
        "label": pull.labels,
        "author": (pull.author.login,),
        "number": (str(pull.number),),
    }
    if not separator:
        raise ValueError(f"{condition!r}: a condition compares an attribute with = or !=")
    if attribute.strip() not in known:
        attributes_known = ", ".join(known)
        raise ValueError(f"{condition!r}: the attribute must be one of {attributes_known}")
    return (value.strip() in known[attribute.strip()]) is not negated


def _combination(condition: Mapping[str, object], pull: PullRequest) -> bool:
    if len(condition) != 1:
        raise ValueError(f"{condition!r}: a combination has one key: and, or, not")
    ((word, inner),) = condition.items()
    if word == "not" and isinstance(inner, str | Mapping):
        return not matches(inner, pull)
    if word in ("and", "or") and isinstance(inner, list):
        verdicts = [matches(part, pull) for part in inner]
        return all(verdicts) if word == "and" else any(verdicts)
    raise ValueError(f"{word!r}: and, or take a list of conditions, not takes one")


def checked(freeze: Freeze) -> Freeze:
    """Give the freeze back; raise ValueError when it ends too early or has a wrong condition."""
    if freeze.end is not None and freeze.end <= freeze.start:
        raise ValueError("a freeze must end after its start")
    sample = PullRequest(0, "", Person(0, ""), "", "")
    for condition in (*freeze.matching_conditions, *freeze.exclude_conditions):
        matches(condition, sample)
    return freeze


def attributes(freeze: Freeze) -> dict[str, object]:
    """Write a freeze as the events carry it."""
    return {
        "reason": freeze.reason,
        "start": rfc3339(freeze.start),
        "end": optional_rfc3339(freeze.end),
        "timezone": freeze.timezone,
        "matching_conditions": list(freeze.matching_conditions),
        "exclude_conditions": list(freeze.exclude_conditions),
    }


def actor(person: Actor) -> dict[str, object]:
    return {"type": person.type, "id": person.id, "name": person.name}


def create(turn: Turn, freeze: Freeze, by: Actor) -> None:
    turn.repository.freezes.append(freeze)
    metadata = {
        "scheduled_freeze_attributes": attributes(freeze),
        "created_by": actor(by),
        "created_at": rfc3339(turn.now),
        "created_by_staff": False,
    }
    turn.record("scheduled_freeze.create", metadata, trigger="Create queue freeze")


def update(turn: Turn, freeze: Freeze, by: Actor) -> None:
    """Replace the freeze of the same id; raise LookupError when there is none."""
    freezes = turn.repository.freezes
    place = _place(freezes, freeze.id)
    before = freezes[place]
    freezes[place] = freeze
    metadata = {
        "scheduled_freeze_attributes_before": attributes(before),
        "scheduled_freeze_attributes_after": attributes(freeze),
        "updated_by": actor(by),
        "updated_at": rfc3339(turn.now),
        "updated_by_staff": False,
    }
    turn.record("scheduled_freeze.update", metadata, trigger="Update queue freeze")


def delete(turn: Turn, freeze_id: str, reason: str, by: Actor) -> None:
    """End a freeze; raise LookupError when there is none of this id."""
    freezes = turn.repository.freezes
    freeze = freezes.pop(_place(freezes, freeze_id))
    metadata = {
        "scheduled_freeze_attributes": attributes(freeze),
        "reason": reason,
        "deleted_by": actor(by),
        "deleted_at": rfc3339(turn.now),
        "deleted_by_staff": False,
    }
    turn.record("scheduled_freeze.delete", metadata, trigger="Delete queue freeze")


def _place(freezes: list[Freeze], freeze_id: str) -> int:
    for place, freeze in enumerate(freezes):
        if freeze.id == freeze_id:
            return place
    raise LookupError(freeze_id)


def forget_ended(repository: Repository, now: Moment) -> None:
    """Drop freezes whose end has passed."""
    repository.freezes = [
        freeze for freeze in repository.freezes if freeze.end is None or now < freeze.end
    ]
