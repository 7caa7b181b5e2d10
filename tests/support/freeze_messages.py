"""Every message about freezes that people make, with outside text wherever it can occur."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from bot.domain.audit import Action, Actor
from bot.domain.durations import For, Until
from bot.domain.freezes import Freeze
from bot.domain.freezing import Allowed, KnownFreeze, ScheduledFreeze
from bot.domain.groups import Group
from bot.domain.message import Message, View
from bot.domain.repository import RepositoryName
from bot.domain.typed_freezes import AT_MOST, WORD_LIMIT, TypedFreeze, Window
from bot.messages import freezes, freezes_acts, freezes_form
from tests.support.clock import NOON
from tests.support.make import SITE, make_act


def messages_of_freezes(text: str, name: RepositoryName) -> Mapping[str, Message | View]:
    """By a name of its own each."""
    sent = {
        "id": "6d6f1c0e-0000-4000-8000-000000000000",
        "reason": text,
        "start": "2026-07-20T10:00:00",
        "end": "2026-07-20T18:00:00",
        "timezone": "Europe/Paris",
        "matching_conditions": [text] * 5,
        "exclude_conditions": [text] * 5,
    }
    known = KnownFreeze(name, ScheduledFreeze.model_validate(sent), text, text[:255])
    endless = replace(known, freeze=ScheduledFreeze.model_validate({**sent, "end": None}))
    word = text.replace(" ", "-")[:WORD_LIMIT]
    typed = TypedFreeze(
        text[:255],
        branches=(word,) * AT_MOST,
        excepted=(f"label={word}"[:WORD_LIMIT],) * AT_MOST,
    )
    timed = replace(typed, lasting=For(timedelta(hours=2)), start=Until(NOON.time()))
    group = Group("release", (SITE, name) * 9)
    ended = make_act(action=Action.UNFREEZE, actor=Actor("U1", text), reason=text)
    window = Window(NOON, NOON + timedelta(hours=2))
    through = Allowed([known] * 9, is_new=True)
    card = Freeze(name, 7, 7, NOON, known.freeze, text, NOON, None)
    return {
        "freeze card with buttons": freezes.card(card, freezes_acts.card_controls(card)),
        "frozen": freezes_acts.frozen(known, NOON),
        "freeze planned": freezes_acts.frozen(endless, NOON - timedelta(days=1)),
        "frozen, to the actor": freezes_acts.frozen_reply(known),
        "already frozen": freezes_acts.already_frozen(known),
        "freezes": freezes_acts.freezes(name, [known] * 9, NOON),
        "no freezes": freezes_acts.freezes(name, [], NOON),
        "which freeze": freezes_acts.which_freeze(name, [known, endless], NOON),
        "not frozen": freezes_acts.not_frozen(name, None),
        "freeze is over": freezes_acts.not_frozen(name, ended),
        "unfrozen": freezes_acts.unfrozen([known] * 9, text, text[:255]),
        "unfrozen, to the actor": freezes_acts.unfrozen_reply([known]),
        "end of a freeze changed": freezes_acts.end_changed(known),
        "other end of a freeze": freezes_acts.other_end(known),
        "no end of a freeze": freezes_acts.other_end(endless),
        "let through": freezes_acts.allowed(41, through, text, text[:255]),
        "let through already": freezes_acts.allowed_already(41, name),
        "freeze?": freezes_acts.confirm(name, typed, Window(), 7, "/mq"),
        "freeze for?": freezes_acts.confirm(
            name, replace(typed, reason="release day 2h"), Window(), None, "/mq"
        ),
        "freeze a group?": freezes_acts.confirm(group, timed, window, 7, "/mq"),
        "freezes not offered": freezes_acts.not_offered(name, timed, "/mq"),
        "freeze form": freezes_form.form(name, timed, [freezes_form.impact(7)], "C0MERGEQ"),
        "freeze form of a group": freezes_form.form(group, TypedFreeze(), ["x"], None),
        "unfreeze form": freezes_form.unfreeze_form(name, name, "C0MERGEQ"),
        "freezing": freezes_form.working_modal("Freezing", name),
    }
