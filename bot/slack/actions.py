"""Buttons and menus: acknowledged at once, acted on from the inbox."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.audit import Origin
from bot.domain.pauses import AlreadyPaused, Paused
from bot.domain.repositories import Repositories
from bot.domain.snapshots import Snapshot
from bot.messages import actions, choice, pause, status
from bot.slack.answers import Answers
from bot.slack.conversation import Conversation, OpenedModal
from bot.slack.errors import ErrorBoundary
from bot.slack.home import HomeTab
from bot.slack.inbox import Inbox
from bot.slack.once import Once
from bot.slack.payloads import BlockActions, PauseForm
from bot.slack.replies import Replies
from bot.usecases.pause_queue import PauseRequest
from bot.usecases.unpause_queue import UnpauseRequest

HOME = "home"


@dataclass(frozen=True, slots=True)
class ActionListeners:
    """One listener for all our elements, told apart by their action id."""

    answers: Answers
    home: HomeTab
    repositories: Repositories
    inbox: Inbox
    once: Once
    boundary: ErrorBoundary
    client: AsyncWebClient
    replies: Replies

    def register(self, app: AsyncApp) -> None:
        app.action(re.compile(f"^{re.escape(actions.PREFIX)}"))(self.on_action)

    async def on_action(self, ack: AsyncAck, body: dict[str, Any]) -> None:
        await ack()
        click = BlockActions.model_validate(body)
        act = self._acts().get(click.action.action_id)
        if act is None:
            return
        conversation = self._conversation(click)
        work = self.once.act(body, self._then_home(act, click, conversation))
        self.inbox.hand_over(self.boundary.guard(work, conversation))

    def _acts(self) -> dict[str, Callable[[BlockActions, Conversation], Awaitable[None]]]:
        return {
            actions.PAUSE: self._pause,
            actions.UNPAUSE: self._unpause,
            actions.REPLACE: self._replace,
            actions.DISMISS: self._dismiss,
            actions.REFRESH: self._refresh,
            actions.SHARE: self._share,
            actions.MORE: self._more,
            actions.RETRY: self._retry,
            actions.CHOOSE: self._choose,
            actions.PAUSE_REPOSITORY: self._choose_in_modal,
        }

    def _conversation(self, click: BlockActions) -> Conversation:
        in_home = click.view is not None and click.view.type == HOME
        modal = None if in_home else click.view
        return Conversation(
            client=self.client,
            replies=self.replies,
            actor=click.user.actor,
            origin=Origin.HOME if in_home else Origin.BUTTON,
            trigger_id=click.trigger_id,
            channel_id=click.channel_id if modal is None else PauseForm.of(modal).channel,
            response_url=click.response_url,
            view_id=modal.id if modal is not None else None,
            in_channel_message=click.container.type == "message"
            and not click.container.is_ephemeral,
        )

    async def _then_home(
        self,
        act: Callable[[BlockActions, Conversation], Awaitable[None]],
        click: BlockActions,
        conversation: Conversation,
    ) -> None:
        await act(click, conversation)
        if conversation.origin is Origin.HOME:
            await self.home.publish(conversation)

    async def _pause(self, click: BlockActions, conversation: Conversation) -> None:
        repository = self.repositories.allowed(click.action.chosen)
        await self.answers.modal.open(repository, conversation)

    async def _unpause(self, click: BlockActions, conversation: Conversation) -> None:
        target = actions.read_pause_target(click.action.chosen, self.repositories)
        request = UnpauseRequest(
            target.repository,
            conversation.actor,
            conversation.origin,
            conversation.channel_id,
            expected=target.paused_at,
        )
        await self.answers.unpause(request, conversation)
        if conversation.response_url is not None and not conversation.in_channel_message:
            snapshot = await self.answers.use_cases.show_status.run(target.repository)
            await conversation.put_in_place(status.status(snapshot))

    async def _replace(self, click: BlockActions, conversation: Conversation) -> None:
        wanted = actions.read_replacement(click.action.chosen, self.repositories)
        outcome = await self.answers.use_cases.pause_queue.run(
            PauseRequest(
                wanted.repository,
                wanted.reason,
                conversation.actor,
                conversation.origin,
                conversation.channel_id,
                replacing=wanted.paused_at,
            )
        )
        match outcome:
            case Paused(told=told):
                await conversation.put_in_place(pause.paused_reply(told.act))
                if not told.posted_here and conversation.response_url is not None:
                    await conversation.tell_channel(pause.act(told.act))
                await self.answers.tell_replaced(outcome, conversation)
            case AlreadyPaused(known=known, reason=reason):
                await conversation.put_in_place(
                    pause.already_paused(wanted.repository, known, reason)
                )

    async def _dismiss(self, _click: BlockActions, conversation: Conversation) -> None:
        await self.answers.admit(conversation)
        await conversation.take_away()

    async def _refresh(self, click: BlockActions, conversation: Conversation) -> None:
        if conversation.origin is Origin.HOME:
            return
        await conversation.put_in_place(
            status.status(await self._read(click.action.chosen, conversation))
        )

    async def _share(self, click: BlockActions, conversation: Conversation) -> None:
        await conversation.tell_channel(
            status.status(await self._read(click.action.chosen, conversation))
        )

    async def _more(self, click: BlockActions, conversation: Conversation) -> None:
        first, _, queue = click.action.chosen.partition(" ")
        message = status.waiting_page(await self._read(queue, conversation), int(first))
        await conversation.put_in_place(message)

    async def _read(self, value: str, conversation: Conversation) -> Snapshot:
        await self.answers.admit(conversation)
        name, _, branch = value.partition(" ")
        repository = self.repositories.allowed(name)
        return await self.answers.use_cases.show_status.run(repository, branch or None)

    async def _retry(self, click: BlockActions, conversation: Conversation) -> None:
        await self.answers.run(click.action.chosen, conversation)

    async def _choose(self, click: BlockActions, conversation: Conversation) -> None:
        typed = choice.continued(click.action.block_id, click.action.chosen)
        await self.answers.run(typed, conversation)

    async def _choose_in_modal(self, click: BlockActions, conversation: Conversation) -> None:
        view = click.view
        if view is None:
            return
        form = PauseForm.of(view)
        repository = self.repositories.allowed(form.repository_in(view) or "")
        await self.answers.modal.permit(repository, conversation)
        opened = OpenedModal(self.client, view.id, view.hash)
        await self.answers.modal.complete(repository, opened, conversation)
