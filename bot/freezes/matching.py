"""Which freeze an event of the log or an entry of the service's list is, and what it changes.

The service's id decides wherever it is known. The log has no ids: its events tell a freeze by its
terms, and where several have these, by what else is known.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.freezes.freeze import Ending, Freeze, Stage, Told
from bot.log.types import FREEZE_CREATE, FREEZE_DELETE, FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord, FreezeAttributes, in_order
from bot.merge_queue.freezes import moment


def freeze_with(freeze_id: str | None, freezes: Sequence[Freeze]) -> Freeze | None:
    """The freeze with that id of the service."""
    if freeze_id is None:
        return None
    return next((freeze for freeze in freezes if freeze.freeze_id == freeze_id), None)


# The service's list.


def observe_freezes(known: Sequence[Freeze], listed: Sequence[Freeze]) -> list[Freeze]:
    """The known freezes, in their order, with the ids that the service's list gives them.

    A listed one that none has the id of is one with the same terms. Equal ones are interchangeable
    until they have ids.
    """
    ids = {freeze.freeze_id for freeze in known}
    found = list(known)
    for shown in listed:
        if shown.freeze_id in ids:
            continue
        for number, freeze in enumerate(found):
            is_open = freeze.freeze_id is None and freeze.over_at is None
            if is_open and _has_terms(shown.terms, freeze.terms):
                found[number] = replace(freeze, freeze_id=shown.freeze_id)
                break
    return found


def only_listed(
    known: Sequence[Freeze], listed: Sequence[Freeze], listed_at: datetime
) -> list[Freeze]:
    """The listed freezes that are none of the known ones, which `observe_freezes` gave their ids.

    They are older than what the log tells. One that has ended may be listed for a while.
    """
    ids = {freeze.freeze_id for freeze in known}
    without_id = [freeze for freeze in known if freeze.freeze_id is None]
    return [
        replace(
            shown,
            terms=FreezeAttributes(**shown.terms.model_dump(include=_TERMS)),
            told=Told.by_list(shown.listed_id, listed_at),
        )
        for shown in listed
        if shown.freeze_id not in ids
        and not any(_has_terms(shown.terms, freeze.terms) for freeze in without_id)
    ]


_TERMS = {*FreezeAttributes.model_fields}


def is_as_listed(freeze: Freeze, listed: Sequence[Freeze], now: datetime) -> bool:
    """Whether the list shows the freeze with its times, or no longer because its time is up.

    A freeze without an id may be any with its times. Other terms may be written in another way.
    """
    if freeze.freeze_id is None:
        possible = list(listed)
    else:
        possible = [shown for shown in listed if shown.freeze_id == freeze.freeze_id]
    times = _whole_seconds(freeze.terms)
    if any(_whole_seconds(shown.terms) == times for shown in possible):
        return True
    is_listed = freeze.freeze_id is not None and bool(possible)
    is_past = freeze.ends_at is not None and freeze.ends_at <= now
    return is_past and not is_listed


def _has_terms(freeze: FreezeAttributes, terms: FreezeAttributes) -> bool:
    """Whether both have the same terms; times may be written in different ways."""
    return _comparable(freeze) == _comparable(terms)


def _comparable(terms: FreezeAttributes) -> tuple[object, ...]:
    conditions = (terms.matching_conditions, terms.exclude_conditions)
    return (terms.reason or "", *_whole_seconds(terms), *conditions)


def _whole_seconds(terms: FreezeAttributes) -> list[datetime | None]:
    """Start and end in whole seconds, as the service keeps them."""
    times = [moment(terms.start, terms), moment(terms.end, terms)]
    return [at.replace(microsecond=0) if at is not None else None for at in times]


# The event log.


@dataclass(frozen=True, slots=True)
class KnownBeside:
    """What is known beside an event, which carries the terms of its freeze and no id."""

    #: the ids of the freezes that the act through the bot behind the event was about, if any
    acted_on: frozenset[str] | None = None
    #: the service's list when read after the event; None if it wasn't
    listed: Sequence[Freeze] | None = None

    def is_acted_on(self, freeze: Freeze) -> bool:
        return self.acted_on is not None and freeze.freeze_id in self.acted_on

    def is_gone(self, freeze: Freeze) -> bool:
        """Whether the service no longer has it."""
        is_read = self.listed is not None
        return is_read and freeze.freeze_id is not None and self._shown(freeze) is None

    def has_changed(self, freeze: Freeze) -> bool:
        """Whether the service has it with other terms."""
        shown = self._shown(freeze)
        return shown is not None and not _has_terms(shown.terms, freeze.terms)

    def _shown(self, freeze: Freeze) -> Freeze | None:
        return freeze_with(freeze.freeze_id, self.listed or ())


NO_EVIDENCE = KnownBeside()


@dataclass(frozen=True, slots=True)
class Placed:
    """A freeze as an event leaves it."""

    freeze: Freeze
    before: Freeze | None = None  #: as it was known; None if nothing has told of it before


def freezes_after(known: Sequence[Freeze], events: Sequence[EventRecord]) -> list[Freeze]:
    """All freezes after these later events, in any order; also those that are over."""
    found = list(known)
    for event in in_order(events):
        for placed in place_freeze_event(found, event):
            if placed.before is None:
                found.append(placed.freeze)
            else:
                found[found.index(placed.before)] = placed.freeze
    return found


def is_change_of(event: EventRecord, freeze: Freeze) -> bool:
    """Whether the event changes or ends the freeze, later than all that has told of it."""
    if (event.received_at, event.event_id) <= freeze.told.last:
        return False
    return any(placed.before is not None for placed in place_freeze_event([freeze], event))


def place_freeze_event(
    known: Sequence[Freeze], event: EventRecord, evidence: KnownBeside = NO_EVIDENCE
) -> list[Placed]:
    """The freezes that the event makes or changes; none if it carries no terms.

    The event may have appeared in the log after later ones. Save them in this order: the second of
    two may have taken over the id of the first.
    """
    terms = event.details.freeze
    if terms is None or event.type not in FREEZE_TYPES:
        return []
    if event.type == FREEZE_CREATE:
        return [_created(event, terms, known, evidence)]
    if event.type == FREEZE_DELETE:
        return [_deleted(event, terms, known, evidence)]
    return _updated(event, terms, known, evidence)


def _created(
    event: EventRecord, terms: FreezeAttributes, known: Sequence[Freeze], evidence: KnownBeside
) -> Placed:
    later = _later(event, known, terms)
    if later is not None:
        return Placed(replace(_begun_with(later, None), by=event.details.actor), later)
    listed = [freeze for freeze in known if freeze.told.is_by_list]
    shown = _freeze_meant(listed, terms, evidence.is_acted_on)
    if shown is not None:
        # The list showed it before the log told of it.
        new = _new(event)
        return Placed(replace(shown, terms=new.terms, by=new.by, told=new.told), shown)
    new_ids = (evidence.acted_on or frozenset()) - {freeze.freeze_id for freeze in known}
    return Placed(replace(_new(event), freeze_id=next(iter(new_ids), None)))


def _deleted(
    event: EventRecord, terms: FreezeAttributes, known: Sequence[Freeze], evidence: KnownBeside
) -> Placed:
    found = _freeze_meant(known, terms, evidence.is_acted_on, evidence.is_gone)
    if found is None:
        return Placed(_removed(_begun_with(_new(event), terms), event))
    return Placed(_removed(found, event), found)


def _updated(
    event: EventRecord, terms: FreezeAttributes, known: Sequence[Freeze], evidence: KnownBeside
) -> list[Placed]:
    replaced = event.details.freeze_before
    found = _freeze_meant(known, replaced, evidence.is_acted_on, evidence.has_changed)
    later = _later(event, known, terms)
    if found is None:
        return [Placed(_begun_with(later or _new(event), replaced), later)]
    if later is None or _have_other_ids(found, later):
        return [Placed(_with_new_terms(found, event), found)]
    # Both are the same freeze, of which this event was missing in between.
    whole = replace(
        _begun_with(later, found.told.before),
        by=found.by,
        freeze_id=later.freeze_id or found.freeze_id,
    )
    rest = replace(_removed(found, event), freeze_id=None)
    return [Placed(rest, found), Placed(whole, later)]


def _have_other_ids(freeze: Freeze, other: Freeze) -> bool:
    """Whether the service's ids say that they are two."""
    return None not in (freeze.freeze_id, other.freeze_id) and freeze.freeze_id != other.freeze_id


