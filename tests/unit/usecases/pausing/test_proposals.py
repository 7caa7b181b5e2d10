"""What machines propose: who may approve it, with which rights, and how often."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.acts.approval import Approval, ApprovalRules
from bot.acts.asked import Asked
from bot.acts.errors import (
    NobodyToApprove,
    OwnProposal,
    PermissionDenied,
    ProposalClosed,
    TooManyProposals,
)
from bot.acts.permission import MACHINE, Listed, Right, RightRules
from bot.acts.record import Action, ActResult, AuditRecord, Confirmation
from bot.acts.request_state import RequestState
from bot.channels.subscription import Subscription, Topic
from bot.groups.proposing import ProposeActs, Proposed, as_approver
from bot.kernel.actor import Actor, Caller, Origin
from bot.kernel.configured import Policies, Policy
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.pauses.by_rule import PauseRules
from bot.pauses.outcomes import PauseChange
from tests.support.acting import Acting
from tests.support.make import ALICE, BOB, CHANNEL, SITE

CI = Actor(f"{MACHINE}ci", "ci")
BY_CI = Caller(CI, Origin.MACHINE, request="1")
ACTS = {Action.PAUSE, Action.RESUME, Action.FREEZE, Action.UNFREEZE, Action.ALLOW}
APPROVAL = Approval(frozenset(ACTS), timedelta(minutes=10), 2, run_by=frozenset({ALICE.user_id}))
RULES = ApprovalRules({CI.user_id: APPROVAL})
PAUSE = Proposed(Action.PAUSE, SITE, Asked("main is red"))


class Proposing(Acting):
    """A bot to which a machine proposes, and people who answer."""

    @property
    def proposals(self) -> ProposeActs:
        return ProposeActs(self.acts)

    async def propose(self, wanted: Proposed = PAUSE, caller: Caller = BY_CI) -> AuditRecord:
        (proposal,) = await self.proposals.propose(caller, [wanted], APPROVAL)
        return proposal

    async def approve(self, proposal: AuditRecord, actor: Actor = BOB) -> None:
        """As the button does."""
        self.clock.advance(1)
        caller = Caller(actor, Origin.BUTTON, CHANNEL)
        async with self.proposals.approved(caller, proposal.record_id) as parts:
            reason = parts[0].reason or ""
            outcome = await self.pausing.run(as_approver(caller, parts), SITE, reason)
        assert isinstance(outcome, PauseChange)

    async def state(self, request: str = "1") -> RequestState:
        found = await self.proposals.find(CI.user_id, request)
        assert found is not None
        return found.state


async def followed(policy: Policy | None = None) -> Proposing:
    """A channel follows pauses and freezes."""
    bot = Proposing(policy=policy or Policy([RULES]))
    await bot.subscribe(Subscription(CHANNEL, SITE, frozenset({Topic.PAUSE, Topic.FREEZE})))
    return bot


async def test_a_proposal_is_carried_out_once_by_the_first_who_approves() -> None:
    bot = await followed()
    proposal = await bot.propose()
    assert SITE not in bot.merge_queue.pauses
    await bot.approve(proposal)
    assert bot.merge_queue.pauses[SITE].reason == "main is red (by bob via Slack)"
    with pytest.raises(ProposalClosed) as closed:
        await bot.approve(proposal, ALICE)
    assert (closed.value.state, closed.value.by) == (RequestState.CONFIRMED, BOB.name)
    with pytest.raises(ProposalClosed):
        await bot.proposals.refuse(Caller(ALICE, Origin.BUTTON), proposal.record_id)
    done = [record for record in await bot.audit() if record.result is ActResult.DONE]
    assert [record.confirmation for record in done] == [
        Confirmation("", asked_by=CI, answers=proposal.record_id)
    ]


async def test_an_approval_that_did_not_reach_the_service_can_be_given_again() -> None:
    bot = await followed()
    proposal = await bot.propose()
    bot.merge_queue.fail_next(MergeQueueUnavailable("down", arrived=False), method="pause")
    with pytest.raises(MergeQueueUnavailable):
        await bot.approve(proposal)
    assert await bot.state() is RequestState.OPEN
    await bot.approve(proposal, ALICE)
    assert await bot.state() is RequestState.CONFIRMED


async def test_nobody_approves_again_while_nobody_knows_what_became_of_it() -> None:
    bot = await followed()
    proposal = await bot.propose()
    lost = MergeQueueUnavailable("no answer", arrived=True)
    bot.merge_queue.fail_next(lost, method="pause", after=True)
    with pytest.raises(MergeQueueUnavailable):
        await bot.approve(proposal)
    assert await bot.state() is RequestState.UNDER_WAY
    with pytest.raises(ProposalClosed) as closed:
        await bot.approve(proposal, ALICE)
    assert closed.value.state is RequestState.UNDER_WAY


async def test_the_rights_of_the_moment_of_the_approval_count() -> None:
    listed = RightRules({Right.PAUSE: Listed(frozenset({CI.user_id, BOB.user_id}), frozenset())})
    bot = await followed(Policy([RULES, listed]))
    proposal = await bot.propose()
    with pytest.raises(PermissionDenied):
        await bot.approve(proposal, ALICE)
    with pytest.raises(PermissionDenied):
        await bot.proposals.refuse(Caller(ALICE, Origin.BUTTON), proposal.record_id)
    assert await bot.state() is RequestState.OPEN
    only_bob = RightRules({Right.PAUSE: Listed(frozenset({BOB.user_id}), frozenset())})
    bot.acts.check.configured.policies = Policies(Policy([RULES, only_bob]))
    with pytest.raises(ProposalClosed):
        await bot.approve(proposal)
    with pytest.raises(PermissionDenied):
        await bot.propose()
    assert SITE not in bot.merge_queue.pauses


async def test_where_it_takes_two_people_the_one_who_runs_the_machine_is_not_enough() -> None:
    bot = await followed(Policy([RULES, PauseRules(second_person=True)]))
    proposal = await bot.propose()
    with pytest.raises(OwnProposal):
        await bot.approve(proposal, ALICE)
    await bot.approve(proposal, BOB)
    alone = await followed()
    await alone.approve(await alone.propose(), ALICE)


async def test_the_same_is_proposed_once_and_no_more_than_the_policy_lets() -> None:
    bot = await followed()
    first = await bot.propose()
    assert await bot.propose(caller=replace(BY_CI, request="2")) == first
    other = replace(PAUSE, asked=Asked("something else"))
    await bot.propose(other, replace(BY_CI, request="3"))
    with pytest.raises(TooManyProposals):
        await bot.propose(replace(PAUSE, asked=Asked("a third")), replace(BY_CI, request="4"))
    bot.clock.advance(601)
    assert await bot.state() is RequestState.EXPIRED
    again = await bot.propose(caller=replace(BY_CI, request="5"))
    assert again != first
    with pytest.raises(ProposalClosed):
        await bot.approve(first)


async def test_a_proposal_that_no_channel_would_show_is_refused() -> None:
    bot = Proposing(policy=Policy([RULES]))
    with pytest.raises(NobodyToApprove):
        await bot.propose()
    assert await bot.results() == []
