"""`why` without a pull request, and the button that shows the same for the service's support."""

from bot.desk.registry import Call, handles
from bot.doctor import actions as doctor_actions
from bot.doctor.texts.answers import why_queue
from bot.doctor.texts.support import for_support
from bot.kernel.repository import RepositoryName
from bot.slack.payloads import Interaction


@handles.command("why queue")
async def show_why_queue(call: Call, repository: RepositoryName) -> None:
    diagnosis = await call.bot.use.examine_queue.run(repository)
    await call.answer(why_queue(diagnosis))


@handles.click(doctor_actions.SUPPORT)
async def show_for_support(call: Call, click: Interaction) -> None:
    """Raises PermissionDenied."""
    await call.admit()
    repository = call.bot.repositories.allowed(click.chosen)
    diagnosis = await call.bot.use.examine_queue.run(repository)
    await call.reply(for_support(diagnosis))
