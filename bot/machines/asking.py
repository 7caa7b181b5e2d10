"""What machines ask: the live queue, why nothing merges, what happened, and the event log."""

from datetime import timedelta

from bot.acts.permission import Right
from bot.desk.use_cases import UseCases
from bot.doctor.texts.answers import why_queue
from bot.kernel.actor import Caller
from bot.kernel.durations import read_length
from bot.kernel.errors import InvalidDuration
from bot.kernel.groups import Group, Target
from bot.kernel.repository import RepositoryName
from bot.machines.acting import one_repository
from bot.machines.answers import StatusAnswer
from bot.machines.replying import Reply, WrongField, plain
from bot.machines.requests import LogRequest, MachineRequest, StatusRequest, WhyRequest
from bot.machines.shapes import diagnosis_shape, explanation_shape, log_shape, queue_shape
from bot.questions.explaining import explain_pull_request
from bot.questions.reading_log import newest_page, page_at
from bot.questions.snapshots import LogPlace, LogSelection
from bot.questions.texts import event_log, why
from bot.queues.reading import read_queue, read_queues
from bot.queues.snapshot import Snapshot
from bot.queues.texts import group_status, status as queue_status


async def answer_machine(
    use: UseCases, caller: Caller, target: Target, asked: MachineRequest
) -> Reply:
    """Raises PermissionDenied, WrongField and MergeQueueError."""
    await use.check_permission.require(caller.actor, Right.READ)
    match asked:
        case StatusRequest():
            return await _status(use, target)
        case WhyRequest():
            return await _answer_why(use, one_repository(target), asked.pull_request)
        case LogRequest():
            return await _answer_log(use, one_repository(target), asked)
        case _:
            raise TypeError(asked)


async def _status(use: UseCases, target: Target) -> Reply:
    if isinstance(target, Group):
        read = await read_queues(target.repositories, use.sources)
        said = group_status.status(target, read)
        outlooks = await use.foresee_queue.of_all(read)
        shapes = [
            queue_shape(queue, outlooks[queue.repository])
            if isinstance(queue, Snapshot)
            else queue_shape(queue)
            for queue in read
        ]
        return Reply(StatusAnswer(message=plain(said), queues=shapes))
    snapshot = await read_queue(target, use.sources)
    outlook = await use.foresee_queue.of(snapshot)
    said = queue_status.status(snapshot, outlook)
    return Reply(StatusAnswer(message=plain(said), queues=[queue_shape(snapshot, outlook)]))


async def _answer_why(use: UseCases, repository: RepositoryName, pull_request: int | None) -> Reply:
    if pull_request is not None:
        found = await explain_pull_request(repository, pull_request, use.sources)
        return Reply(explanation_shape(found, plain(why.why(found))))
    diagnosis = await use.examine_queue.run(repository)
    return Reply(diagnosis_shape(diagnosis, plain(why_queue(diagnosis))))


async def _answer_log(use: UseCases, repository: RepositoryName, asked: LogRequest) -> Reply:
    since = _read_length(asked.since)
    if asked.cursor is None:
        page = await newest_page(
            repository,
            use.sources,
            since,
            pull_request=asked.pull_request,
            branch=asked.branch,
            per_page=asked.events,
        )
    else:
        window = await use.sources.window(repository, since)
        selection = LogSelection(
            repository,
            window,
            pull_request=asked.pull_request,
            branch=asked.branch,
            per_page=asked.events,
        )
        page = await page_at(LogPlace(selection, asked.cursor), use.sources)
        if page.restarted:
            problem = (
                "The service doesn't know this page any more. Leave it out for the newest one."
            )
            raise WrongField("cursor", problem)
    return Reply(log_shape(page, plain(event_log.event_log(page))))


def _read_length(text: str) -> timedelta:
    try:
        return read_length(text).length
    except InvalidDuration:
        problem = "Write a length such as 2h or 7d, at most 30 days."
        raise WrongField("since", problem) from None
