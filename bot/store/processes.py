"""What the processes of an installation tell each other, and `mqbot check`."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import select

from bot.store.statements import Part
from bot.store.tables import clock_jumps, pending_restarts, process_connections, write_checks

CONNECTIONS_KEPT = timedelta(minutes=3)
RESTART_KEPT = timedelta(minutes=2)


class ClockJump(NamedTuple):
    """A jump of a process's clock, in whole seconds."""

    at: datetime  #: the time after it
    jump: timedelta


class ClockJumps(Part):
    """Jumps of processes' clocks."""

    def add(self, at: datetime, jump: timedelta) -> bool:
        """Remember a jump, to `at`; False if it was remembered already."""
        row = {"at": at, "seconds": round(jump.total_seconds())}
        return bool(self._add_new(clock_jumps, row))

    def since(self, at: datetime) -> Sequence[ClockJump]:
        """The jumps from then on, latest first."""
        later = select(clock_jumps).where(clock_jumps.c.at >= at)
        rows = self._run(later.order_by(clock_jumps.c.at.desc()))
        return [ClockJump(row.at, timedelta(seconds=row.seconds)) for row in rows]


class ProcessConnections(Part):
    """Connections to Slack; each process notes its own and what Slack counted, each minute."""

    def note(self, process: str, *, kept: int, counted: int) -> None:
        until = self._database_time() + CONNECTIONS_KEPT
        row = {"process": process, "kept": kept, "counted": counted, "until": until}
        self._put(process_connections, row)

    def of_others(self) -> int:
        """Connections that Slack counted last and that no process on this database has."""
        noted = process_connections.c
        is_kept = self._database_time() < noted.until
        newest_first = noted.until.desc(), noted.counted.desc()
        recent = select(process_connections).where(is_kept).order_by(*newest_first)
        rows = self._run(recent).all()
        if not rows:
            return 0
        kept: int = sum(row.kept for row in rows)
        counted: int = rows[0].counted
        return max(0, counted - kept)


class PendingRestarts(Part):
    """Settings that wait for a restart of a process, which says so again and again."""

    def note(self, settings: Collection[str]) -> None:
        until = self._database_time() + RESTART_KEPT
        rows = [{"setting": setting, "until": until} for setting in sorted(settings)]
        self._put(pending_restarts, *rows)

    def clear(self) -> None:
        """Forget all; a process that still waits notes its own again."""
        self._remove(pending_restarts)

    def waiting(self) -> Sequence[str]:
        """The settings that wait for a restart."""
        waits = self._database_time() < pending_restarts.c.until
        waiting = select(pending_restarts.c.setting).where(waits)
        return sorted(self._run(waiting).scalars())


class WriteChecks(Part):
    """A row that is overwritten: a full disk or a read-only server shows in no read."""

    def write(self) -> None:
        self._put(write_checks, {"name": "mqbot check", "written_at": self._database_time()})
