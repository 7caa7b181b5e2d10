"""Rendered messages compared with JSON files, so that a change of wording is seen as one."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from bot.blocks.message import Message, View


@dataclass(frozen=True)
class Snapshots:
    """The files of one folder; `is_updating` writes them instead of comparing.

    Keys stand in alphabetical order, so a file changes only when its message does.
    """

    folder: Path
    is_updating: bool = False

    def check(self, name: str, rendered: Message | View) -> None:
        """Fail unless the file `name` holds exactly this."""
        self._check(name, _shown(rendered))

    def check_all(self, name: str, rendered: Mapping[str, Message]) -> None:
        """Fail unless the file `name` holds exactly these."""
        self._check(name, {case: _shown(message) for case, message in rendered.items()})

    def _check(self, name: str, rendered: object) -> None:
        path = self.folder / f"{name}.json"
        shown = json.dumps(rendered, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
        if self.is_updating:
            self.folder.mkdir(exist_ok=True)
            path.write_text(shown, "utf-8")
        assert path.exists(), f"no snapshot {name}: run pytest with --update-snapshots"
        assert shown == path.read_text("utf-8")

    def check_names(self, names: Collection[str]) -> None:
        """Fail when the folder holds a file that no case writes."""
        left = {path.stem for path in self.folder.glob("*.json")}.difference(names)
        assert not left, f"snapshots of nothing: {sorted(left)}"


def _shown(rendered: Message | View) -> dict[str, object]:
    shown = asdict(rendered)
    # For the search of a post in history, and for the log: nobody sees them.
    shown.pop("happened_at", None)
    shown.pop("about", None)
    if isinstance(rendered, Message) and rendered.colour is None:
        shown.pop("colour")
    if isinstance(rendered, Message) and not rendered.is_refusal:
        shown.pop("is_refusal")
    return shown
