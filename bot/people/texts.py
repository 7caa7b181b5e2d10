"""A person's login and notifications, and the menu that changes them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.blocks import blocks, controls, modal
from bot.blocks.blocks import Element
from bot.blocks.message import Block, Message, View
from bot.blocks.text import code, escape, joined_with_and, listed, local_time, mention, quote
from bot.kernel.repository import RepositoryName
from bot.people import actions as people_actions
from bot.people.notices import DIRECT_NOTICES, OF_THE_AUTHOR, AboutPerson, Notice

LOGIN_LIMIT = 110


def linked(
    person: AboutPerson, command: str, *, is_first: bool = False, replaced: str = ""
) -> Message:
    """`replaced`: the login that the person had before."""
    calls = "I won't mention you, as you asked."
    if Notice.FAILURE in person.wanted:
        calls = "I'll send you a direct message when one of them fails."
    elif Notice.MENTION in person.wanted:
        calls = "I'll mention you when one of them fails."
    said = blocks.sentence(
        f":link: {_linked_to(person.login or '')} Your pull requests are in my Home tab. {calls} "
        f"`{escape(command)} me` shows your notifications; `{escape(command)} link off` unlinks it."
    )
    if replaced:
        before = f"This replaced {quote(replaced, LOGIN_LIMIT)}. {_restores(replaced, command)}"
        said = blocks.message(*said.blocks, blocks.section(before))
    if not is_first:
        return said
    offer = "If you turn direct messages off, I mention you in the channels instead."
    return blocks.message(*said.blocks, blocks.section(offer), *menu(person))


def _linked_to(login: str) -> str:
    return f"Linked to the code host user *{quote(login, LOGIN_LIMIT)}*."


def link_button(person: AboutPerson) -> Element:
    """Opens `link_form`."""
    label = "Link my login…" if person.login is None else "Change my login…"
    return blocks.button(label, action_id=people_actions.LINK_BUTTON, value="me")


def link_form(login: str | None) -> View:
    """Asks for the login; `login`: the one that is linked."""
    words = blocks.text_input(
        people_actions.LOGIN_BLOCK,
        max_length=LOGIN_LIMIT,
        example="alice-m",
        typed=login,
        is_focused=True,
    )
    hint = "Your pull requests then stand in my Home tab, and I tell you when one of them fails."
    field = blocks.input_field(
        people_actions.LOGIN_BLOCK, "Your code host username", words, hint=hint
    )
    return blocks.modal(people_actions.LINK_VIEW, "Link my login", [field], {}, submit="Link")


def linking() -> View:
    return modal.result_modal(blocks.sentence(":hourglass_flowing_sand: Linking …"), None)


def taken(login: str, *, is_told: bool) -> Message:
    """To a person who typed a login linked to another person, who may have been told now."""
    told = ", and I've let them know" if is_told else ""
    return blocks.sentence(
        f":no_entry: {quote(login, LOGIN_LIMIT)} is linked to another person. Nothing was changed"
        f"{told}. If it's your login, ask the people who run this bot: they can assign it to you "
        "(`MQBOT_LOGINS`)."
    )


def assigned(login: str) -> Message:
    """To a person who named a login that the settings give to another person."""
    return blocks.sentence(
        f":no_entry: {quote(login, LOGIN_LIMIT)} is assigned to another person. Nothing was "
        "changed. If it's your login, ask the people who run this bot to correct `MQBOT_LOGINS`."
    )


def of_a_bot(login: str) -> Message:
    """To a person who named the login of a program."""
    return blocks.sentence(
        f":no_entry: {quote(login, LOGIN_LIMIT)} is a bot's login, so nobody can link it. Nothing "
        "was changed. If it's yours, ask the people who run this bot to assign it to you "
        "(`MQBOT_LOGINS`)."
    )


def wanted_by(user_id: str, login: str, command: str) -> Message:
    """To the person whose login another person typed."""
    return blocks.sentence(
        f":link: {mention(user_id)} tried to link {quote(login, LOGIN_LIMIT)}, which is linked to "
        f"you. Nothing was changed. If it isn't your login, free it with "
        f"`{escape(command)} link off`."
    )


def unlinked(login: str, command: str) -> Message:
    """`login`: the one that was linked, empty for none."""
    if not login:
        return blocks.sentence("No login was linked. Nothing to do.")
    ended = f"Your code host login {quote(login, LOGIN_LIMIT)} is no longer linked."
    return blocks.sentence(f"{ended} {_restores(login, command)}")


def _restores(login: str, command: str) -> str:
    return f"{code(f'{command} link {login}', LOGIN_LIMIT + len(command))} restores it."


def me(person: AboutPerson, command: str, said: str = "") -> Message:
    done = [blocks.section(f":white_check_mark: {said}")] if said else []
    command = escape(command)
    who = f"I don't know your code host username. Link it with `{command} link LOGIN`."
    if person.login is not None:
        who = f"{_linked_to(person.login)} `{command} link off` unlinks it."
    by_words = blocks.context(
        "*Notify me when it resumes* still works when these are off",
        f"You can also type `{command} me mentions off`, `{command} me dm off` "
        f"or `{command} me all on`",
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
        notice: blocks.option(_notice_name(notice), notice.value, description=_MEANINGS[notice])
        for notice in Notice
    }
    on = [notice for notice in Notice if notice in person.wanted]
    off = [notice for notice in Notice if notice not in person.wanted]
    choose = blocks.multi_select(
        MENU,
        action_id=people_actions.NOTICE_BUTTON,
        options=list(options.values()),
        chosen=[options[notice] for notice in on],
    )
    lines = ["*My notifications*"]
    lines += [f"{word}: {_notice_names(some)}" for word, some in (("On", on), ("Off", off)) if some]
    if person.login is None and OF_THE_AUTHOR & person.wanted:
        lines.append("Link your code host username to get pull request notifications.")
    block_id = "-".join(["notices", *sorted(notice.value for notice in on)])
    shown = [blocks.section("\n".join(lines), block_id=block_id, accessory=choose)]
    if person.awaited:
        stop = blocks.button("Stop waiting", action_id=people_actions.STOP_WAITING, value="all")
        awaited = listed([escape(name) for name in person.awaited], most=AWAITED_SHOWN)
        text = f"*Notify me when it resumes:* you're waiting for {awaited}\nA direct message, once"
        shown.append(blocks.section(text, block_id="notice:waiting", accessory=stop))
    return shown


def stopped_waiting(*, is_new: bool) -> str:
    if is_new:
        return "You're no longer waiting for any queue."
    return "You weren't waiting for any queue."


def direct(message: Message, notice: Notice) -> Message:
    """A channel's post as a direct message, with a menu that turns such messages off."""
    stop = blocks.option("Stop these messages", f"{notice.value}{people_actions.OFF_SUFFIX}")
    menu = blocks.overflow(action_id=people_actions.NOTICE_STOP, options=[stop])
    return blocks.with_menu(message, menu)


