"""What Slack sends, validated: where untyped payloads end."""

import html
import json
import re
from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

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
    enterprise_id: str | None = None
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
    message_ts: str | None = None
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


class OpenView(Payload):
    """The view an action or submission came from."""

    id: str
    type: str = "modal"
    hash: str | None = None
    callback_id: str = ""
    private_metadata: str = ""
    state: dict[str, Any] | None = None


class BlockActions(Payload):
    """https://docs.slack.dev/reference/interaction-payloads/block_actions-payload."""

    user: User
    actions: tuple[ElementAction, ...] = Field(min_length=1)
    trigger_id: str = ""
    response_url: str | None = None
    channel: Channel | None = None
    container: Container = Container()
    view: OpenView | None = None

    @property
    def action(self) -> ElementAction:
        return self.actions[0]

    @property
    def channel_id(self) -> str | None:
        return self.channel.id if self.channel is not None else None


class Suggestion(Payload):
    """https://docs.slack.dev/reference/interaction-payloads/block_suggestion-payload."""

    user: User
    value: str = ""


class Shortcut(Payload):
    """https://docs.slack.dev/reference/interaction-payloads/shortcuts-interaction-payload."""

    user: User
    trigger_id: str
    callback_id: str


class ViewSubmission(Payload):
    """https://docs.slack.dev/reference/interaction-payloads/view-interactions-payload."""

    user: User
    view: OpenView
    trigger_id: str = ""

    def value(self, block_id: str, action_id: str) -> str | None:
        """What was filled in, or chosen."""
        return read_value(self.view, block_id, action_id)


class Form(Payload):
    """What a modal of ours carries along; never trusted to authorise anything.

    `channel` is where it was opened, None where that was in no channel.
    """

    channel: str | None = None

    @classmethod
    def of(cls, view: OpenView) -> Self:
        return cls.model_validate(json.loads(view.private_metadata or "{}"))


class ExtendForm(Form):
    """Of the form for another end of a pause; `target` is a group or the pause of a queue.

    `had_end`: there was an end to be moved when it was opened.
    """

    target: str
    had_end: bool | None = None


class PauseForm(Form):
    """Of the pause-reason modal; `lasting` is a duration as typed."""

    repository: str | None = None
    lasting: str | None = None

    def repository_in(self, view: OpenView) -> str | None:
        chosen = read_value(view, actions.REPOSITORY_BLOCK, actions.PAUSE_REPOSITORY)
        return chosen or self.repository


class GroupForm(Form):
    """Of the form for pausing a group."""

    group: str


def read_value(view: OpenView, block_id: str, action_id: str) -> str | None:
    """A filled-in value from a view's state."""
    values = (view.state or {}).get("values") or {}
    element = (values.get(block_id) or {}).get(action_id) or {}
    option = element.get("selected_option") or {}
    found = element.get("value") or option.get("value")
    return found if isinstance(found, str) else None
