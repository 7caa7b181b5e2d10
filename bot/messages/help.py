"""The help text, made from the command table."""

from bot.domain.commands import VERBS, Verb
from bot.domain.message import Message
from bot.messages import blocks
from bot.messages.text import escape


def help_text(command: str, verb_name: str | None = None) -> Message:
    """All commands, or one of them with its examples."""
    for verb in VERBS:
        if verb.name == verb_name:
            return _one(command, verb)
    lines = [f"• {verb.task}: `{escape(f'{command} {verb.usage}')}`" for verb in VERBS]
    return Message(
        text="\n".join(f"{verb.task}: {escape(f'{command} {verb.usage}')}" for verb in VERBS),
        blocks=(
            blocks.section("*What I can do*"),
            blocks.section("\n".join(lines)),
            blocks.context(
                f"`{escape(command)}` alone shows the queue of this channel's repository",
                f"one verb in detail: `{escape(f'{command} help pause')}`",
            ),
        ),
    )


def _one(command: str, verb: Verb) -> Message:
    lines = [f"*{verb.task}*", f"`{escape(f'{command} {verb.usage}')}`", "For example:"]
    lines += [f"• `{escape(f'{command} {example}')}`" for example in verb.examples]
    if verb.aliases:
        lines.append("Also: " + ", ".join(f"`{escape(f'{command} {a}')}`" for a in verb.aliases))
    plain = f"{verb.task}: {escape(f'{command} {verb.usage}')}"
    return Message(text=plain, blocks=(blocks.section("\n".join(lines)),))
