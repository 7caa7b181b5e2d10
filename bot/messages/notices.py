"""A person's notifications: what is on, and the menu that changes it."""

from collections.abc import Mapping
from dataclasses import replace

from bot.domain.message import Block, Message
from bot.domain.notices import DIRECT, OF_THE_AUTHOR, AboutPerson, Notice
from bot.messages import actions, blocks
from bot.messages.text import escape, listed

_MEANINGS = {
    Notice.MENTION: "In channels, when your pull request needs you",
    Notice.FAILURE: "A direct message when your pull request needs you",
    Notice.MERGE: "A direct message when your pull request merges",
    Notice.REMINDER: "A direct message while your pause lasts; off, channels are reminded",
    Notice.REPLACED: "A direct message when somebody resumes or changes your pause",
    Notice.CONFIRMATION: "A question before a pause you type stops running checks",
}
AWAITED_SHOWN = 10
MENU = "Choose notifications"


def menu(person: AboutPerson) -> list[Block]:
    """What is on and what is off in one line, and the menu that changes it."""
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
    """Lines that say which are on and which are off, for those who see no menu as well."""
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
    """What was asked for with *Notify me when it resumes* and has not come yet."""
    if not person.awaited:
        return []
    stop = blocks.button("Stop waiting", action_id=actions.STOP_WAITING, value="all")
    text = f"*Notify me when it resumes:* you wait for {_awaited(person)}\nA direct message, once"
    return [blocks.section(text, block_id="notice:waiting", accessory=stop)]


def _awaited(person: AboutPerson) -> str:
    return listed([escape(one) for one in person.awaited], most=AWAITED_SHOWN)


def stopped_waiting(*, is_new: bool) -> str:
    return "You no longer wait for any queue." if is_new else "You weren't waiting for any queue."


def direct(message: Message, notice: Notice) -> Message:
    """A channel's post as a direct message; a menu beside the headline turns these off."""
    stop = blocks.option("Stop these messages", actions.notice_value(notice, is_on=False))
    menu = blocks.overflow(action_id=actions.NOTICE_STOP, options=[stop])
    headline, *rest = message.blocks
    return replace(message, blocks=({**headline, "accessory": menu}, *rest))


def by_words(command: str) -> Block:
    """What is never switched off, and how to do without the buttons."""
    me = f"{escape(command)} me"
    return blocks.context(
        "What you ask for with *Notify me when it resumes* always comes",
        f"`{me} mentions off`, `{me} dm off`, `{me} all on` do the same",
    )


def in_one_line(person: AboutPerson) -> str:
    """For those who see no blocks."""
    states = _states(person).replace("\n", ". ").removesuffix(".")
    waiting = [f"You wait for {_awaited(person)} to resume"] if person.awaited else []
    return ". ".join([states, *waiting]) + "."


def switched(changed: Mapping[Notice, bool]) -> str:
    """What came of a choice, with the notices that it switched on or off."""
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
