"""Every message as people see it, compared with the JSON files in `snapshots/`.

`--update-snapshots` writes them anew; the difference is then reviewed as wording.
"""

import pytest

from tests.support.every_message import REVIEWED
from tests.support.messages.rendering import render
from tests.support.snapshots import Snapshots


@pytest.mark.parametrize("name", sorted(REVIEWED))
def test_message_is_as_it_was_reviewed(name: str, snapshots: Snapshots) -> None:
    snapshots.check(name, render(REVIEWED[name]))


def test_every_snapshot_is_of_a_message(snapshots: Snapshots) -> None:
    snapshots.check_names(REVIEWED)
