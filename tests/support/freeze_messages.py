"""Every message about freezes that people make, with outside text wherever it can occur."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

from bot.domain.audit import Action, Actor, AuditRecord
from bot.domain.durations import For, Until
from bot.domain.freezes import Freeze
from bot.domain.freezing import (
    AT_MOST,
    WORD_LIMIT,
    FreezesAsTheyWere as Was,
    FreezesUnchanged,
    KnownFreeze,
    ScheduledFreeze,
    TypedFreeze,
)
from bot.domain.groups import Group
from bot.domain.message import Message, View
from bot.domain.repository import RepositoryName
from bot.messages import freezes, freezing
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
    endless_terms = typed.terms(NOON, ZoneInfo("UTC"))
    window = replace(endless_terms, start=NOON, end=NOON + timedelta(hours=2))

    def unchanged(because: Was, *freezes: KnownFreeze, ended: AuditRecord | None = None) -> Message:
        return freezing.unchanged(name, FreezesUnchanged(because, freezes, ended), NOON, 41)

    card = Freeze(name, 7, 7, NOON, known.freeze, text, NOON, None)
    return {
        "freeze card with buttons": freezes.card(card, freezing.card_controls(card)),
        "frozen": freezing.frozen(known, NOON),
        "freeze planned": freezing.frozen(endless, NOON - timedelta(days=1)),
        "frozen, to the actor": freezing.frozen_reply(known),
        "already frozen": unchanged(Was.FROZEN, known),
        "freezes": freezing.freezes(name, [known] * 9, NOON),
        "no freezes": freezing.freezes(name, [], NOON),
        "which freeze": unchanged(Was.SEVERAL, known, endless),
        "not frozen": unchanged(Was.NOT_FROZEN),
        "freeze is over": unchanged(Was.NOT_FROZEN, ended=ended),
        "unfrozen": freezing.unfrozen([known] * 9, text, text[:255]),
        "unfrozen, to the actor": freezing.unfrozen_reply([known]),
        "end of a freeze changed": freezing.end_changed(known),
        "other end of a freeze": unchanged(Was.OTHER_END, known),
        "no end of a freeze": unchanged(Was.OTHER_END, endless),
        "let through": freezing.allowed(41, [known] * 9, text, text[:255]),
        "let through already": unchanged(Was.EXCEPTED, known),
        "freeze?": freezing.confirm(name, typed, endless_terms, 7, "/mq"),
        "freeze for?": freezing.confirm(
            name, replace(typed, reason="release day 2h"), endless_terms, None, "/mq"
        ),
        "freeze a group?": freezing.confirm(group, timed, window, 7, "/mq"),
        "freezes not offered": freezing.not_offered(name, timed, "/mq"),
        "freeze form": freezing.form(name, timed, [freezing.impact(7)], "C0MERGEQ"),
        "freeze form of a group": freezing.form(group, TypedFreeze(), ["x"], None),
        "unfreeze form": freezing.unfreeze_form(name, name, "C0MERGEQ"),
        "freezing": freezing.working_modal("Freezing", name),
    }
