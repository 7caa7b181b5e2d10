"""What keeps the audit as it is: triggers, which `mqbot forget` and `rename` lift for a moment."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

_REFUSE = "BEGIN SELECT RAISE(ABORT, 'audit records are only ever added'); END"
AUDIT_REFUSES_CHANGES = {
    "sqlite": (
        f"CREATE TRIGGER audit_refuses_update BEFORE UPDATE ON audit {_REFUSE}",
        (
            "CREATE TRIGGER audit_refuses_delete BEFORE DELETE ON audit "
            "WHEN OLD.result <> 'refused' OR OLD.act_id <> 0 OR OLD.circumstance IS NOT NULL "
            f"{_REFUSE}"
        ),
    ),
    "postgresql": (
        (
            "CREATE FUNCTION audit_refuses_change() RETURNS trigger LANGUAGE plpgsql AS $$ "
            "BEGIN IF TG_OP = 'DELETE' AND OLD.result = 'refused' AND OLD.act_id = 0 "
            "AND OLD.circumstance IS NULL THEN RETURN OLD; END IF; "
            "RAISE EXCEPTION 'audit records are only ever added' "
            "USING ERRCODE = 'restrict_violation'; END $$"
        ),
        (
            "CREATE TRIGGER audit_refuses_change BEFORE UPDATE OR DELETE ON audit "
            "FOR EACH ROW EXECUTE FUNCTION audit_refuses_change()"
        ),
    ),
}
"""Only refusals, which anybody can cause, may be deleted."""

_LIFT = {
    "sqlite": "DROP TRIGGER audit_refuses_update",
    "postgresql": "ALTER TABLE audit DISABLE TRIGGER audit_refuses_change",
}
_RESTORE = {
    "sqlite": AUDIT_REFUSES_CHANGES["sqlite"][0],
    "postgresql": "ALTER TABLE audit ENABLE TRIGGER audit_refuses_change",
}


@contextmanager
def audit_may_change(connection: Connection) -> Iterator[None]:
    """Lift the protection inside one transaction.

    Nobody else can use that: SQLite has one writer, and PostgreSQL locks the table for others until
    the transaction ends. If it fails, the protection is as before.
    """
    connection.exec_driver_sql(_LIFT[connection.dialect.name])
    yield
    connection.exec_driver_sql(_RESTORE[connection.dialect.name])
