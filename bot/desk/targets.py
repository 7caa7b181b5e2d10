"""Which queue a request means where none is typed, and the question if that isn't clear."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from bot.acts.permission import Right
from bot.acts.record import Action
from bot.desk import choice, meant as desk_meant
from bot.desk.meant import Fitting, ThreadSubject
from bot.desk.readers import Request
from bot.desk.registry import Call
from bot.desk.table import COMMAND_BY_WORD
from bot.desk.words import PullRequestInThread
from bot.kernel.errors import (
    ActState,
    FailedAct,
    MergeQueueError,
    Reading,
    RepositoryNotChosen,
    TargetNotClear,
)
from bot.kernel.groups import Group, Target, repositories_of, target_value
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import PauseRecord
from bot.pauses.texts import replies as pause_replies
from bot.queues.reading import QUEUES_PER_PAGE, read_queues
from bot.queues.snapshot import Snapshot
from bot.slack.references import as_written
from bot.store.errors import StoreError

ACTIONS = {
    "pause": Action.PAUSE,
    "resume": Action.RESUME,
    "freeze": Action.FREEZE,
    "unfreeze": Action.UNFREEZE,
    "allow": Action.ALLOW,
    "remove": Action.REMOVE,
    "subscribe": Action.SUBSCRIBE,
    "unsubscribe": Action.UNSUBSCRIBE,
    "board": Action.BOARD,
    "board off": Action.END_BOARD,
}
"""What a command that only some may run is recorded as."""


ACTING_COMMANDS = frozenset({"pause", "resume", "freeze", "unfreeze", "allow", "remove"})
"""Commands that change a queue, named as their `Action`."""


@contextmanager
def naming(action: str, target: Target | None, pull_request: int | None) -> Iterator[None]:
    """What fails inside before the act has begun also says how that left the queue."""
    try:
        yield
    except (MergeQueueError, StoreError) as error:
        if error.act is None and action in ACTING_COMMANDS and target is not None:
            named = target_value(target)
            error.act = FailedAct(action, named, ActState.NOT_DONE, pull_request)
        raise


async def thread_subject(call: Call) -> ThreadSubject | None:
    """What the thread is about in which somebody wrote to the bot."""
    asked = call.asked
    if asked is None or asked.thread_ts is None:
        return None
    places = [asked.channel]
    if call.is_direct:
        places.append(call.actor.user_id)
    find = partial(desk_meant.subject_of_thread, places=places, message_ts=asked.thread_ts)
    found = await call.bot.sources.store.read(find)
    known = call.bot.repositories.names
    return found if found is not None and found.repository in known else None


async def ask_what_to_stop(call: Call, subject: ThreadSubject, typed: str) -> None:
    """In the thread of a direct message, *stop* may mean messages of its kind, or all of them."""
    await call.admit()
    question = choice.stop_which(typed, subject.notice, subject.repository)
    await call.ask("stop", typed, question)


def pull_request_of(subject: ThreadSubject | None) -> PullRequestInThread | None:
    if subject is None or subject.pull_request is None:
        return None
    return PullRequestInThread(subject.repository, subject.pull_request)


async def target_meant(
    call: Call, request: Request, typed: str, thread: ThreadSubject | None
) -> Target | None:
    """The queue meant where none is typed; None if the person is asked."""
    group = None
    if thread is not None and thread.group is not None and request.action == "resume":
        group = call.bot.groups.known(thread.group)
    own = group or await own_queue(call, request.action, thread)
    if request.action == "resume" and not isinstance(own, Group):
        with naming("resume", own, None):
            has_reason = bool(request.options.get("reason"))
            return await _paused_one(call, own, typed, has_reason=has_reason)
    if own is None:
        await _ask(call, request, typed)
    return own


async def own_queue(call: Call, action: str, thread: ThreadSubject | None) -> RepositoryName | None:
    """The repository meant when none is typed, if it is clear.

    That is the only one configured, the thread's, the one whose board is ended, the channel's
    default, or the only one the channel is subscribed to.
    """
    configured = call.bot.repositories.names
    use = call.bot.use
    if len(configured) == 1:
        return configured[0]
    if thread is not None and thread.group is None:
        return thread.repository
    if call.channel_id is None:
        return None
    if action == "board off":
        boards = await use.manage_boards.in_channel(call.channel_id, configured)
        if len(boards) == 1:
            return boards[0]
    default = await use.channel_settings.default(call.channel_id)
    if default in configured:
        return default
    heard = await use.channel_settings.subscriptions(call.channel_id)
    names = {subscription.repository for subscription in heard}.intersection(configured)
    return names.pop() if len(names) == 1 else None


async def _paused_one(
    call: Call, meant: RepositoryName | None, typed: str, *, has_reason: bool
) -> RepositoryName | None:
    """The queue to resume: the one `meant`, or the only paused one; None if the person is asked.

    They are asked before another queue than the one `meant` is resumed.
    `has_reason`: what they typed has a reason, which the answer keeps.
    """
    names = call.bot.repositories.names
    store = call.bot.sources.store
    found = await call.bot.use.resume_queue.paused_instead(meant, names)
    if not found and meant is not None:
        name = await store.read(partial(desk_meant.paused_with, names=names, repository=meant))
        group = call.bot.groups.known(name) if name is not None else None
        if group is None:
            return meant
        await call.admit()
        about = choice.paused_together(meant, group)
        await _ask_for(call, "resume", [meant], Fitting([group.name]), typed, about)
        return None
    if not found:
        await call.admit()
        found = await _paused_now(call, await _permitted(call, "resume", names))
        if not found:
            await call.reply(choice.nothing_paused(len(names)))
            return None
    if len(found) == 1 and meant is None:
        return found[0].repository
    await call.admit()
    if len(found) == 1 and meant is not None and not has_reason:
        if await _permitted(call, "resume", [found[0].repository]):
            await call.reply(pause_replies.resume_other(meant, found[0]))
        return None
    fitting = await store.read(partial(desk_meant.paused, names=names))
    paused = fitting.repositories or [pause.repository for pause in found]
    about = choice.paused_elsewhere(meant) if meant is not None else ""
    await _ask_for(call, "resume", paused, fitting, typed, about)
    return None


async def _paused_now(call: Call, names: Sequence[RepositoryName]) -> Sequence[PauseRecord]:
    """The pauses that the service shows, of which the bot need not know yet."""
    read = await read_queues(names[:QUEUES_PER_PAGE], call.bot.sources)
    snapshots = [queue for queue in read if isinstance(queue, Snapshot)]
    return [snapshot.pause for snapshot in snapshots if snapshot.pause is not None]


async def ask_which(
    call: Call, unclear: TargetNotClear, typed: str, thread: ThreadSubject | None
) -> str | None:
    """Ask which of several queues is meant.

    If all that was typed means the same one, return the command that says so.
    """
    await call.admit()
    readings = unclear.readings
    own = None
    if any(reading.target is None for reading in readings):
        own = await own_queue(call, unclear.action, thread)
    meant = {reading.target if reading.target is not None else own for reading in readings}
    if own is not None and meant == {own}:
        # The whole text is the reason, unless it is nothing but the name.
        return next((reading for reading in readings if not reading.reason), readings[-1]).typed
    if await _permitted(call, unclear.action, _repositories_of(call, readings, own)):
        shown = tuple(replace(reading, reason=as_written(reading.reason)) for reading in readings)
        question = choice.which_target(replace(unclear, readings=shown), own, typed)
        await call.ask(unclear.action, typed, question)
    return None


def _repositories_of(
    call: Call, readings: Sequence[Reading], own: RepositoryName | None
) -> Sequence[RepositoryName]:
    if own is None and any(reading.target is None for reading in readings):
        return call.bot.repositories.names
    found: list[RepositoryName] = [] if own is None else [own]
    for reading in readings:
        if reading.target is not None:
            found += repositories_of(call.bot.groups.target(reading.target))
    return list(dict.fromkeys(found))


async def _permitted(
    call: Call, action: str, names: Sequence[RepositoryName]
) -> Sequence[RepositoryName]:
    """Those for which the person may do it: nobody is asked about what they may not do.

    Raises PermissionDenied, recorded once, if there are none.
    """
    right = COMMAND_BY_WORD[action.partition(" ")[0]].right
    if right is Right.READ or not names:
        return names
    allowed = await call.bot.use.check_permission.allowed(call.actor, right, names)
    if not allowed:
        await call.permit(ACTIONS[action], names[0])
    return allowed


async def _ask(call: Call, request: Request, typed: str) -> None:
    """Ask which repository is meant; the names are only for people who may read."""
    await call.admit()
    names = call.bot.repositories.names
    fitting = await _fitting(call, request, names)
    await _ask_for(call, request.action, names, fitting, typed)


async def _fitting(call: Call, request: Request, names: Sequence[RepositoryName]) -> Fitting:
    store = call.bot.sources.store
    number = request.options.get("pull_request")
    found = Fitting()
    if request.action == "allow" and number is not None:
        found = await store.read(partial(desk_meant.to_allow, names=names, number=number))
    elif number is not None:
        seen = partial(desk_meant.with_pull_request, names=names, number=number)
        found = await store.read(seen)
    elif request.action == "unfreeze":
        found = await store.read(partial(desk_meant.frozen, names=names))
    if found.repositories or call.channel_id is None:
        return found
    channel_id = call.channel_id
    return await store.read(partial(desk_meant.followed, names=names, channel_id=channel_id))


async def _ask_for(
    call: Call,
    action: str,
    names: Sequence[RepositoryName],
    fitting: Fitting,
    typed: str,
    about: str = "",
) -> None:
    allowed = await _permitted(call, action, names)
    first = [repository for repository in fitting.repositories if repository in set(allowed)]
    others = [repository for repository in allowed if repository not in set(first)]
    groups = [call.bot.groups.known(name) for name in fitting.groups]
    offered: list[Target] = [group for group in groups if group is not None]
    offered += [*first, *others]
    if not offered:
        raise RepositoryNotChosen(tuple(names))
    question = choice.which_repository(
        action, offered, typed, fits=len(offered) - len(others), about=about
    )
    await call.ask(action.partition(" ")[0], typed, question)
