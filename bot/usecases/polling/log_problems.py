"""What is wrong with an event log as the service gives it: logged and counted."""

import logging
from collections.abc import Collection

from bot.domain.repository import RepositoryName
from bot.ports import LogProblem, Measures
from bot.usecases.polling.log_reader import LogReader

logger = logging.getLogger(__name__)

LOGGED = 20
"""Ids in one line of the log at most."""


def report(
    measures: Measures,
    problem: LogProblem,
    repository: RepositoryName,
    sentence: str,
    **facts: object,
) -> None:
    measures.log_problem(problem)
    extra = {"action": problem.value, "repository": repository, **facts}
    logger.warning(sentence, extra=extra)


def report_duplicates(
    measures: Measures, repository: RepositoryName, reader: LogReader, event_ids: Collection[int]
) -> None:
    """Once for each id, as polls overlap."""
    new = set(event_ids) - reader.duplicates
    reader.duplicates |= new
    if new:
        report(
            measures,
            LogProblem.DUPLICATE_ID,
            repository,
            "events have the ids of others and are left out",
            event_ids=sorted(new)[:LOGGED],
        )
