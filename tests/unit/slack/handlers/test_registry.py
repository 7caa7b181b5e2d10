"""Every command, button, menu, form and shortcut of the bot has a handler."""

from bot.domain.commands import COMMANDS
from bot.messages import actions
from bot.slack.handlers.registry import handles

NAMES = {
    value: name
    for name, value in vars(actions).items()
    if isinstance(value, str) and value.startswith(actions.PREFIX) and name != "PREFIX"
}


def test_every_command_has_a_handler() -> None:
    assert {command.name for command in COMMANDS} <= set(handles.command)


def test_every_button_and_menu_has_a_handler() -> None:
    elements = {value for value, name in NAMES.items() if not name.endswith("_VIEW")}
    assert set(handles.click) == elements.union(actions.INSTEAD)


def test_every_form_has_a_handler() -> None:
    forms = {value for value, name in NAMES.items() if name.endswith("_VIEW")}
    assert set(handles.form) == forms
    assert set(handles.shortcut) == {actions.PAUSE_SHORTCUT, actions.PAUSE_BECAUSE_SHORTCUT}
