"""Forms about a group, submitted: to pause it, and to give its pauses another end."""

from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.audit import Action
from bot.domain.durations import read_whole
from bot.domain.errors import InvalidDuration, InvalidReason, UnknownGroup
from bot.domain.group_acts import read_asked
from bot.domain.groups import Groups
from bot.domain.pauses import check_reason
from bot.messages import actions
from bot.messages.groups import group_form
from bot.messages.text import clean
from bot.slack.answers.grouping import GroupAnswers
from bot.slack.answers.pausing import REASON_KEPT
from bot.slack.listeners.forms import refuse, submitted
from bot.slack.payloads import ExtendForm, GroupForm, ViewSubmission
from bot.slack.receiving.inbox import Inbox
from bot.slack.receiving.once import Once
from bot.slack.replying.conversation import Conversation
from bot.slack.replying.errors import ErrorBoundary
from bot.slack.replying.replies import Replies


@dataclass(frozen=True, slots=True)
class GroupFormListener:
    """What is refused is refused beside its field and the form stays open.

    A form may be older than the configuration: its group may be there no more.
    """

    answers: GroupAnswers
    groups: Groups
    inbox: Inbox
    once: Once
    boundary: ErrorBoundary
    client: AsyncWebClient
    replies: Replies

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
        conversation = submitted(submission, form.channel, self.client, self.replies)
        request = self.answers.request(group, conversation, asked)
        self._hand_over(body, self.answers.pause(request, conversation), conversation)

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
        conversation = submitted(submission, form.channel, self.client, self.replies)
        request = self.answers.request(group, conversation, asked)
        self._hand_over(body, self.answers.extend(request, conversation), conversation)

    def _hand_over(
        self, body: dict[str, Any], work: Coroutine[Any, Any, None], conversation: Conversation
    ) -> None:
        once = self.once.act(body, work)
        self.inbox.hand_over(self.boundary.guard(once, conversation))
