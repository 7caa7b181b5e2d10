"""Requests to confirm what one person asked for, and what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.acts.group_act import GroupAct
from bot.acts.record import AuditRecord
from bot.kernel.actor import Actor


class RequestState(StrEnum):
    """What became of a request; only an open one has its button."""

    OPEN = "open"
    CONFIRMED = "confirmed"
    OVER = "over"
    """There is nothing left to confirm: the pause or freeze ended, or was replaced."""

    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a second person, for one repository or for those of a group."""

    asked: Sequence[AuditRecord]  #: what the first person asked for, one act for each repository
    state: RequestState
    group_act: GroupAct | None = None  #: the act on a group that the acts are parts of
    by: Actor | None = None  #: who confirmed it, or ended the pause otherwise
