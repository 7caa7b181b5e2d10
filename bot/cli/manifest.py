"""`mqbot manifest`: the manifest that creates the Slack app."""

import re
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import click
import yaml

EVENTS_PATH = "/slack/events"

EVENT_SCOPES = {"app_mention": "app_mentions:read", "message.im": "im:history"}
"""The events that need a scope of their own (https://docs.slack.dev/reference/events)."""


def manifest_path() -> Path:
    """The manifest: beside the package in the repository, inside it when installed."""
    installed = Path(str(files("bot") / "manifest.yml"))
    return installed if installed.is_file() else installed.parent.parent / "manifest.yml"


def _request_url(
    _context: click.Context, _option: click.Parameter, given: str | None
) -> str | None:
    """The one address for commands, buttons and events; a bare host gets the usual path."""
    if given is None:
        return None
    if not _is_request_url(given):
        raise click.BadParameter(
            "Slack sends requests to an https:// address, without a user, query or fragment."
        )
    base = given.rstrip("/")
    return base if urlsplit(base).path else base + EVENTS_PATH


def _is_request_url(given: str) -> bool:
    if re.search(r"[^\x21-\x7e]|[@?#]", given):
        return False
    try:
        parts = urlsplit(given)
        return parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the host, or the port
        return False


@click.command()
@click.option(
    "--http",
    metavar="URL",
    callback=_request_url,
    help="For HTTP mode: the address Slack sends requests to.",
)
@click.option("--minimal", is_flag=True, help="Leave out every optional scope.")
def manifest(http: str | None, *, minimal: bool) -> None:
    """Print the manifest that creates the Slack app, for Socket Mode or for --http URL."""
    text = manifest_path().read_text(encoding="utf-8")
    if minimal:
        text = with_required_scopes(text)
    click.echo(text if http is None else over_http(text, http), nl=False)


def with_required_scopes(text: str) -> str:
    """The manifest without the optional scopes and the events that need them."""
    manifest = yaml.safe_load(text)
    scopes = manifest["oauth_config"]["scopes"]
    settings = manifest["settings"]
    left_out = scopes.pop("bot_optional")
    scopes["bot"] = [scope for scope in scopes["bot"] if scope not in left_out]
    events = settings["event_subscriptions"]["bot_events"]
    settings["event_subscriptions"]["bot_events"] = [
        event for event in events if EVENT_SCOPES.get(event) not in left_out
    ]
    manifest["features"]["app_home"]["messages_tab_read_only_enabled"] = True
    return _as_yaml(manifest)


def over_http(text: str, url: str) -> str:
    """The manifest without Socket Mode, sending everything to `url`."""
    manifest = yaml.safe_load(text)
    manifest["settings"]["socket_mode_enabled"] = False
    manifest["settings"]["event_subscriptions"]["request_url"] = url
    manifest["settings"]["interactivity"]["request_url"] = url
    manifest["settings"]["interactivity"]["message_menu_options_url"] = url
    for slash_command in manifest["features"]["slash_commands"]:
        slash_command["url"] = url
    return _as_yaml(manifest)


def _as_yaml(manifest: object) -> str:
    return str(yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True))
