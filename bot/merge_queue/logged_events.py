"""Events of the known types, read from JSON to typed metadata in one go."""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, cast

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from bot.domain.event_reading import METADATA_OF_TYPE
from bot.domain.events import QueueEvent
from bot.domain.resource import read_moment

_WRITTEN = r"^[0-8][0-9]{3}-.*Z$"
"""As the service writes its times; what else is one takes the longer way."""

REPEATED = 1024
"""Times that are read once: all events of a stay tell when it was queued."""


class _ByType:
    """`QueueEvent` reads its metadata by a function, which it is handed as Python's own values.

    Here the library is told what to expect with each type, and reads both together, times without
    a function of ours. An event that is not quite so, or of a type that we do not know, is read as
    `QueueEvent` says: the results are the same. They come slower when `QueueEvent` was read by
    itself before this was first used: the library then takes what it has made for the class in
    place of what is told here.
    """

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[QueueEvent], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        any_event = handler(source)
        # The library's types do not say that this is a model, nor what of it there is.
        model = cast("dict[str, Any]", handler.resolve_ref_schema(any_event))
        common = _without_name(model)
        fields = _with_moments(model["schema"]["fields"], datetime.fromisoformat)

        def of_type(metadata: CoreSchema) -> CoreSchema:
            known = _without_name(cast("dict[str, Any]", handler.resolve_ref_schema(metadata)))
            read = core_schema.model_field(_with_moments(known, _read_repeated))
            schema = {**model["schema"], "fields": {**fields, "metadata": read}}
            return cast("CoreSchema", {**common, "schema": schema})

        by_type = {
            event_type: of_type(handler.generate_schema(metadata))
            for event_type, metadata in METADATA_OF_TYPE.items()
        }
        known = core_schema.tagged_union_schema(by_type, discriminator="type")
        return core_schema.union_schema([known, any_event], mode="left_to_right")


_read_repeated = lru_cache(REPEATED)(datetime.fromisoformat)


def _without_name(schema: dict[str, Any]) -> dict[str, Any]:
    """Under its name the library knows the schema that this one is made of."""
    return {name: each for name, each in schema.items() if name != "ref"}


def _with_moments(part: Any, read: Callable[[str], datetime]) -> Any:  # noqa: ANN401 - any part of a schema
    """The same, with times that are written as usual read by `read`, and no others."""
    if isinstance(part, list):
        return [_with_moments(each, read) for each in part]
    if not isinstance(part, dict):
        return part
    if part.get("type") == "function-wrap" and part["function"]["function"] is read_moment:
        return core_schema.no_info_after_validator_function(
            read, core_schema.str_schema(pattern=_WRITTEN)
        )
    return {name: _with_moments(each, read) for name, each in part.items()}


LoggedEvent = Annotated[QueueEvent, _ByType]
