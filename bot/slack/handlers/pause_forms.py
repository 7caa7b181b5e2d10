"""Forms about one queue, submitted, and the global shortcut that opens the one for pausing."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from typing_extensions import override

from bot.domain.audit import Origin
from bot.domain.durations import For, read_lasting, read_whole
from bot.domain.errors import InvalidDuration, InvalidReason, RepositoryNotAllowed
from bot.domain.pauses import check_reason
from bot.messages import actions, pause, timers
from bot.messages.text import clean
from bot.slack.handlers.forms import refuse, submitted
from bot.slack.handlers.pausing import REASON_KEPT, Pausing
from bot.slack.handlers.subject import Shared, Subject
from bot.slack.payloads import ExtendForm, PauseForm, Shortcut, ViewSubmission


class PauseForms(Subject):
    """What is refused is refused beside its field and the form stays open."""

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._pausing = Pausing(shared)

    @override
    def register(self, app: AsyncApp) -> None:
        app.view(actions.PAUSE_VIEW)(self.on_reason)
        app.view(actions.EXTEND_VIEW)(self.on_extend)
        app.shortcut(actions.PAUSE_SHORTCUT)(self.on_shortcut)

    async def on_shortcut(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        shortcut = Shortcut.model_validate(body)
        conversation = self.background.conversation(
            actor=shortcut.user.actor,
            origin=Origin.SHORTCUT,
            trigger_id=shortcut.trigger_id,
        )
        names = self.repositories.names
        only = names[0] if len(names) == 1 else None
        self.background.start(body, self._pausing.modal.open(only, conversation), conversation)

    async def on_reason(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        submission = ViewSubmission.model_validate(body)
        form = PauseForm.of(submission.view)
        typed = submission.value(actions.REASON_BLOCK, actions.REASON_ACTION) or ""
        try:
            reason = check_reason(clean(typed, REASON_KEPT))
            repository = self.repositories.allowed(form.repository_in(submission.view) or "")
        except (InvalidReason, RepositoryNotAllowed) as error:
            await refuse(ack, actions.REASON_BLOCK, error)
            return
        await ack(response_action="update", view=dict(pause.working_modal(repository).view))
        conversation = submitted(submission, form.channel, self.background)
        chosen = submission.value(actions.LASTING_BLOCK, actions.LASTING_ACTION) or ""
        lasting, _ = read_lasting(chosen.split())
        wanted = actions.PauseChoice(repository, reason, lasting)
        work = self._pausing.pause(wanted, conversation)
        self.background.start(body, work, conversation, repository=repository)

    async def on_extend(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        submission = ViewSubmission.model_validate(body)
        form = ExtendForm.of(submission.view)
        typed = submission.value(actions.LASTING_BLOCK, actions.LASTING_ACTION) or ""
        try:
            lasting = read_whole(clean(typed, REASON_KEPT))
            target = actions.read_pause_target(form.target, self.repositories)
        except (InvalidDuration, RepositoryNotAllowed) as error:
            await refuse(ack, actions.LASTING_BLOCK, error)
            return
        await ack(response_action="update", view=dict(timers.working_modal().view))
        conversation = submitted(submission, form.channel, self.background)
        # A time of day is what it says, whatever end there was.
        had_end = form.had_end if isinstance(lasting, For) else None
        work = self._pausing.extend(target, lasting, conversation, had_end=had_end)
        self.background.start(body, work, conversation, repository=target.repository)
