"""What machines propose and people approve: a machine's acts for which a policy wants a person.

It is the mechanism of the second person with a machine as the first of the two. The record of what
was asked for, the request in Slack, its states and its end are the same.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from bot.acts.approval import Approval, ApprovalRules
from bot.acts.asked import Asked
from bot.acts.confirmation import Request, open_until
from bot.acts.errors import (
    NobodyToApprove,
    OwnProposal,
    ProposalClosed,
    TooManyProposals,
)
from bot.acts.permission import Right
from bot.acts.proposals import Proposals
from bot.acts.reason import check_reason
from bot.acts.record import (
    RIGHT_OF_ACTION,
    Action,
    ActResult,
    AuditRecord,
    Circumstance,
    Confirmation,
    Previous,
    SettingChange,
)
from bot.acts.recording import ActLog, require_open
from bot.acts.request_state import RequestState
from bot.acts.rows import Audit
from bot.freezes.freeze import Freeze
from bot.freezes.outcomes import ids_of, stop_by_freezes
from bot.freezes.requests import state_of_request
from bot.kernel.actor import Approved, Caller
from bot.kernel.durations import Until, at_instant, resumes_at
from bot.kernel.repository import RepositoryName
from bot.pauses.by_rule import PauseRules
from bot.pauses.history import pause_subscribers
from bot.pauses.pause import PauseRecord
from bot.pauses.requests import read_request, shown_request, touch_requests
from bot.pauses.rows import Pauses
from bot.pauses.second_person import channels_of
from bot.posts.enqueueing import open_live_messages
from bot.store.transaction import Transaction

UNIVERSAL = ZoneInfo("UTC")
"""Machines have no time zone of their own."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """What a machine wants to do to one repository."""

    action: Action
    repository: RepositoryName
    asked: Asked
    pull_request: int | None = None  #: the one to let through a freeze
    freezes: Sequence[Freeze] = ()  #: those to end, or to let it through
    pause: PauseRecord | None = None  #: the one to end


@dataclass(frozen=True, slots=True)
class ProposeActs:
    """Stores what machines propose, and takes people's answers."""

    acts: ActLog

    def approval(
        self, caller: Caller, action: Action, repositories: Collection[RepositoryName]
    ) -> Approval | None:
        """What the policy rules if one of the repositories' policies wants a person's approval."""
        for repository in repositories:
            policy = self.acts.check.configured.policies.of(repository)
            found = policy.rules(ApprovalRules).needed(caller.actor.user_id, action)
            if found is not None:
                return found
        return None

    async def propose(self, caller: Caller, wanted: Proposed, approval: Approval) -> AuditRecord:
        """Ask people to approve it; return the record of the proposal.

        An open one of the same machine for the same act is returned as it is, so that a request
        may be repeated. Raises PermissionDenied, InvalidReason, InvalidDuration, TooManyProposals
        and NobodyToApprove.
        """
        if wanted.action is not Action.RESUME:
            check_reason(wanted.asked.reason)
        act = self.acts.record(caller, wanted.action, wanted.repository)
        act = replace(act, reason=wanted.asked.reason.strip() or None)
        await self.acts.permit(act)
        proposal = self._proposal(act, wanted, approval)
        stored = await self.acts.store.run(_propose, proposal, wanted.pause, approval.most_open)
        self.acts.wake()
        return stored

    def _proposal(self, act: AuditRecord, wanted: Proposed, approval: Approval) -> AuditRecord:
        asked = wanted.asked
        end = _end(asked, act.at)
        if end is not None:
            # The day that is meant now, whenever it is approved; a length counts from then.
            asked = replace(asked, lasting=at_instant(end))
        right = RIGHT_OF_ACTION[act.action]
        people = self.acts.check.named(right, act.repository)
        if self._takes_second_person(act.repository):
            people = tuple(person for person in people if person not in approval.run_by)
        subject = ""
        if wanted.freezes:
            subject = stop_by_freezes(wanted.freezes, wanted.pull_request).subject
        setting = SettingChange()
        if wanted.pull_request is not None:
            setting = SettingChange(after=f"#{wanted.pull_request}")
        elif asked.limits:
            setting = SettingChange(after=asked.limits)
        pause = wanted.pause
        previous = Previous()
        if pause is not None:
            previous = Previous(pause.reason, pause.paused_at)
        ends_at = act.at + approval.lasts
        return replace(
            act,
            result=ActResult.ASKED,
            resumes_at=end,
            # A pause whose reason somebody changes is another one to approve.
            stored_reason=pause.stored_reason if pause is not None else None,
            previous=previous,
            freezes=ids_of(wanted.freezes) or None,
            setting=setting,
            confirmation=Confirmation(subject, people, proposed=asked, ends_at=ends_at),
        )

    def _takes_second_person(self, repository: RepositoryName) -> bool:
        return self.acts.check.configured.policies.of(repository).rules(PauseRules).second_person

    async def approved(self, caller: Caller, proposal_id: int) -> AuditRecord:
        """The proposal, for the person to carry out with `as_approver`.

        The act itself checks the person's right. Raises ProposalClosed, also if the machine has
        lost its right, and OwnProposal.
        """
        now = self.acts.clock.now()
        proposal = await self.acts.store.read(require_open, proposal_id, now)
        repositories = self.acts.check.configured.repositories
        repositories.allowed(proposal.repository)
        approval = self.approval(
            Caller(proposal.actor, proposal.origin), proposal.action, [proposal.repository]
        )
        runs_it = approval is not None and caller.actor.user_id in approval.run_by
        if runs_it and self._takes_second_person(proposal.repository):
            raise OwnProposal(proposal.actor.name)
        right = RIGHT_OF_ACTION[proposal.action]
        if not await self.acts.check.has(proposal.actor, right, proposal.repository):
            raise ProposalClosed(proposal.actor.name, RequestState.OVER, None)
        return proposal

    async def refuse(self, caller: Caller, proposal_id: int) -> AuditRecord:
        """Store that the person refuses it. Raises PermissionDenied, ProposalClosed, QueueBusy."""
        now = self.acts.clock.now()
        proposal = await self.acts.store.read(require_open, proposal_id, now)
        caller = as_approver(caller, proposal)
        act = self.acts.record(caller, proposal.action, proposal.repository)
        await self.acts.permit(act)
        async with self.acts.locked(act):
            declined = replace(act, result=ActResult.REFUSED, reason=proposal.reason)
            await self.acts.store.run(_decline, declined.under(Circumstance.DECLINED), proposal)
        self.acts.wake()
        return proposal

    async def settle(self, proposal: AuditRecord) -> None:
        """Show what became of it. Raises StoreError; a job does it later then."""
        now = self.acts.clock.now()
        await self.acts.store.run(touch_requests, [proposal], now, state_of_request)
        self.acts.wake()

    async def find(self, machine: str, request: str) -> Request | None:
        """The machine's proposal by its request, and what became of it; None if it is none."""
        return await self.acts.store.read(_find, machine, request, self.acts.clock.now())


