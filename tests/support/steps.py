"""Which of many steps, as those at which a process may be struck, are tried in one run."""

from random import Random

import pytest
from hypothesis import settings


def tried(steps: range, every: int, config: pytest.Config) -> range:
    """All steps in a long run, else one of every few, from a first that the run's seed chooses."""
    if settings.get_current_profile_name() == "long":
        return steps
    first = Random(config.getoption("--hypothesis-seed")).randrange(every)
    return steps[first::every]
