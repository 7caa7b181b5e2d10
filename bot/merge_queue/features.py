"""What the service offers to some, and not to others."""

from enum import StrEnum


class ServiceFeature(StrEnum):
    """A feature that only some of the service's plans have."""

    FREEZES = "freezes"