def as_approver(caller: Caller, proposal: AuditRecord) -> Caller:
    """The person who carries out, or refuses, what the machine proposed."""
    return replace(caller, approved=Approved(proposal.actor, proposal.record_id))


def _end(asked: Asked, now: datetime) -> datetime | None:
    """The end at a time of day; None without one. Raises InvalidDuration, also for a length."""
    if asked.lasting is None:
        return None
    end = resumes_at(asked.lasting, now, UNIVERSAL)
    return end if isinstance(asked.lasting, Until) else None


def _propose(
    transaction: Transaction, proposal: AuditRecord, pause: PauseRecord | None, most_open: int
) -> AuditRecord:
    known = Proposals(transaction).open_of(proposal.actor.user_id, proposal.at)
    for earlier in known:
        if _is_same(earlier, proposal):
            return earlier
    if len(known) >= most_open:
        raise TooManyProposals(proposal.actor.name, most_open)
    channels = channels_of(transaction, proposal, pause)
    is_about_freezes = RIGHT_OF_ACTION[proposal.action] is Right.FREEZE
    if not is_about_freezes:
        channels = {*channels, *pause_subscribers(transaction, proposal.repository)}
    if not channels:
        raise NobodyToApprove(proposal.repository, is_about_freezes)
    stored = replace(proposal, record_id=Audit(transaction).add(proposal))
    subject = shown_request(stored)
    open_live_messages(transaction, subject, channels, stored.at, identity=stored.identity)
    return stored


def _is_same(earlier: AuditRecord, proposal: AuditRecord) -> bool:
    if earlier.confirmation is None or proposal.confirmation is None:
        return False
    return (
        earlier.repository == proposal.repository
        and earlier.action is proposal.action
        and earlier.confirmation.proposed == proposal.confirmation.proposed
        and earlier.confirmation.subject == proposal.confirmation.subject
        and earlier.setting == proposal.setting
        and earlier.previous.paused_at == proposal.previous.paused_at
        and earlier.stored_reason == proposal.stored_reason
    )


def _decline(transaction: Transaction, declined: AuditRecord, proposal: AuditRecord) -> None:
    Audit(transaction).add(declined)
    touch_requests(transaction, [proposal], declined.at, state_of_request)


def _find(transaction: Transaction, machine: str, request: str, now: datetime) -> Request | None:
    proposal = Proposals(transaction).of_request(request)
    if proposal is None or proposal.actor.user_id != machine:
        return None
    found = read_request(transaction, shown_request(proposal), state_of_request)
    if found is not None and found.state is RequestState.OPEN and open_until(proposal) <= now:
        return replace(found, state=RequestState.EXPIRED)
    return found


def pause_in_force(transaction: Transaction, repository: RepositoryName) -> PauseRecord | None:
    """As far as the bot knows."""
    return next(iter(Pauses(transaction).open([repository])), None)
