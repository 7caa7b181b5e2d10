"""A dict that holds a limited number of entries."""

from typing import TypeVar

from typing_extensions import override

Key = TypeVar("Key")
Value = TypeVar("Value")


class Bounded(dict[Key, Value]):
    """Drops its oldest entry when there are more than `most`; a set entry becomes the newest."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    @override
    def __setitem__(self, key: Key, value: Value) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > self.most:
            del self[next(iter(self))]
