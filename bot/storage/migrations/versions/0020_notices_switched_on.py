"""Who has switched on what is found without a look at all that people have chosen.

Only an index: programs of revision 0019 run on beside this one, and send nobody what these do.
"""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    is_on = sa.text("is_on")
    op.create_index(
        "ix_notice_choices_on",
        "notice_choices",
        ["notice"],
        sqlite_where=is_on,
        postgresql_where=is_on,
    )
