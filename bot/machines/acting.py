"""What machines do: pause, resume, freeze, unfreeze, and let a pull request through."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from http import HTTPStatus

from bot.acts import confirmation
from bot.acts.approval import Approval
from bot.acts.asked import (
    BRANCH_PREFIX,
    EXCEPT,
    EXCEPTIONS_OF_A_FREEZE,
    NOTHING_ASKED,
    Asked,
    read_conditions,
)
from bot.acts.errors import InvalidCondition
from bot.acts.group_act import GroupAct, GroupOutcome
from bot.acts.record import RIGHT_OF_ACTION, Action, AuditSelection
from bot.acts.rows import Audit
from bot.blocks.message import Message
from bot.desk.explain import sentence_of
from bot.desk.use_cases import UseCases
from bot.freezes.freeze import Freeze
from bot.freezes.outcomes import FreezeOutcome, FreezesAsTheyWere, ids_of
from bot.freezes.rows import Freezes
from bot.freezes.texts import forms as freeze_forms
from bot.groups import confirmations
from bot.groups.proposing import Proposed
from bot.kernel.actor import Caller
from bot.kernel.durations import Lasting, Until
from bot.kernel.ends.phrases import read_end
from bot.kernel.errors import is_uncertain
from bot.kernel.groups import Group, Target, repositories_of
from bot.kernel.repository import RepositoryName
from bot.machines.answers import Acted
from bot.machines.replying import Reply, WrongField, pending, plain, proposed
from bot.machines.requests import (
    AllowRequest,
    FreezeRequest,
    MachineRequest,
    PauseRequest,
    ResumeRequest,
    UnfreezeRequest,
)
from bot.machines.shapes import freeze_shape, pause_shape, repository_shapes
from bot.pauses.group_work import ignore_progress
from bot.pauses.outcomes import AlreadyPaused, NotPaused, OtherPause, PauseChange
from bot.pauses.pause import PauseRecord
from bot.pauses.rows import Pauses
from bot.pauses.texts import group_acts, replies as pause_replies
from bot.store.transaction import Transaction

COMMAND = "mqbot"
"""What the texts tell people to type."""

LOG_BEHIND = timedelta(hours=1)
"""How long an act's event may take until the bot has read it."""

ACTS_LOOKED_AT = 30


async def act_for_machine(
    use: UseCases, caller: Caller, target: Target, asked: MachineRequest
) -> Reply:
    """Carry out what the machine asks for, or propose it where a policy wants people to approve.

    Raises UserError, and MergeQueueError, as the use case of the act does.
    """
    action = _ACTIONS[type(asked)]
    approval = use.proposals.approval(caller, action, repositories_of(target))
    if approval is not None:
        return await _propose_for_machine(use, caller, target, asked, approval)
    match asked:
        case PauseRequest():
            return await _pause_for_machine(use, caller, target, asked)
        case ResumeRequest():
            return await _resume_for_machine(use, caller, target, asked)
        case FreezeRequest():
            return await _freeze_for_machine(use, caller, target, asked)
        case UnfreezeRequest():
            return await _unfreeze_for_machine(use, caller, target, asked)
        case AllowRequest():
            return await _allow(use, caller, one_repository(target), asked)
        case _:
            raise TypeError(asked)


_ACTIONS: Mapping[type[MachineRequest], Action] = {
    PauseRequest: Action.PAUSE,
    ResumeRequest: Action.RESUME,
    FreezeRequest: Action.FREEZE,
    UnfreezeRequest: Action.UNFREEZE,
    AllowRequest: Action.ALLOW,
}


async def may_act(use: UseCases, caller: Caller, asked: MachineRequest) -> bool:
    """Whether the machine may do this anywhere; the act checks it for its target."""
    right = RIGHT_OF_ACTION[_ACTIONS[type(asked)]]
    return await use.check_permission.may(caller.actor, right)


