"""Replies, posts and forms about freezes that people make, change and end."""

from collections.abc import Sequence
from datetime import datetime

from bot.domain.asked import EXCEPTIONS, Asked
from bot.domain.freezes import Freeze, Stage
from bot.domain.freezing import (
    BY_EVENT,
    FreezeOutcome,
    FreezesAsTheyWere,
    FreezeTerms,
    KnownFreeze,
)
from bot.domain.groups import Group, Target, target_value
from bot.domain.message import Block, Message, View
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.domain.windows import is_of_window
from bot.messages import actions, blocks, pause_form, timers
from bot.messages.freezes import MARK, SHOWN, freeze_facts
from bot.messages.groups import name_of, names
from bot.messages.text import (
    NAME_LIMIT,
    clean,
    code,
    escape,
    listed,
    local_time,
    plural,
    quote,
    time_ago,
)

END = "End now…"
BEFORE = frozenset({Stage.PLANNED, Stage.ANNOUNCED})
STAYS_FROZEN = "stays frozen until someone ends it. With an end it ends by itself."

FREEZE, PAUSE = "freeze", "pause"
READING = pause_form.READING
UNREADABLE = "The queue couldn't be read just now; you can still freeze it."
TIMES_HINT = "until 15:00, or from fri 18:00 until mon 08:00, in your own time zone"
LISTED_LIMIT = 500
"""Characters of the fields for branches and exceptions."""


def _by(known: KnownFreeze) -> str:
    return f"by {quote(known.by, NAME_LIMIT)}" if known.by else ""


def _reason(known: KnownFreeze) -> str:
    return quote(known.reason, REASON_LIMIT)


def controls(known: KnownFreeze) -> list[blocks.Element]:
    """*End now…* and *Extend…*, for the freeze as the service knows it."""
    has_end = known.freeze.ends_at is not None
    return _controls(known.repository, known.freeze.id, END, has_end=has_end)


def card_controls(freeze: Freeze) -> list[blocks.Element]:
    """The same for its card."""
    label = "Skip this one…" if freeze.stage in BEFORE and is_of_window(freeze.by) else END
    has_end = freeze.ends_at is not None
    return _controls(freeze.repository, f"{BY_EVENT}{freeze.event_id}", label, has_end=has_end)


def _controls(
    repository: RepositoryName, freeze_id: str, label: str, *, has_end: bool
) -> list[blocks.Element]:
    value, endless = actions.held_value(repository, freeze_id), escape(repository)
    return [
        blocks.button(label, action_id=actions.UNFREEZE, value=value),
        timers.end_menu(value, actions.FREEZE_END, None if has_end else endless, STAYS_FROZEN),
    ]


def frozen(known: KnownFreeze, now: datetime) -> Message:
    """The post in a channel that gets no card of the freeze."""
    word = "Queue frozen" if known.freeze.has_begun(now) else "Freeze planned"
    return blocks.post(
        f"{MARK} *{word}* {escape(known.repository)}: {_reason(known)}",
        _by(known),
        *freeze_facts(known.freeze),
        buttons=controls(known),
    )


def frozen_reply(known: KnownFreeze) -> Message:
    """To the actor; the channel sees more."""
    return _holds(known, "{} is frozen {}. Checks go on.")


def end_changed(known: KnownFreeze) -> Message:
    return _holds(known, "The freeze of {} now holds {}.")


def _holds(known: KnownFreeze, text: str) -> Message:
    facts = ", ".join(filter(None, freeze_facts(known.freeze)))
    return blocks.sentence(f"{MARK} {text.format(escape(known.repository), facts)}")


def freezes(repository: RepositoryName, known: Sequence[KnownFreeze], now: datetime) -> Message:
    """Those in force and to come, each with its buttons."""
    if not known:
        return blocks.sentence(f"{escape(repository)} has no freeze in force or planned.")
    shown = [blocks.section(f"{MARK} *Freezes of {escape(repository)}*")]
    for one in known[:SHOWN]:
        begun = "in force" if one.freeze.has_begun(now) else "planned"
        shown += [
            blocks.section(f"{_reason(one) or 'No reason given'}"),
            blocks.context(begun, _by(one), *freeze_facts(one.freeze)),
            blocks.actions(controls(one)),
        ]
    if known[SHOWN:]:
        shown.append(blocks.context(f"and {len(known) - SHOWN:,} more"))
    return blocks.message(*shown)


