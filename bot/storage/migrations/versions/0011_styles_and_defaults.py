"""How channels want to be told, and which repository is meant in them.

`subscriptions.branch` holds several patterns as a JSON array from now on, which programs of
revision 0010 take for one pattern that nothing matches; apart from that they run on.
"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    style = sa.Column("style", sa.Text, nullable=False, server_default="thread")
    op.add_column("subscriptions", style)
    op.add_column("subscriptions", sa.Column("digest", sa.Text))
    op.create_table(
        "channel_defaults",
        sa.Column("channel_id", sa.Text, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("channel_id", name="pk_channel_defaults"),
    )
