"""The request to confirm what a person or machine asked for; it says what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.acts.confirmation import ConfirmationRequest
from bot.acts.reason import REASON_LIMIT
from bot.acts.record import Action, AuditRecord
from bot.acts.request_state import RequestState
from bot.blocks import blocks, controls
from bot.blocks.groups import name_of, names
from bot.blocks.message import Block, Colour, Message
from bot.blocks.text import (
    NAME_LIMIT,
    duration,
    escape,
    listed,
    literal,
    local_time,
    mention,
    mention_group,
    quote,
)
from bot.freezes import actions as freeze_actions
from bot.groups.actions import APPROVE, REFUSE
from bot.kernel.durations import For
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import DrawnLine
from bot.pauses.texts import group_acts
from bot.pauses.texts.card import resume_button

FREEZE_ID_LIMIT = 200
"""With a longer id of a freeze, the person is asked which freeze they mean."""

MENTIONED = 10
"""The most people and groups that a request mentions."""


@dataclass(frozen=True, slots=True)
class Sentences:
    """What a request says in each of its states, about one kind of act."""

    open: str
    confirmed: str
    ended: str  #: what it was about has ended, by a person
    over: str  #: nobody knows by whom
    expired: str
    since: str  #: the label of when the pause or the freeze began


_SENTENCES_ABOUT: Mapping[Action, Sentences] = {
    Action.RESUME: Sentences(
        open="*{asker} wants to resume {where}. Someone else has to confirm.*",
        confirmed="*{where} has resumed*: {asker} asked for it, and {by} confirmed.",
        ended=(
            "{asker} wanted to resume {where}. Nothing is left to confirm: {by} ended that pause."
        ),
        over="{asker} wanted to resume {where}. Nothing is left to confirm: that pause is over.",
        expired="{asker} wanted to resume {where}. Nobody confirmed it, and nothing changed.",
        since="Paused since",
    ),
    Action.UNFREEZE: Sentences(
        open="*{asker} wants to end the freeze of {where}. Someone else has to confirm.*",
        confirmed="*The freeze of {where} has ended*: {asker} asked for it, and {by} confirmed.",
        ended=(
            "{asker} wanted to end the freeze of {where}. Nothing is left to confirm: {by} ended "
            "that freeze."
        ),
        over=(
            "{asker} wanted to end the freeze of {where}. Nothing is left to confirm: that freeze "
            "is over."
        ),
        expired=(
            "{asker} wanted to end the freeze of {where}. Nobody confirmed it, and nothing changed."
        ),
        since="Frozen since",
    ),
    Action.ALLOW: Sentences(
        open=(
            "*{asker} wants to let {pull_request} of {where} through the freeze. Someone else has "
            "to confirm.*"
        ),
        confirmed=(
            "*{pull_request} of {where} may merge during the freeze*: {asker} asked for it, and "
            "{by} confirmed."
        ),
        ended=(
            "{asker} wanted to let {pull_request} of {where} through the freeze. Nothing is left "
            "to confirm: {by} ended that freeze."
        ),
        over=(
            "{asker} wanted to let {pull_request} of {where} through the freeze. Nothing is left "
            "to confirm: that freeze is over."
        ),
        expired=(
            "{asker} wanted to let {pull_request} of {where} through the freeze. Nobody confirmed "
            "it, and nothing changed."
        ),
        since="Frozen since",
    ),
}


_PROPOSED: Mapping[Action, str] = {
    Action.PAUSE: "*{asker} proposes to pause {where}.*",
    Action.RESUME: "*{asker} proposes to resume {where}.*",
    Action.FREEZE: "*{asker} proposes to freeze {where}.*",
    Action.UNFREEZE: "*{asker} proposes to end the freeze of {where}.*",
    Action.ALLOW: "*{asker} proposes to let {pull_request} of {where} through the freeze.*",
}
_WAS_PROPOSED: Mapping[Action, str] = {
    Action.PAUSE: "{asker} proposed to pause {where}.",
    Action.RESUME: "{asker} proposed to resume {where}.",
    Action.FREEZE: "{asker} proposed to freeze {where}.",
    Action.UNFREEZE: "{asker} proposed to end the freeze of {where}.",
    Action.ALLOW: "{asker} proposed to let {pull_request} of {where} through the freeze.",
}
_ANSWERED: Mapping[RequestState, str] = {
    RequestState.CONFIRMED: "*{by} approved it.*",
    RequestState.REFUSED: "*{by} refused it*, and nothing changed.",
    RequestState.UNDER_WAY: "{by} approved it, and I'm carrying it out.",
    RequestState.OVER: "Nothing is left to approve.",
    RequestState.EXPIRED: "Nobody answered in time, and nothing changed.",
}


def request(request: ConfirmationRequest) -> Message:
    """Open, it mentions those who may confirm; else it says how it ended, without a button."""
    if request.asked[0].is_proposal:
        return _proposal(request)
    sentences = _SENTENCES_ABOUT[request.asked[0].action]
    match request.state:
        case RequestState.OPEN:
            return _open(request, sentences)
        case RequestState.CONFIRMED:
            return _ended(request, _said(sentences.confirmed, request))
        case RequestState.OVER:
            ended = sentences.ended if request.by is not None else sentences.over
            return _ended(request, _said(ended, request))
        case _:
            return _ended(request, _said(sentences.expired, request))


def left_out(unread: Sequence[RepositoryName], why: str) -> Message:
    """To a machine, about repositories of which it proposes nothing; `why` is escaped."""
    return blocks.sentence(
        f":warning: The proposal leaves out {names(unread)}: I couldn't read the freezes there. "
        f"{why}"
    )


def _ended(request: ConfirmationRequest, sentence: str) -> Message:
    """What became of it, and of the repositories of which something else became."""
    is_done = request.state is RequestState.CONFIRMED
    icon = ":white_check_mark:" if is_done else ":heavy_minus_sign:"
    said = blocks.message(blocks.section(f"{icon} {sentence}"), *_others(request))
    return blocks.coloured(Colour.GREEN, said) if is_done else said


_BECAME_OF_OTHERS: Mapping[RequestState, str] = {
    RequestState.OPEN: "Still open: {where}",
    RequestState.UNDER_WAY: "I'm carrying it out: {where}",
    RequestState.CONFIRMED: "Done: {where}",
    RequestState.REFUSED: "Refused: {where}",
    RequestState.EXPIRED: "Nobody answered in time: {where}",
    RequestState.OVER: "Nothing was left to do: {where}",
}


def _others(request: ConfirmationRequest) -> list[Block]:
    """What became of repositories that are not in the state of the whole."""
    said: list[str] = []
    for state, sentence in _BECAME_OF_OTHERS.items():
        found = request.repositories(state)
        if found and state is not request.state:
            said.append(sentence.format(where=names(found)))
    return [blocks.context(*said)] if said else []


def _proposal(request: ConfirmationRequest) -> Message:
    """What a machine proposes, with its reason as it gave it, or what became of that."""
    first = request.asked[0]
    if request.state is not RequestState.OPEN:
        was = _said(_WAS_PROPOSED[first.action], request)
        return _ended(request, f"{was} {_said(_answered(request), request)}")
    headline, *rest = waiting(request)
    shown = blocks.message(headline, blocks.section(_who_can_approve(request)), *rest)
    return blocks.coloured(Colour.YELLOW, shown)


def _answered(request: ConfirmationRequest) -> str:
    if request.state is RequestState.CONFIRMED and request.first is not None:
        return "*{first} and {by} approved it.*"
    return _ANSWERED[request.state]


def _who_can_approve(request: ConfirmationRequest) -> str:
    who = _mentions(request.asked)
    if who:
        return f"{who} can approve."
    confirmations = [act.confirmation for act in request.asked]
    if any(known is not None and known.excludes_runners for known in confirmations):
        machine = quote(request.asked[0].actor.name, NAME_LIMIT)
        return f"Any full member can approve, except the people who run {machine}."
    return "Any full member can approve."


def waiting(request: ConfirmationRequest) -> list[Block]:
    """An open proposal, what somebody has to know before they answer it, and the buttons."""
    first = request.asked[0]
    value = str(first.record_id)
    what = f"proposal {value}: {first.action} {first.group.name or first.repository}"
    buttons = [
        blocks.button(
            "Approve", action_id=APPROVE, value=value, style="primary", spoken=f"Approve {what}"
        ),
        blocks.button("Refuse", action_id=REFUSE, value=value, spoken=f"Refuse {what}"),
    ]
    return [
        blocks.section(f":hourglass_flowing_sand: {_said(_PROPOSED[first.action], request)}"),
        *_approved_by_one(request),
        *blocks.facts(*_proposed_facts(request)),
        *_others(request),
        blocks.actions(buttons, block_id=f"proposal:{value}"),
    ]


def _approved_by_one(request: ConfirmationRequest) -> list[Block]:
    """That the proposal takes two people, once the first of them has approved it."""
    if request.first is None:
        return []
    sentence = "{first} approved it. Someone else has to approve it too."
    return [blocks.section(_said(sentence, request))]


def _proposed_facts(request: ConfirmationRequest) -> list[tuple[str, str]]:
    first = request.asked[0]
    paused_because = first.previous.reason if request.group is None else None
    return [
        ("The machine's reason", _quoted(first.reason)),
        ("Limits", quote(_limits_in_words(first), REASON_LIMIT)),
        ("Ends", _end_in_words(first)),
        ("Paused because", _quoted(paused_because)),
        ("Open until", local_time(request.ends_at)),
    ]


def _quoted(reason: str | None) -> str:
    return f"“{literal(reason, REASON_LIMIT)}”" if reason else ""


def _limits_in_words(proposal: AuditRecord) -> str:
    """Of a freeze: what it holds, and what it lets through."""
    confirmation = proposal.confirmation
    proposed = confirmation.proposed if confirmation is not None else None
    return proposed.limits if proposed is not None else ""


def _end_in_words(proposal: AuditRecord) -> str:
    """A length counts from the approval."""
    confirmation = proposal.confirmation
    proposed = confirmation.proposed if confirmation is not None else None
    if proposed is not None and isinstance(proposed.lasting, For):
        return f"{duration(proposed.lasting.length)} after the approval"
    return local_time(proposal.resumes_at) if proposal.resumes_at is not None else ""


def _open(request: ConfirmationRequest, sentences: Sentences) -> Message:
    first = request.asked[0]
    who = _mentions(request.asked)
    asker = quote(first.actor.name, NAME_LIMIT)
    facts = []
    if request.group is None and first.previous.reason:
        since = local_time(first.previous.paused_at) if first.previous.paused_at else ""
        facts.append((sentences.since, since))
        facts.append(("Reason", literal(first.previous.reason, REASON_LIMIT)))
    if first.reason:
        facts.append((f"{asker}'s reason", literal(first.reason, REASON_LIMIT)))
    facts.append(("Open until", local_time(request.ends_at)))
    asked = blocks.message(
        blocks.section(f":hourglass_flowing_sand: {_said(sentences.open, request)}"),
        blocks.section(f"{who} can confirm." if who else "Any other full member can confirm."),
        *blocks.facts(*facts),
        *_others(request),
        blocks.actions([_button(request)]),
    )
    return blocks.coloured(Colour.YELLOW, asked)


def _said(sentence: str, request: ConfirmationRequest) -> str:
    first = request.asked[0]
    where = escape(first.repository)
    if request.group is not None:
        where = f"{name_of(request.group)} ({names(request.repositories(request.state))})"
    return sentence.format(
        asker=quote(first.actor.name, NAME_LIMIT),
        by=quote(request.by.name, NAME_LIMIT) if request.by is not None else "",
        first=quote(request.first.name, NAME_LIMIT) if request.first is not None else "",
        where=where,
        pull_request=quote(first.setting.after or "", NAME_LIMIT),
    )


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


def _button(request: ConfirmationRequest) -> blocks.Element:
    """Does the same as the first person asked for."""
    first = request.asked[0]
    group = request.group
    confirmation = first.confirmation
    if first.action is Action.RESUME:
        if group is not None:
            return group_acts.resume_group_button(group)
        since = first.previous.paused_at or first.at
        return resume_button(first.repository, DrawnLine(since), first.previous.reason or "")
    if first.action is Action.UNFREEZE:
        freezes = confirmation.subject.split() if confirmation is not None else []
        only = freezes[0] if len(freezes) == 1 and len(freezes[0]) <= FREEZE_ID_LIMIT else ""
        value = controls.control_value(first.repository, only)
        if group is not None:
            value = f"@{group}"
        return blocks.button("End freeze…", action_id=freeze_actions.UNFREEZE, value=value)
    typed = f"allow {first.repository} {first.setting.after} {first.reason or ''}".rstrip()
    value = typed[: blocks.VALUE_LIMIT]
    return blocks.button("Let it through", action_id=controls.RETRY, value=value)
