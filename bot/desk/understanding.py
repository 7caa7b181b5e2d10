"""What a text means where somebody types it: a command, a question back, or a refusal.

The one layer for slash commands, mentions, threads and direct messages. It reads nothing: all that
is known of the place is in the `Situation`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from bot.acts.permission import Right
from bot.desk import phrases
from bot.desk.names import named_by
from bot.desk.phrases import FreezeOffer, Said
from bot.desk.readers.acts import ENDED_WITH
from bot.desk.readers.typed_command import TypedCommand
from bot.desk.situation import (
    ABOUT_A_FREEZE,
    ABOUT_A_PAUSE,
    CHANGES_A_PAUSE,
    Situation,
    ThreadSubject,
)
from bot.desk.table import COMMAND_BY_WORD, OFFERED, Command, parse_command, with_target
from bot.kernel.errors import (
    CommandSyntaxError,
    InvalidDuration,
    RepositoryNotAllowed,
    TargetNotClear,
    UnknownGroup,
    UserError,
)
from bot.kernel.groups import Target, mention_of, target_value
from bot.kernel.typed import command_words

UNREAD_SHOWN = 100
"""Characters of a text that wasn't understood."""

OWN_LISTED = 3
"""Pull requests of a person's own that are offered."""


@dataclass(frozen=True, slots=True)
class Understood:
    """A command with its arguments."""

    typed: str  #: the command as it is understood, its verb first
    command: Command
    request: TypedCommand
    #: the queue or group named or meant; None if none is needed, or the person has to say
    where: Target | None
    #: whether it was named, or a pause's thread says it, so that no other queue can be meant
    is_named: bool


@dataclass(frozen=True, slots=True)
class Unclear:
    """Words that may mean several queues, which only the person can tell apart."""

    typed: str
    because: TargetNotClear
    own: Target | None  #: the queue or group meant where none is named


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """No command: the error says why, and offers what may have been meant."""

    typed: str
    error: UserError


Understanding = Understood | Unclear | NotUnderstood


def understand(typed: str, situation: Situation) -> Understanding:
    """What the text means.

    What changes something is understood only from its own verb; from other words it is offered.
    """
    if situation.is_direct:
        typed = phrases.about_messages(typed, situation.called)
    typed = phrases.without_courtesies(typed, situation.called)
    try:
        understood = _command(typed, situation)
        is_pause = understood.request.action == "pause" and not situation.is_settled
        if is_pause and understood.request.options["asked"].lasting is None:
            _refuse_pause_of_messages(typed, situation)
    except TargetNotClear as unclear:
        return _several(typed, unclear, situation)
    except UserError as error:
        return _otherwise(typed, error, situation)
    return understood


def _refuse_pause_of_messages(typed: str, situation: Situation) -> None:
    """Raises CommandSyntaxError for "pause reminders": somebody means no queue, or says why."""
    meant = phrases.about_messages(typed, situation.called)
    if meant == typed:
        return
    words = command_words(typed, situation.called)
    as_reason = f"pause because {typed[words[1].start :]}"
    raise CommandSyntaxError("I pause queues, not messages.", "pause", (meant, as_reason))


def only_reads(typed: str, situation: Situation) -> bool:
    """Whether the text is a command that changes nothing."""
    try:
        return parse_command(typed, situation)[0].right is Right.READ
    except UserError:
        command = _first(typed, situation)
        return command is not None and command.right is Right.READ


def _command(typed: str, situation: Situation) -> Understood:
    command, request = parse_command(typed, situation)
    thread = situation.thread
    if request.where is not None or not request.needs_repository:
        meant = Understood(typed, command, request, request.where, is_named=True)
        is_of_thread = thread is not None and request.where == thread.repository
        is_about_freeze = is_of_thread and request.action in ABOUT_A_FREEZE
        if thread is not None and thread.freeze_id is not None and is_about_freeze:
            return _about_freeze(meant, thread)
        return meant
    where = situation.target_meant(request.action)
    if thread is not None and thread.freeze_id is not None:
        return _about_freeze(Understood(typed, command, request, where, is_named=False), thread)
    is_of_thread = thread is not None and thread.is_pause and request.action in ABOUT_A_PAUSE
    if thread is not None and thread.group is not None and is_of_thread:
        group = situation.group_of_thread
        if group is None:
            # It isn't configured any more: nobody means the channel's queue here.
            return Understood(typed, command, request, None, is_named=False)
        if thread.is_group_over and request.action in CHANGES_A_PAUSE:
            again = f"{request.action} {target_value(group)}"
            raise CommandSyntaxError("The pause that this thread is about is over.", "", (again,))
    is_change = is_of_thread and request.action in CHANGES_A_PAUSE
    if is_change and thread is not None and thread.pause:
        options = {**request.options, "expected": thread.pause}
        request = replace(request, options=options)
    return Understood(typed, command, request, where, is_named=is_of_thread)


