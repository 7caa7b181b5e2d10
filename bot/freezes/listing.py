"""Freezes and the service's list: which entry is which freeze, and whether it is as we know it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from bot.freezes.freeze import Freeze
from bot.merge_queue.event_records import FreezeAttributes
from bot.merge_queue.freezes import moment


def has_terms(freeze: FreezeAttributes, terms: FreezeAttributes) -> bool:
    """Whether both have the same terms; times may be written in different ways."""
    return _comparable(freeze) == _comparable(terms)


def _comparable(terms: FreezeAttributes) -> tuple[object, ...]:
    conditions = (terms.matching_conditions, terms.exclude_conditions)
    return (terms.reason or "", *_times(terms), *conditions)


def _times(terms: FreezeAttributes) -> list[datetime | None]:
    """Start and end in whole seconds, as the service keeps them."""
    times = [moment(terms.start, terms), moment(terms.end, terms)]
    return [at.replace(microsecond=0) if at is not None else None for at in times]


def identified(known: Sequence[Freeze], listed: Sequence[Freeze]) -> list[Freeze]:
    """The known freezes that the list gives an id: those with the same terms.

    Equal ones are interchangeable until they have ids.
    """
    ids = {freeze.freeze_id for freeze in known}
    nameless = [freeze for freeze in known if freeze.freeze_id is None and freeze.over_at is None]
    found = []
    for shown in listed:
        equal = [freeze for freeze in nameless if has_terms(shown.terms, freeze.terms)]
        if equal and shown.freeze_id not in ids:
            nameless.remove(equal[0])
            found.append(replace(equal[0], freeze_id=shown.freeze_id))
    return found


def is_as_listed(freeze: Freeze, listed: Sequence[Freeze], now: datetime) -> bool:
    """Whether the list shows the freeze with its times, or no longer because its time is up.

    A freeze without an id may be any with its times. Other terms may be written in another way.
    """
    if freeze.freeze_id is None:
        possible = list(listed)
    else:
        possible = [shown for shown in listed if shown.freeze_id == freeze.freeze_id]
    times = _times(freeze.terms)
    if any(_times(shown.terms) == times for shown in possible):
        return True
    is_listed = freeze.freeze_id is not None and bool(possible)
    is_past = freeze.ends_at is not None and freeze.ends_at <= now
    return is_past and not is_listed


def freeze_with(freeze_id: str | None, listed: Sequence[Freeze]) -> Freeze | None:
    """The freeze with that id of the service."""
    return next((freeze for freeze in listed if freeze.freeze_id == freeze_id), None)


def with_ids(known: Sequence[Freeze], listed: Sequence[Freeze]) -> list[Freeze]:
    """The known freezes, with the ids that the list gives them."""
    found = {freeze.told.event_id: freeze for freeze in identified(known, listed)}
    return [found.get(freeze.told.event_id, freeze) for freeze in known]
