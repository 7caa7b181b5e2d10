"""When a channel's summaries come."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time

from typing_extensions import override

DIGEST_AT = time(9, 0)
"""When nothing is said of the time."""

UTC_ZONE = "UTC"


@dataclass(frozen=True, slots=True)
class DigestTime:
    """A time of day in a time zone: `zone` is an IANA name."""

    at: time
    zone: str = UTC_ZONE

    @override
    def __str__(self) -> str:
        """As it is typed: "09:00 Europe/Paris"."""
        return f"{self.at:%H:%M} {self.zone}"


NextDigest = Callable[[DigestTime, datetime], datetime]
"""When the next digest after a moment comes, in UTC."""
