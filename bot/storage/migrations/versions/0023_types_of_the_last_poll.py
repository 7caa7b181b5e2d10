"""Which types of events were asked for when a log was last read: a new process has not asked yet.

Only a new column that may be empty: programs of revision 0022 run on beside this one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("polls", sa.Column("types", sa.Text))
