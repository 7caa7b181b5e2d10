"""The messages that ask for a second person: what they show, and when that changes."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from bot.acts.confirmation import CONFIRMED_WITHIN, ConfirmationRequest, RequestOutcome
from bot.acts.group_act import GroupAct
from bot.acts.group_acts import GroupActs
from bot.acts.permission import is_machine
from bot.acts.proposals import LONGEST_OPEN, Proposals
from bot.acts.record import ActResult, AuditRecord
from bot.acts.request_state import RequestState
from bot.acts.rows import Audit
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import DrawnLine, drawn_line, same_moment
from bot.pauses.rows import Pauses
from bot.posts.live_message import LiveKind, LiveSubject
from bot.posts.live_messages import LiveMessages
from bot.store.transaction import Transaction

REQUESTS_LOOKBACK = timedelta(minutes=1)
"""How much earlier than the service's time a pause may have on record."""

StateOf = Callable[[Transaction, AuditRecord], RequestOutcome]

OF_A_GROUP = "group"
OF_ONE_QUEUE = "act"


def shown_request(asked: AuditRecord) -> LiveSubject:
    return LiveSubject(LiveKind.CONFIRMATION, asked.repository, f"{OF_ONE_QUEUE} {asked.record_id}")


def shown_group_request(act: GroupAct) -> LiveSubject:
    """The parts of an act on a group share one request."""
    return LiveSubject(
        LiveKind.CONFIRMATION, act.repositories[0], f"{OF_A_GROUP} {act.group_act_id}"
    )


def shown_by(transaction: Transaction, asked: AuditRecord) -> LiveSubject:
    """The request that an act is in."""
    proposal = Audit(transaction).one(asked.answers) if asked.answers else asked
    if proposal is not None and proposal.is_proposal:
        return shown_request(Proposals(transaction).parts(proposal)[0])
    act = GroupActs(transaction).one(asked.group.act_id) if asked.group.act_id else None
    return shown_group_request(act) if act is not None else shown_request(asked)


def read_request(
    transaction: Transaction, subject: LiveSubject, state_of: StateOf
) -> ConfirmationRequest | None:
    """The request that a live message shows; None if its acts aren't known any more."""
    asked = _acts_shown(transaction, subject)
    if not asked:
        return None
    request = ConfirmationRequest(asked, [state_of(transaction, act) for act in asked])
    is_closed = any(message.closed for message in LiveMessages(transaction).of(subject))
    return request.expired() if is_closed else request


def _acts_shown(transaction: Transaction, subject: LiveSubject) -> Sequence[AuditRecord]:
    """What the request asks for, one act for each repository."""
    kind, _, number = subject.key.partition(" ")
    if kind == OF_A_GROUP:
        group_act = GroupActs(transaction).one(int(number))
        return parts_asked(transaction, group_act) if group_act is not None else ()
    asked = Audit(transaction).one(int(number))
    if asked is None:
        return ()
    return Proposals(transaction).parts(asked) if asked.is_proposal else [asked]


def proposed_line(proposal: AuditRecord) -> DrawnLine:
    """What the pause said that a machine proposed to end."""
    return drawn_line(proposal.previous.paused_at or proposal.at, proposal.stored_reason or "")


def parts_asked(transaction: Transaction, act: GroupAct) -> Sequence[AuditRecord]:
    """The parts of an act on a group that a second person has to confirm.

    Where it carries out a machine's proposal, that one asks for the second person.
    """
    parts = Audit(transaction).of_group_act(act.group_act_id, act.at)
    return [part for part in parts if part.waits_for_second and not part.answers]


def state_of_pause(transaction: Transaction, asked: AuditRecord) -> RequestOutcome:
    """What became of an act on a pause, and who did that."""
    outcome = outcome_of_acts(transaction, asked)
    if outcome is not None:
        return outcome
    if asked.previous.paused_at is None:
        return still_open(transaction, asked)
    since = asked.previous.paused_at - REQUESTS_LOOKBACK
    for pause in Pauses(transaction).recent(asked.repository, since):
        is_its_time = pause.is_of(asked.previous.paused_at)
        if is_its_time and pause.line.reason == asked.previous.reason:
            if not pause.is_open:
                return RequestOutcome(RequestState.OVER, pause.ended_by)
        elif is_its_time or pause.since <= asked.previous.paused_at < pause.line.paused_at:
            # Somebody has changed it since.
            return RequestOutcome(RequestState.OVER, pause.line.by)
    return still_open(transaction, asked)


