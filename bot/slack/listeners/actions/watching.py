"""Clicks of those who want to be told something later."""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.domain.repositories import Repositories
from bot.messages import actions, pause, pause_card
from bot.messages.groups import group_acts
from bot.slack.listeners.actions.click import OnClick
from bot.slack.payloads import BlockActions
from bot.slack.replying.conversation import Conversation
from bot.usecases.pausing.watch_resume import Watching, WatchResume


@dataclass(frozen=True, slots=True)
class WatchActions:
    """*Tell me when it resumes*, of one queue and of all that is paused for a group."""

    watch_resume: WatchResume
    repositories: Repositories

    def clicks(self) -> Mapping[str, OnClick]:
        return {actions.WATCH: self._watch, actions.WATCH_GROUP: self._watch_group}

    async def _watch(self, click: BlockActions, conversation: Conversation) -> None:
        repository = actions.read_pause_target(click.action.chosen, self.repositories).repository
        outcome = await self.watch_resume.run(repository, conversation.actor)
        if outcome is Watching.NOT_PAUSED:
            await conversation.tell_actor(pause.not_paused(repository))
        else:
            is_new = outcome is Watching.BEGUN
            await conversation.tell_actor(pause_card.will_tell(repository, is_new=is_new))

    async def _watch_group(self, click: BlockActions, conversation: Conversation) -> None:
        group = actions.read_group_target(click.action.chosen).group
        outcome = await self.watch_resume.of_group(group, conversation.actor)
        if outcome is Watching.NOT_PAUSED:
            await conversation.tell_actor(group_acts.nothing_held(group))
        else:
            is_new = outcome is Watching.BEGUN
            await conversation.tell_actor(group_acts.will_tell(group, is_new=is_new))
