"""Reads the failures of Web API calls."""

import logging
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aiohttp import ClientConnectorError, ClientError
from slack_sdk.errors import SlackApiError

from bot.domain.errors import PostError, PostInDoubt, PostPostponed, PostRefused, Refusal

logger = logging.getLogger(__name__)

FAILURES = (SlackApiError, ClientError, TimeoutError)
"""The exceptions of a Web API call."""

LONGEST_SECONDS = 300.0
"""Slack counts by the minute, so a longer wait is a mistake."""

RATE_LIMITED = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})

CHANNEL_CODES = frozenset(
    {
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
    }
)

THREAD_CODES = frozenset(
    {"cannot_reply_to_message", "restricted_action_thread_locked", "thread_not_found"}
)
"""The thread is gone, or takes no replies; the channel itself takes messages."""

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

PERSON_CODES = frozenset({"cannot_dm_bot", "user_disabled", "user_not_found", "user_not_visible"})
"""The person gets no messages (docs.slack.dev/reference/methods/conversations.open)."""

BLOCKS_CODES = frozenset(
    {"invalid_arguments", "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"}
)
"""Our blocks are wrong, a defect (for views: https://docs.slack.dev/reference/methods/views.open)."""

EDIT_CODES = frozenset(
    {
        "block_mismatch",
        "cant_update_message",
        "edit_window_closed",
        "message_not_found",
        "streaming_state_conflict",
    }
)
"""The message is not there, not ours, or too old (docs.slack.dev/reference/methods/chat.update)."""

VIEW_GONE_CODES = frozenset({"not_found", "view_not_found"})
"""The person has closed the view (docs.slack.dev/reference/methods/views.update)."""

MESSAGE_CODES = BLOCKS_CODES | frozenset(
    {
        "attachment_payload_limit_exceeded",
        "invalid_arg_name",
        "invalid_array_arg",
        "invalid_charset",
        "invalid_form_data",
        "invalid_metadata_format",
        "invalid_metadata_schema",
        "invalid_post_type",
        "markdown_text_conflict",
        "message_too_long",
        "metadata_must_be_sent_from_app",
        "metadata_too_large",
        "missing_post_type",
        "msg_too_long",
        "no_text",
        "too_many_attachments",
    }
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Slack's error code, or one of ours; the wait it asks for in seconds; the HTTP status."""

    code: str
    retry_after: float | None = None
    status: int | None = None

    @property
    def is_answer(self) -> bool:
        """Whether Slack answered, if only to refuse."""
        return self.status is not None and self.status < HTTPStatus.INTERNAL_SERVER_ERROR

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
    code = body.get("error") if isinstance(body, dict) else None
    if not isinstance(code, str):
        code = f"http_{status}" if status != HTTPStatus.OK else "unreadable_answer"
    return Failure(code, _seconds(headers.get("Retry-After")), status)


def blocks_refused(method: str, said: str) -> None:
    """Log the defect; people get the text alone."""
    logger.error(
        "blocks refused", extra={"action": "blocks_refused", "method": method, "said": said}
    )


def _seconds(value: object) -> float | None:
    try:
        return min(max(0.0, float(str(value))), LONGEST_SECONDS)
    except ValueError:
        return None


def post_error(error: Exception, *, workspace_wide: bool = False) -> PostError:
    """Classify the failure of a post: refused, certainly not posted, or in doubt.

    `workspace_wide`: the rate limit of this call is the workspace's, not a channel's.

    Other errors may come after the post was made, like `internal_error` and `fatal_error`
    (https://docs.slack.dev/reference/methods/chat.postMessage#errors).
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
    for codes, refusal in _REFUSALS:
        if failure.code in codes:
            return PostRefused(failure.code, refusal)
    return PostInDoubt(failure.code)


_REFUSALS = (
    (CHANNEL_CODES, Refusal.CHANNEL),
    (CREDENTIAL_CODES, Refusal.CREDENTIAL),
    (EDIT_CODES, Refusal.EDIT),
    (PERSON_CODES, Refusal.PERSON),
    (THREAD_CODES, Refusal.THREAD),
    (MESSAGE_CODES, Refusal.MESSAGE),
)
