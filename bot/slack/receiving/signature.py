"""Whether a request is Slack's own: its signature and its age."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr
from slack_sdk.signature import Clock as SdkClock, SignatureVerifier
from typing_extensions import override

from bot.domain.errors import BotError
from bot.ports import Clock

TIMESTAMP = "X-Slack-Request-Timestamp"
SIGNATURE = "X-Slack-Signature"

MISSING = "signature_missing"
MALFORMED = "signature_malformed"
EXPIRED = "timestamp_outside_window"
WRONG = "signature_wrong"

WINDOW_SECONDS = 300

_SECONDS = re.compile(r"[0-9]{1,12}")
_VERSION_0 = re.compile(r"v0=[0-9a-f]{64}")


class NotSlack(BotError):
    """A request that Slack did not sign, or signed too long ago; `reason` is one of ours."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Signature:
    """HMAC-SHA256 over version, timestamp and raw body, compared in constant time.

    https://docs.slack.dev/authentication/verifying-requests-from-slack
    """

    secret: SecretStr
    clock: Clock

    def require(self, headers: Mapping[str, str], body: bytes) -> None:
        """Raise NotSlack unless Slack signed exactly this within the last five minutes."""
        timestamp, signature = headers.get(TIMESTAMP), headers.get(SIGNATURE)
        if timestamp is None or signature is None:
            raise NotSlack(MISSING)
        # The SDK raises for what is not a number, not ASCII or not UTF-8.
        if not _SECONDS.fullmatch(timestamp) or not _VERSION_0.fullmatch(signature):
            raise NotSlack(MALFORMED)
        clock = _SignatureClock(self.clock)
        if abs(clock.now() - int(timestamp)) > WINDOW_SECONDS:
            raise NotSlack(EXPIRED)
        verifier = SignatureVerifier(self.secret.get_secret_value(), clock)
        try:
            is_valid = verifier.is_valid(body, timestamp, signature)
        except UnicodeDecodeError:
            is_valid = False
        if not is_valid:
            raise NotSlack(WRONG)


class _SignatureClock(SdkClock):
    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    @override
    def now(self) -> float:
        return self._clock.now().timestamp()
