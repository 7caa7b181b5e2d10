"""Which freeze an event of the log is about, and what it makes of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bot.freezes.freeze import Ending, Freeze, Stage, Told
from bot.freezes.listing import freeze_with, has_terms
from bot.log.types import FREEZE_CREATE, FREEZE_DELETE, FREEZE_TYPES
from bot.merge_queue.event_records import EventRecord, FreezeAttributes, in_order


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known beside an event, which carries the terms of its freeze and no id."""

    #: the ids of the freezes that the act through the bot behind the event was about, if any
    acted_on: frozenset[str] | None = None
    #: the service's list when read after the event; None if it wasn't
    listed: Sequence[Freeze] | None = None

    def is_acted_on(self, freeze: Freeze) -> bool:
        return self.acted_on is not None and freeze.freeze_id in self.acted_on

    def is_gone(self, freeze: Freeze) -> bool:
        """Whether the service no longer has it."""
        return freeze.freeze_id is not None and self._shown(freeze) is None and self._is_read

    def has_changed(self, freeze: Freeze) -> bool:
        """Whether the service has it with other terms."""
        shown = self._shown(freeze)
        return shown is not None and not has_terms(shown.terms, freeze.terms)

    @property
    def _is_read(self) -> bool:
        return self.listed is not None

    def _shown(self, freeze: Freeze) -> Freeze | None:
        return freeze_with(freeze.freeze_id, self.listed or ())


NO_EVIDENCE = Evidence()


def freezes_after(known: Sequence[Freeze], events: Sequence[EventRecord]) -> list[Freeze]:
    """All freezes after these later events, in any order; also those that are over."""
    found = {freeze.told.event_id: freeze for freeze in known}
    for event in in_order(events):
        for freeze in changed_by(event, list(found.values())):
            found[freeze.told.event_id] = freeze
    return list(found.values())


def changed_by(
    event: EventRecord, known: Sequence[Freeze], evidence: Evidence = NO_EVIDENCE
) -> list[Freeze]:
    """The freezes that the event makes or changes; none if it carries no terms.

    The event may have appeared in the log after later ones.
    """
    terms = event.details.freeze
    if terms is None or event.type not in FREEZE_TYPES:
        return []
    if event.type == FREEZE_CREATE:
        return [_created(event, terms, known, evidence)]
    if event.type == FREEZE_DELETE:
        found = _meant(known, terms, evidence.is_acted_on, evidence.is_gone)
        return [_removed(found or _begun_with(_new(event), terms), event)]
    return _updated(event, terms, known, evidence)


def _created(
    event: EventRecord, terms: FreezeAttributes, known: Sequence[Freeze], evidence: Evidence
) -> Freeze:
    later = _later(event, known, terms)
    if later is not None:
        return replace(_begun_with(later, None), by=event.details.actor)
    new_ids = (evidence.acted_on or frozenset()) - {freeze.freeze_id for freeze in known}
    return replace(_new(event), freeze_id=next(iter(new_ids), None))


def _updated(
    event: EventRecord, terms: FreezeAttributes, known: Sequence[Freeze], evidence: Evidence
) -> list[Freeze]:
    replaced = event.details.freeze_before
    found = _meant(known, replaced, evidence.is_acted_on, evidence.has_changed)
    later = _later(event, known, terms)
    if found is None:
        return [_begun_with(later or _new(event), replaced)]
    if later is None:
        return [_with_new_terms(found, event)]
    # Both are the same freeze, of which this event was missing in between.
    whole = replace(_begun_with(later, found.told.before), by=found.by)
    return [_removed(found, event), whole]


def _meant(
    known: Sequence[Freeze], terms: FreezeAttributes | None, *witnesses: Callable[[Freeze], bool]
) -> Freeze | None:
    """The freeze that the event means: it has these terms now, or had when its time was up.

    Of equal ones the first witness that knows one decides.
    """
    possible = [freeze for freeze in known if freeze.is_gone or not freeze.is_removed]
    equal = [freeze for freeze in possible if freeze.terms == terms]
    for is_meant in witnesses:
        found = [freeze for freeze in equal if is_meant(freeze)]
        if found:
            return found[0]
    return min(equal, key=lambda freeze: freeze.stage is Stage.OVER, default=None)


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
