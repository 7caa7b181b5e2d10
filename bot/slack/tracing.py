"""Which request or delivery is being worked on, for every record that is logged meanwhile."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

_FIELDS: ContextVar[Mapping[str, str]] = ContextVar("mqbot_tracing")


def fields() -> Mapping[str, str]:
    """`request`, `delivery_id`: what is known here and now."""
    return _FIELDS.get({})


@contextmanager
def tracing(**known: str) -> Iterator[None]:
    """Add to what is known, here and in every task that is started from here."""
    token = _FIELDS.set({**fields(), **known})
    try:
        yield
    finally:
        _FIELDS.reset(token)
