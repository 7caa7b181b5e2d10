"""Old refusals may be deleted from the audit; every other record is there for ever, as before.

Anybody can be refused as often as they like. Programs of revision 0025 run on beside this one.
"""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TRIGGER audit_refuses_delete")
        op.execute(
            "CREATE TRIGGER audit_refuses_delete BEFORE DELETE ON audit "
            "WHEN OLD.result <> 'refused' OR OLD.act_id <> 0 "
            "BEGIN SELECT RAISE(ABORT, 'audit records are only ever added'); END"
        )
        return
    op.execute(
        "CREATE OR REPLACE FUNCTION audit_refuses_change() RETURNS trigger LANGUAGE plpgsql AS $$ "
        "BEGIN IF TG_OP = 'DELETE' AND OLD.result = 'refused' AND OLD.act_id = 0 THEN "
        "RETURN OLD; END IF; RAISE EXCEPTION 'audit records are only ever added' "
        "USING ERRCODE = 'restrict_violation'; END $$"
    )
