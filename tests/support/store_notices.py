"""What people have switched on or off, in dictionaries."""

from collections.abc import Collection, Mapping
from datetime import datetime

from typing_extensions import override

from bot.domain.notices import Choices, Notice
from bot.ports import Notices


class InMemoryNotices(Notices):
    def __init__(self, choices: dict[tuple[str, Notice], bool]) -> None:
        self._choices = choices

    @override
    async def choose(self, user_id: str, choices: Choices, at: datetime) -> None:
        self._choices.update({(user_id, notice): is_on for notice, is_on in choices.items()})

    @override
    async def chosen(self, user_ids: Collection[str]) -> Mapping[str, Choices]:
        found: dict[str, dict[Notice, bool]] = {}
        for (user_id, notice), is_on in self._choices.items():
            if user_id in user_ids:
                found.setdefault(user_id, {})[notice] = is_on
        return found
