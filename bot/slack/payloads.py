"""Slack's payloads, validated."""

import html
import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from bot.domain.audit import Actor
from bot.domain.durations import DurationProblem
from bot.domain.errors import InvalidDuration
from bot.messages import actions
from bot.messages.text import clean, without_invisible

# <@U123|alice>, <#C123|general>, <!subteam^S123|@team>, <https://a|label>: what Slack makes of
# mentions and links in a command's text (https://docs.slack.dev/interactivity/implementing-slash-commands).
_REFERENCE = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")
_NAMES_WANTED = {"@": "@", "#": "#", "!": "@"}


def plain_text(text: str) -> str:
    """The text as the person meant it, without Slack's escapes."""
    return html.unescape(_REFERENCE.sub(_as_typed, text))


def _as_typed(found: re.Match[str]) -> str:
    sign, target, label = found.groups()
    if not sign:
        return label if label and label in target else target
    name = label or target.split("^")[-1]
    return name if name.startswith(sign) else _NAMES_WANTED[sign] + name.lstrip("@#")


TEXT_KEPT = 4000
"""Longer texts are cut before their length is checked, so that the error can name it."""

HOME = "home"
"""The type of the view that is the Home tab."""


Text = Annotated[str, BeforeValidator(lambda sent: "" if sent is None else sent)]
"""Null counts as absent."""


class Payload(BaseModel):
    """Ignores unknown fields, because Slack adds new ones."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


class SlashCommand(Payload):
    """https://docs.slack.dev/interactivity/implementing-slash-commands#app_command_handling."""

    command: str
    text: Text = ""
    user_id: str
    user_name: Text = ""
    team_id: str | None = None
    channel_id: str
    response_url: str
    trigger_id: str

    @property
    def actor(self) -> Actor:
        return Actor(self.user_id, self.user_name or self.user_id, self.team_id)

    @property
    def typed(self) -> str:
        """As the person sees it: copied text often has invisible characters."""
        return without_invisible(plain_text(self.text)).strip()


class Said(Payload):
    """A message in which somebody wrote to the bot.

    https://docs.slack.dev/reference/events/app_mention and message.im: `user` is absent from what
    has no author, `subtype` is there for edits and the like, `bot_id` for what apps write.
    """

    type: str
    channel: str
    ts: str
    text: Text = ""
    user: Text = ""
    thread_ts: str | None = None
    channel_type: Text = ""
    subtype: str | None = None
    bot_id: str | None = None
    edited: dict[str, Any] | None = None

    @property
    def is_a_persons(self) -> bool:
        """Whether a person wrote it just now."""
        return bool(self.user) and not (self.subtype or self.bot_id or self.edited)

    @property
    def is_direct(self) -> bool:
        return self.channel_type == "im"

    @property
    def answered_in(self) -> str | None:
        """The thread for an answer that everybody sees; in a direct message only if it has one."""
        return self.thread_ts or (None if self.is_direct else self.ts)

    def typed_to(self, bot_id: str) -> str:
        """What follows the mention of the bot, or everything if it isn't mentioned."""
        before, mention, after = self.text.partition(f"<@{bot_id}>")
        return without_invisible(plain_text(after if mention else before)).strip()


class Carried(Payload):
    """Metadata of our modals. It never authorises anything.

    `channel` is where it was opened, None where that was in no channel. `target` is the
    repository, the group or the pause for which it was opened. `end` is an end as typed, and
    `had_end` whether the pause had one when the form was opened. `reason` is what the reason began
    with.
    """

    channel: str | None = None
    target: Text = ""
    end: str | None = None
    had_end: bool | None = None
    reason: Text = ""


def at(*places: str, default: Any = "") -> Any:  # noqa: ANN401 - as pydantic's Field
    """A field at the first of these places that the payload has."""
    paths = [
        AliasPath(first, *(int(part) if part.isdigit() else part for part in rest))
        for first, *rest in (place.split(".") for place in places)
    ]
    return Field(default, validation_alias=AliasChoices(*paths))


class Interaction(Payload):
    """A click, a choice, a form, or text typed into a menu; each kind has some of the fields.

    https://docs.slack.dev/reference/interaction-payloads

    `team_id`: the person's own team, which may not be ours.
    `chosen`: the value of a button, or of the option of a menu. `typed`: the text in a menu.
    `view_id`: the view that it came from, a modal or the Home tab.
    """

    user_id: str = Field(validation_alias=AliasPath("user", "id"))
    user_name: Text = at("user.username", "user.name")
    team_id: str | None = at("user.team_id", default=None)
    trigger_id: Text = ""
    response_url: str | None = None
    channel_id: str | None = at("channel.id", default=None)
    message_ts: str | None = None
    container_type: Text = at("container.type")
    is_ephemeral: bool | None = at("container.is_ephemeral", default=None)
    asked_at: Text = at("container.message_ts")
    callback_id: Text = at("callback_id", "view.callback_id")
    action_id: Text = at("action_id", "actions.0.action_id")
    block_id: Text = at("actions.0.block_id")
    clicked_at: Text = at("actions.0.action_ts")
    chosen: Text = at("actions.0.selected_option.value", "actions.0.value")
    selected_options: tuple[dict[str, Any], ...] = at("actions.0.selected_options", default=())
    typed: Text = at("value")
    view_id: Text = at("view.id")
    view_type: Text = at("view.type")
    view_hash: str | None = at("view.hash", default=None)
    private_metadata: Text = at("view.private_metadata")
    filled: dict[str, Any] | None = at("view.state.values", default=None)

    @property
    def actor(self) -> Actor:
        return Actor(self.user_id, self.user_name or self.user_id, self.team_id)

    @property
    def age(self) -> timedelta:
        """How long after its message a click came, by Slack's clock; zero if unknown."""
        if not self.asked_at or not self.clicked_at:
            return timedelta()
        return timedelta(seconds=float(self.clicked_at) - float(self.asked_at))

    @property
    def carried(self) -> Carried:
        return Carried.model_validate_json(self.private_metadata or "{}")

    def filled_in(self, block_id: str, action_id: str) -> str:
        """The text or choice in a field of the form; empty if there is none."""
        element = ((self.filled or {}).get(block_id) or {}).get(action_id) or {}
        option = element.get("selected_option") or {}
        found = element.get("value") or option.get("value")
        return found if isinstance(found, str) else ""

    @property
    def reason(self) -> str:
        return clean(self.filled_in(actions.REASON_BLOCK, actions.REASON_ACTION), TEXT_KEPT)

    @property
    def typed_end(self) -> str:
        return clean(self.filled_in(actions.END_BLOCK, actions.END_ACTION), TEXT_KEPT)

    @property
    def end(self) -> str:
        """From the menu or in words; raises InvalidDuration for both."""
        length = self.filled_in(actions.LASTING_BLOCK, actions.LASTING_ACTION)
        typed = self.typed_end
        if length and typed:
            raise InvalidDuration(DurationProblem.TWO_ENDS, typed)
        return length or typed

    @property
    def target(self) -> str:
        """The target chosen in a form, or the one for which it was opened."""
        return self.filled_in(actions.TARGET_BLOCK, actions.PAUSE_TARGET) or self.carried.target
