"""Requests to a second person, and what became of them, as cases."""

from dataclasses import replace
from datetime import timedelta

from bot.acts.asked import Asked
from bot.acts.confirmation import Request
from bot.acts.group_act import GroupOutcome, RepositoryResult
from bot.acts.record import Action, ActResult, AuditRecord, Confirmation, SettingChange
from bot.acts.request_state import RequestState
from bot.groups import confirmations as group_confirmations
from bot.kernel.actor import Actor
from bot.kernel.durations import For
from tests.support.clock import NOON
from tests.support.make import API, BOB, SITE, make_act
from tests.support.messages.groups import make_group_act
from tests.support.messages.rendering import Cases, cases_of

request = cases_of(group_confirmations.request)

MANY = ("U0ALICE", "U0CAROL", "S0RELEASERS")


def asked(action: Action, confirmation: Confirmation) -> AuditRecord:
    act = make_act(action, ActResult.ASKED, previous_reason="CI is down", previous_paused_at=NOON)
    return replace(act, confirmation=confirmation)


RESUME = asked(Action.RESUME, Confirmation("", MANY))
UNFREEZE = replace(asked(Action.UNFREEZE, Confirmation("f1", MANY)), reason="4.2 is out")
UNFREEZE_TWO = replace(UNFREEZE, confirmation=Confirmation("f1 f2"))
ALLOW = replace(
    asked(Action.ALLOW, Confirmation("f1 #41", MANY)),
    reason="fixes the outage",
    setting=SettingChange(after="#41"),
)
GROUP = make_group_act(
    RepositoryResult(SITE, GroupOutcome.ASKED),
    RepositoryResult(API, GroupOutcome.ASKED),
    action=Action.RESUME,
)
PARTS = (RESUME, replace(RESUME, repository=API))

CI = Actor("machine:ci", "ci", None)


def proposed(action: Action, asked: Asked, previous_reason: str | None = None) -> AuditRecord:
    """What a machine proposes, with a reason that would ping everybody."""
    act = make_act(action, ActResult.ASKED, actor=CI, previous_reason=previous_reason)
    act = replace(act, reason="<!channel> main is red" if asked.reason else None)
    ends_at = NOON + timedelta(hours=1)
    return replace(act, confirmation=Confirmation("", MANY, proposed=asked, ends_at=ends_at))


PAUSE = proposed(Action.PAUSE, Asked("main is red", For(timedelta(minutes=45))))
FREEZE = replace(
    proposed(Action.FREEZE, Asked("main is red", excepted=("label=fix",))),
    resumes_at=NOON + timedelta(hours=2),
)
RESUME_PROPOSED = proposed(Action.RESUME, Asked(), previous_reason="CI is down")
UNFREEZE_PROPOSED = proposed(Action.UNFREEZE, Asked("main is green"))
ALLOW_PROPOSED = replace(
    proposed(Action.ALLOW, Asked("fixes main")), setting=SettingChange(after="#41")
)

CASES: Cases = {
    "proposal-to-pause": request(Request([PAUSE], RequestState.OPEN)),
    "proposal-to-freeze": request(Request([FREEZE], RequestState.OPEN)),
    "proposal-to-resume": request(Request([RESUME_PROPOSED], RequestState.OPEN)),
    "proposal-to-unfreeze": request(Request([UNFREEZE_PROPOSED], RequestState.OPEN)),
    "proposal-to-allow": request(Request([ALLOW_PROPOSED], RequestState.OPEN)),
    "proposal-approved": request(Request([PAUSE], RequestState.CONFIRMED, by=BOB)),
    "proposal-refused": request(Request([FREEZE], RequestState.REFUSED, by=BOB)),
    "proposal-under-way": request(Request([RESUME_PROPOSED], RequestState.UNDER_WAY, by=BOB)),
    "proposal-over": request(Request([UNFREEZE_PROPOSED], RequestState.OVER)),
    "proposal-expired": request(Request([ALLOW_PROPOSED], RequestState.EXPIRED)),
    "confirmation-open": request(Request([RESUME], RequestState.OPEN)),
    "confirmation-of-anybody": request(
        Request([replace(RESUME, confirmation=Confirmation(""))], RequestState.OPEN)
    ),
    "confirmation-given": request(Request([RESUME], RequestState.CONFIRMED, by=BOB)),
    "confirmation-over": request(Request([RESUME], RequestState.OVER, by=BOB)),
    "confirmation-over-by-nobody": request(Request([RESUME], RequestState.OVER)),
    "confirmation-expired": request(Request([RESUME], RequestState.EXPIRED)),
    "confirmation-of-a-group": request(Request(PARTS, RequestState.OPEN, GROUP)),
    "confirmation-of-a-group-given": request(Request(PARTS, RequestState.CONFIRMED, GROUP, BOB)),
    "confirmation-of-an-unfreeze": request(Request([UNFREEZE], RequestState.OPEN)),
    "confirmation-of-two-freezes": request(Request([UNFREEZE_TWO], RequestState.OPEN)),
    "confirmation-of-an-unfreeze-over": request(Request([UNFREEZE], RequestState.OVER, by=BOB)),
    "confirmation-of-a-pull-request": request(Request([ALLOW], RequestState.OPEN)),
    "confirmation-of-a-pull-request-given": request(
        Request([ALLOW], RequestState.CONFIRMED, by=BOB)
    ),
}
