"""Reloads the settings on SIGHUP, and when a file that holds them changes."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from bot.config.reading import changed_settings, reload_settings, settings_files
from bot.config.secrets import secrets_of
from bot.config.settings import Settings
from bot.kernel.errors import ConfigurationError
from bot.runtime import logs
from bot.runtime.scheduler import Job
from bot.store.processes import PendingRestarts
from bot.store.transaction import Transaction
from bot.store.transactions import Store

logger = logging.getLogger(__name__)


class Reloading:
    """Applies new settings without a restart; invalid ones leave the old ones in force.

    A changed file is read once it looks the same twice: an editor may still be writing it.
    What needs a restart is compared with what the process started with.
    """

    def __init__(self, settings: Settings, apply: Callable[[Settings], Awaitable[None]]) -> None:
        self.is_valid = True
        self.pending: Sequence[str] = ()
        """The settings whose new values wait for a restart."""
        self.job = Job("reload settings", self.run)
        self._started_with = settings
        self._settings = settings
        self._apply = apply
        self._files = settings_files(settings)
        self._seen: Sequence[object] = ()
        self._read: Sequence[object] = ()
        self._is_asked = False

    def listen(self, stack: AsyncExitStack) -> None:
        """Reload on SIGHUP; before and after, the process does with it what it did."""
        loop = asyncio.get_running_loop()
        before = signal.getsignal(signal.SIGHUP)
        loop.add_signal_handler(signal.SIGHUP, self._ask)

        def stop_listening() -> None:
            loop.remove_signal_handler(signal.SIGHUP)
            # Else the signal would end a process that is about to stop in order.
            signal.signal(signal.SIGHUP, before)

        stack.callback(stop_listening)

    def _ask(self) -> None:
        self._is_asked = True
        self.job.wake()

    async def run(self) -> None:
        """Reload if asked or if a file changed. Raises StoreError; the next run tries again."""
        before = self._seen
        self._seen = tuple(_version(path) for path in self._files)
        is_changed = self._seen == before and self._seen != self._read
        if self._is_asked or is_changed:
            await self._reload()
            self._read = self._seen
            self._is_asked = False

    async def _reload(self) -> None:
        try:
            new = await asyncio.to_thread(reload_settings, self._settings, self._files)
        except ConfigurationError as error:
            self.is_valid = False
            for name, problem in error.problems.items():
                logger.warning(
                    "settings not reloaded, the old ones stay in force",
                    extra={"action": "settings_invalid", "setting": name, "problem": problem},
                )
            return
        # Before anything can use them.
        logs.hide(secrets_of(new))
        reloaded = changed_settings(self._settings, new).reloaded
        need_restart = changed_settings(self._started_with, new).need_restart
        if reloaded:
            await self._apply(new)
        self.is_valid = True
        self._settings = new
        self._files = settings_files(new)
        if reloaded or self._is_asked:
            logger.info(
                "settings reloaded",
                extra={"action": "settings_reloaded", "changed": ", ".join(reloaded)},
            )
        before = self.pending
        self.pending = need_restart
        if need_restart and (need_restart != before or self._is_asked):
            logger.warning(
                "changed settings need a restart",
                extra={"action": "restart_needed", "changed": ", ".join(need_restart)},
            )
        elif before and not need_restart:
            logger.info(
                "no changed setting needs a restart any more",
                extra={"action": "restart_not_needed"},
            )


class NoteRestarts:
    """Tells `mqbot check` which settings wait for a restart."""

    def __init__(self, reloading: Reloading, store: Store) -> None:
        self.job = Job("note settings that need a restart", self.run)
        self._reloading = reloading
        self._store = store
        self._noted: Sequence[str] | None = None  #: none by this process, but perhaps before it

    async def run(self) -> None:
        pending = self._reloading.pending
        is_changed = pending != self._noted

        def replace_noted(transaction: Transaction) -> None:
            restarts = PendingRestarts(transaction)
            if is_changed:
                restarts.clear()
            restarts.note(pending)

        if pending or is_changed:
            await self._store.run(replace_noted)
            self._noted = pending


def _version(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
