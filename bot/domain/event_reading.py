"""Which metadata a type of event carries, and the reading of it, which never fails."""

from collections.abc import Callable, Mapping
from functools import cache

from pydantic import JsonValue, TypeAdapter, ValidationError

from bot.domain.event_metadata import (
    BatchBisectionEnd,
    BatchBisectionStart,
    CommandMetadata,
    ConflictDeferred,
    EventMetadata,
    FreezeCreate,
    FreezeDelete,
    FreezeUpdate,
    PauseCreate,
    PauseDelete,
    PauseUpdate,
    QueueChange,
    QueueChecksChange,
    QueueChecksEnd,
    QueueChecksNotStarted,
    QueueChecksStart,
    QueueEnter,
    QueueLeave,
    QueueMerged,
    UnknownMetadata,
)

METADATA_OF_TYPE: Mapping[str, type[EventMetadata]] = {
    "action.queue.enter": QueueEnter,
    "action.queue.checks_start": QueueChecksStart,
    "action.queue.checks_end": QueueChecksEnd,
    "action.queue.checks_not_started": QueueChecksNotStarted,
    "action.queue.leave": QueueLeave,
    "action.queue.merged": QueueMerged,
    "action.queue.change": QueueChange,
    "action.queue.checks.change": QueueChecksChange,
    "action.queue.batch_bisection_start": BatchBisectionStart,
    "action.queue.batch_bisection_end": BatchBisectionEnd,
    "action.queue.conflict_deferred": ConflictDeferred,
    "queue.pause.create": PauseCreate,
    "queue.pause.update": PauseUpdate,
    "queue.pause.delete": PauseDelete,
    "scheduled_freeze.create": FreezeCreate,
    "scheduled_freeze.update": FreezeUpdate,
    "scheduled_freeze.delete": FreezeDelete,
    "command.queue": CommandMetadata,
    "command.dequeue": CommandMetadata,
    "command.requeue": CommandMetadata,
}
"""Every `action.queue.*`, `queue.pause.*`, `scheduled_freeze.*` and `command.*` type."""


def read_metadata(event_type: str | None, sent: JsonValue) -> EventMetadata:
    """Whatever was sent, a value comes back; what could not be read is in its `raw`."""
    model = METADATA_OF_TYPE.get(event_type or "", UnknownMetadata)
    if sent is None:
        return model()
    if not isinstance(sent, dict):
        unreadable = model()
        unreadable.keep_raw(sent)
        return unreadable
    if model is UnknownMetadata:
        return UnknownMetadata.model_construct(fields=sent)
    try:
        return _reader_of(model)(sent)
    except ValidationError as error:
        return _read_partly(model, sent, error)


@cache
def _reader_of(model: type[EventMetadata]) -> Callable[[JsonValue], EventMetadata]:
    """What `model_validate` comes to, which takes a third of the time of most metadata by itself.

    Made when the first event of a type comes, not for all types at the start.
    """
    read: Callable[[JsonValue], EventMetadata] = TypeAdapter(model).validator.validate_python
    return read


def _read_partly(
    model: type[EventMetadata], sent: dict[str, JsonValue], error: ValidationError
) -> EventMetadata:
    """Leave out the fields that cannot be read: one bad field must not hide `merged`."""
    bad = {str(problem["loc"][0]) for problem in error.errors(include_url=False) if problem["loc"]}
    partly = model.model_validate({name: sent[name] for name in sent if name not in bad})
    partly.keep_raw(sent)
    return partly