async def _propose_for_machine(
    use: UseCases, caller: Caller, target: Target, asked: MachineRequest, approval: Approval
) -> Reply:
    """Ask people to approve it, unless there is nothing to do."""
    if isinstance(target, Group):
        return await _propose_for_group(use, caller, target, asked, approval)
    wanted = await _proposed(use, caller, target, asked)
    if isinstance(wanted, Reply):
        return wanted
    records = await use.proposals.propose(caller, [wanted], approval)
    return proposed(confirmation.ConfirmationRequest.opened(records))


async def _propose_for_group(
    use: UseCases, caller: Caller, group: Group, asked: MachineRequest, approval: Approval
) -> Reply:
    left_out: Message | None = None
    if isinstance(asked, UnfreezeRequest):
        _require_no_freeze(asked)
        left = await use.freeze_queue.left_by(group)
        known = await use.freeze_queue.of_group(group.name, [*group.repositories, *left])
        parts = _proposed_ends(caller, asked, known.found)
        if known.unread:
            why = sentence_of(next(iter(known.unread.values())), COMMAND)
            left_out = confirmations.left_out(sorted(known.unread), why)
    else:
        parts = await _proposed_for_group(use, caller, group, asked)
    if not parts:
        return await _nothing_of_group(use, caller, group, asked)
    records = await use.proposals.propose(caller, parts, approval, group.name)
    return proposed(confirmation.ConfirmationRequest.opened(records), left_out)


def _proposed_ends(
    caller: Caller,
    asked: UnfreezeRequest,
    known: Mapping[RepositoryName, Sequence[Freeze]],
) -> Sequence[Proposed]:
    parts: list[Proposed] = []
    for name, freezes in known.items():
        meant = [freeze for freeze in freezes if asked.any or freeze.is_made_by(caller.actor)]
        if meant:
            parts.append(Proposed(Action.UNFREEZE, name, Asked(asked.reason), freezes=meant))
    return parts


async def _proposed_for_group(
    use: UseCases, caller: Caller, group: Group, asked: MachineRequest
) -> Sequence[Proposed]:
    """What to ask people for each repository where something is to do."""
    names = group.repositories
    match asked:
        case PauseRequest():
            wanted = Asked(asked.reason, _read_machine_end(asked.end))
            return [Proposed(Action.PAUSE, name, wanted) for name in names]
        case ResumeRequest():
            pauses = await use.sources.store.read(_pauses_of_group, group.name)
            return [
                Proposed(Action.RESUME, pause.repository, NOTHING_ASKED, pause=pause)
                for pause in pauses
                if asked.any or pause.pauser == caller.actor.user_id
            ]
        case FreezeRequest():
            wanted = _wanted_freeze(asked)
            await use.freeze_queue.require_offered(names[0])
            return [Proposed(Action.FREEZE, name, wanted) for name in names]
        case _:
            one_repository(group)
            raise TypeError(asked)


def _pauses_of_group(transaction: Transaction, group: str) -> Sequence[PauseRecord]:
    return Pauses(transaction).of_group(group)


async def _nothing_of_group(
    use: UseCases, caller: Caller, group: Group, asked: MachineRequest
) -> Reply:
    """How the queues are, of which the machine may end nothing."""
    action = _ACTIONS[type(asked)]
    await use.groups.work.acts.permit_all(caller, action, group.repositories, group=group.name)
    now = use.sources.clock.now()
    act = GroupAct.by(caller, now, action, group, NOTHING_ASKED)
    return _of_group(await use.groups.left_as_they_are(act))


async def _proposed(
    use: UseCases, caller: Caller, repository: RepositoryName, asked: MachineRequest
) -> Proposed | Reply:
    """What to ask people, or the reply that says why there is nothing to do."""
    match asked:
        case PauseRequest():
            wanted = Asked(asked.reason, _read_machine_end(asked.end))
            return Proposed(Action.PAUSE, repository, wanted)
        case ResumeRequest():
            return await _proposed_resume(use, caller, repository, asked)
        case FreezeRequest():
            return Proposed(Action.FREEZE, repository, _wanted_freeze(asked))
        case UnfreezeRequest():
            return await _proposed_end_of_freeze(use, caller, repository, asked)
        case AllowRequest():
            return await _proposed_exception(use, repository, asked)
        case _:
            raise TypeError(asked)


