"""What became of an act: how it left the queue, in the same words wherever people read it."""

from collections.abc import Mapping
from typing import NamedTuple

from bot.acts.reason import REASON_LIMIT
from bot.acts.record import Action, ActResult, AuditRecord, Circumstance
from bot.acts.unanswered import Unanswered
from bot.blocks import blocks, controls
from bot.blocks.controls import Repeat
from bot.blocks.message import Message
from bot.blocks.text import NAME_LIMIT, code, escape, literal, quote, time_ago
from bot.kernel.errors import ActState, FailedAct, Follows
from bot.kernel.repository import RepositoryName
from bot.pauses.outcomes import ActOutcome
from bot.pauses.pause import PauseRecord
from bot.pauses.texts.card import by_whom

TYPED_LIMIT = 200


class _Words(NamedTuple):
    """Of one kind of act; `{it}` is the queue, or the pull request and its queue."""

    done: str
    undone: str
    """How things are if it wasn't carried out."""

    not_tried: str
    """The same, where nobody could look how things are."""

    question: str
    doing: str
    again: str


_NEW_END = _Words(
    "the pause of {it} has its new end",
    "the end of the pause of {it} is unchanged",
    "the end of the pause of {it} was not changed",
    "whether the pause of {it} has its new end",
    "changing the end of the pause of {it}",
    "Try changing the end again",
)
_WORDS: Mapping[str, _Words] = {
    Action.PAUSE: _Words(
        "{it} is paused",
        "{it} is not paused",
        "{it} was not paused",
        "whether {it} is paused",
        "pausing {it}",
        "Try pausing again",
    ),
    Action.RESUME: _Words(
        "{it} is not paused any more",
        "{it} is still paused",
        "{it} was not resumed",
        "whether {it} is still paused",
        "resuming {it}",
        "Try resuming again",
    ),
    Action.EXTEND: _NEW_END,
    Action.KEEP: _NEW_END,
    Action.FREEZE: _Words(
        "{it} is frozen",
        "the freeze of {it} was not made",
        "{it} was not frozen",
        "whether {it} is frozen",
        "freezing {it}",
        "Try freezing again",
    ),
    Action.UNFREEZE: _Words(
        "the freeze of {it} has ended",
        "the freeze of {it} is still in force",
        "the freeze of {it} was not ended",
        "whether the freeze of {it} has ended",
        "unfreezing {it}",
        "Try unfreezing again",
    ),
    Action.CHANGE_FREEZE: _Words(
        "the freeze of {it} has its new end",
        "the end of the freeze of {it} is unchanged",
        "the end of the freeze of {it} was not changed",
        "whether the freeze of {it} has its new end",
        "changing the end of the freeze of {it}",
        "Try changing the end again",
    ),
    Action.MOVE_FREEZE: _Words(
        "the planned freeze of {it} has its new times",
        "the times of the planned freeze of {it} are unchanged",
        "the planned freeze of {it} was not moved",
        "whether the planned freeze of {it} has its new times",
        "moving the planned freeze of {it}",
        "Try moving it again",
    ),
    Action.ALLOW: _Words(
        "{it} may merge during the freeze",
        "{it} still waits for the end of the freeze",
        "{it} was not allowed through the freeze",
        "whether {it} may merge during the freeze",
        "allowing {it} through the freeze",
        "Try allowing it again",
    ),
    Action.REMOVE: _Words(
        "{it} has left the queue",
        "{it} is still in the queue",
        "{it} was not removed from the queue",
        "whether {it} is still in the queue",
        "removing {it} from the queue",
        "Try removing it again",
    ),
}


def _words_of(action: str, target: str, pull_request: int | None) -> _Words | None:
    words = _WORDS.get(action)
    if words is None:
        return None
    it = escape(target) if pull_request is None else f"#{pull_request} of {escape(target)}"
    return _Words(*(word.format(it=it) if "{it}" in word else word for word in words))


def failed_act_in_words(act: FailedAct) -> tuple[str, str]:
    """How a failed act left the queue, to say first, and what the bot does next, to say last."""
    words = _words_of(act.action, act.target, act.pull_request)
    if words is None:
        return "", ""
    if act.state is ActState.UNCERTAIN:
        then = {
            Follows.HERE: "I keep checking and will post the outcome here.",
            Follows.DIRECTLY: "I keep checking and will send you the outcome.",
            Follows.NOWHERE: "",
        }
        return f"*I can't tell yet {words.question}.*", then[act.follows]
    if act.state is ActState.DONE:
        return _begin_sentence(words.done), "Posts about it may come later."
    if act.was_seen:
        return _begin_sentence(words.undone), ""
    if act.is_known_paused and act.action in {Action.PAUSE, Action.RESUME}:
        return f"*{escape(act.target)} is still paused*, as far as I know.", ""
    return _begin_sentence(words.not_tried), ""


def _begin_sentence(words: str) -> str:
    return f"*{_capital(words)}.*"


