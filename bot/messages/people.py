"""A person's login and notifications, and the menu that changes them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bot.domain.message import Block, Message
from bot.domain.notices import DIRECT, OF_THE_AUTHOR, AboutPerson, Notice
from bot.messages import actions, blocks
from bot.messages.text import escape, listed, mention, quote

LOGIN_LIMIT = 110


def linked(person: AboutPerson, command: str, *, is_first: bool = False) -> Message:
    calls = "I mention you nowhere, as you asked"
    if Notice.FAILURE in person.wanted:
        calls = "I send you a direct message when one of them left the queue and needs you"
    elif Notice.MENTION in person.wanted:
        calls = "I mention you where one of them left the queue and needs you"
    said = blocks.sentence(
        f":link: You are {quote(person.login or '', LOGIN_LIMIT)} on the code host. "
        f"Your pull requests show in my Home tab, and {calls}. "
        f"`{escape(command)} me` shows your notifications; `{escape(command)} link off` ends it."
    )
    if not is_first:
        return said
    offer = "Without these direct messages I mention you in the channels instead."
    return blocks.message(*said.blocks, blocks.section(offer), *menu(person))


def taken(login: str) -> Message:
    """To a person who typed a login linked to another person."""
    return blocks.sentence(
        f":no_entry: {quote(login, LOGIN_LIMIT)} is linked to another person. Nothing was changed, "
        "and they are notified. If it is your login, ask the people who run this bot: they decide "
        "with the setting `MQBOT_LOGINS`."
    )


def assigned(login: str) -> Message:
    """To a person who named a login that the settings give to another person."""
    return blocks.sentence(
        f":no_entry: {quote(login, LOGIN_LIMIT)} is assigned to another person. Nothing was "
        "changed. If it is your login, ask the people who run this bot to correct `MQBOT_LOGINS`."
    )


def wanted_by(user_id: str, login: str, command: str) -> Message:
    """To the person whose login another person typed."""
    return blocks.sentence(
        f":link: {mention(user_id)} tried to link {quote(login, LOGIN_LIMIT)}, which is linked to "
        f"you. Nothing was changed. If it isn't your login, free it with "
        f"`{escape(command)} link off`."
    )


def unlinked(*, was_linked: bool) -> Message:
    ended, none = "Your code host login is no longer linked.", "No login was linked. Nothing to do."
    return blocks.sentence(ended if was_linked else none)


def me(person: AboutPerson, command: str, said: str = "") -> Message:
    done = [blocks.section(f":white_check_mark: {said}")] if said else []
    command = escape(command)
    who = f"I don't know your code host login. Link it with `{command} link LOGIN`."
    if person.login is not None:
        who = f"You are {quote(person.login, LOGIN_LIMIT)} on the code host. "
        who += f"`{command} link off` removes that link."
    by_words = blocks.context(
        "You always get the messages you ask for with *Notify me when it resumes*",
        f"`{command} me mentions off`, `{command} me dm off`, `{command} me all on` do the same",
    )
    return blocks.message(*done, blocks.section(who), *menu(person), by_words)


_MEANINGS = {
    Notice.MENTION: "In channels, when you get no direct message about it",
    Notice.FAILURE: "A direct message when your pull request needs you",
    Notice.MERGE: "A direct message when your pull request merges",
    Notice.REMINDER: "A direct message while your pause lasts; if off, channels are reminded",
    Notice.REPLACED: "A direct message when someone resumes or changes your pause",
    Notice.CONFIRMATION: "A question before a pause you type stops running checks",
}
AWAITED_SHOWN = 10
MENU = "Choose notifications"


def menu(person: AboutPerson) -> list[Block]:
    """The notifications that are on and off, the menu that changes them, and what they wait for.

    The lines are there for the fallback text too.
    """
    options = {
        one: blocks.option(_name(one), one.value, description=_MEANINGS[one]) for one in Notice
    }
    on = [one for one in Notice if one in person.wanted]
    off = [one for one in Notice if one not in person.wanted]
    choose = blocks.multi_select(
        MENU,
        action_id=actions.NOTICE,
        options=list(options.values()),
        chosen=[options[one] for one in on],
    )
    lines = ["*My notifications*"]
    lines += [f"{word}: {_names(some)}" for word, some in (("On", on), ("Off", off)) if some]
    if person.login is None and OF_THE_AUTHOR & person.wanted:
        lines.append("Those about pull requests start when I know your login.")
    shown = [blocks.section("\n".join(lines), block_id="notices", accessory=choose)]
    if person.awaited:
        stop = blocks.button("Stop waiting", action_id=actions.STOP_WAITING, value="all")
        awaited = listed([escape(one) for one in person.awaited], most=AWAITED_SHOWN)
        text = f"*Notify me when it resumes:* you're waiting for {awaited}\nA direct message, once"
        shown.append(blocks.section(text, block_id="notice:waiting", accessory=stop))
    return shown


def stopped_waiting(*, is_new: bool) -> str:
    waiting = "'re no longer waiting" if is_new else " weren't waiting"
    return f"You{waiting} for any queue."


def direct(message: Message, notice: Notice) -> Message:
    """A channel's post as a direct message, with a menu that turns such messages off."""
    stop = blocks.option("Stop these messages", f"{notice.value}{actions.OFF}")
    menu = blocks.overflow(action_id=actions.NOTICE_STOP, options=[stop])
    headline, *rest = message.blocks
    return replace(message, blocks=({**headline, "accessory": menu}, *rest))


def switched(changed: Mapping[Notice, bool]) -> str:
    """The result of a choice: the notifications it turned on or off."""
    said = []
    for word in ("on", "off"):
        some = [one for one in Notice if changed.get(one) is (word == "on")]
        names = _names(some)
        if frozenset(some) == DIRECT:
            names = "All direct messages"
        elif len(some) == len(Notice):
            names = "All of it"
        said += [f"{names}: {word} now."] if some else []
    return " ".join(said) or "Nothing changed."


def _names(notices: Sequence[Notice]) -> str:
    return ", ".join(map(_name, notices))


def _name(notice: Notice) -> str:
    return notice.value.capitalize()
