"""One file per subject, with the handlers for its commands, buttons, forms and events."""

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
"""Importing a subject registers its handlers."""