def still_open(transaction: Transaction, asked: AuditRecord) -> RequestOutcome:
    """What nobody has ended yet, with the first of two people who approve a proposal."""
    first = Proposals(transaction).first_of_two(asked) if asked.is_proposal else None
    return RequestOutcome(RequestState.OPEN, first=first)


def outcome_of_acts(transaction: Transaction, asked: AuditRecord) -> RequestOutcome | None:
    """What became of it by a later act, and whose that was; None if there is none."""
    if asked.is_proposal:
        answer = Proposals(transaction).answer(asked)
        if answer is not None:
            return answer
    later = Audit(transaction).since(asked.repository, asked.at)
    for act in later:
        if act.result is ActResult.DONE and _did_what_was_asked(act, asked):
            is_second = _has_confirmed(act) and not asked.is_proposal
            state = RequestState.CONFIRMED if is_second else RequestState.OVER
            return RequestOutcome(state, act.actor)
    return None


def _has_confirmed(act: AuditRecord) -> bool:
    """Whether it is that of the second of two people."""
    first = act.confirmation.asked_by if act.confirmation is not None else None
    return first is not None and not is_machine(first.user_id)


def is_about_freezes(asked: AuditRecord) -> bool:
    return asked.confirmation is not None and bool(asked.confirmation.subject)


def _did_what_was_asked(done: AuditRecord, asked: AuditRecord) -> bool:
    """Whether the act did what was asked for."""
    if done.action is not asked.action or asked.confirmation is None:
        return False
    if asked.confirmation.subject:
        subject = asked.confirmation.subject
        return done.confirmation is not None and done.confirmation.subject == subject
    was = asked.previous.paused_at
    is_now = done.previous.paused_at
    return was is not None and is_now is not None and same_moment(was, is_now)


def touch_pause_requests(
    transaction: Transaction, repository: RepositoryName, now: datetime
) -> None:
    """Have the requests about a pause edited, and closed once nothing is left to confirm."""
    asked = [
        act for act in acts_that_wait(transaction, repository, now) if not is_about_freezes(act)
    ]
    touch_requests(transaction, asked, now, state_of_pause)


def acts_that_wait(
    transaction: Transaction, repository: RepositoryName, now: datetime
) -> Sequence[AuditRecord]:
    """The acts that a second person may still confirm."""
    since = now - LONGEST_OPEN - REQUESTS_LOOKBACK
    recent = now - CONFIRMED_WITHIN - REQUESTS_LOOKBACK
    return [
        act
        for act in Audit(transaction).asked_since(since, repository)
        if act.is_proposal or act.at >= recent
    ]


def touch_requests(
    transaction: Transaction, asked: Sequence[AuditRecord], now: datetime, state_of: StateOf
) -> None:
    """Have the requests of these acts edited, and closed once nothing is left to confirm."""
    subjects = {}
    for act in asked:
        subject = shown_by(transaction, act)
        subjects[subject.key] = subject
    for _, subject in sorted(subjects.items()):
        request = read_request(transaction, subject, state_of)
        LiveMessages(transaction).mark(subject, due_at=now, closed=is_settled(request))


def is_settled(request: ConfirmationRequest | None) -> bool:
    """Whether nothing more becomes of it: what is under way may still fail, and be open again."""
    return request is None or request.state not in {RequestState.OPEN, RequestState.UNDER_WAY}


def touch_proposal(transaction: Transaction, act: GroupAct, now: datetime) -> None:
    """Have the proposal that an act on a group carries out edited, if it does that.

    `CloseRequests` closes it once nothing is left to approve.
    """
    if act.approved is None:
        return
    proposal = Audit(transaction).one(min(act.approved.records.values()))
    if proposal is not None:
        LiveMessages(transaction).mark(shown_by(transaction, proposal), due_at=now)
