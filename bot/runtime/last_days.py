"""Warns of secrets before their last day, and of those still in the settings after it."""

import logging
from datetime import datetime

from bot.config.secrets import WARNED_DAYS, has_successor, with_last_day
from bot.config.settings import Settings

logger = logging.getLogger(__name__)


def warn_of_last_days(settings: Settings, now: datetime) -> None:
    """Log each secret that ends within WARNED_DAYS, or has ended; never its value."""
    for secret in with_last_day(settings):
        left = secret.days_left(now)
        if left is None or left > WARNED_DAYS:
            continue
        extra = {
            "action": "secret_ending" if left >= 0 else "secret_ended",
            "setting": secret.setting,
            "entry": secret.entry,
            "machine": secret.machine or None,
            "last_day": str(secret.last_day),
            "has_successor": has_successor(secret, settings, now),
        }
        sentence = "the last day of a secret is near" if left >= 0 else "a secret has ended"
        logger.warning("%s", sentence, extra=extra)
