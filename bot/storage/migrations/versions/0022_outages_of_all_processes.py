"""An outage is one of all processes: who was told of it, and which logs are read again.

Only new columns that may be empty: programs of revision 0021 run on beside this one. What they
add is told by them; their notices and these have the same keys.
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("stalenesses", sa.Column("told_at", sa.BigInteger))
    op.add_column("stalenesses", sa.Column("read_again", sa.Text))
    # All of them were announced at once.
    op.execute("UPDATE stalenesses SET told_at = since")
