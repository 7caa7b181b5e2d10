"""Snapshots: the same message gives the same file, however its code builds it."""

from pathlib import Path

import pytest

from bot.blocks.message import Block, Message
from tests.support.snapshots import Snapshots

SECTION: Block = {"type": "section", "text": {"type": "mrkdwn", "text": "acme/site is paused"}}
SAME_SECTION: Block = {"text": {"text": "acme/site is paused", "type": "mrkdwn"}, "type": "section"}
LONGER_SECTION: Block = {**SECTION, "block_id": "pause"}


def test_an_unchanged_message_leaves_its_snapshot_alone(tmp_path: Path) -> None:
    updating = Snapshots(tmp_path, is_updating=True)
    path = tmp_path / "paused.json"
    updating.check("paused", Message("Paused", (SECTION,)))
    before = path.read_text()

    updating.check("paused", Message("Paused", (SAME_SECTION,)))
    assert path.read_text() == before


def test_a_changed_message_changes_only_the_lines_that_differ(tmp_path: Path) -> None:
    updating = Snapshots(tmp_path, is_updating=True)
    path = tmp_path / "paused.json"
    updating.check("paused", Message("Paused", (SECTION,)))
    before = path.read_text().splitlines()

    updating.check("paused", Message("Paused", (LONGER_SECTION,)))
    after = path.read_text().splitlines()
    assert [line.strip() for line in after if line not in before] == ['"block_id": "pause",']
    assert [line for line in before if line not in after] == []


def test_a_changed_message_fails_until_its_snapshot_is_written(tmp_path: Path) -> None:
    Snapshots(tmp_path, is_updating=True).check("paused", Message("Paused"))
    comparing = Snapshots(tmp_path)
    comparing.check("paused", Message("Paused"))
    with pytest.raises(AssertionError):
        comparing.check("paused", Message("Resumed"))
