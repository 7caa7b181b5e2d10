"""Freezes, as cases."""

from dataclasses import replace
from datetime import time, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from bot.acts.asked import Asked, typed_ends
from bot.acts.group_act import GroupAct, GroupOutcome, RepositoryResult
from bot.acts.record import Action, ActResult, AuditRecord, Outcome, SettingChange
from bot.blocks.blocks import Element, button
from bot.blocks.controls import Repeat
from bot.desk import end_questions
from bot.freezes.actions import FREEZE_MOVE, WINDOW_MOVE
from bot.freezes.freeze import Ending, Freeze, Stage, Told
from bot.freezes.outcomes import FreezeOutcome, FreezesAsTheyWere as Was, terms_of
from bot.freezes.texts import (
    calendar as calendar_texts,
    cards as freeze_cards,
    forms as freeze_forms,
    together,
)
from bot.freezes.texts.group_cards import GroupFreezes, frozen_group_card
from bot.kernel.actor import Actor, Origin
from bot.kernel.durations import For, Until, at_instant
from bot.kernel.errors import ActState, FailedAct, Follows
from bot.kernel.groups import ALL, Group, GroupAnswers
from bot.merge_queue.errors import MergeQueueUnavailable
from bot.merge_queue.freezes import ListedFreeze
from tests.support.clock import NOON
from tests.support.make import API, DOCS, SITE, make_act
from tests.support.messages.groups import make_group_act
from tests.support.messages.rendering import Case, Cases, cases_of, later
from tests.support.messages.values import FREEZE, PLANNED_ENTRY, WINDOW_ENTRY

SENT = {
    "id": "6d6f1c0e-0000-4000-8000-000000000000",
    "reason": "release week (by alice via Slack)",
    "start": "2026-07-20T10:00:00",
    "end": "2026-07-20T18:00:00",
    "timezone": "Europe/Paris",
    "matching_conditions": ["base=main"],
    "exclude_conditions": ["label=hotfix"],
}
LISTED = ListedFreeze.model_validate(SENT)
KNOWN = Freeze(SITE, LISTED.id, LISTED, "alice")
ENDLESS = replace(KNOWN, terms=ListedFreeze.model_validate({**SENT, "end": None}))
PLAIN = {**SENT, "matching_conditions": [], "exclude_conditions": []}
NIGHT = replace(KNOWN, terms=ListedFreeze.model_validate(PLAIN))
NO_END = ListedFreeze.model_validate({**PLAIN, "end": None})
LONGER = {**PLAIN, "reason": "database migration", "end": "2026-07-20T20:00:00"}
MIGRATION = Freeze(
    SITE, "6d6f1c0e-0000-4000-8000-000000000001", ListedFreeze.model_validate(LONGER), "bob"
)
SEVERAL = (NIGHT, MIGRATION)
TYPED = Asked("release week", branches=("main",), excepted=("label=hotfix",))
TIMED = replace(TYPED, lasting=For(timedelta(hours=2)), start=Until(NOON.time()))
TERMS = terms_of(TYPED, NOON, ZoneInfo("UTC"))
GROUP = Group("release", (SITE, API))
CARD = replace(KNOWN, by="Ana", told=Told(7, 7, NOON))
OVER = Ending(NOON + timedelta(hours=18))
HALF = FreezeOutcome((KNOWN,), left=(ENDLESS,))
UNFROZEN = make_act(Action.UNFREEZE)


def unknown(action: Action, number: int | None = None) -> FreezeOutcome:
    """One of two freezes is done; the answer about the other was lost."""
    lost = MergeQueueUnavailable("no answer in time")
    lost.act = FailedAct(action, SITE, ActState.UNCERTAIN, number, follows=Follows.HERE)
    return replace(HALF, error=lost)


