"""The proposals of machines, as the audit has them, and what became of each."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bot.acts.confirmation import RequestOutcome, open_until
from bot.acts.ends import with_unknown_end
from bot.acts.record import ActResult, AuditRecord
from bot.acts.request_state import RequestState
from bot.acts.rows import Audit
from bot.kernel.actor import Actor
from bot.store.statements import Part

LONGEST_OPEN = timedelta(days=1)
"""The longest time that a policy gives for an approval."""

ANSWER_LASTS = timedelta(hours=1)
"""An act that was approved in time ends by then, also if the service was silent."""


class Proposals(Part):
    """Proposals and their answers, which are acts that name the proposal's record."""

    def of_request(self, request: str) -> Sequence[AuditRecord]:
        """What a machine proposed with that request: one record for each repository."""
        records = Audit(self._transaction).of_request(request)
        return [record for record in records if record.is_proposal]

    def parts(self, proposal: AuditRecord) -> Sequence[AuditRecord]:
        """The proposal, and those of the other repositories of its group."""
        if proposal.group.name is None or proposal.where.request is None:
            return [proposal]
        return self.of_request(proposal.where.request)

    def open_now(self, now: datetime) -> Sequence[Sequence[AuditRecord]]:
        """The proposals of all machines that somebody may still answer, oldest first.

        Each with the records of all its repositories, those with an answer included.
        """
        found: dict[str, list[AuditRecord]] = {}
        for record in Audit(self._transaction).asked_since(now - LONGEST_OPEN):
            if record.is_proposal and open_until(record) > now:
                found.setdefault(record.where.request or record.identity, []).append(record)
        return [
            parts for parts in found.values() if any(self.answer(part) is None for part in parts)
        ]

    def open_of(self, machine: str, now: datetime) -> Sequence[Sequence[AuditRecord]]:
        """Those of one machine.

        Nobody proposes for this machine until the transaction ends.
        """
        self.lock(f"proposals of {machine}")
        return [parts for parts in self.open_now(now) if parts[0].actor.user_id == machine]

    def answer(self, proposal: AuditRecord) -> RequestOutcome | None:
        """What somebody has done about it, and who; None while nobody has.

        An act that certainly changed nothing, and one that wasn't permitted, is no answer.
        """
        answers = self._answers(proposal)
        for act in answers:
            if act.is_declined:
                return RequestOutcome(RequestState.REFUSED, act.actor)
            if act.result is ActResult.DONE:
                first = act.confirmation.asked_by if act.confirmation is not None else None
                is_second = first != proposal.actor
                return RequestOutcome(
                    RequestState.CONFIRMED, act.actor, first=first if is_second else None
                )
            if act.result is ActResult.UNCHANGED:
                return RequestOutcome(RequestState.OVER)
        for act in with_unknown_end(answers):
            return RequestOutcome(RequestState.UNDER_WAY, act.actor)
        return None

    def first_of_two(self, proposal: AuditRecord) -> Actor | None:
        """Who approved it, where that takes a second person; None while nobody has."""
        approvals = [act for act in self._answers(proposal) if act.waits_for_second]
        return approvals[-1].actor if approvals else None

    def is_open(self, proposal_id: int) -> bool:
        """Whether nobody has answered it."""
        proposal = Audit(self._transaction).one(proposal_id)
        return proposal is not None and self.answer(proposal) is None

    def _answers(self, proposal: AuditRecord) -> list[AuditRecord]:
        until = open_until(proposal) + ANSWER_LASTS
        acts = Audit(self._transaction).between(
            proposal.repository, proposal.at, until, proposal.action
        )
        return [act for act in acts if act.answers == proposal.record_id]
