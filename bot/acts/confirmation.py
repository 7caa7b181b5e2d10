"""Requests to confirm what a person or a machine asked for, and what became of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Self

from bot.acts.record import AuditRecord
from bot.acts.request_state import RequestState
from bot.kernel.actor import Actor
from bot.kernel.repository import RepositoryName

CONFIRMED_WITHIN = timedelta(hours=1)
"""How long what a person asked for waits for a second person."""


@dataclass(frozen=True, slots=True)
class RequestOutcome:
    """What became of an act that takes two, and who did that."""

    state: RequestState
    by: Actor | None = None
    first: Actor | None = None  #: of a proposal that takes two people, who approved it first


_NOT_ANSWERED_YET = RequestOutcome(RequestState.OPEN)


@dataclass(frozen=True, slots=True)
class ConfirmationRequest:
    """One request to confirm something, for one repository or for those of a group."""

    asked: Sequence[AuditRecord]  #: what was asked for, one act for each repository
    outcomes: Sequence[RequestOutcome]  #: what became of each, in the same order

    @classmethod
    def opened(cls, asked: Sequence[AuditRecord]) -> Self:
        """A request that nobody has answered yet."""
        return cls(asked, [_NOT_ANSWERED_YET for _ in asked])

    @property
    def state(self) -> RequestState:
        """The first of the states in which parts of it are."""
        states = {outcome.state for outcome in self.outcomes}
        return next(state for state in RequestState if state in states)

    @property
    def by(self) -> Actor | None:
        """Who brought it into that state, if somebody did."""
        state = self.state
        people = [outcome.by for outcome in self.outcomes if outcome.state is state]
        return next((person for person in people if person is not None), None)

    @property
    def first(self) -> Actor | None:
        """Of a proposal in that state that takes two people, who approved it first."""
        state = self.state
        people = [outcome.first for outcome in self.outcomes if outcome.state is state]
        return next((person for person in people if person is not None), None)

    @property
    def group(self) -> str | None:
        """The name of the group that it is about, if it is about one."""
        return self.asked[0].group.name

    @property
    def ends_at(self) -> datetime:
        """Until when somebody may confirm it."""
        return open_until(self.asked[0])

    def repositories(self, state: RequestState) -> Sequence[RepositoryName]:
        """Those in that state."""
        return [
            act.repository
            for act, outcome in zip(self.asked, self.outcomes, strict=True)
            if outcome.state is state
        ]

    def expired(self) -> Self:
        """The request once nobody may confirm any more what is still open."""
        late = RequestOutcome(RequestState.EXPIRED)
        outcomes = [
            late if outcome.state is RequestState.OPEN else outcome for outcome in self.outcomes
        ]
        return replace(self, outcomes=outcomes)


def open_until(asked: AuditRecord) -> datetime:
    """Until when somebody may confirm what was asked for."""
    confirmation = asked.confirmation
    if confirmation is not None and confirmation.ends_at is not None:
        return confirmation.ends_at
    return asked.at + CONFIRMED_WITHIN
