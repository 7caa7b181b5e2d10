"""Posts about repositories that join or leave a selection which a channel follows."""

from collections.abc import Sequence

from bot.acts.permission import RULE
from bot.acts.record import Action, AuditRecord
from bot.blocks import blocks, controls
from bot.blocks.message import Message
from bot.blocks.text import NAME_LIMIT, clean, listed, quote
from bot.channels.texts.subscriptions import (
    NAME_SHOWN,
    NAMES,
    NAMES_LENGTH,
    OVERVIEW_LENGTH,
    all_of,
)
from bot.kernel.groups import ALL, mention_of

WORDS_SHOWN = 600


def subscriptions_changed(acts: Sequence[AuditRecord]) -> Message:
    """To the channel: what was subscribed or ended at one moment, and why.

    `acts`: at least one, all of the same action and selection.
    """
    first = acts[0]
    selection = mention_of(first.group.name or ALL)
    is_configured = first.actor.user_id.startswith(RULE)
    asked_for = ("Asked for by", quote(first.actor.name, NAME_LIMIT))
    if is_configured:
        asked_for = ("From", "the configuration (MQBOT_CHANNELS)")
    if first.action is Action.UNSUBSCRIBE:
        return blocks.message(blocks.section(_left(acts, selection)), *blocks.facts(asked_for))
    names = [act.repository for act in acts]
    shown = [
        blocks.section(f":bell: {_joined(names, selection)}"),
        *blocks.facts(("Subscription", _what_changed(first)), asked_for),
    ]
    if is_configured:
        return blocks.message(*shown)
    if len(names) > len(controls.LEAVE_OUT):
        hint = "To leave one out, unsubscribe this channel from it by name."
        return blocks.message(*shown, blocks.context(hint))
    buttons = [
        blocks.button(
            clean(f"Leave {name} out", blocks.BUTTON_LIMIT),
            action_id=action_id,
            value=f"unsubscribe {name}",
        )
        for action_id, name in zip(controls.LEAVE_OUT, names, strict=False)
    ]
    return blocks.message(*shown, blocks.actions(buttons))


def _joined(names: Sequence[str], selection: str) -> str:
    """Which are new, where, and what follows from that."""
    new = _repositories(names)
    where = "" if selection == ALL else f" in {quote(selection, NAME_SHOWN)}"
    follows = f"This channel follows {all_of(selection)}"
    if len(names) == 1:
        return f"*{new}* is new{where}. {follows}, so I've subscribed it to this one too."
    return f"*{new}* are new{where}. {follows}, so I've subscribed it to these too."


def _left(acts: Sequence[AuditRecord], selection: str) -> str:
    of = quote(selection, NAME_SHOWN)
    ended = [act.repository for act in acts if not act.setting.after]
    sentences = []
    if len(ended) == 1:
        no_longer = "This channel is no longer subscribed to it."
        sentences.append(f":no_bell: *{_repositories(ended)}* left {of}. {no_longer}")
    elif ended:
        no_longer = "This channel is no longer subscribed to them."
        sentences.append(f":no_bell: *{_repositories(ended)}* left {of}. {no_longer}")
    sentences += [
        f":bell: *{quote(act.repository, NAME_SHOWN)}* left {of}. This channel stays subscribed to "
        f"it: {_what_changed(act)}"
        for act in acts
        if act.setting.after
    ]
    return listed(sentences, "\n", length=OVERVIEW_LENGTH)


def _repositories(repositories: Sequence[str]) -> str:
    names = [quote(repository, NAME_SHOWN) for repository in repositories]
    return listed(names, length=NAMES_LENGTH, most=NAMES)


def _what_changed(act: AuditRecord) -> str:
    return quote(act.setting.after or "", WORDS_SHOWN)
