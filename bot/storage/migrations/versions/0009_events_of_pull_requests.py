"""The events of one pull request are found at once.

Only an index: programs of revision 0008 run on beside this one.
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_events_pull_request", "events", ["repository", "pull_request", "received_at"]
    )
