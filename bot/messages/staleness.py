"""What is said while event logs cannot be read, and when they can again."""

from bot.domain.message import Message
from bot.domain.staleness import Staleness
from bot.messages import blocks
from bot.messages.text import duration, escape, listed, local_time, utc_time

NAMED = 5


def stale(staleness: Staleness) -> Message:
    """To channels that hear about any of the repositories: silence is not good news."""
    head = f"The event log of {_names(staleness)} cannot be read"
    hint = "What happens meanwhile is told when it can be read again; nothing is lost."
    since = staleness.since
    return Message(
        text=f"{head}, last read {utc_time(since)}. {hint}",
        blocks=(
            blocks.section(f":warning: *{head}*, last read {local_time(since)}."),
            blocks.context(hint),
        ),
    )


def read_again(staleness: Staleness) -> Message:
    """The end of it."""
    lasted = ""
    if staleness.ended_at is not None:
        lasted = f", after {duration(staleness.ended_at - staleness.since)}"
    text = f"The event log of {_names(staleness)} is read again{lasted}."
    return Message(text=text, blocks=(blocks.section(f":white_check_mark: {text}"),))


def _names(staleness: Staleness) -> str:
    return listed([escape(one) for one in sorted(staleness.repositories)], most=NAMED)
