"""What Slack sends, validated: where untyped payloads end."""

import html
import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from bot.domain.audit import Actor
from bot.messages import actions
from bot.messages.text import without_invisible

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


HOME = "home"
"""The type of the view that is the Home tab."""


class Payload(BaseModel):
    """Slack adds fields at any time: they are ignored. What is null is as good as not sent."""

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
        """Slash commands are open to the installing workspace's people alone."""
        return Actor(self.user_id, self.user_name or self.user_id, self.team_id)

    @property
    def typed(self) -> str:
        """As the person sees it: copied text often brings characters that cannot be seen."""
        return without_invisible(plain_text(self.text)).strip()


class User(Payload):
    """The one who acted; `team_id` is their own team, which need not be ours."""

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
    """Where the element stood: a message or a view."""

    type: str = ""
    is_ephemeral: bool = False


class SelectedOption(Payload):
    """The chosen option of a menu."""

    value: str


class ElementAction(Payload):
    """One pressed button or chosen option."""

    action_id: str
    block_id: str = ""
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

    `channel` is where it was opened, None where that was in no channel. `lasting` is a duration as
    typed. `target` is the group or the pause that is to get another end, and `had_end` whether it
    had one when the form was opened.
    """

    channel: str | None = None
    repository: str = ""
    group: str = ""
    lasting: str | None = None
    target: str = ""
    had_end: bool | None = None


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
    """Something pressed, chosen, submitted, or typed into a menu; each kind sends a part of it.

    https://docs.slack.dev/reference/interaction-payloads
    """

    user: User
    trigger_id: str = ""
    response_url: str | None = None
    callback_id: str = ""
    channel: Channel | None = None
    container: Container = Container()
    actions: tuple[ElementAction, ...] = ()
    view: OpenView | None = None
    value: str = ""

    @property
    def action(self) -> ElementAction:
        """Raises IndexError for what is no click."""
        return self.actions[0]

    @property
    def chosen(self) -> str:
        return self.action.chosen

    @property
    def channel_id(self) -> str | None:
        return self.channel.id if self.channel is not None else None

    @property
    def carried(self) -> Carried:
        return self.view.carried if self.view is not None else Carried()

    def filled_in(self, block_id: str, action_id: str) -> str:
        """What is filled in or chosen in a field of the form; empty when nothing is."""
        values = ((self.view and self.view.state) or {}).get("values") or {}
        element = (values.get(block_id) or {}).get(action_id) or {}
        option = element.get("selected_option") or {}
        found = element.get("value") or option.get("value")
        return found if isinstance(found, str) else ""

    @property
    def repository(self) -> str:
        """Of a form: the one chosen in it, or the one for which it was opened."""
        chosen = self.filled_in(actions.REPOSITORY_BLOCK, actions.PAUSE_REPOSITORY)
        return chosen or self.carried.repository