async def _proposed_end_of_freeze(
    use: UseCases, caller: Caller, repository: RepositoryName, asked: UnfreezeRequest
) -> Proposed | Reply:
    found = await _freezes_to_end(use, caller, repository, asked)
    if isinstance(found, Reply):
        return found
    return Proposed(Action.UNFREEZE, repository, Asked(asked.reason), freezes=found)


async def _proposed_exception(
    use: UseCases, repository: RepositoryName, asked: AllowRequest
) -> Proposed | Reply:
    freezes = await use.freeze_queue.meant(repository)
    number = asked.pull_request
    if not freezes:
        return _unchanged(use, repository, NOT_FROZEN, number)
    return Proposed(Action.ALLOW, repository, Asked(asked.reason), number, freezes)


async def _proposed_resume(
    use: UseCases, caller: Caller, repository: RepositoryName, asked: ResumeRequest
) -> Proposed | Reply:
    pause = await use.resume_queue.in_force(repository)
    if pause is None:
        return _of_pause(pause_replies.not_paused(repository), None)
    if not asked.any and pause.pauser != caller.actor.user_id:
        said = pause_replies.not_your_pause(pause)
        return _of_pause(said, pause, status=HTTPStatus.CONFLICT)
    return Proposed(Action.RESUME, repository, NOTHING_ASKED, pause=pause)


NOT_FROZEN = FreezeOutcome((), FreezesAsTheyWere.NOT_FROZEN)


def one_repository(target: Target) -> RepositoryName:
    """Raises WrongField for a group."""
    if isinstance(target, Group):
        raise WrongField("target", "Name one repository: owner/name.")
    return target


def _require_no_freeze(asked: UnfreezeRequest) -> None:
    """Of a group, all its freezes end; raises WrongField if one of them is named."""
    if asked.freeze:
        raise WrongField("freeze", "Name its repository as the target: owner/name.")


async def _pause_for_machine(
    use: UseCases, caller: Caller, target: Target, asked: PauseRequest
) -> Reply:
    end = _read_machine_end(asked.end)
    if isinstance(target, Group):
        return await _act_on_group(use, caller, Action.PAUSE, target, Asked(asked.reason, end))
    match await use.pause_queue.run(caller, target, asked.reason, lasting=end):
        case PauseChange(act=act, pause=pause):
            return _of_pause(pause_replies.paused_reply(act), pause, changed=True)
        case AlreadyPaused(known=known) as unchanged:
            is_repeated = unchanged.is_as_asked(caller.actor, asked.reason)
            status = HTTPStatus.OK if is_repeated else HTTPStatus.CONFLICT
            return _of_pause(pause_replies.left_as_paused(known), known, status=status)


def _read_machine_end(text: str) -> Lasting | None:
    """Machines have no time zone of their own."""
    if not text:
        return None
    end = read_end(text)
    if isinstance(end, Until):
        return replace(end, zone=end.zone or "UTC")
    return end


async def _resume_for_machine(
    use: UseCases, caller: Caller, target: Target, asked: ResumeRequest
) -> Reply:
    """Resume the machine's own pause: it can't know of a person's that has come since."""
    if isinstance(target, Group):
        wanted = Asked(only_own=not asked.any)
        return await _act_on_group(use, caller, Action.RESUME, target, wanted)
    match await use.resume_queue.run(caller, target, only_own=not asked.any):
        case PauseChange():
            return _of_pause(pause_replies.resumed_reply(target), None, changed=True)
        case NotPaused(ended=ended):
            return _of_pause(pause_replies.not_paused(target, ended), None)
        case OtherPause(known=known):
            said = pause_replies.not_your_pause(known)
            return _of_pause(said, known, status=HTTPStatus.CONFLICT)


def _of_pause(
    said: Message,
    pause: PauseRecord | None,
    *,
    changed: bool = False,
    status: HTTPStatus = HTTPStatus.OK,
) -> Reply:
    answer = Acted(
        message=plain(said),
        changed=changed,
        pause=pause_shape(pause),
        freezes=[],
        repositories=[],
    )
    return Reply(answer, status)


