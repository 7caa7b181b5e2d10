"""What the app's manifest declares: only this is offered, sent and allowed."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import yaml

from bot.sandbox.slack.wire import Json


class ManifestUnreadable(ValueError):
    """The manifest is not the YAML mapping that Slack takes."""


@dataclass(frozen=True)
class SlashCommand:
    """A declared slash command."""

    command: str
    description: str
    usage_hint: str
    should_escape: bool


@dataclass(frozen=True)
class Shortcut:
    """A declared shortcut; `type` is "global" or "message"."""

    name: str
    callback_id: str
    type: str
    description: str


@dataclass(frozen=True)
class Manifest:
    """The declarations of the app (manifest schema version 2)."""

    name: str
    bot_name: str
    commands: tuple[SlashCommand, ...]
    shortcuts: tuple[Shortcut, ...]
    bot_scopes: tuple[str, ...]
    bot_events: frozenset[str]
    home_tab_enabled: bool
    messages_tab_enabled: bool
    interactivity_enabled: bool
    has_options_url: bool
    socket_mode_enabled: bool

    @classmethod
    def read(cls, source: Path | str | Mapping[str, object]) -> Self:
        """Read a manifest from a YAML (or JSON) file, or from the mapping it holds.

        Raises ManifestUnreadable when it is no mapping, OSError when the file cannot be read.
        """
        if isinstance(source, Mapping):
            return cls._from_mapping(dict(source))
        try:
            content = yaml.safe_load(Path(source).read_text(encoding="utf-8"))
        except yaml.YAMLError as error:
            raise ManifestUnreadable(str(error)) from error
        if content is None:
            # An app that declares nothing is no mistake in a test; a file that says nothing is one.
            raise ManifestUnreadable("the file is empty")
        return cls._from_mapping(content)

    @classmethod
    def _from_mapping(cls, content: object) -> Self:
        top = _section({"manifest": content}, "manifest")
        features = _section(top, "features")
        settings = _section(top, "settings")
        scopes = _section(_section(top, "oauth_config"), "scopes")
        name = str(_section(top, "display_information").get("name") or "App")
        home = _section(features, "app_home")
        events = _section(settings, "event_subscriptions").get("bot_events")
        interactivity = _section(settings, "interactivity")
        return cls(
            name=name,
            bot_name=str(_section(features, "bot_user").get("display_name") or name.lower()),
            commands=tuple(_command(each) for each in features.get("slash_commands") or ()),
            shortcuts=tuple(_shortcut(each) for each in features.get("shortcuts") or ()),
            bot_scopes=tuple(scopes.get("bot") or ()),
            bot_events=frozenset(events or ()),
            home_tab_enabled=bool(home.get("home_tab_enabled", False)),
            messages_tab_enabled=bool(home.get("messages_tab_enabled", True)),
            interactivity_enabled=bool(interactivity.get("is_enabled", False)),
            has_options_url=bool(interactivity.get("message_menu_options_url")),
            socket_mode_enabled=bool(settings.get("socket_mode_enabled", False)),
        )

    def command(self, name: str) -> SlashCommand | None:
        return next((each for each in self.commands if each.command == name), None)

    def shortcut(self, callback_id: str) -> Shortcut | None:
        return next((each for each in self.shortcuts if each.callback_id == callback_id), None)


def _section(parent: Json, key: str) -> Json:
    section = parent.get(key)
    if section is None:
        return {}
    if not isinstance(section, dict):
        raise ManifestUnreadable(f"{key} must be a mapping")
    return section


def _command(declared: Json) -> SlashCommand:
    return SlashCommand(
        command=str(declared["command"]),
        description=str(declared.get("description", "")),
        usage_hint=str(declared.get("usage_hint", "")),
        should_escape=bool(declared.get("should_escape", False)),
    )


def _shortcut(declared: Json) -> Shortcut:
    return Shortcut(
        name=str(declared["name"]),
        callback_id=str(declared["callback_id"]),
        type=str(declared.get("type", "global")),
        description=str(declared.get("description", "")),
    )
