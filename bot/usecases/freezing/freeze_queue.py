"""Freeze and unfreeze a queue, and let pull requests through, at a person's request."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.audit import Action, ActResult, AuditRecord, Caller
from bot.domain.durations import For, Lasting, resumes_at
from bot.domain.errors import MergeQueueError, about, join_answers
from bot.domain.freezing import (
    ASK_FROM,
    BY_EVENT,
    Allowed,
    AlreadyFrozen,
    EndChanged,
    FreezeChange,
    Frozen,
    KnownFreeze,
    NotFrozen,
    OtherFreezeEnd,
    SeveralFreezes,
    Unfrozen,
    has_begin,
    has_terms,
    is_excepted,
    number_condition,
    overlaps,
    with_exception,
)
from bot.domain.group_acts import GroupAct
from bot.domain.notices import Notice
from bot.domain.pause_records import extended
from bot.domain.pauses import check_reason, signed_reason
from bot.domain.repository import RepositoryName
from bot.domain.snapshots import Impact
from bot.domain.typed_freezes import TypedFreeze, Window
from bot.ports import MergeQueue
from bot.usecases.choose_notices import who_wants
from bot.usecases.freezes import show_made, shows_freezes
from bot.usecases.freezing.known import (
    know_freezes,
    last_end,
    remember_offer,
    terms_of_card,
)
from bot.usecases.pausing.acts import ActLog
from bot.usecases.pausing.pause_queue import IMPACT_SECONDS

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
            await self.acts.store.run(remember_offer, offered=offered)

    async def permit(self, caller: Caller, repositories: Sequence[RepositoryName]) -> None:
        """Check before asking for a reason; raises PermissionDenied, audited once."""
        first, *others = repositories
        await self.acts.permit(self.acts.record(caller, Action.FREEZE, first), others)

    async def freezes(self, repository: RepositoryName) -> list[KnownFreeze]:
        """Those in force and to come."""
        with about(repository):
            listed = await self.merge_queue.freezes(repository)
        now = self.acts.clock.now()
        return await self.acts.store.run(know_freezes, repository, listed, now)

    async def window(self, caller: Caller, typed: TypedFreeze) -> Window:
        """Its times; raises InvalidDuration."""
        zone = await self.acts.check.zone(caller.actor)
        return typed.window(self.acts.clock.now(), zone)

    async def asks_first(self, caller: Caller, window: Window) -> bool:
        """Whether the freeze is so long that the person confirms it, unless they never want to."""
        begins = window.start or self.acts.clock.now()
        if window.end is not None and window.end - begins < ASK_FROM:
            return False
        user_id = caller.actor.user_id
        return bool(await self.acts.store.run(who_wants, Notice.CONFIRMATION, [user_id]))

    async def queued(self, repository: RepositoryName) -> int | None:
        """How many pull requests a freeze would keep waiting; None if that takes too long."""
        try:
            async with asyncio.timeout(IMPACT_SECONDS):
                return Impact.of(await self.merge_queue.status(repository)).queued
        except (MergeQueueError, TimeoutError):
            return None

    async def freeze(
        self,
        caller: Caller,
        repository: RepositoryName,
        typed: TypedFreeze,
        *,
        part_of: GroupAct | None = None,
    ) -> Frozen | AlreadyFrozen:
        """`part_of`: the act on a group that this belongs to, whose freezes share one end."""
        act = self._reasoned(caller, Action.FREEZE, repository, typed.reason, part_of)
        await self.acts.permit(act)
        zone = await self.acts.check.zone(caller.actor)
        window = typed.window(part_of.at if part_of is not None else act.at, zone)
        if part_of is not None:
            window = replace(window, end=part_of.resumes_at)
        wanted = typed.terms(window, act.stored_reason or "", zone)
        act = replace(act, resumes_at=window.end, setting_after=typed.limits or None)
        async with self._locked(act):
            known = await self.freezes(repository)
            same = [one for one in known if overlaps(one.freeze, wanted, act.at)]
            if same:
                await self.acts.leave(act, "already frozen")
                return AlreadyFrozen(same[0])
            act = await self._if_open(act)
            async with self._recorded(act) as answers:
                made = await self.merge_queue.create_freeze(
                    repository, wanted, on_answer=answers.append
                )
        ours = KnownFreeze(repository, made, caller.actor.name, act.reason or "")
        return Frozen(ours, posted_here=await self._show(act))

    async def unfreeze(
        self,
        caller: Caller,
        repository: RepositoryName,
        reason: str,
        *,
        freeze_id: str | None = None,
        part_of: GroupAct | None = None,
    ) -> Unfrozen | NotFrozen | SeveralFreezes:
        """End the freeze: the one of a button, those made for a group, or the only one."""
        act = self._reasoned(caller, Action.UNFREEZE, repository, reason, part_of)
        await self.acts.permit(act)
        async with self._locked(act):
            known = await self.freezes(repository)
            if part_of is not None:
                meant = [one for one in known if one.group == part_of.group]
            else:
                meant = await self._meant(known, repository, freeze_id)
            if not meant:
                return await self._nothing_there(act)
            if meant[1:] and part_of is None:
                await self.acts.leave(act, "several freezes")
                return SeveralFreezes(meant)
            # Asked before, because the event of the end may be read first.
            posted_here = await self._has_card(act)
            ended = await self._end(act, meant)
        if not ended:
            return await self._not_frozen(repository)
        return Unfrozen(ended, posted_here=posted_here)

    async def _end(self, act: AuditRecord, meant: Sequence[KnownFreeze]) -> list[KnownFreeze]:
        """Those that were still there."""
        act = replace(act, previous_reason=meant[0].reason)
        reason = act.stored_reason or ""
        async with self._recorded(act) as answers:
            return [
                one
                for one in meant
                if await self.merge_queue.delete_freeze(
                    act.repository, one.freeze, reason, on_answer=answers.append
                )
            ]

    async def change_end(
        self,
        caller: Caller,
        repository: RepositoryName,
        lasting: Lasting,
        *,
        freeze_id: str,
        had_end: bool | None = None,
    ) -> EndChanged | NotFrozen | OtherFreezeEnd:
        """A length extends it; `had_end`: whether it had an end when the menu was drawn."""
        act = self.acts.record(caller, Action.CHANGE_FREEZE, repository)
        await self.acts.permit(act)
        async with self._locked(act):
            found = await self._meant(await self.freezes(repository), repository, freeze_id)
            if not found:
                return await self._nothing_there(act)
            known = found[0]
            if had_end not in {None, known.freeze.ends_at is not None}:
                await self.acts.leave(act, "its end has changed")
                return OtherFreezeEnd(known)
            end = await self._new_end(act, known, lasting)
            act = replace(act, resumes_at=end, previous_reason=known.reason)
            async with self._recorded(act) as answers:
                changed = await self.merge_queue.change_freeze(
                    repository, known.freeze, FreezeChange(end), on_answer=answers.append
                )
        return EndChanged(replace(known, freeze=changed))

    async def _new_end(self, act: AuditRecord, known: KnownFreeze, lasting: Lasting) -> datetime:
        freeze = known.freeze
        begins = max(freeze.begins_at or act.at, act.at)
        if isinstance(lasting, For):
            return extended(freeze.ends_at, begins, lasting.length)
        return resumes_at(lasting, begins, await self.acts.check.zone(act.actor))

    async def allow(
        self, caller: Caller, repository: RepositoryName, pull_request: int, reason: str
    ) -> Allowed | NotFrozen:
        """Except the pull request from the freezes in force; without any, from those to come."""
        act = self._reasoned(caller, Action.ALLOW, repository, reason)
        act = replace(act, setting_after=f"#{pull_request}")
        await self.acts.permit(act)
        condition = number_condition(pull_request)
        async with self._locked(act):
            meant = await self._meant(await self.freezes(repository), repository)
            if not meant:
                return await self._nothing_there(act)
            left = [one for one in meant if not is_excepted(one.freeze.excluded, condition)]
            if not left:
                await self.acts.leave(act, "already excepted")
                return Allowed(meant, is_new=False)
            act = replace(act, previous_reason=left[0].reason)
            async with self._recorded(act) as answers:
                for one in left:
                    excluded = with_exception(one.freeze.excluded, condition)
                    await self.merge_queue.change_freeze(
                        repository,
                        one.freeze,
                        FreezeChange(excluded=excluded),
                        on_answer=answers.append,
                    )
        return Allowed(left, is_new=True)

    def _reasoned(
        self,
        caller: Caller,
        action: Action,
        repository: RepositoryName,
        reason: str,
        part_of: GroupAct | None = None,
    ) -> AuditRecord:
        reason = check_reason(reason)
        act = self.acts.record(caller, action, repository, part_of)
        return replace(act, reason=reason, stored_reason=signed_reason(reason, caller.actor))

    async def _meant(
        self,
        known: Sequence[KnownFreeze],
        repository: RepositoryName,
        freeze_id: str | None = None,
    ) -> list[KnownFreeze]:
        """The one of that id; without one those in force, or else those to come.

        A card knows the event of its freeze, and no id: its terms identify the freeze. They may
        have changed since the log was read, so reason and start suffice.
        """
        now = self.acts.clock.now()
        if freeze_id is None:
            return [one for one in known if one.freeze.has_begun(now)] or list(known)
        if not freeze_id.startswith(BY_EVENT):
            return [one for one in known if one.freeze.id == freeze_id]
        event_id = int(freeze_id.removeprefix(BY_EVENT))
        terms = await self.acts.store.read(terms_of_card, repository, event_id)
        if terms is None:
            return []
        exact = [one for one in known if has_terms(one.freeze, terms)]
        return exact or [one for one in known if has_begin(one.freeze, terms)][:1]

    async def _show(self, act: AuditRecord) -> bool:
        """Show the freeze in the actor's channel: now, or when its event is read."""
        done = replace(act, result=ActResult.DONE)
        await self.acts.store.run(show_made, done, self.acts.clock.now())
        self.acts.wake()
        return act.channel_id is not None or await self._has_card(act)

    async def _has_card(self, act: AuditRecord) -> bool:
        """Whether the actor's channel learns of it from the freeze's card."""
        return await self.acts.store.read(shows_freezes, act.repository, act.channel_id)

    async def _nothing_there(self, act: AuditRecord) -> NotFrozen:
        await self.acts.leave(act, "not frozen")
        return await self._not_frozen(act.repository)

    async def _not_frozen(self, repository: RepositoryName) -> NotFrozen:
        now = self.acts.clock.now()
        return NotFrozen(await self.acts.store.run(last_end, repository, now))

    async def _if_open(self, act: AuditRecord) -> AuditRecord:
        """Without its channel if the bot can't post there, so that no card is shown in it."""
        here = await self.acts.here(act.channel_id)
        return replace(act, channel_id=here[0] if here else None)

    @asynccontextmanager
    async def _locked(self, act: AuditRecord) -> AsyncIterator[None]:
        with about(act.repository):
            async with self.acts.locked(act):
                yield

    @asynccontextmanager
    async def _recorded(self, act: AuditRecord) -> AsyncIterator[list[str]]:
        """Store the act before the service is asked, and its end with the answers collected."""
        started = await self.acts.start(act)
        answers: list[str] = []
        try:
            yield answers
        except MergeQueueError as error:
            await self.acts.fail(started, error)
            raise
        is_gone = bool(answers) and all(one.startswith(GONE) for one in answers)
        result = ActResult.UNCHANGED if is_gone else ActResult.DONE
        await self.acts.end(replace(started, answer=join_answers(answers)), result)
