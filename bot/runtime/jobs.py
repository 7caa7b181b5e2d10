"""Jobs on the schedule: polling, posting, pruning, preparing channels."""

import asyncio
import logging
import os
import socket
import uuid
from datetime import timedelta
from functools import partial
from secrets import SystemRandom

from bot.acts.open_requests import RENEWED_SECONDS
from bot.config.settings import Settings
from bot.desk.registry import Bot
from bot.doctor.examining import ExamineQueue
from bot.feed.observe_pause import ObservePause
from bot.feed.observe_queue import ObserveQueue
from bot.feed.outage_observation import observation
from bot.feed.pause_by_rule import PauseByRule
from bot.feed.poll_event_log import PollEventLog
from bot.feed.poll_repositories import PollRepositories
from bot.feed.polling import PollingInterval, stale_after
from bot.feed.store_events import StoreEvents
from bot.freezes.ending_gone import EndGoneFreezes
from bot.freezes.notifying import NotifyFreezes
from bot.groups.closing_requests import CloseRequests
from bot.groups.telling_outcomes import TellOutcomes
from bot.health.notifying_outages import NotifyOutages
from bot.home.handlers import tab
from bot.kernel.cron import next_digest
from bot.kernel.tasks import CONCURRENT_STORES, ConcurrencyLimit, poll_requests
from bot.log.sources import Sources
from bot.pauses.ending import ExpirePauses, WatchClock, due_lease
from bot.pauses.group_work import EndCutShort
from bot.posts.posting import PostDeliveries
from bot.posts.refreshing import RefreshLiveMessages
from bot.questions.posting_weekly import PostWeekly
from bot.queues.outlook import ForeseeQueue
from bot.runtime.adapters import Ports
from bot.runtime.intervals import Intervals
from bot.runtime.listening import build_use_cases
from bot.runtime.renderers import RENDERERS
from bot.runtime.scheduler import Job, JobScheduler
from bot.runtime.upkeep.housekeeping import follow_sharing, prepare_channels, prune_history
from bot.slack.socket_mode import CONNECTIONS, SocketMode
from bot.slack.web_api.clients import SYNC_SECONDS, Limits
from bot.slack.web_api.poster import SlackPoster
from bot.store.errors import StoreUnavailable
from bot.store.processes import ProcessConnections
from bot.store.transaction import Transaction
from bot.storms.ending import EndStorms

logger = logging.getLogger(__name__)


def limits_job(limits: Limits) -> Job:
    """Read which of Slack's limits other processes have reached."""
    return Job("read Slack's limits", limits.sync)


def add_answering_jobs(scheduler: JobScheduler, bot: Bot, every: Intervals) -> None:
    """The jobs of a process that answers people."""
    find_out = bot.use.freeze_queue.find_out
    scheduler.every(every.home, Job("refresh Home tabs", partial(tab.refresh, bot)))
    scheduler.every(every.freezes_found, Job("find out about freezes", find_out))
    renew = bot.background.open.renew
    scheduler.every(RENEWED_SECONDS, Job("renew open requests", renew))


