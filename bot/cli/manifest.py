"""`mqbot manifest`: the manifest that creates the Slack app."""

from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit

import click
import yaml

EVENTS_PATH = "/slack/events"


def manifest_path() -> Path:
    """The manifest: beside the package in the repository, inside it when installed."""
    installed = Path(str(files("bot") / "manifest.yml"))
    return installed if installed.is_file() else installed.parent.parent / "manifest.yml"


@click.command()
@click.option("--http", metavar="URL", help="For HTTP mode: the address Slack sends requests to.")
def command(http: str | None) -> None:
    """Print the manifest that creates the Slack app, for Socket Mode or for --http URL."""
    text = manifest_path().read_text(encoding="utf-8")
    if http is None:
        click.echo(text, nl=False)
        return
    parts = urlsplit(http)
    if parts.scheme != "https" or not parts.hostname:
        raise click.BadParameter("Slack sends requests to an https:// address only.")
    base = http.rstrip("/")
    url = base if parts.path.rstrip("/") else base + EVENTS_PATH
    manifest = yaml.safe_load(text)
    manifest["settings"]["socket_mode_enabled"] = False
    manifest["settings"]["event_subscriptions"]["request_url"] = url
    manifest["settings"]["interactivity"]["request_url"] = url
    for slash_command in manifest["features"]["slash_commands"]:
        slash_command["url"] = url
    click.echo(yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True), nl=False)
