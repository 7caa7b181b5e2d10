"""What may become of a request to confirm something."""

from enum import StrEnum


class RequestState(StrEnum):
    """What became of a request; only an open one has its buttons."""

    OPEN = "open"
    CONFIRMED = "confirmed"
    OVER = "over"
    """There is nothing left to confirm: the pause or freeze ended, or was replaced."""

    EXPIRED = "expired"
    UNDER_WAY = "under_way"
    """A person approved what a machine proposed, and nobody knows yet what became of it."""

    REFUSED = "refused"
    """A person refused what a machine proposed."""