async def _act_on_group(
    use: UseCases, caller: Caller, action: Action, group: Group, asked: Asked
) -> Reply:
    act = GroupAct.by(caller, use.sources.clock.now(), action, group, asked)
    ended = await use.groups.act(act, ignore_progress)
    if not isinstance(ended, GroupAct):  # only a retry, or an extension, ends so
        raise TypeError(ended)
    if ended.of(GroupOutcome.UNCERTAIN):
        return pending(group_acts.answer_to_actor(ended, posted_here=True), caller.request)
    return _of_group(ended)


def _of_group(ended: GroupAct) -> Reply:
    said = group_acts.answer_to_actor(ended, posted_here=True)
    status = HTTPStatus.OK
    if ended.of(GroupOutcome.FAILED, GroupOutcome.NOT_TRIED):
        status = HTTPStatus.BAD_GATEWAY
    elif ended.is_left_to_others:
        status = HTTPStatus.CONFLICT
    answer = Acted(
        message=plain(said),
        changed=ended.has_changed,
        pause=None,
        freezes=[],
        repositories=repository_shapes(ended.results),
    )
    return Reply(answer, status)


async def _freeze_for_machine(
    use: UseCases, caller: Caller, target: Target, asked: FreezeRequest
) -> Reply:
    wanted = _wanted_freeze(asked)
    if isinstance(target, Group):
        return await _act_on_group(use, caller, Action.FREEZE, target, wanted)
    outcome = await use.freeze_queue.freeze(caller, target, wanted)
    if outcome.because is not None:
        first = outcome.freezes[0]
        is_repeated = first.is_made_by(caller.actor) and first.reason == asked.reason.strip()
        return _unchanged(use, target, outcome, is_as_asked=is_repeated)
    now = use.sources.clock.now()
    said = freeze_forms.frozen_reply(outcome.freezes[0], now, outcome.beside)
    return _of_freezes(use, said, outcome.freezes, changed=True)


def _wanted_freeze(asked: FreezeRequest) -> Asked:
    """Raises WrongField and InvalidDuration."""
    branches = _read_limits("branches", BRANCH_PREFIX, asked.branches).branches
    excepted = _read_limits("exceptions", EXCEPT, asked.exceptions).excepted
    return Asked(asked.reason, _read_machine_end(asked.end), branches=branches, excepted=excepted)


def _read_limits(field: str, prefix: str, values: Sequence[str]) -> Asked:
    """Read the values as people type them. Raises WrongField, without what people type."""
    try:
        return read_conditions([f"{prefix}{value}" for value in values]).asked
    except InvalidCondition as error:
        value = error.word.removeprefix(prefix)
        if not value and "" not in values:
            raise WrongField(field, f"At most {EXCEPTIONS_OF_A_FREEZE} of them.") from None
        needs = error.needs.replace(prefix, "")
        raise WrongField(field, f"“{value}” doesn't fit. Each needs {needs}.") from None


async def _unfreeze_for_machine(
    use: UseCases, caller: Caller, target: Target, asked: UnfreezeRequest
) -> Reply:
    """End the machine's own freeze: it can't know of a person's that has come since."""
    if isinstance(target, Group):
        _require_no_freeze(asked)
        wanted = Asked(asked.reason, only_own=not asked.any)
        return await _act_on_group(use, caller, Action.UNFREEZE, target, wanted)
    queue = use.freeze_queue
    await queue.acts.permit(queue.acts.record(caller, Action.UNFREEZE, target))
    found = await _freezes_to_end(use, caller, target, asked)
    if isinstance(found, Reply):
        return found
    freeze_id = found[0].freeze_id
    outcome = await queue.unfreeze(caller, target, asked.reason, freeze_id=freeze_id)
    if outcome.because is not None:
        return _unchanged(use, target, outcome, is_as_asked=not outcome.freezes)
    said = freeze_forms.unfrozen_reply(outcome.freezes, outcome.beside)
    return _of_freezes(use, said, outcome.freezes, changed=True)


