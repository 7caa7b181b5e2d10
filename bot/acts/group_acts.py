"""Rows of a group's acts."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import select

from bot.acts.group_act import GroupAct
from bot.acts.record import Action
from bot.acts.tables import group_acts
from bot.store.statements import Numbered, as_row

_ACTS = select(group_acts).order_by(group_acts.c.group_act_id)


_ID = group_acts.c.group_act_id

ENDS_LOOKED_AT = 20
"""Ends in a row of which each leaves something to try: more than anybody makes."""


class GroupActs(Numbered[GroupAct]):
    """Acts on groups, with the result for each repository."""

    kind = GroupAct
    rows = _ACTS
    number = _ID

    def save(self, act: GroupAct) -> int:
        """Insert one with the `group_act_id` 0, else replace it; return its id.

        Call `locked` before replacing it, in the same transaction.
        """
        row = as_row(group_acts, act)
        if not act.group_act_id:
            return self._add(group_acts, row)
        self._change(group_acts, group_acts.c.group_act_id == act.group_act_id, **row)
        return act.group_act_id

    def of_request(self, request: str) -> GroupAct | None:
        """The act on a group that the request asked for."""
        return self._first(GroupAct, _ACTS.where(group_acts.c.request == request))

    def locked(self, group_act_id: int) -> GroupAct | None:
        """Like `one`, but locked until the transaction ends."""
        this = _ACTS.where(group_acts.c.group_act_id == group_act_id)
        return self._first(GroupAct, this.with_for_update())

    def latest(self, group: str, actions: Collection[Action]) -> GroupAct | None:
        these = group_acts.c.group == group, group_acts.c.action.in_(actions)
        latest = select(group_acts).where(*these).order_by(_ID.desc()).limit(1)
        return self._first(GroupAct, latest)

    def lasting(self, begun_before: datetime) -> Sequence[GroupAct]:
        """Unfinished acts that began before then, oldest first."""
        lasting = group_acts.c.ended_at.is_(None), group_acts.c.at < begun_before
        return self._records(GroupAct, _ACTS.where(*lasting))

    def pausing(self, group: str, before: int) -> Sequence[GroupAct]:
        """The group's pauses since it was last resumed as a whole, before that act."""
        return self._since_ended(group, before, Action.PAUSE, Action.RESUME)

    def freezing(self, group: str, before: int | None = None) -> Sequence[GroupAct]:
        """The group's freezes since they were last ended as a whole, before that act."""
        return self._since_ended(group, before, Action.FREEZE, Action.UNFREEZE)

    def _since_ended(
        self, group: str, before: int | None, made: Action, ended: Action
    ) -> Sequence[GroupAct]:
        earlier = [group_acts.c.group == group]
        if before is not None:
            earlier.append(before > _ID)
        latest = select(group_acts).where(*earlier, group_acts.c.action == ended)
        ends = self._records(GroupAct, latest.order_by(_ID.desc()).limit(ENDS_LOOKED_AT))
        since = next((act.group_act_id for act in ends if not act.left_to_try), 0)
        making = group_acts.c.action == made
        return self._records(GroupAct, _ACTS.where(*earlier, making, since < _ID))
