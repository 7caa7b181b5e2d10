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
    rows = [_row(command, verb) for verb in COMMANDS]
    return blocks.message(
        blocks.section("*What I can do*, and a command to copy for it"),
        *(blocks.two_columns(rows[at : at + ROWS]) for at in range(0, len(rows), ROWS)),
        blocks.context(
            f"`{escape(command)}` alone shows the queue of this channel's repository",
            f"a command in detail: `{escape(f'{command} help pause')}`",
        ),
    )


def _row(command: str, verb: Command) -> tuple[str, str]:
    return verb.task, f"`{escape(f'{command} {verb.examples[0]}')}`"


def _one(command: str, verb: Command) -> Message:
    lines = [f"*{verb.task}*", f"`{escape(f'{command} {verb.usage}')}`", "For example:"]
    lines += [f"• `{escape(f'{command} {example}')}`" for example in verb.examples]
    if verb.aliases:
        lines.append("Also: " + ", ".join(f"`{escape(f'{command} {a}')}`" for a in verb.aliases))
    return blocks.sentence("\n".join(lines))