AGAIN = Repeat("mq:retry", "unfreeze acme/site it is out")
PLAN = replace(
    make_act(Action.PLAN, actor=Actor("rule:window night", "window night")),
    reason="Nightly deployment",
    paused_at=NOON,
    resumes_at=NOON + timedelta(hours=1),
    setting=SettingChange(after="night"),
)
WINDOW_FROZEN = replace(PLAN, action=Action.FREEZE)
WINDOW_PAUSED = replace(PLAN, action=Action.PAUSE)
SKIP = replace(make_act(Action.SKIP), paused_at=NOON)


def unchanged(because: Was, *known: Freeze, ended: AuditRecord | None = None) -> Case:
    return partial(freeze_forms.why_unchanged, SITE, FreezeOutcome(known, because, ended), NOON, 41)


def card(*buttons: Element, **changed: Any) -> Case:
    return partial(freeze_cards.freeze_card, replace(FREEZE, **changed), buttons)


frozen = cases_of(freeze_forms.freeze_post)
confirm = cases_of(freeze_forms.confirm_freeze)
skip_reply = cases_of(freeze_cards.skip_reply)
window_not_skipped = cases_of(freeze_forms.window_not_skipped)


FROZEN_ACT = replace(
    make_group_act(
        RepositoryResult(SITE, GroupOutcome.CHANGED),
        RepositoryResult(API, GroupOutcome.CHANGED),
        RepositoryResult(DOCS, GroupOutcome.ALREADY_PAUSED, who="bob"),
        action=Action.FREEZE,
    ),
    asked=TYPED,
    resumes_at=NOON + timedelta(hours=18),
)
FROZEN_IN_PART = replace(
    FROZEN_ACT,
    results=(
        *FROZEN_ACT.results[:2],
        RepositoryResult(DOCS, GroupOutcome.FAILED, detail="403 forbidden"),
    ),
)
FROZEN_SITE = replace(FREEZE, stage=Stage.IN_FORCE, queued=3)
FROZEN_API = replace(FROZEN_SITE, repository=API)
LONGER_API = replace(
    FROZEN_API,
    terms=FREEZE.terms.model_copy(
        update={"end": (NOON + timedelta(hours=30)).isoformat(), "timezone": None}
    ),
)
ENDED_SITE = replace(
    FROZEN_SITE, stage=Stage.OVER, ending=Ending(NOON + timedelta(hours=9), "Ben", "shipped")
)
ENDED_API = replace(FROZEN_API, stage=Stage.OVER, ending=OVER)
CANCELED_API = replace(FROZEN_API, stage=Stage.OVER, ending=Ending(NOON, "Ben"))
TOGETHER = freeze_cards.FrozenTogether("release", (SITE, API))


def group_card(*made: Freeze | None, act: GroupAct = FROZEN_ACT, is_offered: bool = True) -> Case:
    now = GroupFreezes(act, dict(zip((SITE, API), made, strict=False)))
    return partial(frozen_group_card, now, is_offered=is_offered)


