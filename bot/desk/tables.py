"""The table of open questions."""

import sqlalchemy as sa

from bot.store.schema import UtcTime, key, optional, required, table

questions = table(
    "questions",
    "One open question: which queue somebody means by what they typed.",
    *key(sa.Text, "user_id", "channel_id", "verb", "typed"),
    *required(UtcTime, "until"),
    *optional(sa.BigInteger, "message"),
    sa.Index(None, "until"),
)
"""`channel_id`: empty on Home.
`message`: the `ts` of Slack's message that asks, without its dot.
"""
