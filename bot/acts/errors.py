"""Why an act is refused."""

from dataclasses import dataclass

from typing_extensions import override

from bot.acts.permission import Right, WhoCan
from bot.acts.request_state import RequestState
from bot.kernel.errors import UserError
from bot.slack.person import Denied


@dataclass(eq=False)
class QueueBusy(UserError):
    """Another action on this queue did not finish in time; this one was not carried out."""

    repository: str


@dataclass(eq=False)
class SecondPersonNeeded(UserError):
    """The policy keeps one person alone from changing somebody else's pause or freeze."""

    repository: str
    by: str | None  #: who paused or froze, if known
    is_asked: bool  #: a second person may now do the same; otherwise nobody else can change it so
    is_frozen: bool = False
    is_approval: bool = False  #: a machine's proposal asks the second person

    @override
    def __str__(self) -> str:
        return "needs a second person"


@dataclass(eq=False)
class ProposalClosed(UserError):
    """What a machine proposed can't be approved or refused any more."""

    machine: str
    state: RequestState
    by: str | None  #: who answered it, if somebody did

    @override
    def __str__(self) -> str:
        return f"the proposal is {self.state}"


@dataclass(eq=False)
class OwnProposal(UserError):
    """The person runs the machine, and the policy asks for a second person."""

    machine: str


@dataclass(eq=False)
class TooManyProposals(UserError):
    """The policy lets the machine have no more proposals open at a time."""

    machine: str
    most: int


@dataclass(eq=False)
class NobodyToApprove(UserError):
    """No channel would show the proposal."""

    repository: str
    is_about_freezes: bool


@dataclass(eq=False)
class PermissionDenied(UserError):
    """The person may not do this; `who_can` says who may."""

    right: Right
    denied: Denied
    who_can: WhoCan
    #: the login that would give them the right if an operator had assigned it
    claimed_login: str | None = None

    @override
    def __str__(self) -> str:
        code = f" ({self.denied.code})" if self.denied.code is not None else ""
        return f"{self.right.value}: {self.denied.reason.value}{code}"


@dataclass(eq=False)
class InvalidReason(UserError):
    """A pause reason of `length` characters: blank, or over the limit."""

    length: int


@dataclass(eq=False)
class InvalidCondition(UserError):
    """A freeze can't be limited to that branch, or have that exception; `needs` says what can."""

    word: str
    needs: str
