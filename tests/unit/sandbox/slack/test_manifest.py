from pathlib import Path

import pytest

from bot.sandbox.slack.state.manifest import Manifest, ManifestUnreadable


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
