"""A person's login and notifications, and the menu that changes them."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from bot.domain.message import Block, Message
from bot.domain.notices import DIRECT, OF_THE_AUTHOR, AboutPerson, Notice
from bot.messages import actions, blocks
from bot.messages.text import escape, listed, mention, quote

LOGIN_LIMIT = 110


def linked(person: AboutPerson, command: str, *, is_first: bool = False) -> Message:
    """The reply to a link; the first one offers author notifications."""
    login = quote(person.login or "", LOGIN_LIMIT)
    calls = _calls(person.wanted)
    said = blocks.sentence(
        f":link: You are {login} on the code host. "
        f"Your pull requests show in my Home tab, and {calls}. "
        f"`{escape(command)} me` shows your notifications; `{escape(command)} link off` ends it."
    )
    if not is_first:
        return said
    offer = "Without these direct messages I mention you in the channels instead."
    return blocks.message(*said.blocks, blocks.section(offer), *menu(person))


def _calls(wanted: Collection[Notice]) -> str:
    """How the person is notified of their failures."""
    if Notice.FAILURE in wanted:
        return "I send you a direct message when one of them left the queue and needs you"
    if Notice.MENTION in wanted:
        return "I mention you where one of them left the queue and needs you"
    return "I mention you nowhere, as you asked"


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
    if was_linked:
        return blocks.sentence("Your code host login is no longer linked.")
    return blocks.sentence("No login was linked. Nothing to do.")


def me(person: AboutPerson, command: str, said: str = "") -> Message:
    """The answer to `/mq me`; `said` is the result of a change."""
    done = [blocks.section(f":white_check_mark: {said}")] if said else []
    who = blocks.section(_who(person, command))
    return blocks.message(*done, who, *menu(person), by_words(command))


def _who(person: AboutPerson, command: str) -> str:
    if person.login is None:
        return f"I don't know your code host login. Link it with `{escape(command)} link LOGIN`."
    return (
        f"You are {quote(person.login, LOGIN_LIMIT)} on the code host. "
        f"`{escape(command)} link off` removes that link."
    )


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
    """The notifications that are on and off, and the menu that changes them."""
    options = {
        one: blocks.option(_name(one), one.value, description=_MEANINGS[one]) for one in Notice
    }
    choose = blocks.multi_select(
        MENU,
        action_id=actions.NOTICE,
        options=list(options.values()),
        chosen=[options[one] for one in Notice if one in person.wanted],
    )
    text = f"*My notifications*\n{_states(person)}"
    return [blocks.section(text, block_id="notices", accessory=choose), *_waiting(person)]


def _states(person: AboutPerson) -> str:
    """Lines with the notifications that are on and off, also for the fallback text."""
    on = [one for one in Notice if one in person.wanted]
    off = [one for one in Notice if one not in person.wanted]
    lines = [
        f"{word}: {', '.join(_name(one) for one in some)}"
        for word, some in (("On", on), ("Off", off))
        if some
    ]
    if person.login is None and OF_THE_AUTHOR & person.wanted:
        lines.append("Those about pull requests start when I know your login.")
    return "\n".join(lines)


def _waiting(person: AboutPerson) -> list[Block]:
    """The queues that the person is waiting for, with a button to stop."""
    if not person.awaited:
        return []
    stop = blocks.button("Stop waiting", action_id=actions.STOP_WAITING, value="all")
    awaited = listed([escape(one) for one in person.awaited], most=AWAITED_SHOWN)
    text = f"*Notify me when it resumes:* you're waiting for {awaited}\nA direct message, once"
    return [blocks.section(text, block_id="notice:waiting", accessory=stop)]


def stopped_waiting(*, is_new: bool) -> str:
    return (
        "You're no longer waiting for any queue."
        if is_new
        else "You weren't waiting for any queue."
    )


def direct(message: Message, notice: Notice) -> Message:
    """A channel's post as a direct message, with a menu that turns such messages off."""
    stop = blocks.option("Stop these messages", actions.notice_value(notice, is_on=False))
    menu = blocks.overflow(action_id=actions.NOTICE_STOP, options=[stop])
    headline, *rest = message.blocks
    return replace(message, blocks=({**headline, "accessory": menu}, *rest))


def by_words(command: str) -> Block:
    """The messages that can't be turned off, and the commands that replace the buttons."""
    me = f"{escape(command)} me"
    return blocks.context(
        "You always get the messages you ask for with *Notify me when it resumes*",
        f"`{me} mentions off`, `{me} dm off`, `{me} all on` do the same",
    )


def switched(changed: Mapping[Notice, bool]) -> str:
    """The result of a choice: the notifications it turned on or off."""
    if not changed:
        return "Nothing changed."
    return " ".join(
        f"{_together(frozenset(some))}: {word} now."
        for word, some in (
            ("on", [one for one, is_on in changed.items() if is_on]),
            ("off", [one for one, is_on in changed.items() if not is_on]),
        )
        if some
    )


def _together(notices: frozenset[Notice]) -> str:
    if notices == frozenset(Notice):
        return "All of it"
    if notices == DIRECT:
        return "All direct messages"
    return ", ".join(_name(one) for one in Notice if one in notices)


def _name(notice: Notice) -> str:
    """As it is typed."""
    return notice.value.capitalize()
