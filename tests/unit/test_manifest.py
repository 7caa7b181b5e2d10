"""The manifest is valid, and asks for exactly what the code uses."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from jsonschema_rs import Draft7Validator
from slack_sdk.web.async_client import AsyncWebClient

from bot.cli.manifest import with_required_scopes
from bot.config.settings import Settings
from bot.pauses import actions as pause_actions
from bot.slack.web_api.clients import LOST_WITHOUT
from tests.support.samples import sample

ROOT = Path(__file__).parents[2]
MANIFEST: dict[str, Any] = yaml.safe_load((ROOT / "manifest.yml").read_text("utf-8"))

SCOPES = {
    "apps_connections_open": (),
    "auth_teams_list": (),
    "auth_test": (),
    "bots_info": ("users:read",),
    "chat_delete": ("chat:write",),
    "chat_getPermalink": (),
    "chat_postEphemeral": ("chat:write",),
    "chat_postMessage": ("chat:write", "chat:write.public"),
    "chat_update": ("chat:write",),
    "conversations_history": ("channels:history", "groups:history", "im:history"),
    "conversations_info": ("channels:read", "groups:read", "im:read"),
    "conversations_join": ("channels:join",),
    "conversations_open": ("im:write",),
    "conversations_replies": ("channels:history", "groups:history"),
    "files_upload_v2": ("files:write",),
    "usergroups_list": ("usergroups:read",),
    "usergroups_users_list": ("usergroups:read",),
    "users_conversations": ("channels:read", "groups:read"),
    "users_info": ("users:read",),
    "users_lookupByEmail": ("users:read.email",),
    "users_profile_get": ("users.profile:read",),
    "views_open": (),
    "views_publish": (),
    "views_push": (),
    "views_update": (),
}
"""What each Web API method needs in channels and in direct messages.

Sources: the method pages under https://docs.slack.dev/reference/methods.

apps.connections.open needs a scope of the app-level token, which no manifest can ask for.
"""


def sources() -> Iterator[ast.AST]:
    """Every node of the source that talks to Slack."""
    for pattern in ("slack/**/*.py", "desk/**/*.py", "*/handlers.py", "*/handlers/*.py"):
        for path in sorted((ROOT / "bot").glob(pattern)):
            yield from ast.walk(ast.parse(path.read_text("utf-8")))


def methods_called() -> set[str]:
    """The Web API methods that are named on anything called a client."""
    found: set[str] = set()
    for node in sources():
        if isinstance(node, ast.Attribute) and _is_client(node.value):
            is_method = "_" in node.attr and callable(getattr(AsyncWebClient, node.attr, None))
            found.update({node.attr} if is_method else ())
    return found


def _is_client(node: ast.expr) -> bool:
    name = getattr(node, "attr", None) or getattr(node, "id", "")
    return str(name).endswith("client")


def registered(kind: str) -> set[str]:
    """The names that listeners are registered for with `app.<kind>("name")`."""
    return {
        str(name.value)
        for node in sources()
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == kind
        for name in node.args
        if isinstance(name, ast.Constant)
    }


def test_the_manifest_matches_slacks_schema() -> None:
    schema = sample("slack_manifest_v2")
    assert [error.message for error in Draft7Validator(schema).iter_errors(MANIFEST)] == []


def test_the_code_calls_only_methods_with_known_scopes() -> None:
    called = methods_called()
    assert {"chat_postMessage", "views_open", "conversations_history"} <= called
    assert "api_call" not in called
    assert called <= set(SCOPES)


def test_scopes_are_exactly_those_the_code_uses() -> None:
    used = {scope for method in methods_called() for scope in SCOPES[method]}
    used.add("commands")
    if "app_mention" in registered("event"):
        # https://docs.slack.dev/reference/events/app_mention
        used.add("app_mentions:read")
    asked = MANIFEST["oauth_config"]["scopes"]
    assert sorted(used) == asked["bot"]


def test_what_each_optional_scope_costs_is_known() -> None:
    asked = MANIFEST["oauth_config"]["scopes"]
    assert asked["bot_optional"] == sorted(LOST_WITHOUT)
    assert set(asked["bot_optional"]) < set(asked["bot"])


def test_the_minimal_manifest_has_only_the_required_scopes() -> None:
    minimal = yaml.safe_load(with_required_scopes((ROOT / "manifest.yml").read_text("utf-8")))
    schema = sample("slack_manifest_v2")
    assert [error.message for error in Draft7Validator(schema).iter_errors(minimal)] == []
    needed = ["channels:read", "chat:write", "commands", "users:read"]
    assert minimal["oauth_config"]["scopes"] == {"bot": needed}
    events = minimal["settings"]["event_subscriptions"]["bot_events"]
    assert not {"app_mention", "message.im"} & set(events)
    assert {"app_home_opened", "channel_shared"} <= set(events)


def test_each_scope_is_explained_to_a_security_reviewer() -> None:
    page = (ROOT / "docs" / "security.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[a-z_:`, .]+`) \| ", page, re.MULTILINE)
    explained = [scope for row in rows for scope in re.findall(r"`([a-z_.]+(?::[a-z.]+)?)`", row)]
    assert sorted(explained) == MANIFEST["oauth_config"]["scopes"]["bot"]


def test_events_are_exactly_those_with_handlers() -> None:
    declared = MANIFEST["settings"]["event_subscriptions"]["bot_events"]
    # Slack sends `message.im` as a message whose `channel_type` is "im".
    assert {text.partition(".")[0] for text in declared} == registered("event")


def test_the_manifests_command_is_the_settings_default() -> None:
    commands = MANIFEST["features"]["slash_commands"]
    assert [command["command"] for command in commands] == [
        Settings.model_fields["command"].default
    ]


def test_shortcuts_are_exactly_those_with_handlers() -> None:
    shortcuts = MANIFEST["features"]["shortcuts"]
    assert {shortcut["callback_id"]: shortcut["type"] for shortcut in shortcuts} == {
        pause_actions.PAUSE_SHORTCUT: "global",
        pause_actions.PAUSE_BECAUSE_SHORTCUT: "message",
    }


def test_actions_that_cannot_be_undone_are_not_requested() -> None:
    assert MANIFEST["settings"]["token_rotation_enabled"] is False
    assert MANIFEST["settings"]["org_deploy_enabled"] is False
