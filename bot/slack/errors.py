"""What Slack's side raises."""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum

from bot.kernel.errors import BotError, UserError


class NeedsClick(UserError):
    """A form was asked for in a message: Slack opens forms only after a command or a click."""


class Refusal(StrEnum):
    """What Slack refuses: the message, edits, the thread, channel, recipient or token."""

    MESSAGE = "message"
    THREAD = "thread"
    EDIT = "edit"
    PERSON = "person"
    CHANNEL = "channel"
    CREDENTIAL = "credential"


CREDENTIAL_CODES = frozenset(
    {
        "access_denied",
        "account_inactive",
        "ekm_access_denied",
        "enterprise_is_restricted",
        "invalid_auth",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_authed",
        "org_login_required",
        "team_access_not_granted",
        "team_not_found",
        "token_expired",
        "token_revoked",
        "two_factor_setup_required",
    }
)
"""Slack refuses the app's token, or what the token may do: nothing is wrong with the channel."""


@dataclass(eq=False)
class PostError(BotError):
    """A message may not have been posted; `code` says why, in Slack's words or ours."""

    code: str
    refusal: Refusal | None = None  #: what Slack refuses, if it does
    _: KW_ONLY
    retry_after: float | None = None  #: the seconds to wait, if Slack says so
    workspace_wide: bool = False  #: the wait concerns every channel (a rate limit of the method)


class PostRefused(PostError):
    """Certainly not posted; the same post would be refused again until `refusal` changes."""


class PostPostponed(PostError):
    """Certainly not posted; retry later."""


class PostInDoubt(PostError):
    """The request may have been carried out: the answer was lost or unreadable."""


@dataclass(eq=False)
class SlackRefused(BotError):
    """Slack refused a reply, a form or a tab, or did not answer; `code` says why."""

    code: str


@dataclass(eq=False)
class CutOff(BotError):
    """The bot is stopping and can't wait for the person's request to finish."""

    is_told_later: bool = False  #: the next process tells what became of it
