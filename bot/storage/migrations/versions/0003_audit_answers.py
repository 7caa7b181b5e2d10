"""What the service answered to an act, and what a channel heard before and after a change of it.

Programs of revision 0002 run on beside this one: the new columns may be left out.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("answer", "heard_before", "heard_after"):
        op.add_column("audit", sa.Column(name, sa.Text))
    op.create_index("ix_audit_at", "audit", ["at"])
    op.create_index(
        "ix_audit_act_id",
        "audit",
        ["act_id"],
        sqlite_where=sa.text("act_id > 0"),
        postgresql_where=sa.text("act_id > 0"),
    )
