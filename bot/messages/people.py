"""What is said to a person about themselves."""

from bot.domain.message import Message
from bot.domain.notices import AboutPerson, Notice
from bot.messages import blocks, notices
from bot.messages.text import escape, mention, quote

LOGIN_LIMIT = 110


def linked(person: AboutPerson, command: str, *, is_first: bool = False) -> Message:
    """The answer to a link; with the first one, the notifications of an author are offered."""
    login = quote(person.login or "", LOGIN_LIMIT)
    calls = (
        "I mention you where one of them left the queue and needs you"
        if Notice.MENTION in person.wanted
        else "I mention you nowhere, as you asked"
    )
    said = blocks.sentence(
        f":link: You are {login} on the code host. "
        f"Your pull requests show in my Home tab, and {calls}. "
        f"`{escape(command)} me` shows your notifications; `{escape(command)} link off` ends it."
    )
    return _with_offer(said, person) if is_first else said


def _with_offer(said: Message, person: AboutPerson) -> Message:
    offer = "From now on you also get a direct message when one of them fails and needs you."
    choice = notices.menu(person)
    return Message(
        text=f"{said.text} {offer}", blocks=(*said.blocks, blocks.section(offer), *choice)
    )


def taken(login: str) -> Message:
    """To a person who named a login that another person has."""
    return blocks.sentence(
        f":no_entry: {quote(login, LOGIN_LIMIT)} is linked to another person. Nothing was changed, "
        "and they are notified. If it is your login, ask the people who run this bot: they decide "
        "with the setting `MQBOT_LOGINS`."
    )


def wanted_by(user_id: str, login: str, command: str) -> Message:
    """To the person who has a login that another person named."""
    return blocks.sentence(
        f":link: {mention(user_id)} tried to link {quote(login, LOGIN_LIMIT)}, which is linked to "
        f"you. Nothing was changed. If it isn't your login, free it with "
        f"`{escape(command)} link off`."
    )


def unlinked(*, was_linked: bool) -> Message:
    if was_linked:
        return blocks.sentence("Your code host login is no longer linked.")
    return blocks.sentence("No login was linked. Nothing to do.")


def me(person: AboutPerson, command: str, said: str = "") -> Message:
    """The card of `/mq me`; `said` is what has just come of a change."""
    who = _who(person, command)
    done = [blocks.section(f":white_check_mark: {said}")] if said else []
    return Message(
        text=" ".join(filter(None, [said, who, notices.in_one_line(person)])),
        blocks=(*done, blocks.section(who), *notices.menu(person), notices.by_words(command)),
    )


def _who(person: AboutPerson, command: str) -> str:
    if person.login is None:
        return f"I don't know your code host login. Link it with `{escape(command)} link LOGIN`."
    return (
        f"You are {quote(person.login, LOGIN_LIMIT)} on the code host. "
        f"`{escape(command)} link off` removes that link."
    )
