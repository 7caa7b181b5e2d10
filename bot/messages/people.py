"""What is said to a person about themselves."""

from bot.domain.message import Message
from bot.messages import blocks
from bot.messages.text import escape, quote

LOGIN_LIMIT = 110


def linked(login: str, command: str) -> Message:
    return _line(
        f":link: You are {quote(login, LOGIN_LIMIT)} on the code host. "
        "Your pull requests show in my Home tab, and I mention you where one of them left the "
        f"queue and needs you; `{escape(command)} link off` ends it."
    )


def unlinked(*, was_linked: bool) -> Message:
    if was_linked:
        return _line("I have forgotten your login of the code host.")
    return _line("I knew no login of yours. Nothing to do.")


def me(login: str | None, command: str) -> Message:
    if login is None:
        return _line(
            "I do not know your login of the code host. "
            f"Tell me with `{escape(command)} link LOGIN`."
        )
    return _line(
        f"You are {quote(login, LOGIN_LIMIT)} on the code host, as you told me. "
        "I mention you where one of your pull requests left the queue and needs you. "
        f"`{escape(command)} link off` makes me forget it."
    )


def _line(text: str) -> Message:
    return Message(text=text, blocks=(blocks.section(text),))
