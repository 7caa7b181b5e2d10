"""Posts about repositories that join or leave a selection which a channel follows."""

from collections.abc import Sequence

from bot.acts.permission import RULE
from bot.acts.record import Action, AuditRecord
from bot.blocks import blocks, controls
from bot.blocks.message import Message
from bot.blocks.text import NAME_LIMIT, by_count, clean, listed, quote
from bot.channels.texts.subscriptions import (
    NAME_SHOWN,
    NAMES,
    NAMES_LENGTH,
    OVERVIEW_LENGTH,
    all_of,
)
from bot.kernel.groups import ALL, mention_of

WORDS_SHOWN = 600


def changed(acts: Sequence[AuditRecord]) -> Message:
    """To the channel: what was subscribed or ended at one moment, and why.

    `acts`: at least one, all of the same action and selection.
    """
    first = acts[0]
    selection = mention_of(first.group.name or ALL)
    is_configured = first.actor.user_id.startswith(RULE)
    whose = f"Asked for by {quote(first.actor.name, NAME_LIMIT)}"
    if is_configured:
        whose = "From the configuration (MQBOT_CHANNELS)"
    if first.action is Action.UNSUBSCRIBE:
        return blocks.post(_left(acts, selection), whose)
    names = [act.repository for act in acts]
    where = "" if selection == ALL else f" in {quote(selection, NAME_SHOWN)}"
    joined = by_count(len(names), " is new", " are new")
    follows = f"This channel follows {all_of(selection)}"
    now = by_count(len(names), "so it is now subscribed to it", "so it is now subscribed to them")
    said = f":bell: {_names(names)}{joined}{where}. {follows}, {now}: {_words(first)}"
    if is_configured:
        return blocks.post(said, whose)
    buttons = [
        blocks.button(
            clean(label, blocks.BUTTON_LIMIT),
            action_id=action_id,
            value=f"unsubscribe {name}",
        )
        for action_id, name, label in zip(controls.LEAVE_OUT, names, _labels(names), strict=False)
        if len(names) <= len(controls.LEAVE_OUT)
    ]
    hint = "" if buttons else "To leave one out, unsubscribe this channel from it by name"
    return blocks.post(said, whose, hint, buttons=buttons)


def _labels(names: Sequence[str]) -> Sequence[str]:
    return [f"Leave {name} out" for name in names] if names[1:] else ["Leave it out"]


def _left(acts: Sequence[AuditRecord], selection: str) -> str:
    of = quote(selection, NAME_SHOWN)
    ended = [act.repository for act in acts if not act.setting.after]
    sentences = []
    if ended:
        no_longer = by_count(
            len(ended),
            "This channel is no longer subscribed to it.",
            "This channel is no longer subscribed to them.",
        )
        sentences.append(f":no_bell: {_names(ended)} left {of}. {no_longer}")
    sentences += [
        f":bell: {quote(act.repository, NAME_SHOWN)} left {of}. This channel stays subscribed to "
        f"it: {_words(act)}"
        for act in acts
        if act.setting.after
    ]
    return listed(sentences, "\n", length=OVERVIEW_LENGTH)


def _names(repositories: Sequence[str]) -> str:
    names = [quote(repository, NAME_SHOWN) for repository in repositories]
    return listed(names, length=NAMES_LENGTH, most=NAMES)


def _words(act: AuditRecord) -> str:
    return quote(act.setting.after or "", WORDS_SHOWN)
