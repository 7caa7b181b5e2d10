"""Names and values of the buttons about notifications."""

from dataclasses import dataclass, replace
from typing import Self

from bot.kernel.groups import Repositories
from bot.kernel.repository import RepositoryName

NOTICE_BUTTON = "mq:notice"


NOTICE_STOP = "mq:notice_stop"


LINK_BUTTON = "mq:link"


LINK_VIEW = "mq:link_view"


LOGIN_BLOCK = "login"


OFF_SUFFIX = " off"
"""Ends its value, after the notice."""


STOP_WAITING = "mq:stop_waiting"


MUTE = "mq:mute"


UNMUTE = "mq:unmute"


@dataclass(frozen=True, slots=True)
class MutablePullRequest:
    """The value of the buttons that mute a pull request, and undo that."""

    repository: RepositoryName
    number: int

    def known_in(self, repositories: Repositories) -> Self:
        return replace(self, repository=repositories.allowed(self.repository))
