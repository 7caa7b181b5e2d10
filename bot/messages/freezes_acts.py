"""Replies and posts about freezes that people make, change and end, and the questions before."""

from collections.abc import Sequence
from datetime import datetime

from bot.domain.audit import AuditRecord
from bot.domain.durations import written
from bot.domain.freezes import Freeze, Stage
from bot.domain.freezing import BY_EVENT, Allowed, KnownFreeze
from bot.domain.groups import Group, Target
from bot.domain.message import Message
from bot.domain.pauses import REASON_LIMIT
from bot.domain.repository import RepositoryName
from bot.domain.typed_freezes import TypedFreeze, Window
from bot.domain.windows import is_of_window
from bot.messages import actions, blocks, timers
from bot.messages.freezes import freeze_facts
from bot.messages.freezes_form import named
from bot.messages.groups.names import names
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

MARK = ":snowflake:"
END = "End now…"
BEFORE = frozenset({Stage.PLANNED, Stage.ANNOUNCED})
SHOWN = 3
STAYS_FROZEN = "stays frozen until someone ends it. With an end it ends by itself."


def _by(known: KnownFreeze) -> str:
    return f"by {quote(known.by, NAME_LIMIT)}" if known.by else ""


def _reason(known: KnownFreeze) -> str:
    return quote(known.reason, REASON_LIMIT)


def controls(known: KnownFreeze) -> list[blocks.Element]:
    """*End now…* and *Extend…*, for the freeze as the service knows it."""
    target = actions.FreezeTarget(known.repository, known.freeze.id)
    return freeze_controls(target, has_end=known.freeze.ends_at is not None)


def card_controls(freeze: Freeze) -> list[blocks.Element]:
    """The same for its card."""
    target = actions.FreezeTarget(freeze.repository, f"{BY_EVENT}{freeze.event_id}")
    is_skipped = freeze.stage in BEFORE and is_of_window(freeze.by)
    label = "Skip this one…" if is_skipped else END
    return freeze_controls(target, has_end=freeze.ends_at is not None, label=label)


def freeze_controls(
    target: actions.FreezeTarget, *, has_end: bool, label: str = END
) -> list[blocks.Element]:
    value = actions.freeze_value(target)
    endless = None if has_end else escape(target.repository)
    return [
        blocks.button(label, action_id=actions.UNFREEZE, value=value),
        timers.end_menu(value, actions.FREEZE_END, endless, STAYS_FROZEN),
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
    facts = ", ".join(filter(None, freeze_facts(known.freeze)))
    return blocks.sentence(f"{MARK} {escape(known.repository)} is frozen {facts}. Checks go on.")


def already_frozen(known: KnownFreeze) -> Message:
    by = f" {_by(known)}" if known.by else ""
    return blocks.post(
        f"{MARK} {escape(known.repository)} is already frozen{by}: {_reason(known)}",
        *freeze_facts(known.freeze),
        "Nothing was changed.",
        buttons=controls(known),
    )


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


def which_freeze(
    repository: RepositoryName, known: Sequence[KnownFreeze], now: datetime
) -> Message:
    """To a person who ends a freeze where there are several."""
    shown = freezes(repository, known, now)
    question = blocks.section(f"{escape(repository)} has several freezes. Which one?")
    return blocks.message(question, *shown.blocks[1:])


def not_frozen(repository: RepositoryName, ended: AuditRecord | None) -> Message:
    """The reply where there is no such freeze. `ended`: the act that ended one last."""
    if ended is None:
        return blocks.sentence(f"{escape(repository)} isn't frozen. Nothing was changed.")
    name = quote(ended.actor.name, NAME_LIMIT)
    said = f": {quote(ended.reason, REASON_LIMIT)}" if ended.reason else ""
    return blocks.sentence(
        f"That freeze of {escape(repository)} is over. "
        f"{name} ended it {time_ago(ended.at)}{said}. Nothing was changed."
    )


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


def end_changed(known: KnownFreeze) -> Message:
    facts = ", ".join(filter(None, freeze_facts(known.freeze)))
    return blocks.sentence(f"{MARK} The freeze of {escape(known.repository)} now holds {facts}.")


def other_end(known: KnownFreeze) -> Message:
    ends_at = known.freeze.ends_at
    now = f"It ends {local_time(ends_at)}" if ends_at is not None else "It has no end"
    return blocks.sentence(
        f"Nothing was changed: the end of the freeze of {escape(known.repository)} has changed. "
        f"{now}."
    )


def allowed(pull_request: int, done: Allowed, by: str, reason: str) -> Message:
    """The post about a pull request that may merge during a freeze."""
    first = done.freezes[0]
    held_for = listed([_reason(one) for one in done.freezes if one.reason], "; ")
    return blocks.post(
        f"{MARK} *Let through* #{pull_request} of {escape(first.repository)}: "
        f"{quote(reason, REASON_LIMIT)}",
        f"by {quote(by, NAME_LIMIT)}",
        f"despite the freeze for: {held_for}" if held_for else "",
    )


def allowed_already(pull_request: int, repository: RepositoryName) -> Message:
    return blocks.sentence(
        f"#{pull_request} is already an exception of the freeze of {escape(repository)}. "
        "Nothing was changed."
    )


def confirm(
    where: Target, typed: TypedFreeze, window: Window, queued: int | None, command: str
) -> Message:
    """The question before a freeze that is long, or of several repositories."""
    end = f"until {local_time(window.end)}" if window.end else "until somebody ends it"
    start = f"from {local_time(window.start)} " if window.start else ""
    waits = "" if queued is None else f" {plural(queued, 'queued pull request')} would wait."
    queues = names(where.repositories) if isinstance(where, Group) else ""
    timed = typed.with_end
    buttons = [_confirmed("Freeze", actions.FREEZE_CONFIRMED, where, typed)]
    if timed is not None and timed.lasting is not None:
        label = f"Freeze {timers.said(timers.spelled(timed.lasting))}"
        buttons.insert(0, _confirmed(label, actions.FREEZE_FOR, where, timed))
    return blocks.post(
        f"{MARK} *Freeze {named(where)} {start}{end}?*{waits} Checks go on, and merging waits.",
        f"Reason: {quote(typed.reason, REASON_LIMIT)}",
        queues,
        quote(typed.limits, NAME_LIMIT),
        f"`{escape(command)} freeze now …` doesn't ask",
        buttons=[*buttons, blocks.button("Don't freeze", action_id=actions.DISMISS, value="no")],
    )


def _confirmed(label: str, action_id: str, where: Target, typed: TypedFreeze) -> blocks.Element:
    place = where.mention if isinstance(where, Group) else where
    return blocks.button(
        clean(label, blocks.BUTTON_LIMIT),
        action_id=action_id,
        value=f"freeze now {place} {typed.written}",
        style="primary",
    )


def not_offered(where: Target, typed: TypedFreeze, command: str) -> Message:
    """Where the service has no freezes: a pause instead, which the button runs."""
    place = where.mention if isinstance(where, Group) else where
    lasting = written(typed.lasting) if typed.lasting is not None else ""
    instead = " ".join(filter(None, ["pause", place, lasting, typed.reason]))
    return blocks.post(
        f"{MARK} The merge queue service doesn't offer freezes. A pause stops merging too, and "
        "the running checks start over after it.",
        code(f"{command} {instead}", REASON_LIMIT),
        buttons=[blocks.button("Pause instead", action_id=actions.RETRY, value=instead)],
    )
