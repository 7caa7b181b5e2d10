"""The audit: what people did to a queue through this bot; and the revision it raises."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, or_, select, tuple_
from typing_extensions import override

from bot.acts.permission import is_machine
from bot.acts.record import (
    Action,
    ActResult,
    AuditPosition,
    AuditRecord,
    AuditSelection,
    Outcome,
    PartOfGroup,
    Previous,
    SettingChange,
    Where,
)
from bot.acts.tables import IS_REFUSAL, audit, revisions
from bot.kernel.actor import REQUEST_SHOWN, Origin
from bot.kernel.repository import RepositoryName
from bot.store.schema import compact
from bot.store.statements import Numbered, Part, ResultRow, Rows, as_row, from_row, insert_into

logger = logging.getLogger(__name__)

MINUTE = timedelta(minutes=1)

REFUSALS_SHOWN = 10
"""How many refusals of one person and kind of act have rows of their own in a minute."""

_IN_ORDER = audit.c.at, audit.c.record_id
_POSITION = tuple_(*_IN_ORDER)


class Revisions(Part):
    """How often what a repository's readings rest on was stored; 0 for never.

    A reading counts only if nothing about its repository was stored since its request.
    """

    def of(self, repository: RepositoryName) -> int:
        return self.of_all([repository]).get(repository, 0)

    def of_all(self, repositories: Collection[RepositoryName]) -> Mapping[RepositoryName, int]:
        rows = self._by_keys(select(revisions), revisions.c.repository, repositories)
        return {row.repository: row.revision for row in rows}

    def raise_of(self, repository: RepositoryName) -> None:
        """Readings that were requested before count no more."""
        # Locked like its pauses, so that transactions lock both in one order.
        self.lock(repository)
        first = insert_into(self._dialect, revisions).values(repository=repository, revision=1)
        one_more = {"revision": revisions.c.revision + 1}
        self._run(first.on_conflict_do_update(index_elements=["repository"], set_=one_more))


class Audit(Numbered[AuditRecord]):
    """Records of acts; triggers forbid changes, and deletions except of refusals."""

    kind = AuditRecord
    rows = select(audit)
    number = audit.c.record_id

    @override
    def _read(self, row: ResultRow) -> AuditRecord:
        return from_row(
            AuditRecord,
            row,
            where=Where(row.origin, row.channel_id, row.request),
            outcome=Outcome(row.answer, row.detail, row.circumstance),
            setting=SettingChange(row.setting_before, row.setting_after),
            group=PartOfGroup(row.group, row.group_act_id),
            previous=Previous(row.previous_reason, row.previous_paused_at),
        )

    def repositories(self) -> Sequence[RepositoryName]:
        """All repositories that an act was about."""
        named = select(audit.c.repository).where(audit.c.repository != "").distinct()
        return self._run(named).scalars().all()

    def add(self, record: AuditRecord) -> int:
        """Add a record, which the log has too; return its id."""
        record_id = self._add(audit, _row_of_act(record))
        is_begin_or_end = record.result is ActResult.STARTED or record.act_id > 0
        if is_begin_or_end:
            Revisions(self._transaction).raise_of(record.repository)
        fields = {
            "act": record.act_id or record_id,
            "act_kind": record.action,
            "result": record.result,
            "repository": record.repository,
            "pull_request": record.pull_request,
            "person": record.actor.name,
            "user": record.actor.user_id,
            "reason": record.reason,
            "request": (record.where.request or "")[:REQUEST_SHOWN] or None,
        }
        known = {name: value for name, value in fields.items() if value is not None}
        logger.info("an act was recorded", extra={"action": "act", **known})
        return record_id

    def together(self, act: AuditRecord) -> Sequence[AuditRecord]:
        """The acts of the same moment, kind, group and channel, this one included."""
        same = (
            audit.c.at == act.at,
            audit.c.action == act.action,
            audit.c.origin == act.where.origin,
            audit.c.group == act.group.name,
            audit.c.channel_id == act.where.channel_id,
        )
        return self._all(select(audit).where(*same).order_by(*_IN_ORDER))

    def add_refusal(self, refused: AuditRecord) -> int:
        """Add the refusal of an act, or count it in the row of the same act in the same minute.

        One person can't fill the audit: beyond REFUSALS_SHOWN rows in a minute, one row counts the
        others without saying what they were about.
        """
        self.lock(f"refusals of {refused.actor.user_id}")
        minute = refused.at.replace(second=0, microsecond=0)
        of_minute = select(audit).where(
            audit.c.at >= minute,
            audit.c.at < minute + MINUTE,
            audit.c.action == refused.action,
            IS_REFUSAL,
        )
        known = {
            _subject(earlier): earlier
            for earlier in self._all(of_minute)
            if earlier.actor.user_id == refused.actor.user_id
        }
        if _subject(refused) not in known and len(known) >= REFUSALS_SHOWN:
            refused = _without_subject(refused)
        earlier = known.get(_subject(refused))
        if earlier is None:
            return self.add(refused)
        # Records are only ever added, and only refusals may be deleted.
        self._remove(audit, audit.c.record_id == earlier.record_id)
        return self.add(replace(earlier, times=earlier.times + 1))

    def newest(
        self, selection: AuditSelection, limit: int, *, before: AuditPosition | None = None
    ) -> Sequence[AuditRecord]:
        """The newest of a selection, or those next older than `before`; newest first."""
        rows = _selected(selection).order_by(audit.c.at.desc(), audit.c.record_id.desc())
        if before is not None:
            rows = rows.where(_bound(before) > _POSITION)
        return self._all(rows.limit(limit))

    def oldest(
        self, selection: AuditSelection, limit: int, *, after: AuditPosition | None = None
    ) -> Sequence[AuditRecord]:
        """The oldest of a selection, or those next newer than `after`; oldest first."""
        rows = _selected(selection).order_by(*_IN_ORDER)
        if after is not None:
            rows = rows.where(_bound(after) < _POSITION)
        return self._all(rows.limit(limit))

    def since(
        self, repository: RepositoryName, at: datetime, action: Action | None = None
    ) -> Sequence[AuditRecord]:
        """All records of the repository from `at` on, or those of one action, oldest first."""
        since = select(audit).where(audit.c.repository == repository, audit.c.at >= at)
        if action is not None:
            since = since.where(audit.c.action == action)
        return self._all(since.order_by(*_IN_ORDER))

    def between(
        self, repository: RepositoryName, since: datetime, until: datetime, action: Action
    ) -> Sequence[AuditRecord]:
        """All records of one action of the repository in that time, oldest first."""
        found = select(audit).where(
            audit.c.repository == repository,
            audit.c.action == action,
            audit.c.at >= since,
            audit.c.at <= until,
        )
        return self._all(found.order_by(*_IN_ORDER))

    def asked_since(
        self, at: datetime, repository: RepositoryName | None = None
    ) -> Sequence[AuditRecord]:
        """What takes two and was asked for from `at` on, of one or all repositories."""
        asked = select(audit).where(audit.c.at >= at, audit.c.result == ActResult.ASKED)
        if repository is not None:
            asked = asked.where(audit.c.repository == repository)
        return self._all(asked.order_by(*_IN_ORDER))

    def of_group_act(self, group_act_id: int, at: datetime) -> Sequence[AuditRecord]:
        """All records of the parts of a group's act that began at `at`, oldest first."""
        parts = select(audit).where(audit.c.at >= at, audit.c.group_act_id == group_act_id)
        return self._all(parts.order_by(*_IN_ORDER))

    def people_named(self, name: str) -> set[str]:
        """The Slack ids of all people who acted under this name."""
        named = select(audit.c.actor).where(_has_actor("name", name)).distinct()
        found = self._run(named).scalars()
        ids = {actor.user_id for actor in found if actor.name == name}
        return {user_id for user_id in ids if user_id and not is_machine(user_id)}

    def of_request(self, request: str) -> Sequence[AuditRecord]:
        """All records of what one request asked for, oldest first."""
        asked_for = select(audit).where(audit.c.request == request)
        return self._all(asked_for.order_by(audit.c.record_id))