def mute_button(repository: RepositoryName, number: int) -> Element:
    """Stops mentions and direct messages about one pull request, for the person who presses it."""
    value = controls.value_of(people_actions.MutablePullRequest(repository, number))
    return blocks.button("Mute this pull request", action_id=people_actions.MUTE, value=value)


def mute_switch(repository: RepositoryName, number: int, *, is_muted: bool) -> Element:
    """Beside a pull request in the Home tab: mutes it, or ends that."""
    value = controls.value_of(people_actions.MutablePullRequest(repository, number))
    name = f"#{number} of {repository}"
    if is_muted:
        return blocks.button(
            "Unmute", action_id=people_actions.UNMUTE, value=value, spoken=f"Unmute {name}"
        )
    return blocks.button("Mute", action_id=people_actions.MUTE, value=value, spoken=f"Mute {name}")


def muted(repository: RepositoryName, number: int, until: datetime) -> Message:
    """To the person who muted it, with the way back."""
    value = controls.value_of(people_actions.MutablePullRequest(repository, number))
    undo = blocks.button("Unmute", action_id=people_actions.UNMUTE, value=value)
    said = (
        f":no_bell: Muted #{number} of {escape(repository)} for you until {local_time(until)}: "
        "no mentions, no direct messages. Other people still get theirs."
    )
    return blocks.message(blocks.section(said), blocks.actions([undo]))


def unmuted(repository: RepositoryName, number: int, *, was_muted: bool) -> Message:
    name = f"#{number} of {escape(repository)}"
    if not was_muted:
        return blocks.sentence(f"{name} wasn't muted.")
    return blocks.sentence(f":bell: {name} is no longer muted. You get its messages again.")


def switched(changed: Mapping[Notice, bool]) -> str:
    """The result of a choice: the notifications it turned on or off."""
    said = []
    for word in ("on", "off"):
        some = [notice for notice in Notice if changed.get(notice) is (word == "on")]
        which = joined_with_and([_notice_name(notice) for notice in some])
        if frozenset(some) == DIRECT_NOTICES:
            which = "All direct messages"
        elif len(some) == len(Notice):
            which = "All notifications"
        said += [f"{which} are {word}."] if some else []
    return " ".join(said) or "Nothing changed."


def _notice_names(notices: Sequence[Notice]) -> str:
    return ", ".join(map(_notice_name, notices))


def _notice_name(notice: Notice) -> str:
    return notice.value.capitalize()
