"""Groups whose pauses lift themselves together, and pauses that know their group.

What programs of revision 0009 write has no group: they run on beside this one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("group_acts", sa.Column("lifts_at", sa.BigInteger))
    group_act_id = sa.Column("group_act_id", sa.BigInteger, nullable=False, server_default="0")
    op.add_column("pauses", group_act_id)