def unchanged(
    repository: RepositoryName,
    found: FreezeOutcome,
    now: datetime,
    pull_request: int | None = None,
) -> Message:
    """Why nothing was changed. `pull_request`: the one that was to be let through."""
    name, nothing = escape(repository), "Nothing was changed"
    said = f"{name} isn't frozen. {nothing}"
    match found.because:
        case FreezesAsTheyWere.FROZEN:
            known = found.freezes[0]
            by = f" {_by(known)}" if known.by else ""
            return blocks.post(
                f"{MARK} {name} is already frozen{by}: {_reason(known)}",
                *freeze_facts(known.freeze),
                f"{nothing}.",
                buttons=controls(known),
            )
        case FreezesAsTheyWere.SEVERAL:
            question = blocks.section(f"{name} has several freezes. Which one?")
            return blocks.message(question, *freezes(repository, found.freezes, now).blocks[1:])
        case FreezesAsTheyWere.OTHER_END:
            ends_at = found.freezes[0].freeze.ends_at
            end = f"It ends {local_time(ends_at)}" if ends_at is not None else "It has no end"
            said = f"{nothing}: the end of the freeze of {name} has changed. {end}"
        case FreezesAsTheyWere.EXCEPTED:
            said = f"#{pull_request} is already an exception of the freeze of {name}. {nothing}"
        case FreezesAsTheyWere.NOT_FROZEN | None:
            if found.ended is not None:
                act = found.ended
                why = f": {quote(act.reason, REASON_LIMIT)}" if act.reason else ""
                ended = f"{quote(act.actor.name, NAME_LIMIT)} ended it {time_ago(act.at)}{why}"
                said = f"That freeze of {name} is over. {ended}. {nothing}"
    return blocks.sentence(f"{said}.")


def unfrozen(ended: Sequence[KnownFreeze], by: str, reason: str) -> Message:
    """The post about freezes of one repository that somebody ended."""
    why = listed([_reason(one) for one in ended if one.reason], "; ")
    name = escape(ended[0].repository)
    return blocks.post(
        f":arrow_forward: *Freeze ended* {name}: {quote(reason, REASON_LIMIT)}",
        f"by {quote(by, NAME_LIMIT)}",
        f"it was frozen for: {why}" if why else "",
    )


def unfrozen_reply(ended: Sequence[KnownFreeze]) -> Message:
    return blocks.sentence(
        f":arrow_forward: The freeze of {escape(ended[0].repository)} has ended."
    )


def allowed(pull_request: int, known: Sequence[KnownFreeze], by: str, reason: str) -> Message:
    """The post about a pull request that may merge during a freeze."""
    held_for = listed([_reason(one) for one in known if one.reason], "; ")
    return blocks.post(
        f"{MARK} *Let through* #{pull_request} of {escape(known[0].repository)}: "
        f"{quote(reason, REASON_LIMIT)}",
        f"by {quote(by, NAME_LIMIT)}",
        f"despite the freeze for: {held_for}" if held_for else "",
    )


def confirm(
    where: Target, asked: Asked, terms: FreezeTerms, queued: int | None, command: str
) -> Message:
    """The question before a freeze that is long, or of several repositories."""
    end = f"until {local_time(terms.end)}" if terms.end else "until somebody ends it"
    start = f"from {local_time(terms.start)} " if terms.start else ""
    waits = "" if queued is None else f" {plural(queued, 'queued pull request')} would wait."
    timed, buttons = asked.with_end, [_confirmed("Freeze", actions.FREEZE_CONFIRMED, where, asked)]
    if timed is not None:
        label = f"Freeze {timers.ending(timed)}"
        buttons.insert(0, _confirmed(label, actions.FREEZE_FOR, where, timed))
    return blocks.post(
        f"{MARK} *Freeze {named(where)} {start}{end}?*{waits} Checks go on, and merging waits.",
        f"Reason: {quote(asked.reason, REASON_LIMIT)}",
        names(where.repositories) if isinstance(where, Group) else "",
        quote(asked.limits, NAME_LIMIT),
        f"`{escape(command)} freeze now …` doesn't ask",
        buttons=[*buttons, blocks.button("Don't freeze", action_id=actions.DISMISS, value="no")],
    )


