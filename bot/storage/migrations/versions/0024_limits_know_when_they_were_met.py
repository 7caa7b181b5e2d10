"""When a limit of Slack's was met, so that one stored by a wrong clock is known as such.

Only a new column that may be empty: programs of revision 0023 run on beside this one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("slack_limits", sa.Column("met_at", sa.BigInteger))
