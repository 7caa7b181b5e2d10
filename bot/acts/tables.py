"""Tables of acts: the audit, groups' acts, requests without an answer."""

import sqlalchemy as sa

from bot.acts.asked import Asked
from bot.acts.group_act import RepositoryResult
from bot.acts.record import Action, ActResult, Circumstance, Confirmation, Evidence
from bot.blocks.controls import Repeat
from bot.kernel.actor import Actor, Approved, Origin
from bot.kernel.repository import RepositoryName
from bot.store.schema import (
    OutsideText,
    Repository,
    SortedSet,
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

group_acts = table(
    "group_acts",
    "One pause or resume that a person asked for on a group of repositories.",
    row_number("group_act_id"),
    *required(sa.Text, "group"),
    *required(as_json(Actor), "actor"),
    *required(as_text(Action), "action"),
    *required(as_text(Origin), "origin"),
    *required(UtcTime, "at"),
    *required(as_json(Asked), "asked"),
    *optional(sa.Text, "channel_id"),
    *required(as_json(tuple[RepositoryName, ...]), "repositories"),
    *required(SortedSet, "notified_together"),
    *required(as_json(tuple[RepositoryResult, ...]), "results"),
    *optional(UtcTime, "ended_at", "resumes_at"),
    *optional(sa.Text, "request"),
    *optional(as_json(Approved), "approved"),
    sa.Index(None, "group", "group_act_id"),
)
partial_index(group_acts.c.group_act_id, where=group_acts.c.ended_at.is_(None))
partial_index(group_acts.c.request, where=group_acts.c.request.is_not(None))


audit = table(
    "audit",
    "One act of a person, or its refusal. Only old or repeated refusals are ever deleted.",
    row_number("record_id"),
    *required(sa.BigInteger, "act_id", "group_act_id"),
    *required(sa.BigInteger, "times", default=1),
    *required(UtcTime, "at"),
    *required(as_json(Actor), "actor"),
    *optional(sa.Text, "channel_id", "group"),
    *required(as_text(Action), "action"),
    *required(as_text(Origin), "origin"),
    *required(Repository, "repository"),
    *required(as_text(ActResult), "result"),
    *optional(OutsideText, "reason", "stored_reason", "previous_reason", "detail", "answer"),
    *optional(as_text(Circumstance), "circumstance"),
    *optional(OutsideText, "setting_before", "setting_after"),
    *optional(as_json(Evidence), "evidence"),
    *optional(as_json(Confirmation), "confirmation"),
    *optional(SortedSet, "freezes"),
    *optional(UtcTime, "service_at", "paused_at", "previous_paused_at", "resumes_at"),
    *optional(sa.BigInteger, "pull_request"),
    *optional(sa.Text, "request"),
    sa.Index(None, "repository", "at"),
    sa.Index(None, "repository", "action", "at"),
    sa.Index(None, "repository", "result", "at"),
    sa.Index(None, "result", "at"),
    sa.Index(None, "at"),
)
partial_index(audit.c.act_id, where=audit.c.act_id > 0)
partial_index(audit.c.request, where=audit.c.request.is_not(None))

IS_REFUSAL = sa.and_(
    audit.c.result == ActResult.REFUSED, audit.c.act_id == 0, audit.c.circumstance.is_(None)
)
"""The bot refused an act, as anybody can cause. A proposal that a person refused isn't one."""


revisions = table(
    "revisions",
    "How often what one repository's readings rest on was stored: its pause, or an act on it.",
    *key(Repository, "repository"),
    *required(sa.BigInteger, "revision"),
)


unanswered = table(
    "unanswered",
    "One request whose answer is owed: it is being carried out, or was cut off.",
    row_number("number"),
    *required(sa.Text, "request", "user_id"),
    *optional(sa.Text, "channel_id"),
    *optional(OutsideText, "typed"),
    *optional(as_json(Repeat), "repeat"),
    *required(sa.Boolean, "was_left"),
    *required(UtcTime, "asked_at"),
    *optional(UtcTime, "due_at"),
    sa.UniqueConstraint("request", name="uq_unanswered_request"),
)
"""`due_at`: when to look what became of it; None once its outcome is a delivery."""
partial_index(unanswered.c.due_at, where=unanswered.c.due_at.is_not(None))
