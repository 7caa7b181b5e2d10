"""One file per subject: what people type, press and submit about it, and what the bot does then."""

from collections.abc import Sequence

from bot.slack.handlers.audit import Audit
from bot.slack.handlers.boards import Boards
from bot.slack.handlers.group_forms import GroupForms
from bot.slack.handlers.groups import GroupPausing
from bot.slack.handlers.pause_forms import PauseForms
from bot.slack.handlers.pausing import Pausing
from bot.slack.handlers.people import People
from bot.slack.handlers.questions import Questions
from bot.slack.handlers.status import Status
from bot.slack.handlers.subject import Subject
from bot.slack.handlers.subscriptions import Subscriptions

SUBJECTS: Sequence[type[Subject]] = (
    Status,
    Questions,
    Pausing,
    PauseForms,
    GroupPausing,
    GroupForms,
    Subscriptions,
    Boards,
    People,
    Audit,
)
"""Those that need nothing but what all handlers share."""
