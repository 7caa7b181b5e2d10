"""Tables of alerts and outages."""

from datetime import datetime

import sqlalchemy as sa

from bot.doctor.diagnosis import QueueVerdict
from bot.health.alert import AlertKind
from bot.health.outage import OutageCause
from bot.kernel.repository import RepositoryName
from bot.store.schema import (
    OutsideText,
    Repository,
    UtcTime,
    as_json,
    as_text,
    key,
    optional,
    partial_index,
    required,
    row_number,
    table,
)

failures_in_a_row = table(
    "failures_in_a_row",
    "The pull requests that left one queue on failures since its last merge.",
    *key(Repository, "repository"),
    *required(as_json(tuple[int, ...]), "pull_requests"),
)


alerts = table(
    "alerts",
    "One alert about the health of one queue, active or over.",
    row_number("alert_id"),
    *required(Repository, "repository"),
    *required(as_text(AlertKind), "kind"),
    *required(UtcTime, "began_at"),
    *optional(UtcTime, "ended_at"),
    *required(sa.BigInteger, "value", "threshold"),
    *optional(sa.BigInteger, "pull_request"),
    *optional(OutsideText, "batch", "cause", "evidence"),
    *optional(as_text(QueueVerdict), "verdict"),
    *optional(sa.Text, "mention"),
    sa.Index(None, "ended_at"),
)


ALERT_LASTS = alerts.c.ended_at.is_(None)
partial_index(alerts.c.repository, alerts.c.kind, unique=True, where=ALERT_LASTS)


alert_causes = table(
    "alert_causes",
    "A cause that the thread of one alert has named; each is named once.",
    row_number("cause_id"),
    *required(sa.BigInteger, "alert_id"),
    *required(Repository, "repository"),
    *required(as_text(QueueVerdict), "verdict"),
    *required(OutsideText, "said"),
    *required(UtcTime, "found_at"),
    sa.UniqueConstraint("alert_id", "verdict"),
    sa.Index(None, "found_at"),
)


outages = table(
    "outages",
    "One time in which event logs couldn't be read: those that became unreadable together.",
    row_number("outage_id"),
    *required(as_json(tuple[RepositoryName, ...]), "repositories"),
    *required(as_json(dict[RepositoryName, datetime]), "recovered"),
    *required(UtcTime, "began_at"),
    *optional(UtcTime, "notified_at", "ended_at"),
    *optional(as_text(OutageCause), "cause"),
    *optional(OutsideText, "said"),
    sa.Index(None, "ended_at"),
)
partial_index(outages.c.outage_id, where=outages.c.ended_at.is_(None))


slack_outages = table(
    "slack_outages",
    "One time in which Slack answered no call.",
    row_number("outage_id"),
    *required(UtcTime, "began_at"),
    *optional(UtcTime, "ended_at"),
    *optional(sa.BigInteger, "late"),
    sa.Index(None, "ended_at"),
)
"""`late`: how many messages had to wait for Slack, once it is over."""
partial_index(slack_outages.c.outage_id, where=slack_outages.c.ended_at.is_(None))
