"""What an act on a group did to each of its repositories, in counts and in lines."""

from collections.abc import Sequence

from bot.domain.audit import Action
from bot.domain.group_acts import EVERY_ACT, FREEZES, GroupAct, GroupOutcome, RepositoryResult
from bot.messages.text import NAME_LIMIT, escape, listed, quote

DETAIL_LIMIT = 120


def summary(done: GroupAct, *, is_past: bool = False) -> list[str]:
    """The counts: "48 paused", "1 already paused by bob", "1 failed"."""
    return [
        f"{len(some):,} {_word(done.action, outcome, is_past=is_past)}{_by_one(some)}"
        for outcome, some in _sorted(done)
    ]


def _by_one(some: Sequence[RepositoryResult]) -> str:
    """Who made all these pauses, if it was one person."""
    return _by(some[0]) if len({one.who for one in some}) == 1 else ""


_WORDS = {
    (Action.PAUSE, GroupOutcome.CHANGED): "paused",
    (Action.PAUSE, GroupOutcome.ALREADY_PAUSED): "already paused",
    (Action.RESUME, GroupOutcome.CHANGED): "resumed",
    (Action.RESUME, GroupOutcome.NOT_PAUSED): "not paused",
    (Action.RESUME, GroupOutcome.NOT_OURS): "paused separately (left alone)",
    (Action.RESUME, GroupOutcome.REPLACED): "paused again since (left alone)",
    (Action.EXTEND, GroupOutcome.CHANGED): "extended",
    (Action.EXTEND, GroupOutcome.NOT_PAUSED): "no longer paused",
    (Action.EXTEND, GroupOutcome.REPLACED): "paused again since (left alone)",
    (Action.FREEZE, GroupOutcome.CHANGED): "frozen",
    (Action.FREEZE, GroupOutcome.ALREADY_PAUSED): "already frozen",
    (Action.UNFREEZE, GroupOutcome.CHANGED): "unfrozen",
    (Action.UNFREEZE, GroupOutcome.NOT_PAUSED): "not frozen",
    (Action.UNFREEZE, GroupOutcome.NOT_OURS): "frozen separately (left alone)",
} | {
    (action, outcome): word
    for action in EVERY_ACT | FREEZES
    for outcome, word in (
        (GroupOutcome.FAILED, "failed"),
        (GroupOutcome.NOT_TRIED, "not confirmed"),
    )
}


def _sorted(done: GroupAct) -> list[tuple[GroupOutcome, list[RepositoryResult]]]:
    found = [(outcome, done.of(outcome)) for outcome in GroupOutcome]
    return [(outcome, some) for outcome, some in found if some]


def _word(action: Action, outcome: GroupOutcome, *, is_past: bool) -> str:
    """`is_past`: not all that was paused is paused still."""
    word = _WORDS[action, outcome]
    is_changed = action is Action.PAUSE and outcome is GroupOutcome.CHANGED
    return f"{word} at first" if is_past and is_changed else word


def lines(done: GroupAct, *, is_past: bool = False) -> list[str]:
    """A line for each outcome; failures with what went wrong, one below the other."""
    return [
        f"*{len(some):,} {_word(done.action, outcome, is_past=is_past)}:* "
        f"{_told_apart(outcome, some)}"
        for outcome, some in _sorted(done)
    ]


def _told_apart(outcome: GroupOutcome, some: Sequence[RepositoryResult]) -> str:
    if outcome is GroupOutcome.FAILED:
        return "\n" + listed([_failure(one) for one in some], "\n")
    return listed([f"{escape(one.repository)}{_by(one)}" for one in some])


def _by(result: RepositoryResult) -> str:
    return f" by {quote(result.who, NAME_LIMIT)}" if result.who else ""


def _failure(result: RepositoryResult) -> str:
    return f"• {escape(result.repository)}: {quote(result.detail or 'failed', DETAIL_LIMIT)}"
