"""Figures that several rules share."""

from datetime import timedelta

IN_A_ROW = 3
"""So many failed batches, restarts or late starts are no accident."""

SEVERAL = 2
"""With one alone, the pull request, the batch or the check itself may be the cause."""

LAST_HOURS = timedelta(hours=6)
