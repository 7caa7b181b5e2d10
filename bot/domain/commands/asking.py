"""How questions about a queue are read."""

from bot.domain.commands.arguments import Arguments
from bot.domain.commands.values import BRANCH_LIMIT, Command, StatusCommand


def read_status(arguments: Arguments) -> Command:
    repository, words = arguments.repository()
    branch = None
    for word in words:
        name, colon, value = word.partition(":")
        if name.lower() != "branch" or not colon:
            raise arguments.problem(f"I do not understand “{word}” here.")
        if not value:
            raise arguments.problem("branch: needs a branch name, for example branch:main.")
        if len(value) > BRANCH_LIMIT:
            raise arguments.problem(f"A branch name has at most {BRANCH_LIMIT} characters.")
        branch = value
    return StatusCommand(repository, branch)
