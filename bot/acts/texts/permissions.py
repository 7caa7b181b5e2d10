"""Refusals: why a person may not do something, and who may."""

from collections.abc import Sequence

from bot.acts.errors import PermissionDenied
from bot.acts.permission import Permitted, Right, WhoCan
from bot.blocks import blocks
from bot.blocks.message import Message
from bot.blocks.text import by_count, code, escape, listed, quote
from bot.slack.person import NO_GUEST_FLAG, DenialReason

PERMITTED_NAME_LIMIT = 40
PERMITTED_SHOWN = 5
"""Groups, and people, that a refusal names; short even if the names consist of `&`."""

CODE_LIMIT = 80
LOGIN_LIMIT = 110
RULED_REPOSITORIES_NAMED = 3
EVERY_MEMBER = "full members of this workspace"

_DOING = {
    Right.READ: "see the merge queues here",
    Right.SUBSCRIBE: "change a channel's subscriptions",
    Right.PAUSE: "pause a queue",
    Right.RESUME: "resume a queue",
    Right.REMOVE: "remove other people's pull requests from a queue",
    Right.FREEZE: "freeze a queue",
}

_BECAUSE_DENIED = {
    DenialReason.OTHER_ORGANISATION: "you belong to another organisation",
    DenialReason.GUEST: "you're a guest here",
    DenialReason.BOT: "you're a bot",
    DenialReason.DEACTIVATED: "your account is deactivated",
    DenialReason.UNKNOWN_PERSON: "Slack doesn't know your account",
}
"""For people outside: the same for every command and repository, so trying teaches nothing."""

FOR_READERS = "You don't have access to this bot. The people who run it can give it to you."

_FIXES = {
    "missing_scope": "An operator of the bot can install the app again with its present manifest.",
    "plan_upgrade_required": (
        "This workspace's plan has no user groups: an operator of the bot can name people "
        "instead (MQBOT_WHO_MAY_PAUSE)."
    ),
    NO_GUEST_FLAG: (
        "Slack left out whether you are a guest. Ask the bot's operator to run `mqbot check`. Until"
        " then, use the merge queue's dashboard."
    ),
}
_LATER = "Please try again in a minute; if it can't wait, use the merge queue's own dashboard."


def denied(error: PermissionDenied) -> str:
    """The refusal and who may instead; names are plain text, so that nobody is notified."""
    doing = _DOING[error.right]
    reason = error.denied.reason
    if reason in _BECAUSE_DENIED:
        return f"You can't use this bot: {_BECAUSE_DENIED[reason]}."
    if error.right is Right.READ and reason is DenialReason.NOT_LISTED:
        return FOR_READERS
    if reason is DenialReason.UNVERIFIABLE:
        said = error.denied.code or "no answer"
        return (
            f"I can't let you {doing} right now: Slack didn't confirm that you may "
            f"({code(said, CODE_LIMIT)}). Nothing was changed. {_FIXES.get(said, _LATER)}"
        )
    refused = f"Only {_people_who_may(error.who_can)} can {doing}."
    if error.claimed_login is None:
        return refused
    login = quote(error.claimed_login, LOGIN_LIMIT)
    return f"{refused} You linked {login} yourself. Only logins in MQBOT_LOGINS count here."


def _people_who_may(who: WhoCan) -> str:
    """The people who may."""
    groups = [quote(name, PERMITTED_NAME_LIMIT) for name in who.groups[:PERMITTED_SHOWN]]
    people = [quote(name, PERMITTED_NAME_LIMIT) for name in who.people[:PERMITTED_SHOWN]]
    left = who.more + len(who.groups[PERMITTED_SHOWN:]) + len(who.people[PERMITTED_SHOWN:])
    if left:
        people.append(f"{left} more")
    parts = []
    if groups:
        members = by_count(len(groups), "members of the user group", "members of the user groups")
        parts.append(f"{members} {_with_and(groups)}")
    parts += [_with_and(people)] if people else []
    # With several groups a bare "and" would make the people look like one more group.
    joined = (", and also " if len(groups) > 1 else " and ").join(parts)
    return joined or EVERY_MEMBER


SHOWN_RIGHTS = (Right.PAUSE, Right.RESUME, Right.FREEZE, Right.REMOVE, Right.SUBSCRIBE)
"""Those that `who_may` shows, in this order."""

READING_RIGHTS = ":hourglass_flowing_sand: Asking Slack who is in the user groups …"


def who_may(found: Sequence[Permitted]) -> Message:
    """Who has which right, each in a line; names are plain text, so that nobody is notified."""
    lines = [_may(permitted) for permitted in found]
    shown = listed(lines, "\n", length=blocks.LINES_LENGTH)
    said = "An operator of the bot can change this in its settings."
    return blocks.post(shown, said)


def _may(permitted: Permitted) -> str:
    doing = _DOING[permitted.right]
    where = ""
    if permitted.repositories:
        names = listed(
            [escape(name) for name in permitted.repositories], most=RULED_REPOSITORIES_NAMED
        )
        where = f" in {names}"
    return f"*{doing[0].upper()}{doing[1:]}*{where}: {_people_who_may(permitted.who)}"


def _with_and(words: list[str]) -> str:
    """The words as a list: "a", "a and b", or "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
