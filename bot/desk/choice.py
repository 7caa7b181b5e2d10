"""Questions about which repository or group to use, and how a command continues with the answer."""

from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha256

from bot.blocks import blocks, controls
from bot.blocks.message import Message
from bot.blocks.targets import name_shown, target_menu
from bot.blocks.text import ELLIPSIS, alternatives, clean, code, escape, listed, literal, quote
from bot.desk.table import with_target
from bot.freezes import actions as freeze_actions
from bot.kernel.errors import TargetNotClear, TypedMeaning
from bot.kernel.groups import ALL, Group, Target, target_value
from bot.kernel.repository import RepositoryName
from bot.kernel.typed import BLANK
from bot.pauses import actions as pause_actions
from bot.people.notices import Notice
from bot.removals import actions as removal_actions

BLOCK_PREFIX = "choose:"


DIGEST_PREFIX = "#sha256:"
"""No command begins like this."""


ALL_QUEUES = "all queues"


ANOTHER = "another queue"


NAME_SHOWN = 150


REASON_SHOWN = 100


HEAD_LENGTH = 1000


QUESTION_LASTS = timedelta(minutes=15)
"""After this time a question is out of date and its buttons do nothing."""


_ASKED_BY = {
    pause_actions.REPLACE: "pause …",
    pause_actions.PAUSE_CONFIRMED: "pause …",
    **dict.fromkeys(pause_actions.PAUSE_READINGS, "pause …"),
    pause_actions.PAUSE_WITHOUT_END: "pause …",
    pause_actions.PAUSE_OTHER_TIME: "pause …",
    pause_actions.RESUME_OTHER: "resume",
    removal_actions.REMOVE: "remove …",
    freeze_actions.FREEZE_CONFIRMED: "freeze …",
    **dict.fromkeys(freeze_actions.FREEZE_READINGS, "freeze …"),
    freeze_actions.FREEZE_WITHOUT_END: "freeze …",
    freeze_actions.FREEZE_OTHER_TIME: "freeze …",
    **dict.fromkeys((*controls.INSTEAD, *controls.MEANT), "…"),
}
"""The answers to questions, and the command that asks again."""


BUTTONS = len(controls.MEANT)


TYPED_SHOWN = 200


QUESTIONS = {
    "status": "Show which queue?",
    "why": "In which repository is the pull request?",
    "why queue": "Say why which queue doesn't merge?",
    "log": "Show the log of which repository?",
    "rules": "Show the rules of which queue?",
    "branches": "Show the branches of which repository?",
    "stats": "Show the statistics of which queue?",
    "stats checks": "Show the failures by check of which queue?",
    "pause": "Pause which queue?",
    "resume": "Resume which queue?",
    "extend": "Extend the pause of which queue?",
    "takeover": "Take over the pause of which queue?",
    "notify": "Notify you when which queue resumes?",
    "remove": "Remove it from which queue?",
    "freeze": "Freeze which queue?",
    "freezes": "Show the freezes of which queue?",
    "unfreeze": "Unfreeze which queue?",
    "allow": "Let it through the freeze of which queue?",
    "subscribe": "Subscribe this channel to which queue?",
    "unsubscribe": "Unsubscribe this channel from which queue?",
    "subscriptions test": "Who would be notified of which queue?",
    "board": "Show a board of which queue in this channel?",
    "board off": "End the board of which queue?",
    "mute": "In which repository is the pull request?",
    "unmute": "In which repository is the pull request?",
}
"""By the action of a request."""


TARGETS_LENGTH = 3500
"""Characters of the names in the fallback text."""


KEPT_BYTES = 2000
"""Of a typed command: an index of the database has no room for much more, nor has a button."""


def can_carry(typed: str) -> bool:
    """Whether the typed command is kept while the question is open, to continue with the answer."""
    return len(typed.encode()) <= KEPT_BYTES


def carried(typed: str) -> str:
    """What the question's buttons say that was typed: a long command is known by its digest."""
    if len(BLOCK_PREFIX + typed) <= blocks.BLOCK_ID_LIMIT:
        return typed
    return DIGEST_PREFIX + sha256(typed.encode()).hexdigest()


def _block_id(typed: str) -> str | None:
    return BLOCK_PREFIX + carried(typed) if can_carry(typed) else None


