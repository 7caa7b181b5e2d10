"""Freeze and unfreeze queues, and let pull requests through, at a person's request."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.acts.asked import Asked, number_condition
from bot.acts.group_act import GroupAct
from bot.acts.record import Action, ActResult, AuditRecord, Previous, SettingChange
from bot.acts.recording import RECALLED, RecordActs, failed_act
from bot.acts.rows import Audit
from bot.freezes import outcomes as freeze_outcomes
from bot.freezes.causes import with_makers
from bot.freezes.following import show_made, shows_freezes
from bot.freezes.freeze import Freeze, beside
from bot.freezes.outcomes import ids_of, stop_by_freezes
from bot.freezes.reading import listed_freezes
from bot.freezes.requests import touch_freeze_requests
from bot.freezes.rows import Freezes
from bot.kernel.actor import Actor, Caller
from bot.kernel.durations import Lasting
from bot.kernel.errors import ActState, MergeQueueError, failing
from bot.kernel.groups import Group
from bot.kernel.repository import RepositoryName
from bot.log.rows import PullRequests
from bot.merge_queue import freezes as merge_queue_freezes
from bot.merge_queue.errors import FreezesNotOffered, join_answers
from bot.merge_queue.features import ServiceFeature
from bot.merge_queue.port import FreezeSupport, MergeQueue
from bot.merge_queue.position import still_queued
from bot.merge_queue.window import LONGEST_LOOKBACK, window_back
from bot.pauses.actions import EndSeen
from bot.pauses.pausing import IMPACT_SECONDS
from bot.pauses.second_person import require_own, require_second
from bot.people.linking import who_wants
from bot.people.notices import Notice
from bot.store.installation import ServiceFeatures
from bot.store.transaction import Transaction

FREEZE_REQUESTS_AT_ONCE = 4
"""Repositories of a group whose freezes are read at a time."""

REPOSITORIES_ASKED = 3
"""At most, because one may be missing."""

SAME_REQUEST = timedelta(minutes=10)
"""Who asks for the same so soon after its outcome was known has missed the answer."""

GONE_STATUS = "404"
"""The answer to the end of a freeze that somebody else has just ended."""


@dataclass(frozen=True, slots=True)
class FreezeQueue:
    """Lists, makes, changes and ends freezes.

    Every method raises MergeQueueError, FreezesNotOffered among them. Those that change something
    raise PermissionDenied, InvalidReason, InvalidDuration, QueueBusy and SecondPersonNeeded too.
    What they do depends on the service's own list, read under the repository's lock.
    """

    merge_queue: MergeQueue
    acts: RecordActs

    async def find_out(self) -> None:
        """Learn whether the service offers freezes, unless that is known."""
        for repository in self.acts.check.configured.repositories.names[:REPOSITORIES_ASKED]:
            if self.merge_queue.freeze_support is FreezeSupport.UNKNOWN:
                with suppress(MergeQueueError):
                    await self.merge_queue.freezes(repository)
        support = self.merge_queue.freeze_support
        if support is not FreezeSupport.UNKNOWN:
            # Freezes' cards have buttons where the service offers freezes.
            await self.acts.store.run(
                lambda transaction: ServiceFeatures(transaction).note(
                    ServiceFeature.FREEZES, offered=support is FreezeSupport.OFFERED
                )
            )

    async def freezes(self, repository: RepositoryName) -> list[Freeze]:
        """Those in force and to come."""
        listed = await listed_freezes(self.merge_queue, repository)
        now = self.acts.clock.now()
        return await self.acts.store.read(with_makers, repository, listed.freezes, now)

    async def require_offered(self, repository: RepositoryName) -> None:
        """Raise FreezesNotOffered; what else fails is for the act itself to say."""
        try:
            await self.freezes(repository)
        except MergeQueueError as error:
            if isinstance(error, FreezesNotOffered):
                raise

    async def terms(self, caller: Caller, asked: Asked) -> merge_queue_freezes.FreezeTerms:
        """Its times and conditions, without the reason; raises InvalidDuration."""
        zone = await self.acts.check.zone(caller.actor)
        return freeze_outcomes.terms_of(asked, self.acts.clock.now(), zone)

    async def asks_first(self, caller: Caller, terms: merge_queue_freezes.FreezeTerms) -> bool:
        """Whether the freeze is so long that the person confirms it, unless they never want to."""
        begins = terms.start or self.acts.clock.now()
        if terms.end is not None and terms.end - begins < freeze_outcomes.ASK_FROM:
            return False
        user_id = caller.actor.user_id
        return bool(await self.acts.store.read(who_wants, Notice.CONFIRMATION, [user_id]))

    async def in_the_way(
        self, repositories: Sequence[RepositoryName], terms: merge_queue_freezes.FreezeTerms
    ) -> list[Freeze]:
        """The freezes for which the wanted one changes nothing; unread queues have none.

        Raises FreezesNotOffered.
        """
        now = self.acts.clock.now()
        few = asyncio.Semaphore(FREEZE_REQUESTS_AT_ONCE)

        async def first_of(repository: RepositoryName) -> Freeze | None:
            async with few:
                known = await self.freezes(repository)
            return next(
                (other for other in known if freeze_outcomes.is_needless(terms, other, now)),
                None,
            )

        found = await asyncio.gather(*map(first_of, repositories), return_exceptions=True)
        for answer in found:
            if isinstance(answer, FreezesNotOffered) or (
                isinstance(answer, BaseException) and not isinstance(answer, MergeQueueError)
            ):
                raise answer
        return [answer for answer in found if isinstance(answer, Freeze)]

    async def meant(self, repository: RepositoryName, freeze_id: str | None = None) -> list[Freeze]:
        """Which somebody may end: the one of that id, or those in force, else those to come."""
        known = await self.freezes(repository)
        return freeze_outcomes.meant_by(freeze_id, known, self.acts.clock.now())

    async def not_frozen(
        self, caller: Caller, repository: RepositoryName, freeze_id: str | None
    ) -> freeze_outcomes.FreezeOutcome:
        """What a person sees who wants to end a freeze that is over, before they act."""
        act = self.acts.record(caller, Action.UNFREEZE, repository)
        return await self._not_frozen(act, meant=_only(freeze_id))

    async def of_group(
        self, group: str, repositories: Sequence[RepositoryName]
    ) -> freeze_outcomes.FreezesOfGroup:
        """The freezes of each repository that were made for the group.

        Raises FreezesNotOffered; what else fails is of one repository.
        """
        few = asyncio.Semaphore(FREEZE_REQUESTS_AT_ONCE)
        found: dict[RepositoryName, Sequence[Freeze]] = {}
        unread: dict[RepositoryName, MergeQueueError] = {}

        async def read(repository: RepositoryName) -> None:
            try:
                async with few:
                    known = await self.freezes(repository)
            except FreezesNotOffered:
                raise
            except MergeQueueError as error:
                unread[repository] = error
            else:
                found[repository] = [freeze for freeze in known if _is_of_group(freeze, group)]

        await asyncio.gather(*map(read, repositories))
        in_order = {name: found[name] for name in repositories if name in found}
        return freeze_outcomes.FreezesOfGroup(in_order, unread)

    async def left_by(self, group: Group) -> Sequence[RepositoryName]:
        """The repositories no longer in the group with a freeze made for it, as far as is known."""
        return await self.acts.store.read(_left_by, group, self.acts.clock.now())

    async def known_in_force(self, repository: RepositoryName) -> Sequence[Freeze]:
        """Those in force as far as they are stored, without asking the service."""
        now = self.acts.clock.now()
        return await self.acts.store.read(
            lambda transaction: Freezes(transaction).in_force(repository, now)
        )

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
    ) -> freeze_outcomes.FreezeOutcome:
        """`part_of`: the act on a group that this belongs to, whose freezes share one end."""
        act = await self.acts.permitted(caller, Action.FREEZE, repository, asked.reason, part_of)
        zone = await self.acts.check.zone(caller.actor)
        reason = act.stored_reason or ""
        begun_at = part_of.at if part_of is not None else act.at
        wanted = freeze_outcomes.terms_of(asked, begun_at, zone, reason)
        if part_of is not None:
            wanted = replace(wanted, end=part_of.resumes_at)
        act = replace(act, resumes_at=wanted.end, setting=SettingChange(after=asked.limits or None))
        async with self.acts.locked(act):
            known = await self.freezes(repository)
            same = [other for other in known if freeze_outcomes.is_needless(wanted, other, act.at)]
            if same:
                return await self._unchanged(act, freeze_outcomes.FreezesAsTheyWere.FROZEN, same)
            # No card is shown in a channel where the bot can't post.
            here = await self.acts.here(act.where.channel_id)
            act = replace(act, where=replace(act.where, channel_id=here[0] if here else None))
            act = self._at_service(act)
            async with self.acts.begun(act) as (started, answers, _):
                made = await self.merge_queue.create_freeze(
                    repository, wanted, on_answer=answers.append
                )
            done = replace(started, freezes=frozenset({made.id})).answered(join_answers(answers))
            await self.acts.end(done, ActResult.DONE)
        name = caller.actor.name
        ours = Freeze(repository, made.id, made, name, act=act, excluded=made.excluded)
        # The card is shown now, or when the event of the freeze is read.
        done = replace(done, result=ActResult.DONE)
        with failing(failed_act(done, ActState.DONE)):
            await self.acts.store.run(show_made, done, self.acts.clock.now())
            self.acts.wake()
            posted_here = act.where.channel_id is not None or await self._has_card(act)
        others = beside(ours, known)
        return freeze_outcomes.FreezeOutcome([ours], posted_here=posted_here, beside=others)

    async def unfreeze(
        self,
        caller: Caller,
        repository: RepositoryName,
        reason: str,
        *,
        freeze_id: str | None = None,
        part_of: GroupAct | None = None,
        only: Collection[str] | None = None,
    ) -> freeze_outcomes.FreezeOutcome:
        """End the freeze: the one of a button, those made for a group, or the only one.

        A person who asks for the same again means the freeze that they meant before.
        `only`: those of the group that a machine proposed to end. Of a group's, some may end and
        others not; a single one ends, or this raises.
        """
        act = await self.acts.permitted(caller, Action.UNFREEZE, repository, reason, part_of)
        async with self.acts.locked(act):
            known = await self.freezes(repository)
            meant = self._to_end(known, freeze_id, part_of)
            if only is not None:
                meant = [freeze for freeze in meant if freeze.freeze_id in only]
            is_chosen = freeze_id is not None or part_of is not None
            before = _only(freeze_id)
            if not is_chosen:
                before = await self.acts.store.read(_meant_before, act)
                meant = _meant_again(meant, before, act.actor)
            if not meant:
                return await self._without_it(act, known, before)
            if not is_chosen and not meant[0].has_begun(self.acts.clock.now()):
                because = freeze_outcomes.FreezesAsTheyWere.ONLY_PLANNED
                return await self._unchanged(act, because, meant)
            if not is_chosen and len(meant) > 1:
                return await self._unchanged(act, freeze_outcomes.FreezesAsTheyWere.SEVERAL, meant)

            # Asked before, because the event of the end may be read first.
            posted_here = await self._has_card(act)
            act = await require_second(
                self.acts, _about_freezes(act, meant), stop_by_freezes(meant)
            )
            outcome = await self._end(act, meant)
        if outcome.error is not None:
            return outcome
        left = [freeze for freeze in known if freeze not in meant]
        if not outcome.freezes:
            return await self._not_frozen(act, left, act.freezes or ())
        now = self.acts.clock.now()
        still = [freeze for freeze in left if freeze.has_begun(now)]
        return replace(outcome, posted_here=posted_here, beside=still)

    def _to_end(
        self, known: Sequence[Freeze], freeze_id: str | None, part_of: GroupAct | None
    ) -> list[Freeze]:
        """Those made for the group, or those that somebody may mean."""
        if part_of is None:
            return freeze_outcomes.meant_by(freeze_id, known, self.acts.clock.now())
        of_group = [freeze for freeze in known if _is_of_group(freeze, part_of.group)]
        if part_of.asked.only_own:
            return [freeze for freeze in of_group if freeze.is_made_by(part_of.actor)]
        return of_group

    async def _end(
        self, act: AuditRecord, meant: Sequence[Freeze]
    ) -> freeze_outcomes.FreezeOutcome:
        """End them one after the other; raises MergeQueueError if none has ended."""
        ended: list[Freeze] = []
        tried = 0
        try:
            async with self.recorded(act) as answers:
                for freeze in meant:
                    is_ended = await self.merge_queue.delete_freeze(
                        act.repository,
                        freeze.listed_id,
                        act.stored_reason or "",
                        on_answer=answers.append,
                    )
                    tried += 1
                    if is_ended:
                        ended.append(freeze)
        except MergeQueueError as error:
            if not ended:
                raise
            return freeze_outcomes.FreezeOutcome(ended, left=meant[tried:], error=error)
        return freeze_outcomes.FreezeOutcome(ended)

    async def change_end(
        self,
        caller: Caller,
        repository: RepositoryName,
        lasting: Lasting,
        *,
        freeze_id: str,
        seen: EndSeen = EndSeen.ANY,
    ) -> freeze_outcomes.FreezeOutcome:
        """A length counts from the end that the person has `seen`, or from now."""
        act = self.acts.record(caller, Action.CHANGE_FREEZE, repository)
        await self.acts.permit(act)
        async with self.acts.locked(act):
            listed = await self.freezes(repository)
            found = freeze_outcomes.meant_by(freeze_id, listed, self.acts.clock.now())
            if not found:
                return await self._without_it(act, listed, _only(freeze_id))
            known = found[0]
            if not seen.is_still(known.ends_at):
                return await self._unchanged(
                    act, freeze_outcomes.FreezesAsTheyWere.OTHER_END, found
                )
            begins = max(known.begins_at or act.at, act.at)
            end = await self.acts.new_end(act.actor, known.ends_at, lasting, begins)
            act = _about_freezes(replace(act, resumes_at=end), found)
            is_shortened = known.ends_at is None or end < known.ends_at
            if is_shortened:
                await require_own(self.acts, act, stop_by_freezes([known]))
            change = merge_queue_freezes.FreezeChange(end, known.zone)
            return await self._change(act, known, change, listed)

    async def move(
        self,
        caller: Caller,
        repository: RepositoryName,
        freeze_id: str,
        times: freeze_outcomes.Times,
        *,
        drawn_for: freeze_outcomes.Times,
    ) -> freeze_outcomes.FreezeOutcome:
        """Give a freeze that hasn't begun other times; `drawn_for`: those that the form showed."""
        act = self.acts.record(caller, Action.MOVE_FREEZE, repository)
        await self.acts.permit(act)
        async with self.acts.locked(act):
            listed = await self.freezes(repository)
            found = freeze_outcomes.meant_by(freeze_id, listed, self.acts.clock.now())
            if not found:
                return await self._without_it(act, listed, _only(freeze_id))
            known = found[0]
            if known.has_begun(self.acts.clock.now()):
                return await self._unchanged(act, freeze_outcomes.FreezesAsTheyWere.BEGUN, found)
            if freeze_outcomes.times_of(known) != drawn_for:
                because = freeze_outcomes.FreezesAsTheyWere.OTHER_TIMES
                return await self._unchanged(act, because, found)
            act = _about_freezes(replace(act, paused_at=times.start, resumes_at=times.end), found)
            await require_own(self.acts, act, stop_by_freezes([known]))
            change = merge_queue_freezes.FreezeChange(times.end, known.zone, start=times.start)
            return await self._change(act, known, change, listed)

    async def _change(
        self,
        act: AuditRecord,
        known: Freeze,
        change: merge_queue_freezes.FreezeChange,
        listed: Sequence[Freeze],
    ) -> freeze_outcomes.FreezeOutcome:
        async with self.recorded(act) as answers:
            changed = await self.merge_queue.change_freeze(
                known.repository, known.listed_id, change, on_answer=answers.append
            )
        after = replace(known, terms=changed)
        others = beside(after, [freeze for freeze in listed if freeze != known])
        return freeze_outcomes.FreezeOutcome([after], beside=others)

    async def allow(
        self, caller: Caller, repository: RepositoryName, pull_request: int, reason: str
    ) -> freeze_outcomes.FreezeOutcome:
        """Except the pull request from the freezes in force; without any, from those to come."""
        condition = number_condition(pull_request)
        act = await self.acts.permitted(caller, Action.ALLOW, repository, reason)
        act = replace(act, setting=SettingChange(after=f"#{pull_request}"))
        async with self.acts.locked(act):
            meant = await self.meant(repository)
            if not meant:
                return await self._unchanged(act)
            left = [
                freeze
                for freeze in meant
                if not freeze_outcomes.is_excepted(freeze.excluded, condition)
            ]
            if not left:
                return await self._unchanged(act, freeze_outcomes.FreezesAsTheyWere.EXCEPTED, meant)
            stop = stop_by_freezes(left, pull_request)
            act = await require_second(self.acts, _about_freezes(act, left), stop)
            done: list[Freeze] = []
            try:
                async with self.recorded(act) as answers:
                    for freeze in left:
                        change = merge_queue_freezes.FreezeChange(
                            excluded=freeze_outcomes.with_exception(freeze.excluded, condition)
                        )
                        changed = await self.merge_queue.change_freeze(
                            repository, freeze.listed_id, change, on_answer=answers.append
                        )
                        done.append(replace(freeze, terms=changed))
            except MergeQueueError as error:
                if not done:
                    raise
                return freeze_outcomes.FreezeOutcome(done, left=left[len(done) :], error=error)
        return freeze_outcomes.FreezeOutcome(done)

    async def knows(self, repository: RepositoryName, pull_request: int) -> bool:
        """Whether the pull request is in the queue, or the log has told of it.

        True where neither can be read: nothing keeps people from letting it through then.
        """
        seen = await self.acts.store.read(
            lambda transaction: PullRequests(transaction).get(repository, [pull_request])
        )
        if seen:
            return True
        now = self.acts.clock.now()
        window = window_back(now, now, LONGEST_LOOKBACK)
        try:
            status = await self.merge_queue.status(repository)
            if still_queued(pull_request, status) is not None:
                return True
            page = await self.merge_queue.event_page(
                repository, window, pull_request=pull_request, per_page=1
            )
        except MergeQueueError:
            return True
        return bool(page.events)

    def _at_service(self, act: AuditRecord) -> AuditRecord:
        """With the time that its event will be near."""
        return replace(act, service_at=self.merge_queue.service_time)

    async def _has_card(self, act: AuditRecord) -> bool:
        """Whether the actor's channel learns of it from the freeze's card."""
        return await self.acts.store.read(shows_freezes, act.repository, act.where.channel_id)

    async def _unchanged(
        self,
        act: AuditRecord,
        because: freeze_outcomes.FreezesAsTheyWere = freeze_outcomes.FreezesAsTheyWere.NOT_FROZEN,
        freezes: Sequence[Freeze] = (),
    ) -> freeze_outcomes.FreezeOutcome:
        await self.acts.record_unchanged_as_read(act, because)
        if freezes:
            return freeze_outcomes.FreezeOutcome(freezes, because)
        return await self._not_frozen(act)

    async def _without_it(
        self, act: AuditRecord, known: Sequence[Freeze], meant: Collection[str]
    ) -> freeze_outcomes.FreezeOutcome:
        """`known`: what the service lists, where the freezes that were meant are missing."""
        await self.acts.record_unchanged_as_read(act, freeze_outcomes.FreezesAsTheyWere.NOT_FROZEN)
        return await self._not_frozen(act, known, meant)

    async def _not_frozen(
        self, act: AuditRecord, known: Sequence[Freeze] = (), meant: Collection[str] = ()
    ) -> freeze_outcomes.FreezeOutcome:
        """`meant`: the ids of the freezes that the person means, if they mean certain ones."""
        ended = await self.acts.last_done(act, Action.UNFREEZE, meant)
        now = self.acts.clock.now()
        in_force = [freeze for freeze in known if freeze.has_begun(now)]
        return freeze_outcomes.FreezeOutcome(
            (), freeze_outcomes.FreezesAsTheyWere.NOT_FROZEN, ended, beside=in_force
        )

    @asynccontextmanager
    async def recorded(self, act: AuditRecord) -> AsyncIterator[list[str]]:
        """Store the act before the service is asked, and its end with the answers collected."""
        async with self.acts.begun(self._at_service(act)) as (started, answers, _):
            yield answers
        is_gone = bool(answers) and all(answer.startswith(GONE_STATUS) for answer in answers)
        result = ActResult.UNCHANGED if is_gone else ActResult.DONE
        await self.acts.end(started.answered(join_answers(answers)), result)
        if started.confirmation is not None:
            now = self.acts.clock.now()
            with failing(failed_act(started, ActState.DONE)):
                await self.acts.store.run(touch_freeze_requests, started.repository, now)
            self.acts.wake()


