"""How the commands about oneself are read."""

import re

from bot.domain.commands.arguments import Arguments
from bot.domain.commands.values import Command, LinkCommand, MeCommand

LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?(?:\[bot\])?", re.ASCII)
"""What code hosts take for a login, at its widest."""

OFF = "off"


def read_link(arguments: Arguments) -> Command:
    if len(arguments.words) != 1:
        raise arguments.problem("Type your login of the code host, one word.")
    login = arguments.words[0].removeprefix("@")
    if login.lower() == OFF:
        return LinkCommand(None)
    if LOGIN.fullmatch(login) is None:
        raise arguments.problem(
            "A login has letters, digits, dots, hyphens and underscores, at most 100 of them."
        )
    return LinkCommand(login)


def read_me(arguments: Arguments) -> Command:
    if arguments.words:
        raise arguments.problem(f"I do not understand “{arguments.words[0]}” here.")
    return MeCommand()
