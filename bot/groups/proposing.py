"""What machines propose and people approve: a machine's acts for which a policy wants a person.

It is the mechanism of the second person with a machine as the first of the two. The record of what
was asked for, the request in Slack, its states and its end are the same.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bot.acts.approval import Approval, ApprovalRules
from bot.acts.asked import Asked
from bot.acts.confirmation import ConfirmationRequest, open_until
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
    PartOfGroup,
    Previous,
    SettingChange,
)
from bot.acts.recording import RecordActs, require_open
from bot.acts.request_state import RequestState
from bot.acts.rows import Audit
from bot.freezes.freeze import Freeze
from bot.freezes.outcomes import ids_of, stop_by_freezes
from bot.freezes.requests import state_of_request
from bot.kernel.actor import Actor, Approved, Caller
from bot.kernel.durations import Until, at_instant, resumes_at
from bot.kernel.repository import RepositoryName
from bot.pauses.by_rule import PauseRules
from bot.pauses.history import pause_subscribers
from bot.pauses.pause import PauseRecord
from bot.pauses.requests import read_request, shown_request, touch_requests
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

    acts: RecordActs

    def approval(
        self, caller: Caller, action: Action, repositories: Collection[RepositoryName]
    ) -> Approval | None:
        """What the policies rule if one of them wants a person's approval.

        Of several, that which gives people the shortest time.
        """
        found: list[Approval] = []
        for repository in repositories:
            policy = self.acts.check.configured.policies.of(repository)
            needed = policy.rules(ApprovalRules).needed(caller.actor.user_id, action)
            if needed is not None:
                found.append(needed)
        return min(found, key=_lasts, default=None)

    async def propose(
        self,
        caller: Caller,
        wanted: Sequence[Proposed],
        approval: Approval,
        group: str | None = None,
    ) -> Sequence[AuditRecord]:
        """Ask people to approve it; return the records of the proposal, one for each repository.

        An open one of the same machine for the same act is returned as it is, so that a request
        may be repeated. Raises PermissionDenied, InvalidReason, InvalidDuration, TooManyProposals
        and NobodyToApprove.
        """
        first, *others = wanted
        if first.action is not Action.RESUME:
            check_reason(first.asked.reason)
        act = self.acts.record(caller, first.action, first.repository)
        act = replace(act, reason=first.asked.reason.strip() or None, group=PartOfGroup(group))
        await self.acts.permit(act, [other.repository for other in others])
        proposals = [
            self._proposal(replace(act, repository=part.repository), part, approval)
            for part in wanted
        ]
        pauses = [part.pause for part in wanted]
        stored = await self.acts.store.run(_store_proposals, proposals, pauses, approval.most_open)
        self.acts.wake()
        return stored

    def _proposal(self, act: AuditRecord, wanted: Proposed, approval: Approval) -> AuditRecord:
        asked = wanted.asked
        end = _end_of_day(asked, act.at)
        if end is not None:
            # The day that is meant now, whenever it is approved; a length counts from then.
            asked = replace(asked, lasting=at_instant(end))
        right = RIGHT_OF_ACTION[act.action]
        people = self.acts.check.named(right, act.repository)
        excludes_runners = bool(approval.run_by) and self._takes_second_person(act.repository)
        if excludes_runners:
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
            previous = Previous(pause.line.reason, pause.line.paused_at)
        ends_at = act.at + approval.lasts
        return replace(
            act,
            result=ActResult.ASKED,
            resumes_at=end,
            # A pause whose reason somebody changes is another one to approve.
            stored_reason=pause.line.stored_reason if pause is not None else None,
            previous=previous,
            freezes=ids_of(wanted.freezes) or None,
            setting=setting,
            confirmation=Confirmation(
                subject,
                people,
                proposed=asked,
                ends_at=ends_at,
                excludes_runners=excludes_runners,
            ),
        )

    def _takes_second_person(self, repository: RepositoryName) -> bool:
        return self.acts.check.configured.policies.of(repository).rules(PauseRules).second_person

    @asynccontextmanager
    async def approved(
        self, caller: Caller, proposal_id: int
    ) -> AsyncIterator[Sequence[AuditRecord]]:
        """The open parts of the proposal, for the person to carry out with `as_approver`.

        The act itself checks the person's right. Raises ProposalClosed, also if the machine has
        lost its right, and OwnProposal. Afterwards the request shows what became of it.
        """
        async with self._open_parts(proposal_id) as parts:
            for part in parts:
                await self._require_approvable(caller, part)
            yield parts
        # Not under the lock: people who read what is left can answer it at once.
        now = self.acts.clock.now()
        await self.acts.store.run(touch_requests, parts, now, state_of_request)
        self.acts.wake()

    async def _require_approvable(self, caller: Caller, part: AuditRecord) -> None:
        self.acts.check.configured.repositories.allowed(part.repository)
        if self._runs_it_alone(caller.actor, part):
            raise OwnProposal(part.actor.name)
        right = RIGHT_OF_ACTION[part.action]
        if not await self.acts.check.has(part.actor, right, part.repository):
            raise ProposalClosed(part.actor.name, RequestState.OVER, None)

    def _runs_it_alone(self, person: Actor, proposal: AuditRecord) -> bool:
        """Whether the person runs the machine, and the policy asks for a second person."""
        by_machine = Caller(proposal.actor, proposal.where.origin)
        approval = self.approval(by_machine, proposal.action, [proposal.repository])
        runs_it = approval is not None and person.user_id in approval.run_by
        return runs_it and self._takes_second_person(proposal.repository)

    async def refuse(self, caller: Caller, proposal_id: int) -> None:
        """Store that the person refuses it. Raises PermissionDenied, ProposalClosed, QueueBusy."""
        async with self._open_parts(proposal_id) as parts:
            caller = as_approver(caller, parts)
            acts = [self._act_about(caller, part) for part in parts]
            first, *others = acts
            await self.acts.permit(first, [act.repository for act in others])
            for act, part in zip(acts, parts, strict=True):
                async with self.acts.locked(act):
                    declined = replace(act, result=ActResult.REFUSED, reason=part.reason)
                    declined = declined.under(Circumstance.DECLINED)
                    await self.acts.store.run(_decline, declined, part)
        self.acts.wake()

    def _act_about(self, caller: Caller, part: AuditRecord) -> AuditRecord:
        act = self.acts.record(caller, part.action, part.repository)
        return replace(act, group=part.group)

    @asynccontextmanager
    async def _open_parts(self, proposal_id: int) -> AsyncIterator[Sequence[AuditRecord]]:
        """Those that nobody has answered yet; of a group's, nobody else answers any meanwhile.

        The lock of the repository does the same for a single one. Raises ProposalClosed.
        """
        async with AsyncExitStack() as stack:
            proposal = await self.acts.store.read(_find_proposal, proposal_id)
            if proposal.group.name is not None:
                alone = self.acts.locks.alone(f"proposal {proposal.record_id}")
                if not await stack.enter_async_context(alone):
                    raise ProposalClosed(proposal.actor.name, RequestState.UNDER_WAY, None)
            yield await self.acts.store.read(_open_parts, proposal, self.acts.clock.now())

    async def answerable(
        self, people: Sequence[Actor]
    ) -> Mapping[str, Sequence[ConfirmationRequest]]:
        """By a person's id, the open proposals that they may answer, oldest first.

        Each answer asks again. Raises StoreError.
        """
        open_now = await self.acts.store.read(_open_requests, self.acts.clock.now())
        return {
            person.user_id: [
                request for request in open_now if await self._may_answer(person, request)
            ]
            for person in people
        }

    async def _may_answer(self, person: Actor, request: ConfirmationRequest) -> bool:
        repositories = self.acts.check.configured.repositories
        right = RIGHT_OF_ACTION[request.asked[0].action]
        for part in request.asked:
            if repositories.full(part.repository) is None or self._runs_it_alone(person, part):
                return False
            if not await self.acts.check.has(person, right, part.repository):
                return False
        return not _waits_for_others(person, request)

    async def find(self, machine: str, request: str) -> ConfirmationRequest | None:
        """The machine's proposal by its request, and what became of it; None if it is none."""
        return await self.acts.store.read(_find, machine, request, self.acts.clock.now())


