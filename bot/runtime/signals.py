"""Signals from the program's first line on, before anything slow is imported."""

import os
import signal
import sys
from types import FrameType

IGNORED = (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM)
"""What init systems and configuration managers send to a service to reload or to rotate logs.

The settings are read during the start anyway; a running bot reloads them on SIGHUP.
"""

STOPPING = (
    *(signal.SIGINT, signal.SIGTERM, signal.SIGQUIT),
    # The power fails, or a container is to stop; only Linux has it.
    *([signal.SIGPWR] if sys.platform == "linux" else []),
)

_before: dict[signal.Signals, object] = {}


def take_signals() -> None:
    """Ignore what only a running bot understands, and end cleanly when asked to stop."""
    for number in STOPPING:
        _before[number] = signal.signal(number, _stop)
    for number in IGNORED:
        _before[number] = signal.signal(number, signal.SIG_IGN)


def give_signals_back() -> None:
    """For commands that end by themselves: a closed terminal ends them, as usual."""
    while _before:
        number, handler = _before.popitem()
        # The interpreter's own handlers, or one of its constants.
        signal.signal(number, handler)  # type: ignore[arg-type]  # see above


def _stop(_number: int, _frame: FrameType | None) -> None:
    """End the start where it is, as a kill would: a migration, in one transaction, is undone.

    An exception instead would be lost in a callback of the interpreter's, and the start go on.
    """
    os._exit(0)
