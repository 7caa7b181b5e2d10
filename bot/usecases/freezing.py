"""Freeze and unfreeze queues, and let pull requests through, at a person's request."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from bot.domain import freezing
from bot.domain.asked import Asked, number_condition
from bot.domain.audit import Action, ActResult, AuditRecord, Caller
from bot.domain.durations import Lasting
from bot.domain.errors import FreezesNotOffered, MergeQueueError, join_answers
from bot.domain.group_acts import GroupAct
from bot.domain.notices import Notice
from bot.domain.repository import RepositoryName
from bot.ports import MergeQueue
from bot.usecases.freeze_acts import know_freezes
from bot.usecases.freezes import show_made, shows_freezes
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.pause_queue import IMPACT_SECONDS
from bot.usecases.people import who_wants

ASKED = 3
"""Repositories at most, because one may be missing."""

GONE = "404"
"""The answer to the end of a freeze that somebody else has just ended."""


@dataclass(frozen=True, slots=True)
class FreezeQueue:
    """Lists, makes, changes and ends freezes.

    Every method raises MergeQueueError, FreezesNotOffered among them. Those that change something
    raise PermissionDenied, InvalidReason, InvalidDuration and QueueBusy too. What they do depends
    on the service's own list, read under the repository's lock.
    """

    merge_queue: MergeQueue
    acts: ActLog

    async def find_out(self) -> None:
        """Learn whether the service offers freezes, unless that is known."""
        for repository in self.acts.check.configured.repositories.names[:ASKED]:
            if self.merge_queue.offers_freezes is None:
                with suppress(MergeQueueError):
                    await self.merge_queue.freezes(repository)
        offered = self.merge_queue.offers_freezes
        if offered is not None:
            # Freezes' cards have buttons where the service offers freezes.
            await self.acts.store.run(
                lambda transaction: transaction.expiring_keys.remember_freezes(offered=offered)
            )

    async def freezes(self, repository: RepositoryName) -> list[freezing.KnownFreeze]:
        """Those in force and to come."""
        listed = await self.merge_queue.freezes(repository)
        now = self.acts.clock.now()
        return await self.acts.store.run(know_freezes, repository, listed, now)

    async def require_offered(self, repository: RepositoryName) -> None:
        """Raise FreezesNotOffered; what else fails is for the act itself to say."""
        try:
            await self.freezes(repository)
        except MergeQueueError as error:
            if isinstance(error, FreezesNotOffered):
                raise

    async def terms(self, caller: Caller, asked: Asked) -> freezing.FreezeTerms:
        """Its times and conditions, without the reason; raises InvalidDuration."""
        zone = await self.acts.check.zone(caller.actor)
        return freezing.terms_of(asked, self.acts.clock.now(), zone)

    async def asks_first(self, caller: Caller, terms: freezing.FreezeTerms) -> bool:
        """Whether the freeze is so long that the person confirms it, unless they never want to."""
        begins = terms.start or self.acts.clock.now()
        if terms.end is not None and terms.end - begins < freezing.ASK_FROM:
            return False
        user_id = caller.actor.user_id
        return bool(await self.acts.store.run(who_wants, Notice.CONFIRMATION, [user_id]))

    async def queued(self, repository: RepositoryName) -> int | None:
        """How many pull requests a freeze would keep waiting; None if that takes too long."""
        try:
            async with asyncio.timeout(IMPACT_SECONDS):
                return len((await self.merge_queue.status(repository)).queued)
        except (MergeQueueError, TimeoutError):
            return None

    async def freeze(
        self,
        caller: Caller,
        repository: RepositoryName,
        asked: Asked,
        *,
        part_of: GroupAct | None = None,
    ) -> freezing.FreezeOutcome:
        """`part_of`: the act on a group that this belongs to, whose freezes share one end."""
        act = await self.acts.permitted(caller, Action.FREEZE, repository, asked.reason, part_of)
        zone, reason = await self.acts.check.zone(caller.actor), act.stored_reason or ""
        begun_at = part_of.at if part_of is not None else act.at
        wanted = freezing.terms_of(asked, begun_at, zone, reason)
        if part_of is not None:
            wanted = replace(wanted, end=part_of.resumes_at)
        act = replace(act, resumes_at=wanted.end, setting_after=asked.limits or None)
        async with self.acts.locked(act):
            known = await self.freezes(repository)
            same = [one for one in known if freezing.overlaps(one.freeze, wanted, act.at)]
            if same:
                return await self._unchanged(act, freezing.FreezesAsTheyWere.FROZEN, same)
            # No card is shown in a channel where the bot can't post.
            here = await self.acts.here(act.channel_id)
            act = replace(act, channel_id=here[0] if here else None)
            async with self.recorded(act) as answers:
                made = await self.merge_queue.create_freeze(
                    repository, wanted, on_answer=answers.append
                )
        ours = freezing.KnownFreeze(repository, made, caller.actor.name, act.reason or "")
        # The card is shown now, or when the event of the freeze is read.
        done = replace(act, result=ActResult.DONE)
        await self.acts.store.run(show_made, done, self.acts.clock.now())
        self.acts.wake()
        posted_here = act.channel_id is not None or await self._has_card(act)
        return freezing.FreezeOutcome([ours], posted_here=posted_here)

    async def unfreeze(
        self,
        caller: Caller,
        repository: RepositoryName,
        reason: str,
        *,
        freeze_id: str | None = None,
        part_of: GroupAct | None = None,
    ) -> freezing.FreezeOutcome:
        """End the freeze: the one of a button, those made for a group, or the only one."""
        act = await self.acts.permitted(caller, Action.UNFREEZE, repository, reason, part_of)
        async with self.acts.locked(act):
            if part_of is not None:
                known = await self.freezes(repository)
                meant = [one for one in known if one.group == part_of.group]
            else:
                meant = await self._meant(repository, freeze_id)
            if not meant:
                return await self._unchanged(act)
            if meant[1:] and part_of is None:
                return await self._unchanged(act, freezing.FreezesAsTheyWere.SEVERAL, meant)
            # Asked before, because the event of the end may be read first.
            posted_here = await self._has_card(act)
            act = replace(act, previous_reason=meant[0].reason)
            async with self.recorded(act) as answers:
                ended = [
                    one
                    for one in meant
                    if await self.merge_queue.delete_freeze(
                        repository, one.freeze, act.stored_reason or "", on_answer=answers.append
                    )
                ]
        return (
            freezing.FreezeOutcome(ended, posted_here=posted_here)
            if ended
            else await self._not_frozen(act)
        )

    async def change_end(
        self,
        caller: Caller,
        repository: RepositoryName,
        lasting: Lasting,
        *,
        freeze_id: str,
        had_end: bool | None = None,
    ) -> freezing.FreezeOutcome:
        """A length extends it; `had_end`: whether it had an end when the menu was drawn."""
        act = self.acts.record(caller, Action.CHANGE_FREEZE, repository)
        await self.acts.permit(act)
        async with self.acts.locked(act):
            found = await self._meant(repository, freeze_id)
            if not found:
                return await self._unchanged(act)
            known = found[0]
            if had_end not in {None, known.freeze.ends_at is not None}:
                return await self._unchanged(act, freezing.FreezesAsTheyWere.OTHER_END, found)
            begins = max(known.freeze.begins_at or act.at, act.at)
            end = await self.acts.new_end(act.actor, known.freeze.ends_at, lasting, begins)
            act = replace(act, resumes_at=end, previous_reason=known.reason)
            async with self.recorded(act) as answers:
                changed = await self.merge_queue.change_freeze(
                    repository, known.freeze, freezing.FreezeChange(end), on_answer=answers.append
                )
        return freezing.FreezeOutcome([replace(known, freeze=changed)])

    async def allow(
        self, caller: Caller, repository: RepositoryName, pull_request: int, reason: str
    ) -> freezing.FreezeOutcome:
        """Except the pull request from the freezes in force; without any, from those to come."""
        condition = number_condition(pull_request)
        act = await self.acts.permitted(caller, Action.ALLOW, repository, reason)
        act = replace(act, setting_after=f"#{pull_request}")
        async with self.acts.locked(act):
            meant = await self._meant(repository)
            if not meant:
                return await self._unchanged(act)
            left = [
                one for one in meant if not freezing.is_excepted(one.freeze.excluded, condition)
            ]
            if not left:
                return await self._unchanged(act, freezing.FreezesAsTheyWere.EXCEPTED, meant)
            act = replace(act, previous_reason=left[0].reason)
            async with self.recorded(act) as answers:
                for one in left:
                    change = freezing.FreezeChange(
                        excluded=freezing.with_exception(one.freeze.excluded, condition)
                    )
                    await self.merge_queue.change_freeze(
                        repository, one.freeze, change, on_answer=answers.append
                    )
        return freezing.FreezeOutcome(left)

    async def _meant(
        self, repository: RepositoryName, freeze_id: str | None = None
    ) -> list[freezing.KnownFreeze]:
        """The one of that id; without one those in force, or else those to come.

        A card knows the event of its freeze, and no id: its terms identify the freeze. They may
        have changed since the log was read, so reason and start suffice.
        """
        known, now = await self.freezes(repository), self.acts.clock.now()
        if freeze_id is None:
            return [one for one in known if one.freeze.has_begun(now)] or known
        if not freeze_id.startswith(freezing.BY_EVENT):
            return [one for one in known if one.freeze.id == freeze_id]
        event_id = int(freeze_id.removeprefix(freezing.BY_EVENT))
        shown = await self.acts.store.read(lambda one: one.freezes.get(repository, event_id))
        if shown is None or shown.over_at is not None:
            return []
        exact = [one for one in known if freezing.has_terms(one.freeze, shown.terms)]
        return exact or [one for one in known if freezing.has_begin(one.freeze, shown.terms)][:1]

    async def _has_card(self, act: AuditRecord) -> bool:
        """Whether the actor's channel learns of it from the freeze's card."""
        return await self.acts.store.read(shows_freezes, act.repository, act.channel_id)

    async def _unchanged(
        self,
        act: AuditRecord,
        because: freezing.FreezesAsTheyWere = freezing.FreezesAsTheyWere.NOT_FROZEN,
        freezes: Sequence[freezing.KnownFreeze] = (),
    ) -> freezing.FreezeOutcome:
        await self.acts.leave(act, because)
        return (
            await self._not_frozen(act) if not freezes else freezing.FreezeOutcome(freezes, because)
        )

    async def _not_frozen(self, act: AuditRecord) -> freezing.FreezeOutcome:
        ended = await self.acts.last_done(act, Action.UNFREEZE)
        return freezing.FreezeOutcome((), freezing.FreezesAsTheyWere.NOT_FROZEN, ended)

    @asynccontextmanager
    async def recorded(self, act: AuditRecord) -> AsyncIterator[list[str]]:
        """Store the act before the service is asked, and its end with the answers collected."""
        async with self.acts.begun(act) as (started, answers):
            yield answers
        is_gone = bool(answers) and all(one.startswith(GONE) for one in answers)
        result = ActResult.UNCHANGED if is_gone else ActResult.DONE
        await self.acts.end(replace(started, answer=join_answers(answers)), result)
