"""One file per subject: what people type, press and submit about it, and what the bot does then."""

from bot.slack.handlers import (
    audit,
    boards,
    channels,
    commands,
    groups,
    home,
    pause_ends,
    pausing,
    people,
    questions,
    subscriptions,
)

SUBJECTS = (
    audit,
    boards,
    channels,
    commands,
    groups,
    home,
    pause_ends,
    pausing,
    people,
    questions,
    subscriptions,
)
"""Importing one registers its handlers."""
