"""The help text, made from the command table."""

from bot.domain.commands import COMMANDS, Command
from bot.domain.message import Message
from bot.messages import blocks
from bot.messages.text import escape

ROWS = blocks.ROWS_LIMIT


def help_text(command: str, verb_name: str | None = None) -> Message:
    """All commands, or one of them with its examples."""
    for verb in COMMANDS:
        if verb.name == verb_name:
            return _one(command, verb)
    return Message(
        text="\n".join(f"{verb.task}: {escape(f'{command} {verb.usage}')}" for verb in COMMANDS),
        blocks=(
            blocks.section("*What I can do*, and a command to copy for it"),
            *(
                blocks.two_columns([_row(command, verb) for verb in COMMANDS[first : first + ROWS]])
                for first in range(0, len(COMMANDS), ROWS)
            ),
            blocks.context(
                f"`{escape(command)}` alone shows the queue of this channel's repository",
                f"all that a command takes: `{escape(f'{command} help pause')}`",
            ),
        ),
    )


def _row(command: str, verb: Command) -> tuple[str, str]:
    return verb.task, f"`{escape(f'{command} {verb.examples[0]}')}`"


def _one(command: str, verb: Command) -> Message:
    lines = [f"*{verb.task}*", f"`{escape(f'{command} {verb.usage}')}`", "For example:"]
    lines += [f"• `{escape(f'{command} {example}')}`" for example in verb.examples]
    if verb.aliases:
        lines.append("Also: " + ", ".join(f"`{escape(f'{command} {a}')}`" for a in verb.aliases))
    plain = f"{verb.task}: {escape(f'{command} {verb.usage}')}"
    return Message(text=plain, blocks=(blocks.section("\n".join(lines)),))
