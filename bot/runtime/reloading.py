"""Reloads the settings on SIGHUP, and when a file that holds them changes."""

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from bot.config import changed_settings, reload_settings, settings_files
from bot.config.settings import Settings
from bot.domain.errors import ConfigurationError
from bot.scheduler import Job

logger = logging.getLogger(__name__)

RELOAD_SECONDS = 2.0
"""How often to look at the files.

A changed file is read once it looks the same twice, because an editor may still be writing it.
"""


class Reloading:
    """Applies new settings without a restart; invalid ones leave the old ones in force."""

    def __init__(self, settings: Settings, apply: Callable[[Settings], Awaitable[None]]) -> None:
        self.is_valid = True
        self.job = Job("reload settings", self.run)
        self._settings = settings
        self._apply = apply
        self._files = settings_files(settings)
        self._seen: Sequence[object] = ()
        self._read: Sequence[object] = ()
        self._is_asked = False

    def listen(self, stack: AsyncExitStack) -> None:
        """Reload on SIGHUP, unless no file holds settings: the signal then ends the process."""
        if self._files:
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, self._ask)
            stack.callback(loop.remove_signal_handler, signal.SIGHUP)

    def _ask(self) -> None:
        self._is_asked = True
        self.job.wake()

    async def run(self) -> None:
        """Reload if asked or if a file changed. Raises StoreError; the next run tries again."""
        before, self._seen = self._seen, tuple(_version(path) for path in self._files)
        is_changed = self._seen == before and self._seen != self._read
        if self._is_asked or is_changed:
            await self._reload()
            self._read, self._is_asked = self._seen, False

    async def _reload(self) -> None:
        try:
            new = await asyncio.to_thread(reload_settings, self._settings)
        except ConfigurationError as error:
            self.is_valid = False
            for name, problem in error.problems.items():
                logger.warning(
                    "settings not reloaded, the old ones stay in force",
                    extra={"action": "settings_invalid", "setting": name, "problem": problem},
                )
            return
        reloaded, kept = changed_settings(self._settings, new)
        if reloaded:
            await self._apply(new)
        self.is_valid = True
        self._settings, self._files = new, settings_files(new)
        if reloaded or self._is_asked:
            logger.info(
                "settings reloaded",
                extra={"action": "settings_reloaded", "changed": ", ".join(reloaded)},
            )
        if kept:
            logger.warning(
                "changed settings that need a restart",
                extra={"action": "restart_needed", "changed": ", ".join(kept)},
            )


def _version(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
