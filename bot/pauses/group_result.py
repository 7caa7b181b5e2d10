"""The result of one repository in a group's act."""

from bot.acts.group_act import GroupOutcome, RepositoryResult
from bot.kernel.repository import RepositoryName
from bot.pauses.outcomes import AlreadyPaused, NotPaused, OtherEnd, OtherPause, PauseChange


def result_of(
    repository: RepositoryName,
    outcome: PauseChange | AlreadyPaused | NotPaused | OtherPause | OtherEnd,
) -> RepositoryResult:
    match outcome:
        case PauseChange():
            return RepositoryResult(repository, GroupOutcome.CHANGED)
        case AlreadyPaused(known=known):
            return RepositoryResult(repository, GroupOutcome.ALREADY_PAUSED, known.by_name)
        case NotPaused(is_answer_lost=True):
            # It is as asked, no matter who resumed it.
            return RepositoryResult(repository, GroupOutcome.CHANGED)
        case NotPaused():
            return RepositoryResult(repository, GroupOutcome.NOT_PAUSED)
        case OtherPause(known=known) | OtherEnd(known=known):
            return RepositoryResult(repository, GroupOutcome.REPLACED, known.by_name)
