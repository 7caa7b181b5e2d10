"""What people have switched on or off, in dictionaries."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from typing_extensions import override

from bot.domain.notices import Choices, Notice
from bot.ports import Notices


class InMemoryNotices(Notices):
    def __init__(self, choices: dict[tuple[str, Notice], bool], logins: Mapping[str, str]) -> None:
        self._choices = choices
        self._logins = logins

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

    @override
    async def switched_on_by_anybody(self, notices: Collection[Notice]) -> Collection[Notice]:
        on = {notice for (_, notice), is_on in self._choices.items() if is_on}
        return sorted(on.intersection(notices))

    @override
    async def switched_on(
        self, logins: Collection[str], notices: Collection[Notice]
    ) -> Mapping[tuple[str, Notice], Sequence[str]]:
        found: dict[tuple[str, Notice], list[str]] = {}
        for user_id, known in self._logins.items():
            for login in [one for one in logins if one.lower() == known.lower()]:
                for notice in [one for one in notices if self._choices.get((user_id, one))]:
                    found.setdefault((login, notice), []).append(user_id)
        return found
