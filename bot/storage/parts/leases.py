"""Named leases with fencing tokens."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, select, update

from bot.domain.errors import LeaseLost
from bot.ports import Lease
from bot.storage.column_types import EPOCH
from bot.storage.statements import Prepared, PreparedList, Statements, slices
from bot.storage.tables import leases


class SqlLeases:
    """Leases in our own table. A token grows whenever a lease was not in force for its taker."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    def claim(
        self, names: Sequence[str], *, holder: str, now: datetime, lifetime: timedelta
    ) -> Mapping[str, Lease]:
        claimed: dict[str, Lease] = {}
        # Sorted, so that two processes that insert the same new names never wait in a circle.
        for some in slices(sorted(set(names))):
            rest: Sequence[str] = some
            for how in (_RENEW, _TAKE):
                claimed |= self._run(how, rest, holder, now, now + lifetime)
                rest = [name for name in some if name not in claimed]
                if not rest:
                    break
            else:
                claimed |= self._keep_or_add(rest, holder, now, now + lifetime)
        return claimed

    def _run(
        self,
        how: PreparedList,
        names: Sequence[str],
        holder: str,
        now: datetime,
        expires_at: datetime,
    ) -> dict[str, Lease]:
        taken = self._statements.rows_in(how, names, of_holder=holder, now=now, until=expires_at)
        return {row.name: Lease(row.name, holder, row.token, expires_at) for row in taken}

    def _keep_or_add(
        self, names: Sequence[str], holder: str, now: datetime, expires_at: datetime
    ) -> dict[str, Lease]:
        known = {
            row.name: Lease(row.name, row.holder, row.token, row.expires_at)
            for row in self._statements.run(select(leases).where(leases.c.name.in_(names)))
        }
        # Ours, but being renewed by another of our transactions: it stays ours.
        kept = {
            name: lease
            for name, lease in known.items()
            if lease.holder == holder and lease.expires_at > now
        }
        new = [
            {"name": name, "holder": holder, "token": 1, "expires_at": expires_at}
            for name in names
            if name not in known
        ]
        if not new:
            return kept
        added = self._statements.run(
            self._statements.insert(leases)
            .on_conflict_do_nothing(index_elements=[leases.c.name])
            .returning(leases.c.name),
            new,
        )
        return kept | {row.name: Lease(row.name, holder, 1, expires_at) for row in added}

    def require(self, lease: Lease, now: datetime) -> None:
        # The lock keeps the lease from changing hands until this transaction has ended, and not
        # from being renewed.
        found = self._statements.rows(
            _REQUIRE, of_name=lease.name, of_holder=lease.holder, of_token=lease.token, now=now
        )
        if not found:
            raise LeaseLost(lease.name)

    def release(self, leases: Sequence[Lease]) -> None:
        if leases:
            self._statements.run(
                _EXPIRE,
                [
                    {"of_name": lease.name, "of_token": lease.token}
                    for lease in sorted(leases, key=lambda lease: lease.name)
                ],
            )

    def end_all(self) -> None:
        """End the leases of whoever held them; the tokens stay, so that none comes back."""
        self._statements.run(update(leases).values(expires_at=EPOCH))


_OURS = and_(leases.c.holder == bindparam("of_holder"), leases.c.expires_at > bindparam("now"))
_IS_OVER = leases.c.expires_at <= bindparam("now")


def _free(names: BindParameter[str], which: ColumnElement[bool], *, renewed: bool) -> Select[str]:
    """A row that another transaction has locked is in use: it is passed over, not waited for.

    Those who require a lease do not keep it from being `renewed`: it does not change hands, and one
    that is always in use by somebody would else never be.
    """
    return (
        select(leases.c.name)
        .where(leases.c.name.in_(names), which)
        .order_by(leases.c.name)
        .with_for_update(skip_locked=True, key_share=renewed)
    )


_RENEW = PreparedList(
    "name",
    leases.c.name.type,
    lambda _, names: (
        update(leases)
        .where(leases.c.name.in_(_free(names, _OURS, renewed=True)))
        .values(expires_at=bindparam("until"))
        .returning(leases.c.name, leases.c.token)
    ),
)

_TAKE = PreparedList(
    "name",
    leases.c.name.type,
    lambda _, names: (
        update(leases)
        .where(leases.c.name.in_(_free(names, _IS_OVER, renewed=False)))
        .values(
            holder=bindparam("of_holder"),
            token=leases.c.token + 1,
            expires_at=bindparam("until"),
        )
        .returning(leases.c.name, leases.c.token)
    ),
)

_REQUIRE = Prepared(
    lambda _: (
        select(leases.c.name)
        .where(
            leases.c.name == bindparam("of_name"),
            leases.c.holder == bindparam("of_holder"),
            leases.c.token == bindparam("of_token"),
            leases.c.expires_at > bindparam("now"),
        )
        .with_for_update(read=True, key_share=True)
    )
)

_EXPIRE = (
    update(leases)
    .where(leases.c.name == bindparam("of_name"), leases.c.token == bindparam("of_token"))
    .values(expires_at=EPOCH)
)
