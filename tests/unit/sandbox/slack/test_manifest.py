from pathlib import Path

import pytest

from bot.sandbox.slack.state.manifest import Manifest, ManifestUnreadable


def test_a_manifest_file_is_read_as_declared(tmp_path: Path) -> None:
    path = tmp_path / "manifest.yml"
    path.write_text(
        """
display_information: {name: Merge Queue}
features:
  app_home: {home_tab_enabled: true}
  bot_user: {display_name: merge-queue}
  slash_commands:
    - {command: /mq, description: Queue, usage_hint: status, should_escape: true}
  shortcuts:
    - {name: Pause, type: global, callback_id: pause, description: Pause it}
oauth_config: {scopes: {bot: [commands, chat:write]}}
settings:
  event_subscriptions: {bot_events: [app_home_opened]}
  interactivity: {is_enabled: true}
  socket_mode_enabled: true
""",
        encoding="utf-8",
    )
    manifest = Manifest.read(path)
    command = manifest.command("/mq")
    shortcut = manifest.shortcut("pause")
    assert (manifest.name, manifest.bot_name) == ("Merge Queue", "merge-queue")
    assert command is not None
    assert command.should_escape
    assert shortcut is not None
    assert shortcut.type == "global"
    assert manifest.bot_scopes == ("commands", "chat:write")
    assert manifest.bot_events == {"app_home_opened"}
    assert manifest.socket_mode_enabled
    assert manifest.command("/other") is None


def test_undeclared_features_are_off() -> None:
    manifest = Manifest.read({"display_information": {"name": "App"}})
    assert manifest.commands == ()
    assert not manifest.home_tab_enabled
    assert not manifest.interactivity_enabled
    assert not manifest.socket_mode_enabled


@pytest.mark.parametrize("text", ["- a list", "features: [x]", "a: [", "features: {bot_user: x}"])
def test_an_invalid_manifest_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "manifest.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ManifestUnreadable):
        Manifest.read(path)