async def _freezes_to_end(
    use: UseCases, caller: Caller, repository: RepositoryName, asked: UnfreezeRequest
) -> Sequence[Freeze] | Reply:
    """The one that the machine means, or the reply that says why there is none."""
    found = await use.freeze_queue.meant(repository, asked.freeze or None)
    if not found and asked.freeze:
        return await _without_that_freeze(use, repository, asked.freeze)
    if not found:
        return _unchanged(use, repository, NOT_FROZEN, is_as_asked=True)
    own = [freeze for freeze in found if asked.any or freeze.is_made_by(caller.actor)]
    if not own:
        said = freeze_forms.not_your_freeze(found[0])
        return _of_freezes(use, said, found, status=HTTPStatus.CONFLICT)
    if own[1:]:
        return _unchanged(use, repository, FreezeOutcome(own, FreezesAsTheyWere.SEVERAL))
    return own


async def _without_that_freeze(use: UseCases, repository: RepositoryName, freeze_id: str) -> Reply:
    """The freeze has ended, as far as the bot knows of it. Raises WrongField for an unknown id."""
    left = await use.freeze_queue.freezes(repository)
    now = use.sources.clock.now()
    if not await use.sources.store.read(_has_told_of, repository, freeze_id, now):
        ids = ", ".join(sorted(ids_of(left))) or "none"
        raise WrongField("freeze", f"No freeze of {repository} has this id. There are: {ids}.")
    return _of_freezes(use, "That freeze has ended already. Nothing was changed.", left)


def _has_told_of(
    transaction: Transaction, repository: RepositoryName, freeze_id: str, now: datetime
) -> bool:
    """Whether the log told of that freeze, or the bot ended it and no poll has read that yet."""
    if Freezes(transaction).with_ids(repository, [freeze_id]):
        return True
    since = now - LOG_BEHIND
    ended = AuditSelection(repository, since, actions=(Action.UNFREEZE,))
    acts = Audit(transaction).newest(ended, ACTS_LOOKED_AT)
    return any(freeze_id in (act.freezes or ()) for act in acts)


async def _allow(
    use: UseCases, caller: Caller, repository: RepositoryName, asked: AllowRequest
) -> Reply:
    number = asked.pull_request
    outcome = await use.freeze_queue.allow(caller, repository, number, asked.reason)
    if outcome.because is not None:
        is_excepted = outcome.because is FreezesAsTheyWere.EXCEPTED
        return _unchanged(use, repository, outcome, number, is_as_asked=is_excepted)
    if outcome.error is not None:
        failure = sentence_of(outcome.error, COMMAND)
        said = freeze_forms.partly_allowed(number, outcome, failure)
        if is_uncertain(outcome.error):
            return pending(said, caller.request)
        status = HTTPStatus.BAD_GATEWAY
        return _of_freezes(use, said, outcome.freezes, changed=True, status=status)
    said = freeze_forms.allowed(number, outcome.freezes, caller.actor.name, asked.reason)
    return _of_freezes(use, said, outcome.freezes, changed=True)


def _unchanged(
    use: UseCases,
    repository: RepositoryName,
    outcome: FreezeOutcome,
    pull_request: int | None = None,
    *,
    is_as_asked: bool = False,
) -> Reply:
    """Nothing had to change, or something else is in the way."""
    now = use.sources.clock.now()
    said = freeze_forms.why_unchanged(repository, outcome, now, pull_request)
    status = HTTPStatus.OK if is_as_asked else HTTPStatus.CONFLICT
    return _of_freezes(use, said, outcome.freezes, status=status)


def _of_freezes(
    use: UseCases,
    said: str | Message,
    freezes: Sequence[Freeze],
    *,
    changed: bool = False,
    status: HTTPStatus = HTTPStatus.OK,
) -> Reply:
    now = use.sources.clock.now()
    answer = Acted(
        message=plain(said),
        changed=changed,
        pause=None,
        freezes=[freeze_shape(freeze, now) for freeze in freezes],
        repositories=[],
    )
    return Reply(answer, status)