def _waits_for_others(person: Actor, request: ConfirmationRequest) -> bool:
    """Whether the person has approved all that is open, and it takes a second one."""
    still_open = [
        outcome.first for outcome in request.outcomes if outcome.state is RequestState.OPEN
    ]
    return all(first is not None and first.user_id == person.user_id for first in still_open)


def as_approver(caller: Caller, parts: Sequence[AuditRecord]) -> Caller:
    """The person who carries out, or refuses, what the machine proposed."""
    records = {part.repository: part.record_id for part in parts}
    return replace(caller, approved=Approved(parts[0].actor, records))


def _lasts(approval: Approval) -> timedelta:
    return approval.lasts


def _end_of_day(asked: Asked, now: datetime) -> datetime | None:
    """The end at a time of day; None without one. Raises InvalidDuration, also for a length."""
    if asked.lasting is None:
        return None
    end = resumes_at(asked.lasting, now, UNIVERSAL)
    return end if isinstance(asked.lasting, Until) else None


def _store_proposals(
    transaction: Transaction,
    proposals: Sequence[AuditRecord],
    pauses: Sequence[PauseRecord | None],
    most_open: int,
) -> Sequence[AuditRecord]:
    first = proposals[0]
    known = Proposals(transaction).open_of(first.actor.user_id, first.at)
    for earlier in known:
        if len(earlier) == len(proposals) and all(map(_asks_the_same, earlier, proposals)):
            return earlier
    if len(known) >= most_open:
        raise TooManyProposals(first.actor.name, most_open)
    channels: set[str] = set()
    for proposal, pause in zip(proposals, pauses, strict=True):
        channels |= _channels_of(transaction, proposal, pause)
    if not channels:
        raise NobodyToApprove(first.repository, RIGHT_OF_ACTION[first.action] is Right.FREEZE)
    stored = [
        replace(proposal, record_id=Audit(transaction).add(proposal)) for proposal in proposals
    ]
    subject = shown_request(stored[0])
    open_live_messages(transaction, subject, channels, first.at, identity=first.identity)
    return stored