_Subject = tuple[Origin, RepositoryName, str | None, int | None, str | None, int]


def _subject(act: AuditRecord) -> _Subject:
    """What an act of one kind is about, and where it was asked for."""
    group = act.group.name
    return act.where.origin, act.repository, group, act.pull_request, act.setting.after, act.answers


def _without_subject(refused: AuditRecord) -> AuditRecord:
    return AuditRecord(
        at=refused.at,
        actor=refused.actor,
        action=refused.action,
        where=Where(refused.where.origin),
        repository=RepositoryName.none(),
        result=ActResult.REFUSED,
        outcome=Outcome(detail="not listed one by one: there were too many"),
    )


def _row_of_act(act: AuditRecord) -> dict[str, object]:
    return {
        **as_row(audit, act),
        **as_row(audit, act.where),
        **as_row(audit, act.outcome),
        "setting_before": act.setting.before,
        "setting_after": act.setting.after,
        "previous_reason": act.previous.reason,
        "previous_paused_at": act.previous.paused_at,
        "group": act.group.name,
        "group_act_id": act.group.act_id,
    }


def _bound(position: AuditPosition) -> ColumnElement[Any]:
    return tuple_(position.at, position.record_id, types=[column.type for column in _IN_ORDER])


_ACTOR_FIELDS = ("name", "user_id")


def _has_actor(field: str, value: str) -> sa.ColumnElement[bool]:
    """Whether a field of the actor is `value`, as its JSON is written."""
    written = compact({field: value})[1:-1]
    return sa.type_coerce(audit.c.actor, sa.Text).icontains(written, autoescape=True)


def _selected(selection: AuditSelection) -> Rows:
    rows = select(audit)
    if selection.repository is not None:
        rows = rows.where(audit.c.repository == selection.repository)
    if selection.group is not None:
        rows = rows.where(audit.c.repository.in_(selection.repositories))
    if selection.since is not None:
        rows = rows.where(audit.c.at >= selection.since)
    if selection.until is not None:
        rows = rows.where(audit.c.at < selection.until)
    if selection.actor is not None:
        is_theirs = [_has_actor(field, selection.actor) for field in _ACTOR_FIELDS]
        rows = rows.where(or_(*is_theirs))
    if selection.actions:
        rows = rows.where(audit.c.action.in_(selection.actions))
    if selection.ends_only:
        ends = audit.alias()
        end = select(ends.c.record_id).where(ends.c.act_id == audit.c.record_id, ends.c.act_id > 0)
        rows = rows.where(or_(audit.c.result != ActResult.STARTED, ~end.exists()))
    return rows
