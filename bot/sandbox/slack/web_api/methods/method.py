"""What the Web API knows of each method before it runs it."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.sandbox.slack.state.installation import Installation
from bot.sandbox.slack.web_api.calls import Call
from bot.sandbox.slack.web_api.credentials import TokenKind
from bot.sandbox.slack.wire import Json

# Requests a minute that Slack's tiers allow at least.
TIER_2 = 20
TIER_3 = 50
TIER_4 = 100
# Methods with a limit of their own: chat.postMessage is about one a second and channel.
SPECIAL = 60


@dataclass(frozen=True)
class Method:
    """A method: who may call it, how often, and what it does."""

    run: Callable[[Installation, Call], Json]
    per_minute: int
    #: any one of them is enough (which one is needed may depend on the channel, which the method
    #: then checks itself)
    scopes: tuple[str, ...] = ()
    #: the kinds of token it takes; empty means none needed
    tokens: tuple[TokenKind, ...] = ("bot",)
    needs_team: bool = False  #: with the token of a whole organisation it needs `team_id`
