"""Jobs on the schedule: polling, posting, pruning, preparing channels."""

import asyncio
import logging
import os
import socket
import uuid
from datetime import timedelta
from functools import partial
from secrets import SystemRandom

from bot.config.settings import Settings
from bot.domain.errors import StoreUnavailable
from bot.domain.polling import PollingInterval, stale_after
from bot.runtime.adapters import Ports
from bot.runtime.listening import build_use_cases
from bot.scheduler import Job, JobScheduler, next_digest
from bot.slack.handlers import home
from bot.slack.handlers.registry import Bot
from bot.slack.web_api.clients import SYNC_SECONDS, Limits
from bot.slack.web_api.people import SlackPeople
from bot.slack.web_api.poster import SlackPoster
from bot.usecases.asking import Sources
from bot.usecases.freezes import NotifyFreezes
from bot.usecases.housekeeping import prepare_channels, prune_history
from bot.usecases.pausing.group_work import EndCutShort
from bot.usecases.pausing.timers import ExpirePauses, WatchClock, timers_lease
from bot.usecases.polling.notify_outages import NotifyOutages, observation
from bot.usecases.polling.observe_pause import ObservePause
from bot.usecases.polling.observe_queue import ObserveQueue
from bot.usecases.polling.pause_by_rule import PauseByRule
from bot.usecases.polling.poll_event_log import PollEventLog
from bot.usecases.polling.poll_repositories import POLL_TICK_SECONDS, PollRepositories
from bot.usecases.polling.share_repositories import SHARE_SECONDS, ShareRepositories
from bot.usecases.polling.store_events import StoreEvents
from bot.usecases.posting.post_deliveries import PostDeliveries
from bot.usecases.posting.refresh_live_messages import RefreshLiveMessages
from bot.usecases.tasks import CONCURRENT_STORES, ConcurrencyLimit, poll_requests
from bot.usecases.weekly_statistics import PostWeekly

logger = logging.getLogger(__name__)

DUE_SECONDS = 1.0
"""How often due posts, edits and lookups start; wakes come sooner."""

PRUNE_SECONDS = 3600.0
PRUNE_FIRST_SECONDS = 60.0
"""A bot that starts has more urgent things to do."""

OUTAGE_SECONDS = 5.0

CHANNELS_SECONDS = 1800.0
WEEKLY_SECONDS = 60.0
LISTED_SECONDS = 300.0
HOME_SECONDS = 10.0
FREEZES_FOUND_SECONDS = 60.0
EXPIRY_SECONDS = 1.0
WINDOW_SECONDS = 10.0
FREEZE_SECONDS = 1.0
REMINDER_SECONDS = 5.0
CUT_SHORT_SECONDS = 15.0


def limits_job(limits: Limits) -> Job:
    """Read which of Slack's limits other processes have reached."""
    return Job("read Slack's limits", limits.sync)


def add_answering_jobs(scheduler: JobScheduler, bot: Bot) -> None:
    """The jobs of a process that answers people."""
    find_out = bot.use.freeze_queue.find_out
    scheduler.every(HOME_SECONDS, Job("refresh Home tabs", partial(home.refresh, bot)))
    scheduler.every(FREEZES_FOUND_SECONDS, Job("find out about freezes", find_out))


