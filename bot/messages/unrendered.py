"""What a channel gets in place of a message that a defect kept from being rendered."""

from bot.domain.message import Message
from bot.domain.repository import RepositoryName
from bot.messages.text import escape


def plain(repository: RepositoryName, kind: str | None, *, told: int) -> Message:
    what = f"{told} updates" if told > 1 else kind.replace("_", " ") if kind else "an update"
    return Message(
        f"{escape(repository)}: {escape(what)}. I couldn't show the details because of a defect;"
        " my log has them.",
        told=told,
    )