def _capital(words: str) -> str:
    """The words as they begin a sentence; a repository's name keeps its letters."""
    is_ours = words.startswith(("the ", "it "))
    return words[:1].upper() + words[1:] if is_ours else words


def again(act: FailedAct | None) -> str:
    """The label of the button that repeats the act."""
    words = _WORDS.get(act.action) if act is not None else None
    return words.again if words is not None else "Try again"


def outcome(found: ActOutcome) -> Message:
    """Tells the person what became of a request that was cut off, or whose answer was lost."""
    act = found.act
    request = found.request
    words = _words_of(act.action, act.repository, act.about) if act is not None else None
    typed = code(request.typed, TYPED_LIMIT) if request.typed else "your last request"
    is_done = act is not None and _is_as_asked(act)
    if act is None:
        first = f"I was restarted before I could carry out {typed}: no queue was changed"
        if request.was_left:
            first = f"{typed} wasn't carried out: no queue was changed"
    elif words is None:
        first = f"{typed} was carried out" if is_done else f"{typed} changed nothing"
    elif not act.is_end_known:
        first = f"I couldn't find out {words.question}: I couldn't read the queue for a day"
    else:
        first = _how_the_queue_stands(act, words, found.in_force)
        first = first if request.was_left else f"I was restarted while {words.doing}: {first}"
    mark = ":white_check_mark:" if is_done else ":warning:"
    shown = [blocks.section(f"{mark} {_capital(first)}.")]
    if act is not None and request.was_left:
        name = quote(act.actor.name, NAME_LIMIT)
        shown.append(blocks.context(f"{name} asked for it {time_ago(request.asked_at)}"))
    repeat = _repeat(request, act)
    is_past = act is not None and (act.waits_for_second or _has_merged(act))
    may_repeat = not is_done and not is_past
    if may_repeat and repeat is not None and len(repeat.value) <= blocks.VALUE_LIMIT:
        label = words.again if words is not None else "Try again"
        button = blocks.button(label, action_id=repeat.action_id, value=repeat.value)
        shown.append(blocks.actions([button]))
    return blocks.message(*shown)


def outcome_follows(found: ActOutcome) -> Message:
    """To a person whose request a restart cut off, while the service doesn't show what became."""
    act = found.act
    words = _words_of(act.action, act.repository, act.about) if act is not None else None
    doing = "carrying out your last request"
    question = "what became of it"
    if words is not None:
        doing = words.doing
        question = words.question
    said = f"I was restarted while {doing}, and can't tell yet {question}."
    return blocks.sentence(f":warning: {said} I keep checking and will tell you the outcome.")


def _has_merged(act: AuditRecord) -> bool:
    return act.outcome.circumstance is Circumstance.MERGED_FIRST


def _is_as_asked(act: AuditRecord) -> bool:
    """Whether it was carried out, or all is as asked, no matter whose doing that is."""
    return act.result is ActResult.DONE or act.outcome.circumstance in _DONE_OTHERWISE


_DONE_OTHERWISE = frozenset({Circumstance.FOUND_RUNNING, Circumstance.REMOVED_LATER})


def _how_the_queue_stands(act: AuditRecord, words: _Words, in_force: PauseRecord | None) -> str:
    if _is_as_asked(act):
        return words.done
    if _has_merged(act):
        it = f"#{act.about} of {escape(act.repository)}"
        return f"{it} merged before it was removed from the queue"
    if act.waits_for_second:
        return f"{words.undone}. A second person has to confirm, so nothing has changed yet"
    is_of_pause = act.action in {Action.PAUSE, Action.RESUME}
    if act.result is ActResult.UNCHANGED and (in_force is None or not is_of_pause):
        is_running = f"{escape(act.repository)} is not paused"
        return is_running if is_of_pause else f"{words.doing} changed nothing"
    if in_force is None or not is_of_pause:
        return words.undone
    still = "still " if act.action is Action.RESUME or act.previous.paused_at is not None else ""
    reason = literal(in_force.line.reason, REASON_LIMIT)
    paused = f"{escape(act.repository)} is {still}paused{by_whom(in_force)}: {reason}"
    return paused if act.action is Action.RESUME else f"{paused}. Your pause wasn't carried out"


def _repeat(request: Unanswered, act: AuditRecord | None) -> Repeat | None:
    """Asks for the same again; a command with its queue, as another may be meant where it's read.

    None if nothing can be repeated.
    """
    if request.typed is None:
        return request.repeat
    if act is None:
        return controls.repeat_typed(request.typed)
    return controls.repeat_typed(with_repository(request.typed, act.repository))


def with_repository(typed: str, repository: RepositoryName) -> str:
    words = typed.split()
    if not words or repository.lower() in typed.lower():
        return typed
    is_second = words[0] in {"allow", "remove"} or words[1:2] == ["now"]
    behind = 2 if is_second else 1
    return " ".join([*words[:behind], repository, *words[behind:]])