def _channels_of(
    transaction: Transaction, proposal: AuditRecord, pause: PauseRecord | None
) -> set[str]:
    channels = channels_of(transaction, proposal, pause)
    if RIGHT_OF_ACTION[proposal.action] is not Right.FREEZE:
        channels |= pause_subscribers(transaction, proposal.repository)
    return channels


def _asks_the_same(earlier: AuditRecord, proposal: AuditRecord) -> bool:
    if earlier.confirmation is None or proposal.confirmation is None:
        return False
    return (
        earlier.repository == proposal.repository
        and earlier.group == proposal.group
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


def _find_proposal(transaction: Transaction, proposal_id: int) -> AuditRecord:
    """The first part of the proposal that the record is part of.

    Raises ProposalClosed for a record that is none, or that isn't known any more.
    """
    proposal = Audit(transaction).one(proposal_id)
    if proposal is None or not proposal.is_proposal:
        raise ProposalClosed("", RequestState.OVER, None)
    return Proposals(transaction).parts(proposal)[0]


def _open_parts(
    transaction: Transaction, proposal: AuditRecord, now: datetime
) -> Sequence[AuditRecord]:
    """Raises ProposalClosed if none is open."""
    proposals = Proposals(transaction)
    parts = proposals.parts(proposal)
    unanswered = [part for part in parts if proposals.answer(part) is None]
    require_open(transaction, (unanswered or parts)[0].record_id, now)
    return unanswered


def _find(
    transaction: Transaction, machine: str, request: str, now: datetime
) -> ConfirmationRequest | None:
    parts = Proposals(transaction).of_request(request)
    if not parts or parts[0].actor.user_id != machine:
        return None
    return _read_one(transaction, parts, now)


def _open_requests(transaction: Transaction, now: datetime) -> Sequence[ConfirmationRequest]:
    found = [_read_one(transaction, parts, now) for parts in Proposals(transaction).open_now(now)]
    return [request for request in found if request and request.state is RequestState.OPEN]


def _read_one(
    transaction: Transaction, parts: Sequence[AuditRecord], now: datetime
) -> ConfirmationRequest | None:
    """The request with those parts, which has expired once its time is over."""
    found = read_request(transaction, shown_request(parts[0]), state_of_request)
    if found is not None and open_until(parts[0]) <= now:
        return found.expired()
    return found
