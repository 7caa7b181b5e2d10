"""The other freezes of the same queue, and until when merging waits for all of them."""

from collections.abc import Sequence

from bot.blocks.groups import names
from bot.blocks.text import NAME_LIMIT, by_count, listed, local_time, quote
from bot.freezes.freeze import Freeze, held_until
from bot.freezes.texts.cards import FREEZES_LISTED, freeze_facts
from bot.kernel.repository import RepositoryName

NO_REASON = "No reason given"
WAITS_FOR_EACH = "A pull request waits for every freeze that covers it."


def holding_too(freeze: Freeze, others: Sequence[Freeze]) -> str:
    """Beside a freeze that is made or changed; escaped, empty if it is the only one."""
    if not others:
        return ""
    title = by_count(
        len(others),
        "Another freeze holds merges too",
        "{count} other freezes hold merges too",
    )
    return f"{title}: {_freezes_in_short(others)}. {_until([freeze, *others])}"


def still_frozen(others: Sequence[Freeze]) -> str:
    """After the end of a freeze: what keeps merges waiting; escaped, empty if nothing does."""
    if not others:
        return ""
    title = by_count(
        len(others),
        "Still frozen by another freeze",
        "Still frozen by {count} other freezes",
    )
    return f"{title}: {_freezes_in_short(others)}"


def still_frozen_of(repositories: Sequence[RepositoryName]) -> str:
    """After the end of a group's freeze: the queues that others keep frozen; escaped."""
    return f"Still frozen by other freezes: {names(repositories)}" if repositories else ""


def _freezes_in_short(freezes: Sequence[Freeze]) -> str:
    return listed([_in_short(freeze) for freeze in freezes], "; ", most=FREEZES_LISTED)


def _in_short(freeze: Freeze) -> str:
    reason = quote(freeze.reason, NAME_LIMIT) or NO_REASON
    by = f" by {quote(freeze.by, NAME_LIMIT)}" if freeze.by else ""
    return ", ".join(filter(None, [f"{reason}{by}", *freeze_facts(freeze.terms)]))


def _until(freezes: Sequence[Freeze]) -> str:
    """When merging starts again. Only the service can tell whom conditions leave out."""
    if any(freeze.has_conditions for freeze in freezes):
        return WAITS_FOR_EACH
    end = held_until(freezes)
    if end is not None:
        return f"Merging waits until {local_time(end)}."
    return by_count(
        sum(freeze.ends_at is None for freeze in freezes),
        "Merging waits until someone ends the one without an end.",
        "Merging waits until someone ends the {count} without an end.",
    )
