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
    times = [moment(time, terms) for time in (terms.start, terms.end)]
    seconds = [at.replace(microsecond=0) if at is not None else None for at in times]
    return (terms.reason or "", *seconds, terms.matching_conditions, terms.exclude_conditions)


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
    """Whether the list shows the freeze with its terms, or no longer because its time is up.

    A freeze without an id is known by its terms.
    """
    for shown in listed:
        is_same = freeze.freeze_id in {None, shown.freeze_id}
        if is_same and has_terms(shown.terms, freeze.terms):
            return True
    is_listed = any(shown.freeze_id == freeze.freeze_id for shown in listed)
    is_past = freeze.ends_at is not None and freeze.ends_at <= now
    return is_past and not is_listed


def freeze_with(freeze_id: str | None, listed: Sequence[Freeze]) -> Freeze | None:
    """The freeze with that id of the service."""
    return next((freeze for freeze in listed if freeze.freeze_id == freeze_id), None)


def with_ids(known: Sequence[Freeze], listed: Sequence[Freeze]) -> list[Freeze]:
    """The known freezes, with the ids that the list gives them."""
    found = {freeze.told.event_id: freeze for freeze in identified(known, listed)}
    return [found.get(freeze.told.event_id, freeze) for freeze in known]
