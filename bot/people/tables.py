"""The tables of people's choices."""

import sqlalchemy as sa

from bot.people.notices import Notice
from bot.store.schema import (
    Repository,
    UtcTime,
    as_json,
    key,
    optional,
    partial_index,
    required,
    table,
)

people = table(
    "people",
    "One person in Slack: their login at the code host, and the notices they chose.",
    *key(sa.Text, "user_id"),
    *optional(sa.Text, "login"),
    *optional(UtcTime, "linked_at"),
    *optional(as_json(dict[Notice, bool]), "choices"),
    sa.Index(None, "login"),
)
"""`linked_at`: when the person chose their login, or to have none; None if the settings decide."""


HAS_CHOSEN = people.c.choices.is_not(None)
partial_index(people.c.user_id, where=HAS_CHOSEN)


muted_pull_requests = table(
    "muted_pull_requests",
    "A pull request about which one person wants no mentions and direct messages.",
    *key(sa.Text, "user_id"),
    *key(Repository, "repository"),
    *key(sa.BigInteger, "pull_request"),
    *required(UtcTime, "until"),
    sa.Index(None, "until"),
)
