"""The manifest of an app in tests of the local workspace."""

from collections.abc import Sequence
from typing import Any

SCOPES = (
    "channels:history",
    "channels:join",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:read",
    "im:write",
    "mpim:write",
    "reactions:write",
    "team:read",
    "usergroups:read",
    "users:read",
)


def make_manifest(
    scopes: Sequence[str] = SCOPES, events: Sequence[str] = (), **features: Any
) -> dict[str, Any]:
    return {
        "display_information": {"name": "Merge Queue"},
        "features": {
            "app_home": {"home_tab_enabled": True},
            "bot_user": {"display_name": "merge-queue"},
            "slash_commands": [{"command": "/mq", "description": "x", "should_escape": True}],
            **features,
        },
        "oauth_config": {"scopes": {"bot": list(scopes)}},
        "settings": {
            "event_subscriptions": {"bot_events": list(events)},
            "interactivity": {"is_enabled": True},
            "socket_mode_enabled": True,
        },
    }
