"""Forms about a group, submitted: to pause it, and to give its pauses another end."""

from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from typing_extensions import override

from bot.domain.audit import Action
from bot.domain.durations import read_whole
from bot.domain.errors import InvalidDuration, InvalidReason, UnknownGroup
from bot.domain.group_acts import read_asked
from bot.domain.pauses import check_reason
from bot.messages import actions
from bot.messages.groups import group_form
from bot.messages.text import clean
from bot.slack.handlers.forms import refuse, submitted
from bot.slack.handlers.groups import GroupPausing
from bot.slack.handlers.pausing import REASON_KEPT
from bot.slack.handlers.subject import Shared, Subject
from bot.slack.payloads import ExtendForm, GroupForm, ViewSubmission


class GroupForms(Subject):
    """What is refused is refused beside its field and the form stays open.

    A form may be older than the configuration: its group may be there no more.
    """

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._pausing = GroupPausing(shared)

    @override
    def register(self, app: AsyncApp) -> None:
        app.view(actions.PAUSE_GROUP_VIEW)(self.on_reason)
        app.view(actions.EXTEND_GROUP_VIEW)(self.on_extend)

    async def on_reason(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        """A reason that begins with a duration is read as the command's is."""
        submission = ViewSubmission.model_validate(body)
        form = GroupForm.of(submission.view)
        typed = submission.value(actions.REASON_BLOCK, actions.REASON_ACTION) or ""
        chosen = submission.value(actions.LASTING_BLOCK, actions.LASTING_ACTION) or ""
        asked = f"{chosen} {clean(typed, REASON_KEPT)}".strip()
        try:
            group = self.groups.named(form.group)
            check_reason(read_asked(asked).reason)
        except (UnknownGroup, InvalidReason, InvalidDuration) as error:
            await refuse(ack, actions.REASON_BLOCK, error)
            return
        begun = group_form.begun(group, Action.PAUSE, form.channel)
        await ack(response_action="update", view=dict(begun.view))
        conversation = submitted(submission, form.channel, self.background)
        request = self._pausing.request(group, conversation, asked)
        self.background.start(
            body, self._pausing.act(Action.PAUSE, request, conversation), conversation
        )

    async def on_extend(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        submission = ViewSubmission.model_validate(body)
        form = ExtendForm.of(submission.view)
        typed = submission.value(actions.LASTING_BLOCK, actions.LASTING_ACTION) or ""
        asked = clean(typed, REASON_KEPT)
        try:
            group = self.groups.named(form.target)
            read_whole(asked)
        except (UnknownGroup, InvalidDuration) as error:
            await refuse(ack, actions.LASTING_BLOCK, error)
            return
        begun = group_form.begun(group, Action.EXTEND, form.channel)
        await ack(response_action="update", view=dict(begun.view))
        conversation = submitted(submission, form.channel, self.background)
        request = self._pausing.request(group, conversation, asked)
        self.background.start(
            body, self._pausing.act(Action.EXTEND, request, conversation), conversation
        )
