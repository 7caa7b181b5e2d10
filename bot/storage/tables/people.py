"""What people asked for and did, and who they are."""

from sqlalchemy import BigInteger, Boolean, Column, Index, Table, Text

from bot.domain.audit import Action, ActResult, Origin
from bot.domain.notices import Notice
from bot.domain.subscriptions import Style, SubscriptionSource
from bot.storage.column_types import (
    DigestAt,
    Globs,
    OutsideText,
    Repository,
    SortedWords,
    UtcTime,
    Word,
)
from bot.storage.tables.schema import RowNumber, metadata, partial_index

subscriptions = Table(
    "subscriptions",
    metadata,
    Column("channel_id", Text, primary_key=True),
    Column("repository", Repository, primary_key=True),
    Column("source", Word(SubscriptionSource), primary_key=True),
    Column("topics", SortedWords, nullable=False),
    Column("branch", Globs),
    Column("except_logins", SortedWords, nullable=False),
    Column("created_by", Text),
    Column("created_at", UtcTime),
    Column("style", Word(Style), nullable=False),
    Column("digest", DigestAt),
    Index("ix_subscriptions_repository", "repository"),
    comment="One channel's subscription to one repository, by command or by the settings.",
)

channel_defaults = Table(
    "channel_defaults",
    metadata,
    Column("channel_id", Text, primary_key=True),
    Column("repository", Repository, nullable=False),
    comment="The repository that is meant in one channel when none is typed.",
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

accounts = Table(
    "accounts",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("login", Text, nullable=False),
    Column("linked_at", UtcTime, nullable=False),
    Index("ix_accounts_login", "login"),
    comment="The login at the code host of one person in Slack.",
)

notice_choices = Table(
    "notice_choices",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("notice", Word(Notice), primary_key=True),
    Column("is_on", Boolean, nullable=False),
    Column("chosen_at", UtcTime, nullable=False),
    comment="One kind of direct message that one person switched on or off.",
)
partial_index(
    "ix_notice_choices_on",
    notice_choices.c.notice,
    where=notice_choices.c.is_on,
)

seen_requests = Table(
    "seen_requests",
    metadata,
    Column("request_key", Text, primary_key=True),
    Column("until", UtcTime, nullable=False),
    Index("ix_seen_requests_until", "until"),
    comment="One request from Slack that was acted upon, so that its repetition is not.",
)
