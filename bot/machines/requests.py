"""What machines send: the body of each request."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bot.desk.options import BRANCH_LIMIT
from bot.kernel.storable import storable
from bot.merge_queue.window import LARGEST_PAGE, PULL_REQUEST_END

EVENTS_WITHOUT_A_NUMBER = 20
"""Events of one answer, unless the request says how many."""

_STORABLE = AfterValidator(storable)
SentText = Annotated[str, _STORABLE]
"""JSON can hold characters that no database stores."""


SentName = Annotated[SentText, AfterValidator(str.strip)]
"""A shell's variable often ends with a line break."""


class MachineRequest(BaseModel):
    """Any request; a field that it doesn't have, or of another type, is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    target: SentName
    """`owner/name`, `@group`, `owner/*` or `all`; of `allow`, `why` and `log`, one repository."""


class PauseRequest(MachineRequest):
    """Pauses a queue."""

    reason: SentText = ""
    """Why, in 1 to 255 characters."""
    end: SentText = ""
    """`45m` or `until 15:00`, in UTC unless it names a zone; empty: until someone resumes it."""


class ResumeRequest(MachineRequest):
    """Resumes a queue that this machine paused."""

    any: bool = False
    """Resume somebody else's pause too."""


class FreezeRequest(MachineRequest):
    """Keeps pull requests from merging while their checks go on."""

    reason: SentText = ""
    """Why, in 1 to 255 characters."""
    end: SentText = ""
    """As of a pause; empty: until someone ends it."""
    exceptions: tuple[SentText, ...] = ()
    """What may merge all the same: labels, `@author` or `#pull-request`."""
    branches: tuple[SentText, ...] = ()
    """The base branches that it holds; empty for all."""


class UnfreezeRequest(MachineRequest):
    """Ends a freeze that this machine made."""

    reason: SentText = ""
    """Why, in 1 to 255 characters."""
    freeze: SentText = ""
    """The id of the freeze to end; empty for this machine's only one."""
    any: bool = False
    """End somebody else's freeze too."""


class AllowRequest(MachineRequest):
    """Lets one pull request through the freezes in force."""

    pull_request: int = Field(ge=1, lt=PULL_REQUEST_END)
    """The number of the pull request, such as 41."""
    reason: SentText = ""
    """Why, in 1 to 255 characters."""


class StatusRequest(MachineRequest):
    """Asks for the live queue."""


class WhyRequest(MachineRequest):
    """Asks why a queue doesn't merge, or what happened to one pull request."""

    pull_request: int | None = Field(default=None, ge=1, lt=PULL_REQUEST_END)
    """Leave it out to ask about the queue."""


class LogRequest(MachineRequest):
    """Asks for events of the log, newest first."""

    since: SentText = "1d"
    """How far back: a length such as `2h` or `7d`, at most 30 days."""
    pull_request: int | None = Field(default=None, ge=1, lt=PULL_REQUEST_END)
    """Only its events."""
    branch: Annotated[str, Field(min_length=1, max_length=BRANCH_LIMIT), _STORABLE] | None = None
    """Only events of this base branch."""
    events: int = Field(default=EVENTS_WITHOUT_A_NUMBER, ge=1, le=LARGEST_PAGE)
    """How many at most."""
    cursor: Annotated[str, Field(max_length=2000), _STORABLE] | None = None
    """The `older` of an answer to the same request, for the events before it."""
