"""The help text, made from the command table."""

from bot.blocks import blocks
from bot.blocks.message import Message
from bot.blocks.text import escape
from bot.desk.table import COMMANDS

ROWS = blocks.ROWS_LIMIT


def help_text(command: str, verb_name: str | None = None) -> Message:
    for verb in COMMANDS:
        if verb.name == verb_name:
            lines = [f"*{verb.task}*", _typed(command, verb.usage), "For example:"]
            lines += [f"• {_typed(command, example)}" for example in verb.examples]
            if verb.aliases:
                lines.append(f"Also: {', '.join(_typed(command, alias) for alias in verb.aliases)}")
            return blocks.sentence("\n".join(lines))
    rows = [(verb.task, _typed(command, verb.examples[0])) for verb in COMMANDS]
    return blocks.message(
        blocks.section("*What I can do*, and a command to copy for it"),
        *(blocks.two_columns(rows[at : at + ROWS]) for at in range(0, len(rows), ROWS)),
        blocks.context(
            f"`{escape(command)}` alone shows the queue of this channel's repository",
            f"a command in detail: {_typed(command, 'help pause')}",
        ),
    )


def _typed(command: str, words: str) -> str:
    return f"`{escape(f'{command} {words}')}`"
