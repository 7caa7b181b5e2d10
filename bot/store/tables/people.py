"""What people asked for and did, and who they are."""

from sqlalchemy import BigInteger, CheckConstraint, Column, Index, Table, Text, literal_column

from bot.domain.audit import Action, ActResult, Origin
from bot.domain.subscriptions import Style, SubscriptionSource
from bot.store.column_types import (
    DigestAt,
    OutsideText,
    Repository,
    SortedSet,
    UtcTime,
    Word,
)
from bot.store.tables.schema import RowNumber, metadata, partial_index

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("channel_id", Text, primary_key=True),
    Column("repository", Repository, primary_key=True),
    Column("source", Word(SubscriptionSource), primary_key=True),
    Column("topics", SortedSet, nullable=False),
    Column("branches", SortedSet, nullable=False),
    Column("except_logins", SortedSet, nullable=False),
    Column("created_by", Text),
    Column("created_at", UtcTime),
    Column("style", Word(Style), nullable=False),
    Column("digest", DigestAt),
    Index("ix_subscriptions_repository", "repository"),
    comment="One channel's subscription to one repository, by command or by the settings.",
)

audit = Table(
    "audit",
    metadata,
    Column("record_id", RowNumber, primary_key=True),
    Column("act_id", BigInteger, nullable=False),
    Column("at", UtcTime, nullable=False),
    Column("user_id", Text, nullable=False),
    Column("user_name", OutsideText, nullable=False),
    Column("team_id", Text),
    Column("action", Word(Action), nullable=False),
    Column("origin", Word(Origin), nullable=False),
    Column("repository", Repository, nullable=False),
    Column("result", Word(ActResult), nullable=False),
    Column("channel_id", Text),
    Column("reason", OutsideText),
    Column("stored_reason", OutsideText),
    Column("paused_at", UtcTime),
    Column("previous_reason", OutsideText),
    Column("previous_paused_at", UtcTime),
    Column("detail", OutsideText),
    Column("answer", OutsideText),
    Column("heard_before", OutsideText),
    Column("heard_after", OutsideText),
    Column("group_act_id", BigInteger, nullable=False),
    Column("group", Text),
    Column("lifts_at", UtcTime),
    Index("ix_audit_latest", "repository", "action", "result", "at"),
    Index("ix_audit_repository_at", "repository", "at"),
    Index("ix_audit_at", "at"),
    sqlite_autoincrement=True,
    comment="One act of a person, or its refusal. Only old refusals are ever deleted.",
)
partial_index(
    "ix_audit_act_id",
    audit.c.act_id,
    where=audit.c.act_id > 0,
)

people = Table(
    "people",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("login", Text),
    Column("linked_at", UtcTime),
    Column("switched_on", SortedSet, nullable=False),
    Column("switched_off", SortedSet, nullable=False),
    CheckConstraint("(login IS NULL) = (linked_at IS NULL)", name="linked_whole"),
    Index("ix_people_login", "login"),
    comment="One person in Slack: their login at the code host, and the notices they switched.",
)
"""What was never switched has its default, and is in neither set."""
SWITCHED_ON = people.c.switched_on != literal_column("'[]'")
"""Written out, and not a parameter, or no database sees that the index has these rows."""
partial_index("ix_people_switched_on", people.c.user_id, where=SWITCHED_ON)
