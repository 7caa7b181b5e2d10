"""Which mentions and direct messages people have switched on or off."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import select
from typing_extensions import override

from bot.domain.notices import Choices, Notice
from bot.ports.notices import Notices
from bot.storage.statements import Statements, slices
from bot.storage.tables import notice_choices


class SqlNotices(Notices):
    """One row for each kind that a person has switched; none for what is left as it comes."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    @override
    async def choose(self, user_id: str, choices: Choices, at: datetime) -> None:
        for notice, is_on in sorted(choices.items()):
            values = {"is_on": is_on, "chosen_at": at}
            insert = self._statements.insert(notice_choices).values(
                user_id=user_id, notice=notice, **values
            )
            key = [notice_choices.c.user_id, notice_choices.c.notice]
            await self._statements.run(
                insert.on_conflict_do_update(index_elements=key, set_=values)
            )

    @override
    async def chosen(self, user_ids: Collection[str]) -> Mapping[str, Choices]:
        found: dict[str, dict[Notice, bool]] = defaultdict(dict)
        for some in slices(sorted(set(user_ids))):
            theirs = select(notice_choices).where(notice_choices.c.user_id.in_(some))
            for row in await self._statements.run(theirs):
                found[row.user_id][row.notice] = row.is_on
        return dict(found)