def which_repository(
    action: str,
    targets: Sequence[Target],
    typed: str,
    *,
    fits: int = 0,
    about: str = "",
) -> Message:
    """Ask which queue a command is for, with the words typed.

    `fits`: how many of the targets fit best, which come first.
    `about`: another question, escaped.
    """
    question = about or QUESTIONS.get(action, "Which queue?")
    as_buttons = targets if len(targets) <= BUTTONS else targets[: min(fits, BUTTONS)]
    elements = [
        blocks.button(
            clean(name_shown(target), blocks.BUTTON_LIMIT),
            action_id=action_id,
            value=continued(typed, target_value(target)),
        )
        for action_id, target in zip(controls.MEANT, as_buttons, strict=False)
        if len(continued(typed, target_value(target))) <= blocks.VALUE_LIMIT
    ]
    block_id = _block_id(typed)
    if len(targets) > BUTTONS and block_id is not None:
        repositories = [choice for choice in targets if not isinstance(choice, Group)]
        elements.append(
            target_menu(repositories, action_id=controls.CHOOSE, placeholder="Choose a repository")
        )
    known = listed([escape(name_shown(choice)) for choice in targets], length=TARGETS_LENGTH)
    shown = [blocks.section(f"*{question}*")]
    said = clean(typed.replace(BLANK, " "), TYPED_SHOWN)
    if said:
        shown.append(blocks.context(f"You typed {code(said, TYPED_SHOWN)}"))
    if elements:
        shown.append(blocks.actions(elements, block_id=block_id))
    else:
        shown.append(blocks.context(f"Type it again with one of these: {known}"))
    text = f"{question} {known}" + (f". You typed {code(said, TYPED_SHOWN)}" if said else "")
    return Message(text=text, blocks=tuple(shown))


def paused_elsewhere(action: str, running: RepositoryName) -> str:
    """The question where the channel's own queue isn't paused, escaped."""
    return f"{escape(running)} is running. Which paused queue do you want to {quote(action)}?"


def paused_together(action: str, repository: RepositoryName, group: Group) -> str:
    """The question where the channel's own queue was paused as one of a group's, escaped."""
    others = ALL_QUEUES if group.name == ALL else escape(group.mention)
    return f"{escape(repository)} was paused together with {others}. {quote(_verb(action))} which?"


def not_all_checked(action: str, checked: int, count: int) -> str:
    """The question where only `checked` of `count` queues could be looked at, escaped."""
    known = f"I couldn't check any of the {count:,} queues"
    if checked:
        known = f"I checked only {checked:,} of {count:,} queues"
    question = QUESTIONS.get(action, "Which queue?")
    return f"{known}, so I can't tell which are paused. {question}"


def nothing_paused(count: int) -> Message:
    """The reply to resuming no queue in particular, where none of `count` queues is paused."""
    show = blocks.button("Show all queues", action_id=controls.RETRY, value=f"status {ALL}")
    said = f"None of the {count:,} queues is paused, as far as I can see. Nothing to do."
    return blocks.post(said, buttons=[show])


def stop_which(typed: str, notice: Notice | None, repository: RepositoryName) -> Message:
    """The question in the thread of a direct message that somebody wants no more of.

    `notice`: the kind that it is; None for what the conversation is subscribed to.
    """
    offers = [("All direct messages", "stop")]
    if notice is not None:
        offers.insert(0, (f"Only {notice.value}", f"me {notice.value} off"))
    else:
        offers.insert(0, (f"Only {repository}", f"unsubscribe {repository}"))
    buttons = [
        blocks.button(clean(label, blocks.BUTTON_LIMIT), action_id=action_id, value=command)
        for action_id, (label, command) in zip(controls.MEANT, offers, strict=False)
    ]
    question = f"*{escape(repository)}: which messages should I stop?*"
    asked = blocks.actions(buttons, block_id=_block_id(typed))
    return blocks.message(blocks.section(question), asked)


