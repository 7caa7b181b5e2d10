"""Events of the known types, read from JSON to typed metadata in one go."""

from typing import Annotated, Any, cast

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from bot.domain.event_reading import METADATA_OF_TYPE
from bot.domain.events import QueueEvent


class _ByType:
    """`QueueEvent` reads its metadata by a function, which it is handed as Python's own values.

    Here the library is told what to expect with each type, and reads both together. An event that
    is not quite so, or of a type that we do not know, is read as `QueueEvent` says: the results
    are the same. They come slower when `QueueEvent` was read by itself before this was first used:
    the library then takes what it has made for the class in place of what is told here.
    """

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[QueueEvent], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        any_event = handler(source)
        # The library's types do not say that this is a model, nor what of it there is.
        model = cast("dict[str, Any]", handler.resolve_ref_schema(any_event))
        common = {name: each for name, each in model.items() if name != "ref"}

        def of_type(metadata: CoreSchema) -> CoreSchema:
            read = {"metadata": core_schema.model_field(metadata)}
            fields = {**model["schema"], "fields": {**model["schema"]["fields"], **read}}
            return cast("CoreSchema", {**common, "schema": fields})

        by_type = {
            event_type: of_type(handler.generate_schema(metadata))
            for event_type, metadata in METADATA_OF_TYPE.items()
        }
        known = core_schema.tagged_union_schema(by_type, discriminator="type")
        return core_schema.union_schema([known, any_event], mode="left_to_right")


LoggedEvent = Annotated[QueueEvent, _ByType]
