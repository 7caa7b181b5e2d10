"""The request to confirm what one person asked for; it says what became of it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from bot.acts.confirmation import Request, RequestState
from bot.acts.reason import REASON_LIMIT
from bot.acts.record import Action, AuditRecord
from bot.blocks import blocks, controls
from bot.blocks.groups import name_of, names
from bot.blocks.message import Message
from bot.blocks.text import NAME_LIMIT, escape, listed, local_time, mention, mention_group, quote
from bot.freezes import actions as freeze_actions
from bot.pauses.texts import group_acts
from bot.pauses.texts.card import resume_button

CONFIRMATION_LASTS = timedelta(hours=1)
FREEZE_ID_LIMIT = 200
"""With a longer id of a freeze, the person is asked which freeze they mean."""

MENTIONED = 10
"""The most people and groups that a request mentions."""

_WISHES: Mapping[Action, str] = {
    Action.RESUME: "resume {where}",
    Action.UNFREEZE: "end the freeze of {where}",
    Action.ALLOW: "let {pull_request} of {where} through the freeze",
}

_DONE: Mapping[Action, str] = {
    Action.RESUME: "{where} has resumed",
    Action.UNFREEZE: "The freeze of {where} has ended",
    Action.ALLOW: "{pull_request} of {where} may merge during the freeze",
}


def request(request: Request) -> Message:
    """Open, it mentions those who may confirm; else it says how it ended, without a button."""
    first = request.asked[0]
    asker = quote(first.actor.name, NAME_LIMIT)
    wish = _said(_WISHES, request)
    by = quote(request.by.name, NAME_LIMIT) if request.by is not None else ""
    match request.state:
        case RequestState.OPEN:
            return _open(request, asker, wish)
        case RequestState.CONFIRMED:
            done = _said(_DONE, request)
            return blocks.post(
                f":white_check_mark: *{done}*: {asker} asked for it, and {by} confirmed."
            )
        case RequestState.OVER:
            stop = "pause" if first.action is Action.RESUME else "freeze"
            ended = f"{by} ended that {stop}" if by else f"that {stop} is over"
            said = f"{asker} wanted to {wish}. Nothing is left to confirm: {ended}."
            return blocks.post(f":heavy_minus_sign: {said}")
        case RequestState.EXPIRED:
            said = f"{asker} wanted to {wish}. Nobody confirmed it, and nothing changed."
            return blocks.post(f":heavy_minus_sign: {said}")


def _open(request: Request, asker: str, wish: str) -> Message:
    first = request.asked[0]
    who = _mentions(request.asked)
    others = f"{who} can confirm." if who else "Any other full member can confirm."
    facts = []
    if request.group_act is None and first.previous_reason:
        word = "paused" if first.action is Action.RESUME else "frozen"
        since = f" since {local_time(first.previous_paused_at)}" if first.previous_paused_at else ""
        facts.append(f"{word}{since}: {quote(first.previous_reason, REASON_LIMIT)}")
    if first.reason:
        facts.append(f"{asker}'s reason: {quote(first.reason, REASON_LIMIT)}")
    facts.append(f"open until {local_time(first.at + CONFIRMATION_LASTS)}")
    return blocks.post(
        f":hourglass_flowing_sand: *{asker} wants to {wish}. Someone else has to confirm.*",
        *facts,
        details=[others],
        buttons=[_button(request)],
    )


def _said(words: Mapping[Action, str], request: Request) -> str:
    first = request.asked[0]
    where = escape(first.repository)
    if request.group_act is not None:
        parts = names([act.repository for act in request.asked])
        where = f"{name_of(request.group_act.group)} ({parts})"
    number = quote(first.setting.after or "", NAME_LIMIT)
    return words[first.action].format(where=where, pull_request=number)


def _mentions(asked: Sequence[AuditRecord]) -> str:
    found = dict.fromkeys(
        allowed
        for act in asked
        if act.confirmation is not None
        for allowed in act.confirmation.may_confirm
        if allowed != act.actor.user_id
    )
    said = [
        mention_group(allowed) if allowed.startswith("S") else mention(allowed) for allowed in found
    ]
    return listed(said, most=MENTIONED)


def _button(request: Request) -> blocks.Element:
    """Does the same as the first person asked for."""
    first = request.asked[0]
    group_act = request.group_act
    confirmation = first.confirmation
    if first.action is Action.RESUME:
        if group_act is not None:
            return group_acts.resume_button(group_act.group)
        since = first.previous_paused_at or first.at
        return resume_button(first.repository, since, first.previous_reason or "")
    if first.action is Action.UNFREEZE:
        freezes = confirmation.subject.split() if confirmation is not None else []
        only = freezes[0] if len(freezes) == 1 and len(freezes[0]) <= FREEZE_ID_LIMIT else ""
        value = controls.held_value(first.repository, only)
        if group_act is not None:
            value = f"@{group_act.group}"
        return blocks.button("End freeze…", action_id=freeze_actions.UNFREEZE, value=value)
    typed = f"allow {first.repository} {first.setting.after} {first.reason or ''}".rstrip()
    value = typed[: blocks.VALUE_LIMIT]
    return blocks.button("Let it through", action_id=controls.RETRY, value=value)