def which_target(unclear: TargetNotClear, own: Target | None, typed: str = "") -> Message:
    """Ask which queue is meant by words that may mean several.

    `own`: the queue or group meant where none is named; None if that needs another question.
    """
    readings = unclear.readings[: len(controls.MEANT)]
    named = [(_meaning_in_words(reading, own), reading) for reading in readings]
    asked = alternatives(list(dict.fromkeys(quote(name, NAME_SHOWN) for name, _ in named)))
    if len(asked) > HEAD_LENGTH:
        asked = "which queue"
    lines = [f"*{quote(_verb(unclear.action))} {asked}?*"]
    for name, reading in named:
        because = f" · Reason: {literal(reading.reason, REASON_SHOWN)}" if reading.reason else ""
        lines.append(f"• *{quote(name, NAME_SHOWN)}*{because}")
    may_be_a_reason = any(reading.target is None for reading in readings)
    buttons = [
        blocks.button(
            clean(_label(unclear.action, name, reading), blocks.BUTTON_LIMIT),
            action_id=action_id,
            value=reading.typed,
        )
        for action_id, (name, reading) in zip(controls.MEANT, named, strict=False)
        if len(reading.typed) <= blocks.VALUE_LIMIT
    ]
    word = code(unclear.word)
    meaning = f"{word} may be any of these."
    is_written_as_name = "/" in unclear.word or unclear.word.startswith("@")
    if _are_listed(readings) or (not may_be_a_reason and is_written_as_name):
        meaning = "I take one queue or one group at a time. For the others, type the command again."
    elif may_be_a_reason:
        meaning = f"{word} may be the queue, or a part of the reason."
    left = len(unclear.readings) - len(readings)
    if left:
        meaning += f" {left:,} more fit. To choose one of them, type its whole name."
    # What else was typed, such as an end, stays as it is.
    said = clean(typed.replace(BLANK, " "), TYPED_SHOWN)
    you_typed = f"You typed {code(said, TYPED_SHOWN)}. " if said else ""
    context = blocks.context(f"{you_typed}{meaning}")
    shown = [*blocks.lines(lines), context]
    block_id = _block_id(typed) if typed else None
    answers = [blocks.actions(buttons, block_id=block_id)] if buttons else []
    return blocks.message(*shown, *answers)


def _are_listed(readings: Sequence[TypedMeaning]) -> bool:
    """Whether they are of queues with several names, not of one name with several owners."""
    targets = [reading.target or "" for reading in readings]
    return len({target.partition("/")[2] for target in targets if "/" in target}) > 1


def _meaning_in_words(reading: TypedMeaning, own: Target | None) -> str:
    meant = reading.target or (target_value(own) if own is not None else ANOTHER)
    return ALL_QUEUES if meant == f"@{ALL}" else meant


def _label(action: str, name: str, reading: TypedMeaning) -> str:
    because = f": {reading.reason}" if reading.reason else ""
    return f"{_verb(action)} {name}{because}"


_DOES = {
    "status": "Show",
    "why": "Look in",
    "why queue": "Look at",
    "log": "Show the log of",
    "rules": "Show the rules of",
    "branches": "Show the branches of",
    "stats": "Show the statistics of",
    "freezes": "Show the freezes of",
    "audit": "Show the actions in",
    "subscribe": "Subscribe to",
    "unsubscribe": "Unsubscribe from",
    "extend": "Extend the pause of",
    "takeover": "Take over the pause of",
    "notify": "Notify me of",
    "mute": "Mute it in",
    "unmute": "Unmute it in",
    "remove": "Remove it from",
    "allow": "Let it through in",
    "default": "Default to",
    "board": "Show a board of",
    "subscriptions": "Test subscriptions to",
}
"""In front of the name of a queue, for verbs that nobody says before one."""


def _verb(action: str) -> str:
    return _DOES.get(action, action.capitalize())


def continued(typed: str, target: str) -> str:
    """The typed command, or a question's block with it, with the chosen repository in its place."""
    return with_target(typed.removeprefix(BLOCK_PREFIX), target)


def asked_by(action_id: str, block_id: str) -> str | None:
    """The command that asks a question again; None if the action answers no question."""
    if action_id == controls.CHOOSE or block_id.startswith(BLOCK_PREFIX):
        return block_id.removeprefix(BLOCK_PREFIX)
    return _ASKED_BY.get(action_id)


def answered_elsewhere(typed: str) -> Message:
    """In place of a question of which the person answered another one since."""
    buttons = []
    if typed and not typed.startswith(DIGEST_PREFIX) and ELLIPSIS not in typed:
        buttons.append(blocks.button("Ask again", action_id=controls.RETRY, value=typed))
    said = "You've already answered this question. Nothing was changed here."
    return blocks.post(said, buttons=buttons)


def expired(typed: str, command: str) -> Message:
    """The reply to a person who answered too late."""
    typed = ELLIPSIS if typed.startswith(DIGEST_PREFIX) else typed
    again = code(f"{command} {typed}".strip(), blocks.BLOCK_ID_LIMIT)
    return blocks.sentence(f"This question has expired. Nothing was changed: type {again} again.")
