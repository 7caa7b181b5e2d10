"""One file per subject, with the handlers for its commands, buttons, forms and events.

Importing a subject registers its handlers.
"""

from bot.slack.handlers import (  # noqa: F401 - imported to register their handlers
    channels,
    dispatch,
    ends,
    freezes,
    groups,
    home,
    pausing,
    people,
    questions,
    removing,
)
