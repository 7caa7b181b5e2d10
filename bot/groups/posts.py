"""How groups' cards, outcomes of requests, and requests of two people are rendered."""

from collections.abc import Mapping
from dataclasses import replace

from bot.acts.group_acts import GroupActs
from bot.acts.record import Action
from bot.acts.unanswered_rows import UnansweredRequests
from bot.blocks.message import Message
from bot.freezes.posts import frozen_group_now
from bot.freezes.requests import state_of_request
from bot.groups import confirmations as group_confirmations
from bot.groups.telling_outcomes import known_outcome
from bot.pauses.group_pauses import with_recorded
from bot.pauses.posts import paused_group_now
from bot.pauses.requests import read_request
from bot.pauses.texts import group_acts, outcomes as pause_outcomes
from bot.posts.claim import Claim
from bot.posts.delivery import Delivery, SubjectKind
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.rendering import RenderLiveMessage, RenderPost
from bot.store.transaction import Transaction


def _outcome_post(transaction: Transaction, delivery: Delivery, claim: Claim) -> Message | None:
    """What became of a request that was cut off, or whose answer was lost."""
    request = UnansweredRequests(transaction).one(delivery.subject.subject_id)
    if request is None:
        return None
    message = pause_outcomes.outcome(known_outcome(transaction, request))
    return replace(message, happened_at=claim.at)


def _outcome_follows(transaction: Transaction, delivery: Delivery, claim: Claim) -> Message | None:
    """That nobody can tell yet what became of a request; None once somebody can."""
    request = UnansweredRequests(transaction).one(delivery.subject.subject_id)
    if request is None or request.due_at is None:
        return None
    group = GroupActs(transaction).of_request(request.request)
    if group is not None:
        message = group_acts.group_outcome_follows(group)
    else:
        message = pause_outcomes.outcome_follows(known_outcome(transaction, request))
    return replace(message, happened_at=claim.at)


def _confirmation(transaction: Transaction, subject: LiveSubject) -> Message | None:
    request = read_request(transaction, subject, state_of_request)
    if request is None:
        return None
    return replace(group_confirmations.request(request), happened_at=request.asked[0].at)


def _group_card(transaction: Transaction, subject: LiveSubject) -> Message | None:
    act = GroupActs(transaction).one(int(subject.key))
    if act is None:
        return None
    if act.ended_at is None:
        message = group_acts.going_on(with_recorded(transaction, act))
    elif act.action is Action.PAUSE:
        message = paused_group_now(transaction, act)
    elif act.action is Action.FREEZE:
        message = frozen_group_now(transaction, act)
    else:
        message = group_acts.group_act_post(act)
    return replace(message, happened_at=act.at)


GROUP_POSTS: Mapping[SubjectKind, RenderPost] = {
    SubjectKind.OUTCOME: _outcome_post,
    SubjectKind.OUTCOME_FOLLOWS: _outcome_follows,
}

GROUP_LIVE_MESSAGES: Mapping[LiveKind, RenderLiveMessage] = {
    LiveKind.GROUP: _group_card,
    LiveKind.CONFIRMATION: _confirmation,
}
