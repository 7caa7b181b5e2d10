"""Reads the failures of Web API calls."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aiohttp import ClientConnectorError, ClientError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.slack.errors import (
    CREDENTIAL_CODES,
    PostError,
    PostInDoubt,
    PostPostponed,
    PostRefused,
    Refusal,
)

logger = logging.getLogger(__name__)

FAILURES = (SlackApiError, ClientError, TimeoutError)
"""The exceptions of a Web API call."""

UNREADABLE = "unreadable_answer"
"""Our code for an answer with status 200 that isn't Slack's, or that says too little."""

LONGEST_RETRY_AFTER = 300.0
"""Slack counts by the minute, so a longer wait is a mistake."""

RATE_LIMITED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})

THREAD_CODES = frozenset(
    {"cannot_reply_to_message", "restricted_action_thread_locked", "thread_not_found"}
)
"""The thread is gone, or takes no replies; the channel itself takes messages."""

TOKEN_CODES = frozenset(
    {
        "account_inactive",
        "invalid_auth",
        "not_allowed_token_type",
        "not_authed",
        "token_expired",
        "token_revoked",
    }
)
"""Those of them that any method gives, because the token itself is of no use any more."""

BLOCKS_CODES = frozenset(
    {"invalid_arguments", "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"}
)
"""Our blocks are wrong, a defect (for views: https://docs.slack.dev/reference/methods/views.open)."""

VIEW_CODES = BLOCKS_CODES | {"view_too_large"}
"""https://docs.slack.dev/reference/methods/views.publish#errors"""

TRIGGER_USED = "exchanged_trigger_id"
"""https://docs.slack.dev/reference/methods/views.open#errors"""

VIEW_GONE_CODES = frozenset({"not_found", "view_not_found"})
"""The person has closed the view (docs.slack.dev/reference/methods/views.update)."""

REFUSALS: Mapping[Refusal, Collection[str]] = {
    Refusal.CHANNEL: {
        "channel_not_found",
        "channel_type_not_supported",
        "is_archived",
        "is_inactive",
        "not_in_channel",
        "posting_to_general_channel_denied",
        "restricted_action",
        "restricted_action_non_threadable_channel",
        "restricted_action_read_only_channel",
        "restricted_action_thread_only_channel",
        "messages_tab_disabled",
        "user_not_in_channel",
    },
    Refusal.CREDENTIAL: CREDENTIAL_CODES,
    # The message is not there, not ours, or too old (docs.slack.dev/reference/methods/chat.update).
    Refusal.EDIT: {
        "block_mismatch",
        "cant_update_message",
        "edit_window_closed",
        "message_not_found",
        "streaming_state_conflict",
    },
    # The person gets no messages (docs.slack.dev/reference/methods/conversations.open).
    Refusal.PERSON: {"cannot_dm_bot", "user_disabled", "user_not_found", "user_not_visible"},
    Refusal.THREAD: THREAD_CODES,
    # Those about attachments, files and encodings that the bot never sends are left out.
    Refusal.MESSAGE: {
        *BLOCKS_CODES,
        "invalid_metadata_format",
        "invalid_metadata_schema",
        "message_too_long",
        "metadata_too_large",
        "msg_too_long",
        "no_text",
    },
}
"""What Slack refuses for good, by its error codes."""

UNCLEAR_CODES = frozenset(
    {"fatal_error", "internal_error", "request_timeout", "service_unavailable"}
)
"""Slack failed, and part of the call may have succeeded
(https://docs.slack.dev/reference/methods/chat.postMessage#errors)."""

MOVING_CODES = frozenset({"external_channel_migrating", "team_added_to_org"})
"""Slack is moving the channel or the workspace; later it takes the call."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call failed."""

    code: str  #: Slack's, or the bot's own
    retry_after: float | None = None  #: the seconds that Slack asks us to wait
    status: int | None = None  #: of the HTTP answer, if there was one
    is_named: bool = False  #: Slack gave the code

    @property
    def is_answer(self) -> bool:
        """Whether Slack answered, if only to refuse: a proxy's page carries no code of Slack's."""
        is_slacks = self.is_named or self.is_for_rate
        return is_slacks and (self.status or 0) < HTTPStatus.INTERNAL_SERVER_ERROR

    @property
    def is_clear(self) -> bool:
        """Whether Slack says that it didn't carry out the call, and why."""
        return self.is_named and self.is_answer and self.code not in UNCLEAR_CODES

    @property
    def is_for_rate(self) -> bool:
        """Whether Slack refused the call because of its rate limit."""
        return self.status == HTTPStatus.TOO_MANY_REQUESTS or self.code in RATE_LIMITED


def read_failure(error: Exception) -> Failure:
    """Read an error; the SDK's has the answer in several shapes."""
    if not isinstance(error, SlackApiError):
        return Failure(type(error).__name__)
    response: Any = error.response
    status = getattr(response, "status_code", None) or getattr(response, "status", None)
    headers = getattr(response, "headers", None) or {}
    body = getattr(response, "data", None)
    retry_after = _seconds(headers.get("Retry-After"))
    said = body if isinstance(body, dict) else {}
    code = said.get("error")
    if isinstance(code, str) and said.get("ok") is False:
        return Failure(code, retry_after, status, is_named=True)
    code = f"http_{status}" if status != HTTPStatus.OK else UNREADABLE
    return Failure(code, retry_after, status)


def field_of(answer: AsyncSlackResponse, *names: str) -> Any:  # noqa: ANN401 - as the answer
    """A field of an answer that says it is fine.

    Raises SlackApiError where it is absent: that answer can't be read.
    """
    found: Any = answer.data
    for name in names:
        if not isinstance(found, Mapping) or found.get(name) is None:
            said = f"an answer without {'.'.join(names)}"
            raise SlackApiError(said, answer)  # type: ignore[no-untyped-call]  # the SDK leaves it untyped
        found = found[name]
    return found


def blocks_refused(method: str, said: str) -> None:
    """Log the defect; people get the text alone."""
    logger.error(
        "blocks refused", extra={"action": "blocks_refused", "method": method, "said": said}
    )


def _seconds(value: object) -> float | None:
    try:
        return min(max(0.0, float(str(value))), LONGEST_RETRY_AFTER)
    except ValueError:
        return None


def post_error(error: Exception, *, workspace_wide: bool = False) -> PostError:
    """Classify the failure of a post: refused, certainly not posted, or in doubt.

    `workspace_wide`: the rate limit of this call is the workspace's, not a channel's.

    A code that nobody knows refuses the message: a new policy of Slack, or of the workspace.
    """
    if isinstance(error, ClientConnectorError):
        return PostPostponed("not_connected")
    if not isinstance(error, FAILURES):
        raise error
    failure = read_failure(error)
    if failure.is_for_rate:
        return PostPostponed(
            "ratelimited", retry_after=failure.retry_after, workspace_wide=workspace_wide
        )
    for refusal, codes in REFUSALS.items():
        if failure.code in codes:
            return PostRefused(failure.code, refusal)
    if failure.code in MOVING_CODES:
        return PostPostponed(failure.code)
    if failure.is_clear:
        return PostRefused(failure.code, Refusal.MESSAGE)
    return PostInDoubt(failure.code)