def _freeze_meant(
    known: Sequence[Freeze], terms: FreezeAttributes | None, *witnesses: Callable[[Freeze], bool]
) -> Freeze | None:
    """The freeze that the event means: it has these terms now, or had when its time was up.

    Of equal ones the first witness that knows one decides.
    """
    possible = [freeze for freeze in known if freeze.is_gone or not freeze.is_removed]
    equal = [freeze for freeze in possible if _has_exactly(freeze, terms)]
    for is_meant in witnesses:
        found = [freeze for freeze in equal if is_meant(freeze)]
        if found:
            return found[0]
    return min(equal, key=lambda freeze: freeze.stage is Stage.OVER, default=None)


def _has_exactly(freeze: Freeze, terms: FreezeAttributes | None) -> bool:
    """Whether an event with these terms may mean the freeze, whose own are from an event.

    Those from the list may be written in another way.
    """
    if freeze.told.is_by_list and terms is not None:
        return _has_terms(freeze.terms, terms)
    return freeze.terms == terms


def _later(event: EventRecord, known: Sequence[Freeze], terms: FreezeAttributes) -> Freeze | None:
    """The freeze that this event set, if it is known only from later events."""
    this = (event.received_at, event.event_id)
    return next(
        (freeze for freeze in known if freeze.told.before == terms and freeze.told.last > this),
        None,
    )


def _new(event: EventRecord) -> Freeze:
    """The freeze as this event, the first one known of it, tells it."""
    told = Told(event.event_id, event.event_id, event.received_at)
    terms = event.details.freeze or FreezeAttributes()
    return Freeze(event.repository, None, terms, event.details.actor, told)


def _begun_with(freeze: Freeze, before: FreezeAttributes | None) -> Freeze:
    """With other terms before its first known event; None if that created it."""
    return replace(freeze, told=replace(freeze.told, before=before))


def _told_by(freeze: Freeze, event: EventRecord) -> Told:
    return replace(freeze.told, set_id=event.event_id, set_at=event.received_at)


def _with_new_terms(freeze: Freeze, event: EventRecord) -> Freeze:
    return replace(
        freeze,
        terms=event.details.freeze or freeze.terms,
        by=event.details.actor if freeze.told.is_by_list else freeze.by,
        told=_told_by(freeze, event),
        stage=Stage.PLANNED,
        queued=None,
        ending=None,
    )


def _removed(freeze: Freeze, event: EventRecord) -> Freeze:
    details = event.details
    return replace(
        freeze,
        told=_told_by(freeze, event),
        stage=Stage.OVER,
        ending=Ending(event.received_at, details.actor, details.reason),
    )
