"""Every command, button, menu, form and shortcut of the bot has a handler."""

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

import bot.runtime.handlers
from bot.blocks import controls
from bot.desk.registry import Handlers, handles
from bot.desk.table import COMMANDS
from bot.pauses import actions as pause_actions

BOT = Path(bot.runtime.handlers.__file__).parents[1]
MODULES = [
    controls,
    *(
        importlib.import_module(f"bot.{path.parent.name}.actions")
        for path in sorted(BOT.glob("*/actions.py"))
    ),
]
CONSTANTS = [(name, value) for module in MODULES for name, value in vars(module).items()]

NAMES = {
    value: name
    for name, value in CONSTANTS
    if isinstance(value, str)
    and value.startswith(controls.ACTION_PREFIX)
    and name != "ACTION_PREFIX"
}


IN_ROWS = {
    action_id
    for _, row in CONSTANTS
    if isinstance(row, tuple)
    for action_id in row
    if str(action_id).startswith(controls.ACTION_PREFIX)
}
"""The answers to one question, in a row."""


def test_every_command_has_a_handler() -> None:
    assert {command.name for command in COMMANDS} <= set(handles.command)


def test_every_button_and_menu_has_a_handler() -> None:
    elements = {value for value, name in NAMES.items() if not name.endswith("_VIEW")}
    assert set(handles.click) == elements | IN_ROWS


def test_every_form_has_a_handler() -> None:
    forms = {value for value, name in NAMES.items() if name.endswith("_VIEW")}
    assert set(handles.form) == forms
    assert set(handles.shortcut) == {
        pause_actions.PAUSE_SHORTCUT,
        pause_actions.PAUSE_BECAUSE_SHORTCUT,
    }


def test_every_module_with_handlers_is_imported() -> None:
    found = [
        path.relative_to(BOT.parent).with_suffix("")
        for path in sorted([*BOT.glob("*/handlers.py"), *BOT.glob("*/handlers/*.py")])
        if path.name != "__init__.py"
    ]
    assert len(found) > len(MODULES)
    listed = Path(bot.runtime.handlers.__file__).read_text("utf-8")
    missing = [".".join(path.parts) for path in found if ".".join(path.parts) not in listed]
    assert missing == ["bot.runtime.handlers"]


def test_a_name_that_is_taken_is_refused() -> None:
    registered = Handlers[Callable[[object], str]]()
    registered("status", "queue")(str)
    with pytest.raises(ValueError, match="another handler has the name status"):
        registered("status")(repr)
    assert registered == {"status": str, "queue": str}
