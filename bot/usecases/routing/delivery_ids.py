"""Ids for the deliveries that are added together."""

import secrets
from collections.abc import Iterator
from itertools import count


def delivery_ids() -> Iterator[str]:
    """Each of 32 hexadecimal digits, all different, and growing: an index takes these best."""
    begun = secrets.token_hex(12)
    return (f"{begun}{number:08x}" for number in count())
