"""The proposals of machines, as the audit has them, and what became of each."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.acts.confirmation import RequestOutcome, open_until
from bot.acts.ends import unended
from bot.acts.record import ActResult, AuditRecord
from bot.acts.request_state import RequestState
from bot.acts.rows import Audit
from bot.store.statements import Part

LONGEST_OPEN = timedelta(days=1)
"""The longest time that a policy gives for an approval."""

ANSWER_LASTS = timedelta(hours=1)
"""An act that was approved in time ends by then, also if the service was silent."""


class Proposals(Part):
    """Proposals and their answers, which are acts that name the proposal's record."""

    def of_request(self, request: str) -> AuditRecord | None:
        """What a machine proposed with that request."""
        records = Audit(self._transaction).of_request(request)
        return next((record for record in records if record.is_proposal), None)

    def open_of(self, machine: str, now: datetime) -> Sequence[AuditRecord]:
        """A machine's proposals that nobody has answered yet, of all repositories, oldest first.

        Nobody proposes for this machine until the transaction ends.
        """
        self.lock(f"proposals of {machine}")
        asked = Audit(self._transaction).asked_since(now - LONGEST_OPEN)
        return [
            record
            for record in asked
            if record.is_proposal
            and record.actor.user_id == machine
            and open_until(record) > now
            and self.answer(record) is None
        ]

    def answer(self, proposal: AuditRecord) -> RequestOutcome | None:
        """What somebody has done about it, and who; None while nobody has.

        An act that certainly changed nothing, and one that wasn't permitted, is no answer.
        """
        until = open_until(proposal) + ANSWER_LASTS
        acts = Audit(self._transaction).between(
            proposal.repository, proposal.at, until, proposal.action
        )
        answers = [act for act in acts if _answers(act, proposal)]
        for act in answers:
            if act.is_declined:
                return RequestState.REFUSED, act.actor
            if act.result is ActResult.DONE:
                return RequestState.CONFIRMED, act.actor
            if act.result is ActResult.UNCHANGED:
                return RequestState.OVER, None
        for act in unended(answers):
            return RequestState.UNDER_WAY, act.actor
        return None


def _answers(act: AuditRecord, proposal: AuditRecord) -> bool:
    return act.confirmation is not None and act.confirmation.answers == proposal.record_id