class Jobs:
    """The jobs of `scheduler`, until `drain`; `wake` runs due ones sooner."""

    def __init__(self, settings: Settings, ports: Ports, every: Intervals) -> None:
        holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._settings = settings
        self._ports = ports
        self._every = every
        self._holder = holder
        self.use = build_use_cases(ports, self.wake)
        self._storing = ConcurrencyLimit(CONCURRENT_STORES)
        self._ending = asyncio.Event()
        self.scheduler = JobScheduler(ports.metrics)
        jitter = SystemRandom().random
        slack = ports.slack
        poster = SlackPoster(
            slack.client, slack.channels, ports.clock, slack.identity, slack.people
        )
        parts = (ports.store, poster, ports.clock, self.wake_posts, holder, jitter, RENDERERS)
        self._posts = PostDeliveries(*parts, metrics=ports.metrics)
        self._post = Job("post deliveries", self._posts.run)
        self._edits = RefreshLiveMessages(*parts, metrics=ports.metrics)
        self._edit = Job("edit live messages", self._edits.run)
        self.polls = self._polling()
        self._poll = Job("poll repositories", self.polls.run)
        self.scheduler.every(SYNC_SECONDS, limits_job(ports.slack.client.limits))
        self.scheduler.every(self._every.posts, self._post)
        self.scheduler.every(self._every.posts, self._edit)
        self.scheduler.every(self._every.polls, self._poll)
        self._notify()
        self._housekeeping()
        self._time_pauses()

    def _notify(self) -> None:
        """Notify of freezes, outages and the end of storms."""
        ports = self._ports
        freezes = NotifyFreezes(
            ports.store,
            ports.clock,
            self.wake,
            ports.merge_queue.scheduled,
            ports.configured,
            lambda: self.polls.log.service_clock.ahead,
            self.polls.lease,
        )
        self.scheduler.every(self._every.freezes, Job("notify of freezes", freezes.run))
        gone = EndGoneFreezes(
            ports.store,
            ports.clock,
            self.wake,
            ports.merge_queue.scheduled,
            ports.configured,
            self.polls.lease,
        )
        self.scheduler.every(self._every.freezes_gone, Job("end gone freezes", gone.run))
        outages = NotifyOutages(
            ports.store,
            self.wake,
            self.stale_after,
            partial(observation, self.polls),
            lambda: ports.slack.client.seen if self._posts.lease.current is not None else None,
        )
        self.scheduler.every(self._every.outages, Job("notify of outages", outages.run))
        storms = EndStorms(
            ports.store, ports.clock, self.wake_posts, ports.configured, self.polls.read_until
        )
        self.scheduler.every(self._every.storms, Job("end storms", storms.run))

    def note_connections(self, connection: SocketMode) -> None:
        """Store them each minute: only all processes together see whether others use the app."""

        def store(transaction: Transaction) -> None:
            ProcessConnections(transaction).note(
                self._holder, kept=CONNECTIONS, counted=connection.num_connections
            )

        async def note() -> None:
            await self._ports.store.run(store)

        self.scheduler.every(self._every.connections, Job("note connections to Slack", note))

    @property
    def stale_after(self) -> timedelta:
        """How long a log may go unread, or Slack not answer, before that is an outage."""
        return stale_after(self.polls.interval.usual)

    def _housekeeping(self) -> None:
        ports = self._ports
        ending = self._ending
        follow = partial(follow_sharing, ports.store, ports.slack.channels, ports.clock, self.wake)
        self.scheduler.every(SYNC_SECONDS, Job("learn which channels are shared", follow))
        retention = timedelta(days=self._settings.retention_days)
        channels = ports.slack.channels
        prune = partial(
            prune_history, ports.store, ports.clock, retention, ports.configured, ending
        )
        prepare = partial(prepare_channels, ports.store, channels, ports.configured, ending)
        self.prepare_channels = Job("prepare channels", prepare)
        self.scheduler.every(self._every.channels_listed, Job("list channels", channels.learn))
        weekly = PostWeekly(ports.store, ports.clock, self.wake, ports.configured)
        self.scheduler.every(self._every.weekly, Job("post weekly statistics", weekly.run))
        prune_job = Job("prune history", prune)
        self.scheduler.every(self._every.prune, prune_job, first_after=self._every.prune_first)
        self.scheduler.every(self._every.channels_prepared, self.prepare_channels)

    def _polling(self) -> PollRepositories:
        settings = self._settings
        ports = self._ports
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
            timedelta(seconds=self._every.thread_edits),
        )
        return PollRepositories(
            log=PollEventLog(events, timedelta(minutes=settings.backfill_minutes)),
            store=ports.store,
            merge_queue=ports.merge_queue.scheduled,
            clock=ports.clock,
            configured=ports.configured,
            interval=PollingInterval.around(
                usual,
                None if longest is None else timedelta(seconds=longest),
                shortest=timedelta(seconds=self._every.shortest_poll),
            ),
            holder=self._holder,
            observe=self._observing(usual),
            rule=PauseByRule(self.use.pause_queue),
            concurrency=ConcurrencyLimit(poll_requests(settings.requests_at_once)),
            metrics=ports.metrics,
            new_pause_read_after=timedelta(seconds=self._every.new_pause_read),
            pauses_read_every=timedelta(seconds=self._every.pauses_read),
        )

    def _observing(self, usual: timedelta) -> ObserveQueue:
        ports = self._ports
        storing = self._storing
        sources = Sources(ports.merge_queue.scheduled, ports.store, ports.clock)
        return ObserveQueue(
            sources=sources,
            examine=ExamineQueue(sources, ForeseeQueue(sources)),
            wake=self.wake,
            interval=usual,
            limit=stale_after(usual),
            pause=ObservePause(ports.store, ports.clock, self.wake, usual, storing),
            configured=ports.configured,
            storing=storing,
            edit_spacing=timedelta(seconds=self._every.board_edits),
        )

    def _time_pauses(self) -> None:
        """Resume queues of timed pauses, remind people of the others, apply windows."""
        ports = self._ports
        use = self.use
        lease = due_lease(self._holder)
        remind = use.remind_of_pauses
        work = use.groups.work
        watch = WatchClock(
            ports.store,
            ports.clock,
            lambda: self.polls.log.service_clock.ahead,
        )
        cut_short = EndCutShort(work)
        self._outcomes = TellOutcomes(ports.merge_queue.scheduled, work.acts, cut_short)
        self._expiry = ExpirePauses(use.resume_queue, work, lease, SystemRandom().random)
        have_windows_been_applied = False

        async def apply_windows() -> None:
            nonlocal have_windows_been_applied
            await use.apply_windows.run(lease)
            have_windows_been_applied = True

        async def resume() -> None:
            await watch.run()
            # A window that begins as a pause ends gives that pause its own end first.
            if have_windows_been_applied:
                await self._expiry.run()

        async def remind_of_pauses() -> None:
            await watch.run()
            await remind.run(lease)

        self.scheduler.every(self._every.outcomes, Job("tell outcomes", self._outcomes.run))
        self.scheduler.every(self._every.cut_short, Job("end what was cut short", cut_short.run))
        requests = CloseRequests(ports.store, ports.clock, self.wake_posts)
        close_requests = Job("close requests to confirm", requests.run)
        self.scheduler.every(self._every.cut_short, close_requests)
        self.scheduler.every(self._every.pauses, Job("resume due queues", resume))
        self.scheduler.every(self._every.windows, Job("apply windows", apply_windows))
        self.scheduler.every(self._every.reminders, Job("remind of pauses", remind_of_pauses))

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
        await self._outcomes.drain()
        await self.scheduler.drain()
        try:
            await self.polls.release()
            await self._posts.release()
            await self._edits.release()
            await self._expiry.release()
        except StoreUnavailable as error:
            # Leases that can't be released expire by themselves.
            logger.warning(
                "leases not released", extra={"action": "leases_kept", "detail": error.cause}
            )
