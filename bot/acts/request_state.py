"""What may become of a request to confirm something."""

from enum import StrEnum


class RequestState(StrEnum):
    """What became of a request; only an open one has its buttons.

    A request for several repositories is in the first of these states in which one of them is.
    """

    OPEN = "open"
    UNDER_WAY = "under_way"
    """A person approved what a machine proposed, and nobody knows yet what became of it."""

    CONFIRMED = "confirmed"
    REFUSED = "refused"
    """A person refused what a machine proposed."""

    EXPIRED = "expired"
    OVER = "over"
    """There is nothing left to confirm: the pause or freeze ended, or was replaced."""
