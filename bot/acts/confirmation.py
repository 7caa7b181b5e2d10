"""Requests to confirm what a person or a machine asked for, and what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.acts.group_act import GroupAct
from bot.acts.record import AuditRecord
from bot.acts.request_state import RequestState
from bot.kernel.actor import Actor

CONFIRMED_WITHIN = timedelta(hours=1)
"""How long what a person asked for waits for a second person."""


RequestOutcome = tuple[RequestState, Actor | None]
"""What became of an act that needs a second person, and who did that."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a second person, for one repository or for those of a group."""

    asked: Sequence[AuditRecord]  #: what the first person asked for, one act for each repository
    state: RequestState
    group_act: GroupAct | None = None  #: the act on a group that the acts are parts of
    by: Actor | None = None  #: who answered it, or ended the pause otherwise

    @property
    def ends_at(self) -> datetime:
        """Until when somebody may confirm it."""
        return open_until(self.asked[0])


def open_until(asked: AuditRecord) -> datetime:
    """Until when somebody may confirm what was asked for."""
    confirmation = asked.confirmation
    if confirmation is not None and confirmation.ends_at is not None:
        return confirmation.ends_at
    return asked.at + CONFIRMED_WITHIN
