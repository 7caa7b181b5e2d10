"""Refusals: why a person may not do something, and who may."""

from bot.domain.errors import PermissionDenied
from bot.domain.permissions import NO_GUEST_FLAG, DenialReason, Right
from bot.messages.text import code, quote

NAME_LIMIT = 40
SHOWN = 5
"""Groups, and people, that a refusal names; short even if the names consist of `&`."""

CODE_LIMIT = 80

_DOING = {
    Right.READ: "see the merge queues here",
    Right.SUBSCRIBE: "change a channel's subscriptions",
    Right.PAUSE: "pause a queue",
    Right.RESUME: "resume a queue",
    Right.REMOVE: "remove other people's pull requests from a queue",
    Right.FREEZE: "freeze a queue",
}

_BECAUSE = {
    DenialReason.OTHER_ORGANISATION: "you belong to another organisation",
    DenialReason.GUEST: "you are a guest here",
    DenialReason.BOT: "you are a bot",
    DenialReason.DEACTIVATED: "your account is deactivated",
    DenialReason.UNKNOWN_PERSON: "Slack doesn't know your account",
}

_FIXES = {
    "missing_scope": "An operator of the bot can install the app again with its present manifest.",
    "plan_upgrade_required": (
        "This workspace's plan has no user groups: an operator of the bot can name people "
        "instead (MQBOT_WHO_MAY_PAUSE)."
    ),
    NO_GUEST_FLAG: "Slack left out whether you are a guest; `mqbot check` tells the operator more.",
}
_LATER = "Please try again in a minute; if it can't wait, use the merge queue's own dashboard."


def denied(error: PermissionDenied) -> str:
    """The refusal and who may instead; names are plain text, so that nobody is notified."""
    doing, reason, who = _DOING[error.right], error.denied.reason, error.who_can
    if reason is DenialReason.UNVERIFIABLE:
        said = error.denied.code or "no answer"
        return (
            f"I can't let you {doing} right now: Slack didn't confirm that you may "
            f"({code(said, CODE_LIMIT)}). Nothing was changed. {_FIXES.get(said, _LATER)}"
        )
    because = _BECAUSE.get(reason)
    groups = [quote(name, NAME_LIMIT) for name in who.groups[:SHOWN]]
    people = [quote(name, NAME_LIMIT) for name in who.people[:SHOWN]]
    left = who.more + len(who.groups[SHOWN:]) + len(who.people[SHOWN:])
    if left:
        people.append(f"{left} more")
    word = "user group" if len(groups) == 1 else "user groups"
    parts = [f"members of the {word} {_listed(groups)}"] if groups else []
    parts += [_listed(people)] if people else []
    # With several groups a bare "and" would make the people look like one more group.
    joined = (", and also " if len(groups) > 1 else " and ").join(parts)
    may = joined or "full members of this workspace"
    return f"You may not {doing}{f': {because}' if because else ''}. Only {may} may {doing}."


def _listed(words: list[str]) -> str:
    """The words as a list: "a", "a and b", or "a, b and c"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