def _only(freeze_id: str | None) -> Collection[str]:
    return () if freeze_id is None else (freeze_id,)


def _meant_before(transaction: Transaction, act: AuditRecord) -> Collection[str]:
    """The ids of the freezes that the person meant who asks for the same again; else none.

    They had no answer, or missed it; meanwhile somebody else may have frozen the queue.
    """
    earlier = Audit(transaction).since(act.repository, act.at - RECALLED, Action.UNFREEZE)
    for other in reversed(earlier):
        is_by_them = other.actor.user_id == act.actor.user_id
        if is_by_them and other.freezes and other.stored_reason == act.stored_reason:
            is_known = other.result in {ActResult.DONE, ActResult.UNCHANGED, ActResult.REFUSED}
            is_late = is_known and act.at - other.at > SAME_REQUEST
            return frozenset() if is_late else other.freezes
    return frozenset()


def _meant_again(found: list[Freeze], before: Collection[str], actor: Actor) -> list[Freeze]:
    """Of the freezes found, those that were meant `before`, or else the person's own."""
    if not before:
        return found
    left = [freeze for freeze in found if freeze.freeze_id in before]
    return left or [freeze for freeze in found if freeze.is_made_by(actor)]


def _left_by(transaction: Transaction, group: Group, now: datetime) -> Sequence[RepositoryName]:
    by_repository: dict[RepositoryName, list[Freeze]] = defaultdict(list)
    for freeze in Freezes(transaction).elsewhere(group.repositories):
        by_repository[freeze.repository].append(freeze)
    return [
        repository
        for repository, known in sorted(by_repository.items())
        if any(
            _is_of_group(freeze, group.name)
            for freeze in with_makers(transaction, repository, known, now)
        )
    ]


def _is_of_group(freeze: Freeze, group: str) -> bool:
    """Whether it was made for that group."""
    return freeze.act is not None and freeze.act.group.name == group


def _about_freezes(act: AuditRecord, freezes: Sequence[Freeze]) -> AuditRecord:
    """The act with the freezes that it changes or ends."""
    return replace(act, previous=Previous(freezes[0].reason), freezes=ids_of(freezes))
