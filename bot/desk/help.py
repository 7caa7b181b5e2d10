"""The help text, made from the command table."""

from bot.blocks import blocks, controls
from bot.blocks.explain import SENTENCE_LIMIT
from bot.blocks.message import Message
from bot.blocks.text import escape, quote
from bot.desk.table import COMMAND_BY_WORD, COMMANDS, Command

ROWS = blocks.ROWS_LIMIT

TASKS = ("status", "why", "pause", "resume", "extend", "freeze", "subscribe", "link")
"""What most people want, in the order of an incident; `help all` shows every command."""


def help_text(
    command: str,
    verb_name: str | None = None,
    *,
    is_whole: bool = False,
    problem: str = "",
) -> Message:
    """What people do most often, every command, or one of them in detail.

    `problem`: what was wrong with what they typed.
    """
    verb = COMMAND_BY_WORD.get(verb_name) if verb_name is not None else None
    if verb is not None:
        return _in_detail(command, verb)
    shown = COMMANDS if is_whole else [COMMAND_BY_WORD[name] for name in TASKS]
    rows = [(verb.task, _typed(command, verb.examples[0])) for verb in shown]
    headline = "*What I can do*, and a command to copy for it"
    if problem:
        headline = f"{quote(problem, SENTENCE_LIMIT)} {headline}"
    every = blocks.button("All commands", action_id=controls.RETRY, value="help all")
    return blocks.message(
        blocks.section(headline),
        *(blocks.two_columns(rows[at : at + ROWS]) for at in range(0, len(rows), ROWS)),
        blocks.context(
            f"`{escape(command)}` alone shows the queue of this channel's repository",
            f"a command in detail: {_typed(command, 'help pause')}",
        ),
        *([] if is_whole else [blocks.actions([every])]),
    )


def _in_detail(command: str, verb: Command) -> Message:
    lines = [f"*{verb.task}*", _typed(command, verb.usage), "For example:"]
    lines += [f"• {_typed(command, example)}" for example in verb.examples]
    if verb.aliases:
        lines.append(f"Also: {', '.join(_typed(command, alias) for alias in verb.aliases)}")
    return blocks.sentence("\n".join(lines))


def _typed(command: str, words: str) -> str:
    return f"`{escape(f'{command} {words}')}`"
