"""Requests to a second person, and what became of them, as cases."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from bot.acts.asked import Asked
from bot.acts.confirmation import ConfirmationRequest, RequestOutcome
from bot.acts.record import (
    Action,
    ActResult,
    AuditRecord,
    Confirmation,
    PartOfGroup,
    SettingChange,
)
from bot.acts.request_state import RequestState
from bot.blocks.message import Message
from bot.desk.explain import sentence_of
from bot.groups import confirmations as group_confirmations
from bot.kernel.actor import Actor
from bot.kernel.durations import For
from bot.kernel.repository import RepositoryName
from bot.merge_queue.errors import MergeQueueUnavailable
from tests.support.clock import NOON
from tests.support.make import ALICE, API, BOB, make_act
from tests.support.messages.rendering import Cases, cases_of

request = cases_of(group_confirmations.request)


def _left_out(unread: Sequence[RepositoryName], error: MergeQueueUnavailable) -> Message:
    return group_confirmations.left_out(unread, sentence_of(error, "mqbot"))


left_out = cases_of(_left_out)

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
GROUP = PartOfGroup("release")
OF_GROUP = replace(RESUME, group=GROUP)
PARTS = (OF_GROUP, replace(OF_GROUP, repository=API))

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
NOT_FOR_ITS_RUNNERS = replace(
    PAUSE, confirmation=Confirmation("", proposed=Asked("main is red"), excludes_runners=True)
)
OF_GROUP_PROPOSED = replace(PAUSE, group=GROUP)
GROUP_PROPOSED = (OF_GROUP_PROPOSED, replace(OF_GROUP_PROPOSED, repository=API))


def became(
    parts: Sequence[AuditRecord], state: RequestState, by: Actor | None = None
) -> ConfirmationRequest:
    """The request once the same has become of all its parts."""
    return ConfirmationRequest(parts, [RequestOutcome(state, by) for _ in parts])


SITE_DONE = [RequestOutcome(RequestState.CONFIRMED, BOB), RequestOutcome(RequestState.OPEN)]

CASES: Cases = {
    "proposal-to-pause": request(ConfirmationRequest.opened([PAUSE])),
    "proposal-to-freeze": request(ConfirmationRequest.opened([FREEZE])),
    "proposal-to-resume": request(ConfirmationRequest.opened([RESUME_PROPOSED])),
    "proposal-to-unfreeze": request(ConfirmationRequest.opened([UNFREEZE_PROPOSED])),
    "proposal-to-allow": request(ConfirmationRequest.opened([ALLOW_PROPOSED])),
    "proposal-not-for-those-who-run-it": request(ConfirmationRequest.opened([NOT_FOR_ITS_RUNNERS])),
    "proposal-approved": request(became([PAUSE], RequestState.CONFIRMED, BOB)),
    "proposal-refused": request(became([FREEZE], RequestState.REFUSED, BOB)),
    "proposal-under-way": request(became([RESUME_PROPOSED], RequestState.UNDER_WAY, BOB)),
    "proposal-over": request(became([UNFREEZE_PROPOSED], RequestState.OVER)),
    "proposal-expired": request(became([ALLOW_PROPOSED], RequestState.EXPIRED)),
    "proposal-for-a-group": request(ConfirmationRequest.opened(GROUP_PROPOSED)),
    "proposal-for-a-group-partly-approved": request(ConfirmationRequest(GROUP_PROPOSED, SITE_DONE)),
    "proposal-for-a-group-partly-expired": request(
        ConfirmationRequest(GROUP_PROPOSED, SITE_DONE).expired()
    ),
    "proposal-leaves-out": left_out([API], MergeQueueUnavailable("down")),
    "proposal-approved-by-the-first-of-two": request(
        ConfirmationRequest([RESUME_PROPOSED], [RequestOutcome(RequestState.OPEN, first=ALICE)])
    ),
    "proposal-approved-by-two": request(
        ConfirmationRequest(
            [RESUME_PROPOSED], [RequestOutcome(RequestState.CONFIRMED, BOB, first=ALICE)]
        )
    ),
    "confirmation-open": request(ConfirmationRequest.opened([RESUME])),
    "confirmation-of-anybody": request(
        ConfirmationRequest.opened([replace(RESUME, confirmation=Confirmation(""))])
    ),
    "confirmation-given": request(became([RESUME], RequestState.CONFIRMED, BOB)),
    "confirmation-over": request(became([RESUME], RequestState.OVER, BOB)),
    "confirmation-over-by-nobody": request(became([RESUME], RequestState.OVER)),
    "confirmation-expired": request(became([RESUME], RequestState.EXPIRED)),
    "confirmation-of-a-group": request(ConfirmationRequest.opened(PARTS)),
    "confirmation-of-a-group-given": request(became(PARTS, RequestState.CONFIRMED, BOB)),
    "confirmation-of-an-unfreeze": request(ConfirmationRequest.opened([UNFREEZE])),
    "confirmation-of-two-freezes": request(ConfirmationRequest.opened([UNFREEZE_TWO])),
    "confirmation-of-an-unfreeze-over": request(became([UNFREEZE], RequestState.OVER, BOB)),
    "confirmation-of-a-pull-request": request(ConfirmationRequest.opened([ALLOW])),
    "confirmation-of-a-pull-request-given": request(became([ALLOW], RequestState.CONFIRMED, BOB)),
}