class Jobs:
    """The jobs of `scheduler`, until `drain`; `wake` runs due ones sooner."""

    def __init__(self, settings: Settings, ports: Ports) -> None:
        holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._settings = settings
        self._ports = ports
        self._holder = holder
        self.use = build_use_cases(ports, self.wake)
        self._storing = ConcurrencyLimit(CONCURRENT_STORES)
        self._ending = asyncio.Event()
        self.scheduler = JobScheduler(ports.metrics)
        jitter = SystemRandom().random
        slack, people = ports.slack, SlackPeople(ports.slack.client, ports.clock)
        poster = SlackPoster(slack.client, slack.channels, ports.clock, slack.identity, people)
        parts = (ports.store, poster, ports.clock, self.wake_posts, holder, jitter)
        self._posts = PostDeliveries(*parts, metrics=ports.metrics)
        self._post = Job("post deliveries", self._posts.run)
        self._edits = RefreshLiveMessages(*parts, metrics=ports.metrics)
        self._edit = Job("edit live messages", self._edits.run)
        self.polls = self._polling()
        self._poll = Job("poll repositories", self.polls.run)
        self.share = ShareRepositories(
            ports.store, ports.clock, self.polls, ports.configured, holder
        )
        self.scheduler.every(SYNC_SECONDS, limits_job(ports.slack.client.limits))
        self.scheduler.every(DUE_SECONDS, self._post)
        self.scheduler.every(DUE_SECONDS, self._edit)
        self.scheduler.every(SHARE_SECONDS, Job("share repositories out", self.share.run))
        self.scheduler.every(POLL_TICK_SECONDS, self._poll)
        freezes = NotifyFreezes(
            ports.store,
            ports.clock,
            self.wake,
            ports.merge_queue.scheduled,
            ports.configured,
            lambda: self.polls.log.service_clock.ahead,
        )
        self.scheduler.every(FREEZE_SECONDS, Job("notify of freezes", freezes.run))
        outages = NotifyOutages(
            ports.store,
            self.wake,
            self.stale_after,
            partial(observation, self.polls),
            lambda: ports.slack.client.seen if self._posts.lease.held is not None else None,
        )
        self.scheduler.every(OUTAGE_SECONDS, Job("notify of outages", outages.run))
        self._housekeeping()
        self._time_pauses()

    @property
    def stale_after(self) -> timedelta:
        """How long a log may go unread, or Slack not answer, before that is an outage."""
        return stale_after(self.polls.interval.usual)

    def _housekeeping(self) -> None:
        ports, ending = self._ports, self._ending
        retention, channels = timedelta(days=self._settings.retention_days), ports.slack.channels
        prune = partial(prune_history, ports.store, ports.clock, retention, ending)
        prepare = partial(prepare_channels, ports.store, channels, ports.configured, ending)
        self.prepare_channels = Job("prepare channels", prepare)
        self.scheduler.every(LISTED_SECONDS, Job("list channels", channels.learn))
        weekly = PostWeekly(ports.store, ports.clock, self.wake, ports.configured)
        self.scheduler.every(WEEKLY_SECONDS, Job("post weekly statistics", weekly.run))
        prune_job = Job("prune history", prune)
        self.scheduler.every(PRUNE_SECONDS, prune_job, first_after=PRUNE_FIRST_SECONDS)
        self.scheduler.every(CHANNELS_SECONDS, self.prepare_channels)

    def _polling(self) -> PollRepositories:
        settings, ports = self._settings, self._ports
        usual = timedelta(seconds=settings.poll_seconds)
        longest = settings.quiet_poll_seconds
        events = StoreEvents(
            ports.store,
            ports.clock,
            self._post.wake,
            next_digest,
            timedelta(seconds=settings.overlap_seconds),
            ports.metrics,
            self._storing,
        )
        return PollRepositories(
            log=PollEventLog(events, timedelta(minutes=settings.backfill_minutes)),
            store=ports.store,
            merge_queue=ports.merge_queue.scheduled,
            clock=ports.clock,
            repositories=settings.repositories,
            interval=PollingInterval.around(
                usual, None if longest is None else timedelta(seconds=longest)
            ),
            holder=self._holder,
            observe=self._observing(usual),
            rule=PauseByRule(self.use.pause_queue),
            concurrency=ConcurrencyLimit(poll_requests(settings.requests_at_once)),
            metrics=ports.metrics,
        )

    def _observing(self, usual: timedelta) -> ObserveQueue:
        ports, storing = self._ports, self._storing
        return ObserveQueue(
            sources=Sources(ports.merge_queue.scheduled, ports.store, ports.clock),
            wake=self.wake,
            interval=usual,
            limit=stale_after(usual),
            pause=ObservePause(ports.store, ports.clock, self.wake, usual, storing),
            configured=ports.configured,
            storing=storing,
        )

    def _time_pauses(self) -> None:
        """Resume queues of timed pauses, remind people of the others, hold windows."""
        ports, use = self._ports, self.use
        lease, remind, groups = timers_lease(self._holder), use.remind_of_pauses, use.groups
        watch = WatchClock(
            ports.store,
            ports.clock,
            lease,
            remind.first_gap,
            lambda: self.polls.log.service_clock.ahead,
        )
        self._cut_short = EndCutShort(groups.work, groups.carry_out)
        self._expiry = ExpirePauses(use.resume_queue, groups.work, lease, SystemRandom().random)

        async def resume() -> None:
            await watch.run()
            await self._expiry.run()

        async def remind_of_pauses() -> None:
            await watch.run()
            await remind.run(lease)

        cut_short = Job("end what was cut short", self._cut_short.run)
        self.scheduler.every(CUT_SHORT_SECONDS, cut_short)
        self.scheduler.every(EXPIRY_SECONDS, Job("resume due queues", resume))
        self.scheduler.every(WINDOW_SECONDS, Job("hold windows", use.hold_windows.run))
        self.scheduler.every(REMINDER_SECONDS, Job("remind of pauses", remind_of_pauses))

    def wake(self, after: float = 0.0) -> None:
        """Wake posting, and if it is now, read the pauses on record: one may have changed."""
        self.wake_posts(after)
        if not after:
            self.polls.pauses_known_until = None
            self._poll.wake()

    def wake_posts(self, after: float = 0.0) -> None:
        """Wake posts and edits together: reposting a live message is a delivery."""
        # Posts first: in SQLite their transactions wait for each other.
        self._post.wake(after)
        self._edit.wake(after)

    async def drain(self) -> None:
        """Finish running polls and posts, and leave the rest to the next process."""
        self.polls.begin_no_more()
        self._storing.close()
        self._ending.set()
        self._posts.begin_no_more()
        self._edits.begin_no_more()
        self.scheduler.begin_no_more()
        await self.scheduler.drain()
        await self.polls.drain()
        await self._expiry.drain()
        await self._cut_short.drain()
        await self.scheduler.drain()
        try:
            await self.polls.release()
            await self.share.leave()
            await self._posts.release()
            await self._edits.release()
            await self._expiry.release()
        except StoreUnavailable as error:
            # Leases that can't be released expire by themselves.
            logger.warning(
                "leases not given back", extra={"action": "leases_kept", "detail": error.cause}
            )
