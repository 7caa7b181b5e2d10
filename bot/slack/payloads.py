"""Slack's payloads, validated."""

import html
import json
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

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


class Payload(BaseModel):
    """Ignores unknown fields, because Slack adds new ones; null counts as absent."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _drop_null(cls, sent: Any) -> Any:  # noqa: ANN401 - untyped until here
        if not isinstance(sent, Mapping):
            return sent
        return {name: value for name, value in sent.items() if value is not None}


class SlashCommand(Payload):
    """https://docs.slack.dev/interactivity/implementing-slash-commands#app_command_handling."""

    command: str
    text: str = ""
    user_id: str
    user_name: str = ""
    team_id: str | None = None
    channel_id: str
    response_url: str
    trigger_id: str

    @property
    def actor(self) -> Actor:
        """Only people of the installing workspace can use slash commands."""
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
    text: str = ""
    user: str = ""
    thread_ts: str | None = None
    channel_type: str = ""
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


class User(Payload):
    """The person who acted; `team_id` is their own team, which may not be ours."""

    id: str
    username: str | None = None
    name: str | None = None
    team_id: str | None = None

    @property
    def actor(self) -> Actor:
        return Actor(self.id, self.username or self.name or self.id, self.team_id)


class Channel(Payload):
    """The channel an action happened in."""

    id: str


class Container(Payload):
    """The message or view that the element is in."""

    type: str = ""
    is_ephemeral: bool = False
    message_ts: str = ""


class SelectedOption(Payload):
    """The chosen option of a menu."""

    value: str


class ElementAction(Payload):
    """One pressed button or chosen option."""

    action_id: str
    block_id: str = ""
    action_ts: str = ""
    value: str | None = None
    selected_option: SelectedOption | None = None
    selected_options: tuple[SelectedOption, ...] = ()

    @property
    def chosen(self) -> str:
        if self.selected_option is not None:
            return self.selected_option.value
        return self.value or ""


class Carried(Payload):
    """Metadata of our modals. It never authorises anything.

    `channel` is where it was opened, None where that was in no channel. `target` is the
    repository, the group or the pause for which it was opened. `end` is an end as typed, and
    `had_end` whether the pause had one when the form was opened. `reason` is what the reason began
    with.
    """

    channel: str | None = None
    target: str = ""
    end: str | None = None
    had_end: bool | None = None
    reason: str = ""


class OpenView(Payload):
    """The view an action or submission came from."""

    id: str
    type: str = "modal"
    hash: str | None = None
    private_metadata: str = ""
    state: dict[str, Any] | None = None

    @property
    def carried(self) -> Carried:
        return Carried.model_validate(json.loads(self.private_metadata or "{}"))


class Interaction(Payload):
    """A click, a choice, a form, or text typed into a menu; each kind has some of the fields.

    https://docs.slack.dev/reference/interaction-payloads
    """

    user: User
    trigger_id: str = ""
    response_url: str | None = None
    callback_id: str = ""
    action_id: str = ""
    message_ts: str | None = None
    channel: Channel | None = None
    container: Container = Container()
    actions: tuple[ElementAction, ...] = ()
    view: OpenView | None = None
    value: str = ""

    @property
    def action(self) -> ElementAction:
        """Raises IndexError if it isn't a click."""
        return self.actions[0]

    @property
    def chosen(self) -> str:
        return self.action.chosen

    @property
    def age(self) -> timedelta:
        """How long after its message a click came, by Slack's clock; zero if unknown."""
        asked_at, clicked_at = self.container.message_ts, self.action.action_ts
        if not asked_at or not clicked_at:
            return timedelta()
        return timedelta(seconds=float(clicked_at) - float(asked_at))

    @property
    def channel_id(self) -> str | None:
        return self.channel.id if self.channel is not None else None

    @property
    def carried(self) -> Carried:
        return self.view.carried if self.view is not None else Carried()

    def filled_in(self, block_id: str, action_id: str) -> str:
        """The text or choice in a field of the form; empty if there is none."""
        values = ((self.view and self.view.state) or {}).get("values") or {}
        element = (values.get(block_id) or {}).get(action_id) or {}
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