def _about_freeze(meant: Understood, thread: ThreadSubject) -> Understood:
    """What is typed in the thread of a freeze."""
    request = meant.request
    if request.action == "resume":
        reason = request.options.get("reason") or ""
        offered = f"unfreeze {reason}".rstrip()
        raise CommandSyntaxError("This thread is about a freeze, not a pause.", "", (offered,))
    if request.action not in ABOUT_A_FREEZE:
        return meant
    options = {**request.options, "freeze_id": thread.freeze_id}
    return replace(meant, request=replace(request, options=options), is_named=True)


def _several(typed: str, unclear: TargetNotClear, situation: Situation) -> Understanding:
    """A question which queue is meant, unless all that was typed means the same one."""
    readings = unclear.readings
    own = None
    if any(reading.target is None for reading in readings):
        own = situation.target_meant(unclear.action)
    value = target_value(own) if own is not None else None
    meant = {reading.target if reading.target is not None else value for reading in readings}
    if value is None or meant != {value}:
        return Unclear(typed, unclear, own)
    # The whole text is the reason, unless it is nothing but the name.
    certain = next((reading for reading in readings if not reading.reason), readings[-1])
    return understand(certain.typed, replace(situation, is_settled=True))


def _otherwise(typed: str, error: UserError, situation: Situation) -> Understanding:
    """What the text means that isn't written as a command."""
    if phrases.is_done_elsewhere(typed, situation):
        return NotUnderstood(typed, CommandSyntaxError(phrases.DONE_ELSEWHERE))
    said = Said.of(typed, situation)
    freeze = phrases.about_a_freeze(said, typed, situation)
    is_end_unclear = isinstance(error, InvalidDuration) and bool(error.instead)
    if freeze is not None and not is_end_unclear:
        return _of_freeze(freeze, typed, situation)
    of_pause = _of_pause(said, typed, situation)
    if of_pause is not None:
        return of_pause
    is_new = _first(typed, situation) is None
    if isinstance(error, CommandSyntaxError | RepositoryNotAllowed):
        answer = _answer(said, typed, situation)
        if answer is not None:
            return answer
    if isinstance(error, CommandSyntaxError) and not error.verb and is_new:
        error = _not_a_command(said, typed, error, situation)
    elif isinstance(error, RepositoryNotAllowed | UnknownGroup):
        error = _with_a_remedy(typed, error, situation)
    instead = [_with_named_queue(offer, typed, situation) for offer in error.instead]
    offered = [meant for offer in instead for meant in _readable(offer, situation)]
    error.instead = tuple(dict.fromkeys(offered))[:OFFERED]
    return NotUnderstood(typed, error)


def _readable(offer: str, situation: Situation) -> Sequence[str]:
    """The offer with its queue, or what is offered in its place where it isn't understood."""
    read = understand(offer, situation)
    if isinstance(read, NotUnderstood):
        return read.error.instead
    return [_with_its_queue(offer, situation)]


def _of_freeze(offer: FreezeOffer, typed: str, situation: Situation) -> Understanding:
    """The command for a freeze that other words mean: offered, unless it only opens a form."""
    if offer.is_form:
        return understand(offer.command, situation)
    problem = offer.problem or f"I don't understand “{_typed_shown(typed)}”."
    return _offered(typed, offer.command, problem, situation)


def _of_pause(said: Said, typed: str, situation: Situation) -> NotUnderstood | None:
    """The offer of what ends a pause, its timer, or both earlier; None for other words."""
    ended = phrases.end_of_pause(said, typed, situation)
    if ended is not None:
        is_timer = ended.startswith("extend")
        problem = phrases.LASTS_UNTIL_RESUMED if is_timer else ENDED_WITH
        return _offered(typed, ended, problem, situation)
    earlier = phrases.earlier_end(said, situation)
    if earlier is not None:
        return _offered(typed, earlier, phrases.EXTEND_MOVES_BACK, situation)
    return None


def _offered(typed: str, command: str, problem: str, situation: Situation) -> NotUnderstood:
    """The offer of the one command that is meant, or what is wrong with that."""
    command = _with_named_queue(command, typed, situation)
    read = understand(command, situation)
    if isinstance(read, NotUnderstood):
        return replace(read, typed=typed)
    return NotUnderstood(
        typed, CommandSyntaxError(problem, instead=(_with_its_queue(command, situation),))
    )


def _first(typed: str, situation: Situation) -> Command | None:
    """The command whose verb is the first word."""
    words = command_words(typed, situation.called)
    return COMMAND_BY_WORD.get(words[0].bare) if words else None


def _answer(said: Said, typed: str, situation: Situation) -> Understanding | None:
    """What answers a question; None for what is no question, or changes something."""
    first = _first(typed, situation)
    if first is not None and first.right is not Right.READ:
        return None
    asked = phrases.question(said, typed, situation)
    if asked is not None:
        try:
            return _command(asked, situation)
        except UserError:
            return None
    return _mine(typed, situation) if phrases.is_about_mine(said) else None


