"""The OpenAPI document that the sandbox publishes about itself."""

from collections.abc import Sequence


def document(host: str, event_types: Sequence[str]) -> dict[str, object]:
    return {}
