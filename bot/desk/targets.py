"""Which queue a request means where none is typed, and the question if that isn't clear."""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from bot.acts.permission import Right
from bot.acts.record import Action
from bot.desk import choice, meant as desk_meant
from bot.desk.meant import Fitting, TypedPlace
from bot.desk.readers.typed_command import TypedCommand
from bot.desk.registry import Call
from bot.desk.situation import Situation, ThreadSubject
from bot.desk.table import COMMAND_BY_WORD
from bot.desk.understanding import Unclear, Understood
from bot.kernel.errors import (
    ActState,
    FailedAct,
    MergeQueueError,
    RepositoryNotChosen,
    TypedMeaning,
)
from bot.kernel.groups import Group, Target, repositories_of, target_value
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import PauseRecord
from bot.pauses.texts import replies as pause_replies
from bot.queues.reading import QUEUES_PER_PAGE, read_queues
from bot.queues.snapshot import Snapshot
from bot.slack.references import as_written
from bot.store.errors import StoreError, StoreUnavailable

logger = logging.getLogger(__name__)

ACTIONS = {
    "pause": Action.PAUSE,
    "resume": Action.RESUME,
    "extend": Action.EXTEND,
    "takeover": Action.TAKE_OVER,
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


ACTING_COMMANDS = frozenset({"pause", "resume", "extend", "freeze", "unfreeze", "allow", "remove"})
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


_SAYS_MY = re.compile(r"\b(?:my|mine)\b", re.IGNORECASE)


async def situation_of(call: Call, typed: str, *, is_settled: bool) -> Situation:
    """Where the person types, and what is known there: as much as the store says."""
    asked = call.asked
    place = TypedPlace(
        channel_id=call.channel_id,
        thread_ts=asked.thread_ts if asked is not None else call.pressed_in,
        direct_with=call.actor.user_id if call.is_direct else None,
        person=call.actor.user_id if _SAYS_MY.search(typed) else None,
    )
    situation = Situation(
        call.bot.groups, call.bot.called, is_direct=call.is_direct, is_settled=is_settled
    )
    is_only_queue = len(call.bot.repositories.names) == 1
    if is_only_queue and place.thread_ts is None and place.person is None:
        return situation
    now = call.bot.clock.now()
    read = partial(desk_meant.known_here, situation=situation, place=place, now=now)
    try:
        known = await call.bot.sources.store.read(read)
    except StoreUnavailable as error:
        # A queue that is named can be shown all the same.
        extra = {"action": "situation_not_read", "cause": error.cause}
        logger.warning("can't tell where a command was typed", extra=extra)
        return situation
    is_press = asked is None
    is_of_freeze = known.thread is not None and known.thread.freeze_id is not None
    if is_press and not is_of_freeze:
        # Its command names all that it means, but for which of several freezes.
        return replace(known, thread=None)
    return known


async def ask_what_to_stop(call: Call, subject: ThreadSubject, typed: str) -> None:
    """In the thread of a direct message, *stop* may mean messages of its kind, or all of them."""
    await call.admit()
    question = choice.stop_which(typed, subject.notice, subject.repository)
    await call.ask("stop", typed, question)


async def target_meant(call: Call, understood: Understood) -> Target | None:
    """The queue or group meant; None if the person is asked."""
    request = understood.request
    own = understood.where
    if request.action in {"resume", "extend"} and not understood.is_named:
        with naming(request.action, own, None):
            return await _paused_one(call, request, own, understood.typed)
    if own is None:
        await _ask(call, request, understood.typed)
    return own


async def _paused_one(
    call: Call, request: TypedCommand, meant: Target | None, typed: str
) -> Target | None:
    """The queue whose pause it is: the one `meant`, or the only paused one; None if they are asked.

    They are asked before anything is done to another queue than the one `meant`. The bot may not
    have heard of each pause, so that one is the only one is for the service to say.
    """
    if isinstance(meant, Group):
        return meant
    names = call.bot.repositories.names
    found = await call.bot.use.resume_queue.paused_instead(meant, names)
    if meant is not None:
        if not found:
            return await _unless_of_group(call, request.action, meant, typed)
        await call.admit()
        await _ask_about_others(call, request, meant, found, typed)
        return None
    if len(found) <= 1:
        return await _only_one_that_the_service_shows(call, request.action, found, typed)
    await call.admit()
    await _ask_which_paused(call, request.action, found, typed)
    return None


async def _only_one_that_the_service_shows(
    call: Call, action: str, known: Sequence[PauseRecord], typed: str
) -> RepositoryName | None:
    """The only paused queue; None if the person is asked, or told.

    `known`: the pauses that the bot knows of, whose queues are looked at first.
    """
    await call.admit()
    names = call.bot.repositories.names
    allowed = await _permitted(call, action, names)
    known_names = [pause.repository for pause in known]
    ordered = dict.fromkeys([*known_names, *allowed, *names])
    paused, checked = await _paused_now(call, list(ordered))
    if checked < len(names):
        # Another than those found may be the one that is meant.
        found = dict.fromkeys([*known_names, *(pause.repository for pause in paused)])
        fitting = Fitting(repositories=list(found))
        about = choice.not_all_checked(action, checked, len(names))
        await _ask_for(call, action, names, fitting, typed, about)
        return None
    if len(paused) == 1:
        return paused[0].repository
    if paused:
        await _ask_which_paused(call, action, paused, typed)
    else:
        await call.reply(choice.nothing_paused(len(names)))
    return None


async def _unless_of_group(
    call: Call, action: str, meant: RepositoryName, typed: str
) -> RepositoryName | None:
    """The queue; None if it was paused together with others, so that the person is asked."""
    read = partial(desk_meant.paused_with, names=call.bot.repositories.names, repository=meant)
    name = await call.bot.sources.store.read(read)
    group = call.bot.groups.known(name) if name is not None else None
    if group is None:
        return meant
    await call.admit()
    about = choice.paused_together(action, meant, group)
    await _ask_for(call, action, [meant], Fitting([group.name]), typed, about)
    return None


async def _ask_about_others(
    call: Call,
    request: TypedCommand,
    running: RepositoryName,
    paused: Sequence[PauseRecord],
    typed: str,
) -> None:
    """The queue `running` isn't paused, and others are."""
    is_plain = request.action == "resume" and not request.options.get("reason")
    if len(paused) > 1 or not is_plain:
        # The answer keeps the reason, or the end.
        about = choice.paused_elsewhere(request.action, running)
        await _ask_which_paused(call, request.action, paused, typed, about)
    elif await _permitted(call, request.action, [paused[0].repository]):
        await call.reply(pause_replies.resume_other(running, paused[0]))


async def _ask_which_paused(
    call: Call, action: str, paused: Sequence[PauseRecord], typed: str, about: str = ""
) -> None:
    read = partial(desk_meant.paused_targets, names=call.bot.repositories.names)
    stored = await call.bot.sources.store.read(read)
    names = dict.fromkeys([*stored.repositories, *(pause.repository for pause in paused)])
    fitting = Fitting(stored.groups, list(names))
    await _ask_for(call, action, fitting.repositories, fitting, typed, about)


async def _paused_now(
    call: Call, names: Sequence[RepositoryName]
) -> tuple[Sequence[PauseRecord], int]:
    """The pauses that the service shows, of which the bot need not know yet.

    Also of how many queues it is known whether they are paused: some can't be read, and of many
    only the first are.
    """
    read = await read_queues(names[:QUEUES_PER_PAGE], call.bot.sources)
    snapshots = [queue for queue in read if isinstance(queue, Snapshot) and queue.is_pause_known]
    paused = [snapshot.pause for snapshot in snapshots if snapshot.pause is not None]
    return paused, len(snapshots)


async def ask_which(call: Call, unclear: Unclear) -> None:
    """Ask which of several queues is meant."""
    await call.admit()
    because = unclear.because
    readings = because.readings
    if await _permitted(call, because.action, _repositories_of(call, readings, unclear.own)):
        shown = tuple(replace(reading, reason=as_written(reading.reason)) for reading in readings)
        question = choice.which_target(replace(because, readings=shown), unclear.own, unclear.typed)
        await call.ask(because.action, unclear.typed, question)


def _repositories_of(
    call: Call, readings: Sequence[TypedMeaning], own: Target | None
) -> Sequence[RepositoryName]:
    if own is None and any(reading.target is None for reading in readings):
        return call.bot.repositories.names
    found: list[RepositoryName] = [] if own is None else [*repositories_of(own)]
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


async def _ask(call: Call, request: TypedCommand, typed: str) -> None:
    """Ask which repository is meant; the names are only for people who may read."""
    await call.admit()
    names = call.bot.repositories.names
    fitting = await _fitting(call, request, names)
    await _ask_for(call, request.action, names, fitting, typed)


async def _fitting(call: Call, request: TypedCommand, names: Sequence[RepositoryName]) -> Fitting:
    store = call.bot.sources.store
    number = request.options.get("pull_request")
    found = Fitting()
    if request.action == "allow" and number is not None:
        found = await store.read(partial(desk_meant.to_allow, names=names, number=number))
    elif number is not None:
        seen = partial(desk_meant.with_pull_request, names=names, number=number)
        found = await store.read(seen)
    elif request.action == "unfreeze":
        found = await store.read(partial(desk_meant.frozen_targets, names=names))
    elif request.action in {"takeover", "notify"}:
        found = await store.read(partial(desk_meant.paused_targets, names=names))
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
