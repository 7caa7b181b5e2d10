"""Requests to a second person, and what became of them, as cases."""

from dataclasses import replace

from bot.acts.confirmation import Request, RequestState
from bot.acts.group_act import GroupOutcome, RepositoryResult
from bot.acts.record import Action, ActResult, AuditRecord, Confirmation, SettingChange
from bot.groups import confirmations as group_confirmations
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

CASES: Cases = {
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