CASES: Cases = {
    "freeze-group-just-frozen": group_card(None, None),
    "freeze-group-just-planned": group_card(
        None,
        None,
        act=replace(FROZEN_ACT, asked=replace(TYPED, start=at_instant(NOON + timedelta(hours=3)))),
    ),
    "freeze-group-in-force": group_card(FROZEN_SITE, FROZEN_API),
    "freeze-group-in-force-in-part": group_card(FROZEN_SITE, FROZEN_API, act=FROZEN_IN_PART),
    "freeze-group-planned": group_card(FREEZE, replace(FREEZE, repository=API)),
    "freeze-group-with-other-ends": group_card(FROZEN_SITE, LONGER_API),
    "freeze-group-without-an-end": group_card(
        replace(FROZEN_SITE, terms=NO_END), replace(FROZEN_API, terms=NO_END)
    ),
    "freeze-group-of-which-one-has-an-end": group_card(
        FROZEN_SITE, replace(FROZEN_API, terms=NO_END)
    ),
    "freeze-group-of-which-one-has-ended": group_card(ENDED_SITE, FROZEN_API),
    "freeze-group-no-longer-offered": group_card(FROZEN_SITE, FROZEN_API, is_offered=False),
    "freeze-group-over": group_card(ENDED_SITE, ENDED_API),
    "freeze-group-over-of-which-one-was-canceled": group_card(ENDED_SITE, CANCELED_API),
    "freeze-group-canceled": group_card(CANCELED_API),
    "freeze-group-of-which-nothing-was-frozen": group_card(act=FROZEN_IN_PART),
    "freeze-group-announced": partial(
        freeze_cards.announced, replace(FREEZE, stage=Stage.ANNOUNCED, queued=12), TOGETHER
    ),
    "freeze-group-begun": partial(freeze_cards.begun, FROZEN_SITE, TOGETHER),
    "freeze-group-ended": partial(
        freeze_cards.freeze_over, ENDED_API, later(together.still_frozen_of, [API]), TOGETHER
    ),
    "freeze-group-of-all-ended": partial(
        freeze_cards.freeze_over, ENDED_API, together=replace(TOGETHER, group=ALL)
    ),
    "freeze-card-with-buttons": partial(
        freeze_cards.freeze_card, CARD, later(freeze_forms.card_controls, CARD)
    ),
    "freeze-planned": card(),
    "freeze-in-force": card(
        button("End now", action_id="x", value="y"), stage=Stage.IN_FORCE, queued=1
    ),
    "freeze-over": card(button("x", action_id="x", value="y"), stage=Stage.OVER, ending=OVER),
    "freeze-removed": card(
        stage=Stage.OVER,
        ending=Ending(NOON + timedelta(hours=4, minutes=5), "Ben", "shipped"),
    ),
    "freeze-canceled": card(stage=Stage.OVER, ending=Ending(NOON, "Ben")),
    "freeze-announced": partial(freeze_cards.announced, replace(FREEZE, stage=Stage.ANNOUNCED)),
    "freeze-begun": partial(freeze_cards.begun, replace(FREEZE, stage=Stage.IN_FORCE)),
    "freeze-ended": partial(
        freeze_cards.freeze_over, replace(FREEZE, stage=Stage.OVER, ending=OVER)
    ),
    "freeze-gone": partial(
        freeze_cards.freeze_over, replace(FREEZE, stage=Stage.OVER, ending=Ending(NOON))
    ),
    "freeze-ended-still-frozen": partial(
        freeze_cards.freeze_over,
        replace(FREEZE, stage=Stage.OVER, ending=OVER),
        later(together.still_frozen, [MIGRATION]),
    ),
    "pause-planned": partial(freeze_cards.planned_pause, PLAN),
    "pause-planned-skipped": partial(freeze_cards.skipped_pause, SKIP),
    "pause-planned-withdrawn": partial(
        freeze_cards.skipped_pause,
        replace(PLAN, where=replace(PLAN.where, origin=Origin.RULE), action=Action.SKIP),
    ),
    "window-not-held": partial(
        freeze_cards.window_not_applied,
        replace(PLAN, action=Action.FREEZE, outcome=Outcome("403 not allowed")),
    ),
    "window-not-held-as-a-pause": partial(
        freeze_cards.window_not_applied, replace(PLAN, action=Action.PAUSE)
    ),
    "skip-reply": skip_reply(SKIP, is_new=True),
    "skip-reply-before": skip_reply(SKIP, is_new=False),
    "skip-reply-over": skip_reply(replace(SKIP, result=ActResult.UNCHANGED), is_new=False),
    "skip-reply-too-late": skip_reply(PLAN, is_new=False),
    "skip-reply-frozen": skip_reply(WINDOW_FROZEN, is_new=False),
    "move-form": partial(
        calendar_texts.move_form, PLANNED_ENTRY, FREEZE_MOVE, "acme/site F1", None
    ),
    "move-form-window": partial(
        calendar_texts.move_form, WINDOW_ENTRY, WINDOW_MOVE, "acme/site night", "C0MERGEQ"
    ),
    "freeze-not-planned-any-more": partial(freeze_forms.gone, SITE),
    "freeze-moved-to-a-start-that-has-passed": partial(freeze_forms.start_passed, SITE),
    "window-moved": partial(freeze_forms.window_moved, KNOWN, NOON),
    "window-moved-once-skipped": window_not_skipped(KNOWN, SKIP, NOON),
    "window-moved-once-frozen": window_not_skipped(
        KNOWN, replace(PLAN, action=Action.FREEZE), NOON
    ),
    "window-moved-once-paused": window_not_skipped(KNOWN, WINDOW_PAUSED, NOON),
    "freeze-not-moved": unchanged(Was.BEGUN, KNOWN),
    "freeze-moved-by-another": unchanged(Was.OTHER_TIMES, KNOWN),
    "frozen": frozen(KNOWN, NOON),
    "frozen-later": frozen(ENDLESS, NOON - timedelta(days=1)),
    "frozen-reply": partial(freeze_forms.frozen_reply, KNOWN, NOON),
    "frozen-reply-beside-another": partial(freeze_forms.frozen_reply, NIGHT, NOON, [MIGRATION]),
    "frozen-reply-beside-one-without-an-end": partial(
        freeze_forms.frozen_reply, NIGHT, NOON, [MIGRATION, replace(NIGHT, terms=NO_END)]
    ),
    "frozen-reply-beside-one-with-conditions": partial(
        freeze_forms.frozen_reply, NIGHT, NOON, [KNOWN]
    ),
    "frozen-reply-planned": partial(freeze_forms.frozen_reply, KNOWN, NOON - timedelta(days=1)),
    "frozen-already": unchanged(Was.FROZEN, KNOWN),
    "frozen-already-planned": partial(
        freeze_forms.why_unchanged,
        SITE,
        FreezeOutcome((KNOWN,), Was.FROZEN),
        NOON - timedelta(days=1),
    ),
    "frozen-only-planned": partial(
        freeze_forms.why_unchanged,
        SITE,
        FreezeOutcome((KNOWN,), Was.ONLY_PLANNED),
        NOON - timedelta(days=1),
    ),
    "freeze-all-in-the-way": partial(freeze_forms.all_in_the_way, [KNOWN, ENDLESS], NOON),
    "freeze-allow-unknown": partial(freeze_forms.allow_unknown, SITE, 99999, "fixes the outage"),
    "freeze-partly-allowed-unknown": partial(
        freeze_forms.partly_allowed,
        41,
        unknown(Action.ALLOW, 41),
        later(lambda: "No answer."),
        AGAIN,
    ),
    "freeze-partly-allowed": partial(
        freeze_forms.partly_allowed, 41, HALF, later(lambda: "the service said no.")
    ),
    "freezes-of-a-group": partial(
        freeze_forms.freezes_of_group,
        GROUP,
        GroupAnswers([(SITE, [KNOWN, ENDLESS]), (API, []), (DOCS, None)], 0, 3),
        NOON,
    ),
    "freezes": partial(freeze_forms.freezes, SITE, [KNOWN, ENDLESS], NOON),
    "freezes-planned": partial(freeze_forms.freezes, SITE, [KNOWN], NOON - timedelta(days=9)),
    "frozen-not-paused": partial(freeze_forms.frozen_not_paused, SITE, [KNOWN], NOON),
    "freezes-none": partial(freeze_forms.freezes, SITE, [], NOON),
    "freezes-several": unchanged(Was.SEVERAL, KNOWN, ENDLESS),
    "freezes-not-offered": partial(freeze_forms.not_offered, SITE, TIMED, "/mq"),
    "not-frozen": unchanged(Was.NOT_FROZEN),
    "not-frozen-by-that-one": partial(
        freeze_forms.why_unchanged,
        SITE,
        FreezeOutcome((), Was.NOT_FROZEN, beside=[MIGRATION]),
        NOON,
    ),
    "not-frozen-any-more": unchanged(Was.NOT_FROZEN, ended=UNFROZEN),
    "unfrozen": partial(freeze_forms.unfrozen, [KNOWN], "bob", "shipped"),
    "freeze-not-yours": partial(freeze_forms.not_your_freeze, KNOWN),
    "unfrozen-reply": partial(freeze_forms.unfrozen_reply, [KNOWN]),
    "unfrozen-reply-still-frozen": partial(freeze_forms.unfrozen_reply, [NIGHT], [MIGRATION]),
    "unfrozen-still-frozen": partial(
        freeze_forms.unfrozen, [NIGHT], "bob", "shipped", [MIGRATION, KNOWN]
    ),
    "freeze-end-changed": partial(freeze_forms.end_changed, KNOWN),
    "freeze-other-end": unchanged(Was.OTHER_END, KNOWN),
    "freeze-no-end": unchanged(Was.OTHER_END, ENDLESS),
    "freeze-exception": partial(freeze_forms.allowed, 41, [KNOWN], "bob", "urgent"),
    "freeze-exception-already": unchanged(Was.EXCEPTED, KNOWN),
    "freeze-confirm": confirm(SITE, TYPED, TERMS, 7, "/mq"),
    "freeze-in-doubt": partial(
        end_questions.which_end,
        SITE,
        Asked("release day 2h"),
        typed_ends(Asked("release day 2h"), NOON, ZoneInfo("Europe/Paris")),
        later(lambda: [freeze_forms.would_wait(7)]),
        is_freeze=True,
    ),
    "freeze-begun-later-in-doubt": partial(
        end_questions.which_end,
        SITE,
        Asked("upgrade for 2h", start=Until(time(17))),
        typed_ends(Asked("upgrade for 2h", start=Until(time(17))), NOON, ZoneInfo("Europe/Paris")),
        later(lambda: [freeze_forms.would_wait(7)]),
        is_freeze=True,
    ),
    "freeze-that-may-begin-then": partial(
        end_questions.which_end,
        SITE,
        Asked("at 5pm release day"),
        typed_ends(Asked("at 5pm release day"), NOON, ZoneInfo("Europe/Paris")),
        later(lambda: [freeze_forms.would_wait(7)]),
        is_freeze=True,
    ),
    "freeze-confirm-group": confirm(
        GROUP, TIMED, replace(TERMS, start=NOON, end=NOON + timedelta(hours=2)), 7, "/mq"
    ),
    "freeze-form": partial(
        freeze_forms.freeze_form,
        SITE,
        TIMED,
        later(lambda: [freeze_forms.would_wait(7)]),
        "C0MERGEQ",
    ),
    "freeze-form-any": partial(freeze_forms.plan_form, [GROUP, SITE], None),
    "freeze-form-group": partial(freeze_forms.freeze_form, GROUP, Asked(), [], None),
    "freeze-form-in-doubt": partial(
        freeze_forms.freeze_form,
        SITE,
        Asked("release until 20:00"),
        [],
        "C0MERGEQ",
        later(
            lambda: end_questions.doubt_in_form(
                Asked("release until 20:00"),
                typed_ends(Asked("release until 20:00"), NOON, ZoneInfo("Europe/Paris")),
                is_freeze=True,
            )
        ),
    ),
    "unfreeze-form": partial(freeze_forms.unfreeze_form, SITE, SITE, "C0MERGEQ"),
    "unfreeze-form-of-several": later(
        lambda: freeze_forms.unfreeze_form(
            SITE,
            SITE,
            "C0MERGEQ",
            freeze_forms.of_which(SEVERAL, NOON),
            freeze_forms.which_freeze(SEVERAL),
        )
    ),
    "freeze-working": partial(freeze_forms.freeze_under_way, "Freezing", SITE),
}
