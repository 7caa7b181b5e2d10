"""Values of which many are made: each event of a log makes several."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

__all__ = ["value"]

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:

    def value(*, frozen: bool, slots: bool) -> Any:  # noqa: ANN401 - a decorator of any class
        """As `dataclass`; what is frozen is so to the type checker only.

        To make a frozen one takes four times as long, since each field is set around the ban.
        """
        return dataclass(slots=slots, unsafe_hash=frozen)
