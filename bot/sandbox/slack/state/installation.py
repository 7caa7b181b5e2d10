"""The app as it is installed in the workspace: everything its calls and its people act upon."""

import random
from dataclasses import dataclass, field

from bot.sandbox.slack.state.acts import Acts
from bot.sandbox.slack.state.manifest import Manifest
from bot.sandbox.slack.state.payloads import Payloads
from bot.sandbox.slack.state.seed import APP_ID, BOT_ID, BOT_USER_ID
from bot.sandbox.slack.state.triggers import Triggers
from bot.sandbox.slack.state.views import View, Views
from bot.sandbox.slack.state.workspace import Channel, Message, User, Workspace
from bot.sandbox.slack.wire import Json


@dataclass
class Installation:
    """One app in one workspace."""

    workspace: Workspace
    manifest: Manifest
    payloads: Payloads
    views: Views
    triggers: Triggers
    chance: random.Random
    base_url: str = "http://127.0.0.1/"
    app_id: str = APP_ID
    bot_id: str = BOT_ID
    bot_user_id: str = BOT_USER_ID
    #: the most messages on a page of history or replies. Slack gives 15 to apps that are
    #: distributed outside the Marketplace (docs.slack.dev/apis/web-api/rate-limits).
    history_most: int = 1000
    uninvited: dict[str, Message] = field(default_factory=dict)
    """The last message of each channel that mentioned the app while it wasn't there."""

    acts: Acts = field(default_factory=Acts)

    @property
    def bot(self) -> User:
        return self.workspace.users[self.bot_user_id]

    def is_member(self, channel: Channel) -> bool:
        return self.bot_user_id in channel.members

    def new_message(
        self,
        channel: str,
        text: str,
        blocks: list[Json] | None = None,
        attachments: list[Json] | None = None,
    ) -> Message:
        """Make a message of the app, not yet posted."""
        ts = self.workspace.new_ts()
        message = Message(channel, ts, self.bot_user_id, text, from_app=True)
        message.blocks = blocks or []
        message.attachments = attachments or []
        return message

    def view_json(self, view: View) -> Json:
        """Write a view as Slack does in answers and payloads."""
        return {
            "id": view.id,
            "team_id": self.workspace.team.id,
            **view.content,
            "state": {"values": view.values},
            "hash": view.hash,
            "root_view_id": view.root_id,
            "previous_view_id": view.previous_id,
            "app_id": self.app_id,
            "app_installed_team_id": self.workspace.team.id,
            "bot_id": self.bot_id,
        }
