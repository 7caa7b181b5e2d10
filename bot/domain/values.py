"""A fast dataclass for values created in large numbers, several for each event."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

__all__ = ["value"]

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:

    def value(*, frozen: bool, slots: bool) -> Any:  # noqa: ANN401 - a decorator of any class
        """Like `dataclass`, but only the type checker enforces `frozen`.

        Creating a frozen instance takes four times as long, because it sets each field indirectly.
        """
        return dataclass(slots=slots, unsafe_hash=frozen)
