"""The tokens the sandbox knows, and what each may do."""

import hmac
from dataclasses import dataclass
from typing import Literal

from bot.sandbox.slack.wire import SlackRefusal

TokenKind = Literal["bot", "app"]
_APP_SCOPES = ("connections:write",)


@dataclass(frozen=True)
class Token:
    """A token that was recognised, with the scopes granted to it."""

    kind: TokenKind
    scopes: tuple[str, ...]

    def require_any(self, wanted: tuple[str, ...]) -> None:
        """Raise SlackRefusal `missing_scope` unless one of the scopes was granted."""
        if wanted and not set(wanted) & set(self.scopes):
            fields = {"needed": ",".join(wanted), "provided": ",".join(self.scopes)}
            raise SlackRefusal("missing_scope", fields=fields)


class Credentials:
    """The bot token and the app-level token, given when the sandbox starts, and later ones."""

    def __init__(self, bot_token: str, app_token: str, bot_scopes: tuple[str, ...]) -> None:
        self._known = {
            bot_token: Token("bot", bot_scopes),
            app_token: Token("app", _APP_SCOPES),
        }

    def replace(self, old: str, new: str) -> None:
        """Know a new token beside the old one, for the same."""
        self._known[new] = self._known[old]

    def grant(self, token: str, *scopes: str) -> None:
        """Know the token of another app, such as that of an on-call tool."""
        self._known[token] = Token("bot", scopes)

    def revoke(self, token: str) -> None:
        """Refuse it from now on; connections that were opened with it stay."""
        del self._known[token]

    def recognise(self, secret: str | None) -> Token:
        """Say whose token this is.

        Raises SlackRefusal: `not_authed` without a token, `invalid_auth` for an unknown one.
        """
        if not secret:
            raise SlackRefusal("not_authed")
        for known, token in self._known.items():
            if hmac.compare_digest(known.encode(), secret.encode()):
                return token
        raise SlackRefusal("invalid_auth")
