"""Which mentions and direct messages people have switched on or off."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, func, select

from bot.domain.notices import Choices, Notice
from bot.storage.statements import Prepared, PreparedList, Statements, slices
from bot.storage.tables import accounts, notice_choices


class SqlNotices:
    """One row for each kind that a person has switched; none for what is left as it comes."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def choose(self, user_id: str, choices: Choices, at: datetime) -> None:
        for notice, is_on in sorted(choices.items()):
            values = {"is_on": is_on, "chosen_at": at}
            insert = self._statements.insert(notice_choices).values(
                user_id=user_id, notice=notice, **values
            )
            key = [notice_choices.c.user_id, notice_choices.c.notice]
            self._statements.run(insert.on_conflict_do_update(index_elements=key, set_=values))

    def chosen(self, user_ids: Collection[str]) -> Mapping[str, Choices]:
        found: dict[str, dict[Notice, bool]] = defaultdict(dict)
        for some in slices(sorted(set(user_ids))):
            theirs = select(notice_choices).where(notice_choices.c.user_id.in_(some))
            for row in self._statements.run(theirs):
                found[row.user_id][row.notice] = row.is_on
        return dict(found)

    def switched_on_by_anybody(self, notices: Collection[Notice]) -> Collection[Notice]:
        return [one for one in sorted(notices) if self._statements.rows(_ANYBODY, of_notice=one)]

    def switched_on(
        self, logins: Collection[str], notices: Collection[Notice]
    ) -> Mapping[tuple[str, Notice], Sequence[str]]:
        listed = sorted({one.lower() for one in logins})
        rows = self._statements.rows_in(_SWITCHED_ON, listed)
        in_order = sorted(rows, key=lambda row: (row.linked_at, row.user_id))
        found: dict[tuple[str, Notice], list[str]] = defaultdict(list)
        for row in in_order:
            if row.notice in notices:
                found[row.key, row.notice].append(row.user_id)
        return {
            (login, notice): found[login.lower(), notice]
            for login in logins
            for notice in notices
            if (login.lower(), notice) in found
        }


_ANYBODY = Prepared(
    lambda _: (
        select(notice_choices.c.notice)
        .where(notice_choices.c.notice == bindparam("of_notice"), notice_choices.c.is_on)
        .limit(1)
    )
)

_SWITCHED_ON = PreparedList(
    "login",
    accounts.c.login.type,
    lambda _, logins: (
        select(
            func.lower(accounts.c.login).label("key"),
            accounts.c.user_id,
            accounts.c.linked_at,
            notice_choices.c.notice,
        )
        .join(notice_choices, notice_choices.c.user_id == accounts.c.user_id)
        .where(func.lower(accounts.c.login).in_(logins), notice_choices.c.is_on)
    ),
)
