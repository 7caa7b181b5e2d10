"""To whom a post goes: a channel or a person."""

from datetime import timedelta

SURELY_SHOWN = timedelta(seconds=30)
"""The age of an attempt from which one lookup is enough."""


PEOPLE = ("U", "W")
"""The first letters of people's ids."""


def is_person(address: str) -> bool:
    """Whether the address is a person, who gets a direct message."""
    return address.startswith(PEOPLE)