def _mine(typed: str, situation: Situation) -> Understanding:
    """About the person's own pull request; of several, they say which one."""
    if situation.mine is None:
        said = "I don't know which pull requests are yours. Link your GitHub username first."
        return NotUnderstood(typed, CommandSyntaxError(said, "link"))
    known = situation.mine[:OWN_LISTED]
    commands = tuple(f"why {own.number} {own.repository}" for own in known)
    if len(commands) == 1:
        return understand(commands[0], situation)
    said = "Which of your pull requests?"
    if not commands:
        said = "I haven't seen a pull request of yours in a queue lately. Type its number."
    return NotUnderstood(typed, CommandSyntaxError(said, "why", commands))


def _not_a_command(
    said: Said, typed: str, error: CommandSyntaxError, situation: Situation
) -> CommandSyntaxError:
    offered = phrases.offers(said, typed, situation)
    problem = error.problem
    if not error.instead or not offered:
        problem = f"I don't understand “{_typed_shown(typed)}”."
    return CommandSyntaxError(problem, instead=offered[:OFFERED])


def _typed_shown(typed: str) -> str:
    return typed if len(typed) <= UNREAD_SHOWN else f"{typed[:UNREAD_SHOWN]}…"


def _with_known_name(
    typed: str, error: RepositoryNotAllowed | UnknownGroup, situation: Situation
) -> tuple[str, ...]:
    """The command with the name that is spelled most alike, in place of the unknown one."""
    if isinstance(error, UnknownGroup):
        wrong = error.word
        right = mention_of(error.nearest) if error.nearest is not None else None
    else:
        wrong = error.repository
        right = error.alike or _nearest_name(wrong, situation)
    if right is None or typed.count(wrong) != 1:
        return ()
    return (typed.replace(wrong, right),)


def _with_a_remedy(
    typed: str, error: RepositoryNotAllowed | UnknownGroup, situation: Situation
) -> UserError:
    """The error with what may be meant; of "why feature/login", which may be a branch, another."""
    error.instead = _with_known_name(typed, error, situation) or _as_reason(typed, error, situation)
    first = _first(typed, situation)
    if isinstance(error, UnknownGroup) or error.instead or first is None or first.name != "why":
        return error
    name = error.repository
    said = Said.of(typed, situation)
    if said.numbers or all(word.plain != name for word in said.words):
        # The address or the number of a pull request.
        return error
    problem = f"I don't manage “{name}”. If it's a branch, type its pull request's number."
    return CommandSyntaxError(problem, first.name)


def _as_reason(
    typed: str, error: RepositoryNotAllowed | UnknownGroup, situation: Situation
) -> tuple[str, ...]:
    """The command in which "CI/CD is down" is the reason: hardly a repository is called so."""
    if isinstance(error, UnknownGroup) or not _LIKE_CI_CD.fullmatch(error.repository):
        return ()
    first = _first(typed, situation)
    as_reason = f"because {error.repository}"
    is_taken = first is not None and first.name in _WITH_REASON
    if not is_taken or error.repository not in typed or as_reason in typed:
        return ()
    return (typed.replace(error.repository, as_reason, 1),)


_WITH_REASON = frozenset({"freeze", "pause", "resume", "unfreeze"})
_LIKE_CI_CD = re.compile(r"[a-z]{1,3}/[a-z]{1,3}", re.IGNORECASE)


def _nearest_name(wrong: str, situation: Situation) -> str | None:
    names = situation.groups.repositories.names
    full = {name.casefold(): name for name in names}
    found = get_close_matches(wrong.casefold(), full, 1, _ALIKE)
    if found:
        return full[found[0]]
    bare = {name.name.casefold(): name for name in names}
    found = get_close_matches(wrong.casefold().rpartition("/")[2], bare, 1, _ALIKE)
    return bare[found[0]] if found else None


_ALIKE = 0.75
"""The similarity from which another name is offered."""


def _with_named_queue(offer: str, typed: str, situation: Situation) -> str:
    """The offered command with the one queue that the text names, wherever it stands."""
    words = command_words(typed, situation.called)
    named = [named_by(word, situation.groups) for word in words]
    targets = {name.targets[0] for name in named if name is not None and name.is_certain}
    if len(targets) != 1:
        return offer
    try:
        _, request = parse_command(offer, situation)
    except UserError:
        return offer
    if request.where is not None or not request.needs_repository:
        return offer
    return with_target(offer, target_value(targets.pop()))


def _with_its_queue(offer: str, situation: Situation) -> str:
    """The offered command with the queue that it means here: its button is read anywhere."""
    try:
        command, request = parse_command(offer, situation)
    except UserError:
        return offer
    is_clear = request.where is not None or command.right is Right.READ
    if is_clear or len(situation.groups.repositories.names) == 1:
        return offer
    meant = situation.target_meant(request.action)
    return with_target(offer, target_value(meant)) if meant is not None else offer