def _confirmed(label: str, action_id: str, where: Target, asked: Asked) -> blocks.Element:
    return blocks.button(
        clean(label, blocks.BUTTON_LIMIT),
        action_id=action_id,
        value=f"freeze now {_typed(where)} {asked.written}",
        style="primary",
    )


def not_offered(where: Target, asked: Asked, command: str) -> Message:
    """Where the service has no freezes: a pause instead, which the button runs."""
    instead = f"pause {_typed(where)} {Asked(asked.reason, asked.lasting).written}".rstrip()
    return blocks.post(
        f"{MARK} The merge queue service doesn't offer freezes. A pause stops merging too, and "
        "the running checks start over after it.",
        code(f"{command} {instead}", REASON_LIMIT),
        buttons=[blocks.button("Pause instead", action_id=actions.RETRY, value=instead)],
    )


def _typed(where: Target) -> str:
    return where.mention if isinstance(where, Group) else where


def impact(queued: int) -> str:
    return f"{plural(queued, 'pull request')} in the queue; checks go on, and merging waits."


def form(
    target: Target,
    asked: Asked,
    notes: Sequence[str],
    channel_id: str | None,
) -> View:
    """Asks what to stop first; `asked`: what was typed already.

    Stop checks too, or only merging? The other choice shows the other form.
    """
    only = blocks.option("Only merging: checks go on", FREEZE)
    both = blocks.option("Checks too: pause the queue", PAUSE)
    hold: blocks.Element = {
        "type": "radio_buttons",
        "action_id": actions.HOLD,
        "options": [only, both],
        "initial_option": only,
    }
    label = "Stop checks too, or only merging?"
    times = Asked(start=asked.start, lasting=asked.lasting).written or None
    shown = [
        blocks.section(f"*{named(target)}*"),
        blocks.input_field(actions.HOLD_BLOCK, label, hold, dispatch_action=True),
        *(blocks.context(note) for note in notes),
        pause_form.reason_input(
            "Shown to everyone who looks at the queue, with your name.",
            asked.reason,
            "Cutting release 4.2",
        ),
        timers.lasting_input("Stays frozen until somebody ends it"),
        timers.end_input("Or from when, until when", times, hint=TIMES_HINT),
        _words(actions.BRANCH_BLOCK, "Only these branches", "main", asked.branches),
        _words(actions.EXCEPT_BLOCK, "Except", f"hotfix @alice #41: {EXCEPTIONS}", asked.excepted),
    ]
    carried = {"target": target_value(target), "channel": channel_id}
    title, submit = "Freeze a merge queue", "Freeze"
    return blocks.modal(actions.FREEZE_VIEW, title, shown, carried, submit=submit)


def named(target: Target) -> str:
    """Escaped."""
    return name_of(target.name) if isinstance(target, Group) else escape(target)


def _words(block_id: str, label: str, example: str, typed: Sequence[str]) -> Block:
    words = blocks.text_input(
        block_id, max_length=LISTED_LIMIT, example=example, typed=" ".join(typed)
    )
    return blocks.input_field(block_id, label, words, optional=True)


def unfreeze_form(what: str, target: str, channel_id: str | None) -> View:
    """Asks why the freeze of `what` (escaped) ends, as the service does.

    `target`: the freeze, the repository or the group that the form is for.
    """
    shown = [
        blocks.section(f"*{what}*"),
        pause_form.reason_input(
            "The service keeps it, with your name.", example="Release 4.2 is out"
        ),
    ]
    carried, submit = {"target": target, "channel": channel_id}, "End freeze"
    return blocks.modal(actions.UNFREEZE_VIEW, "End a freeze", shown, carried, submit=submit)


def working_modal(doing: str, target: Target) -> View:
    text = f":hourglass_flowing_sand: {doing} {named(target)} …"
    return pause_form.result_modal(blocks.sentence(text), None)


def words_of(block_id: str, typed: str) -> list[str]:
    return [f"{block_id}:{one}" for one in typed.replace(",", " ").split()]
