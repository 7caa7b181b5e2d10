"""What a person is told, kind by kind, with what switches each of them."""

from collections.abc import Collection
from dataclasses import replace

from bot.domain.message import Block, Message
from bot.domain.notices import DIRECT, OF_THE_AUTHOR, AboutPerson, Notice
from bot.messages import actions, blocks
from bot.messages.text import escape, listed

_MEANINGS = {
    Notice.MENTION: "In channels, where one of your pull requests left the queue and needs you",
    Notice.FAILURE: (
        "A direct message when one of your pull requests left the queue and needs you, "
        "whichever channels are notified"
    ),
    Notice.MERGE: "A direct message when pull requests of yours merged",
    Notice.REMINDER: (
        "A direct message while a pause of yours lasts; turned off, the channels are reminded "
        "instead"
    ),
    Notice.REPLACED: (
        "A direct message when somebody else resumes or replaces a pause of yours, or changes its "
        "reason"
    ),
}


AWAITED_SHOWN = 10

_SWITCHED = {
    Notice.MENTION: "mentions",
    Notice.FAILURE: "failure messages",
    Notice.MERGE: "merge messages",
    Notice.REMINDER: "reminders",
    Notice.REPLACED: "replacement messages",
}


def rows(person: AboutPerson) -> list[Block]:
    """A line for each kind: whether it comes, and the button that changes that."""
    return [
        blocks.section(
            f"*{_name(one)}:* {_state(one, person)}\n{_MEANINGS[one]}",
            block_id=f"notice:{one.value}",
            accessory=_switch(one, is_on=one not in person.wanted),
        )
        for one in Notice
    ] + _waiting(person)


def _waiting(person: AboutPerson) -> list[Block]:
    """What was asked for with *Tell me when it resumes* and has not come yet."""
    if not person.awaited:
        return []
    stop = blocks.button("Stop waiting", action_id=actions.STOP_WAITING, value="all")
    text = f"*Tell me when it resumes:* you wait for {_awaited(person)}\nA direct message, once"
    return [blocks.section(text, block_id="notice:waiting", accessory=stop)]


def _awaited(person: AboutPerson) -> str:
    return listed([escape(one) for one in person.awaited], most=AWAITED_SHOWN)


def stopped_waiting(*, is_new: bool) -> str:
    return "You no longer wait for any queue." if is_new else "You weren't waiting for any queue."


def direct(message: Message, notice: Notice) -> Message:
    """What channels are told, told one person alone, who can end that there and then."""
    stop = blocks.button(
        "Stop these messages",
        action_id=actions.NOTICE_STOP,
        value=actions.notice_value(notice, is_on=False),
    )
    why = blocks.context("To you because the pull request is yours")
    return replace(message, blocks=(*message.blocks, why, blocks.actions([stop])))


def by_words(command: str) -> Block:
    """What is never switched off, and how to do without the buttons."""
    me = f"{escape(command)} me"
    return blocks.context(
        "What you ask for with *Tell me when it resumes* always comes",
        f"`{me} mentions off`, `{me} dm off`, `{me} all on` do the same as the buttons",
    )


def in_one_line(person: AboutPerson) -> str:
    """For those who see no blocks."""
    states = [f"{_name(one)}: {_state(one, person)}" for one in Notice]
    waiting = [f"You wait for {_awaited(person)} to resume"] if person.awaited else []
    return ". ".join([*states, *waiting]) + "."


def switched(notices: Collection[Notice], *, is_on: bool, is_new: bool) -> str:
    """What came of switching some of them."""
    state = "on" if is_on else "off"
    now = f"{state} now." if is_new else f"{state} already. Nothing to do."
    return f"{_together(frozenset(notices))}: {now}"


def _state(notice: Notice, person: AboutPerson) -> str:
    if notice not in person.wanted:
        return "off"
    unknown = notice in OF_THE_AUTHOR and person.login is None
    return "on, once I know your login" if unknown else "on"


def _switch(notice: Notice, *, is_on: bool) -> blocks.Element:
    """Named for what it switches: those who hear the page read to them hear one after another.

    It must not sound as if the queue were meant, which is why it says more than what is typed.
    """
    return blocks.button(
        f"Turn {'on' if is_on else 'off'} {_SWITCHED[notice]}",
        action_id=actions.NOTICE,
        value=actions.notice_value(notice, is_on=is_on),
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
