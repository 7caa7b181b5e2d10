"""Freezes, as cases."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from bot.domain.asked import Asked
from bot.domain.audit import Action, Actor, AuditRecord
from bot.domain.durations import For, Until
from bot.domain.freezes import Freeze, Stage
from bot.domain.freezing import (
    FreezeOutcome,
    FreezesAsTheyWere as Was,
    KnownFreeze,
    ScheduledFreeze,
    terms_of,
)
from bot.domain.groups import Group
from bot.messages import freezes, freezing
from bot.messages.blocks import Element, button
from tests.support.clock import NOON
from tests.support.make import API, SITE, make_act
from tests.support.messages.rendering import Case, Cases, cases_of, later
from tests.support.messages.values import FREEZE

SENT = {
    "id": "6d6f1c0e-0000-4000-8000-000000000000",
    "reason": "release week (by alice via Slack)",
    "start": "2026-07-20T10:00:00",
    "end": "2026-07-20T18:00:00",
    "timezone": "Europe/Paris",
    "matching_conditions": ["base=main"],
    "exclude_conditions": ["label=hotfix"],
}
KNOWN = KnownFreeze(SITE, ScheduledFreeze.model_validate(SENT), "alice", "release week")
ENDLESS = replace(KNOWN, freeze=ScheduledFreeze.model_validate({**SENT, "end": None}))
TYPED = Asked("release week", branches=("main",), excepted=("label=hotfix",))
TIMED = replace(TYPED, lasting=For(timedelta(hours=2)), start=Until(NOON.time()))
TERMS = terms_of(TYPED, NOON, ZoneInfo("UTC"))
GROUP = Group("release", (SITE, API))
CARD = Freeze(SITE, 7, 7, NOON, KNOWN.freeze, "Ana", NOON, None)
UNFROZEN = make_act(Action.UNFREEZE)
PLAN = replace(
    make_act(Action.PLAN, actor=Actor("rule:window night", "window night")),
    reason="Nightly deployment",
    paused_at=NOON,
    resumes_at=NOON + timedelta(hours=1),
    setting_after="night",
)
SKIP = make_act(Action.SKIP)


def unchanged(because: Was, *known: KnownFreeze, ended: AuditRecord | None = None) -> Case:
    return partial(freezing.unchanged, SITE, FreezeOutcome(known, because, ended), NOON, 41)


def card(*buttons: Element, **changed: Any) -> Case:
    return partial(freezes.card, replace(FREEZE, **changed), buttons)


frozen = cases_of(freezing.frozen)
confirm = cases_of(freezing.confirm)
skip_reply = cases_of(freezes.skip_reply)

CASES: Cases = {
    "freeze-card-with-buttons": partial(freezes.card, CARD, later(freezing.card_controls, CARD)),
    "freeze-planned": card(),
    "freeze-in-force": card(
        button("End now", action_id="x", value="y"), stage=Stage.IN_FORCE, queued=1
    ),
    "freeze-over": card(
        button("x", action_id="x", value="y"), stage=Stage.OVER, over_at=FREEZE.ends_at
    ),
    "freeze-removed": card(
        stage=Stage.OVER,
        over_at=NOON + timedelta(hours=4, minutes=5),
        removed_by="Ben",
        removed_for="shipped",
    ),
    "freeze-canceled": card(stage=Stage.OVER, over_at=NOON, removed_by="Ben"),
    "freeze-announced": partial(freezes.announced, replace(FREEZE, stage=Stage.ANNOUNCED)),
    "freeze-begun": partial(freezes.begun, replace(FREEZE, stage=Stage.IN_FORCE)),
    "freeze-ended": partial(
        freezes.over, replace(FREEZE, stage=Stage.OVER, over_at=FREEZE.ends_at)
    ),
    "pause-planned": partial(freezes.planned_pause, PLAN),
    "pause-planned-skipped": partial(freezes.skipped_pause, SKIP),
    "skip-reply": skip_reply(SKIP, is_new=True),
    "skip-reply-before": skip_reply(SKIP, is_new=False),
    "skip-reply-too-late": skip_reply(PLAN, is_new=False),
    "frozen": frozen(KNOWN, NOON),
    "frozen-later": frozen(ENDLESS, NOON - timedelta(days=1)),
    "frozen-reply": partial(freezing.frozen_reply, KNOWN),
    "frozen-already": unchanged(Was.FROZEN, KNOWN),
    "freezes": partial(freezing.freezes, SITE, [KNOWN, ENDLESS], NOON),
    "freezes-none": partial(freezing.freezes, SITE, [], NOON),
    "freezes-several": unchanged(Was.SEVERAL, KNOWN, ENDLESS),
    "freezes-not-offered": partial(freezing.not_offered, SITE, TIMED, "/mq"),
    "not-frozen": unchanged(Was.NOT_FROZEN),
    "not-frozen-any-more": unchanged(Was.NOT_FROZEN, ended=UNFROZEN),
    "unfrozen": partial(freezing.unfrozen, [KNOWN], "bob", "shipped"),
    "unfrozen-reply": partial(freezing.unfrozen_reply, [KNOWN]),
    "freeze-end-changed": partial(freezing.end_changed, KNOWN),
    "freeze-other-end": unchanged(Was.OTHER_END, KNOWN),
    "freeze-no-end": unchanged(Was.OTHER_END, ENDLESS),
    "freeze-exception": partial(freezing.allowed, 41, [KNOWN], "bob", "urgent"),
    "freeze-exception-already": unchanged(Was.EXCEPTED, KNOWN),
    "freeze-confirm": confirm(SITE, TYPED, TERMS, 7, "/mq"),
    "freeze-confirm-for": confirm(
        SITE, replace(TYPED, reason="release day 2h"), TERMS, None, "/mq"
    ),
    "freeze-confirm-group": confirm(
        GROUP, TIMED, replace(TERMS, start=NOON, end=NOON + timedelta(hours=2)), 7, "/mq"
    ),
    "freeze-form": partial(
        freezing.form, SITE, TIMED, later(lambda: [freezing.impact(7)]), "C0MERGEQ"
    ),
    "freeze-form-group": partial(freezing.form, GROUP, Asked(), [], None),
    "unfreeze-form": partial(freezing.unfreeze_form, SITE, SITE, "C0MERGEQ"),
    "freeze-working": partial(freezing.working_modal, "Freezing", SITE),
}
