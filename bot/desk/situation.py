"""Where somebody types, and what is known there: it decides what their words mean."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.kernel.groups import Group, Groups, Target
from bot.kernel.repository import RepositoryName
from bot.pauses.pause import DrawnLine
from bot.people.notices import Notice


@dataclass(frozen=True, slots=True)
class ThreadSubject:
    """What the first message of a thread is about."""

    repository: RepositoryName
    pull_request: int | None = None
    #: the name of the group whose pause, or freeze, it shows
    group: str | None = None
    #: that pause is over: the group may be paused again, which isn't what it shows
    is_group_over: bool = False
    #: the last line of the pause whose card it is
    pause: DrawnLine | None = None
    #: the service's id of the freeze whose card it is
    freeze_id: str | None = None
    #: the kind of personal message that it is, if the person can turn that kind off
    notice: Notice | None = None

    @property
    def is_pause(self) -> bool:
        """Whether it is the card of a pause, of one queue or of a group's."""
        return self.group is not None or self.pause is not None


@dataclass(frozen=True, slots=True)
class KnownPullRequest:
    """A pull request of the person."""

    repository: RepositoryName
    number: int


@dataclass(frozen=True, slots=True)
class Situation:
    """Where somebody types, and what is known there."""

    groups: Groups
    #: what people may type in front of a command: its own name, and the bot's
    called: Sequence[str] = ()
    is_direct: bool = False  #: in a direct message to the bot
    thread: ThreadSubject | None = None  #: None outside of threads, and if it is about nothing
    default: RepositoryName | None = None  #: the channel's
    subscribed: Sequence[RepositoryName] = ()  #: what the channel is subscribed to
    boards: Sequence[RepositoryName] = ()  #: whose boards the channel has
    #: the person's pull requests, the last one first; None if nobody knows their login
    mine: Sequence[KnownPullRequest] | None = None
    #: they were asked which queue they mean, so a name in a reason is a part of it
    is_settled: bool = False

    @property
    def group_of_thread(self) -> Group | None:
        """The group whose pause the thread is about."""
        if self.thread is None or self.thread.group is None:
            return None
        return self.groups.known(self.thread.group)

    def queue_meant(self, action: str) -> RepositoryName | None:
        """The queue meant where none is typed, if it is clear.

        That is the only one configured, the thread's, the one whose board is ended, the channel's
        default, or the only one the channel is subscribed to.
        """
        configured = self.groups.repositories.names
        if len(configured) == 1:
            return configured[0]
        if self.thread is not None and self.thread.group is None:
            return self.thread.repository
        if action == "board off" and len(self.boards) == 1:
            return self.boards[0]
        if self.default in configured:
            return self.default
        followed = set(self.subscribed).intersection(configured)
        return followed.pop() if len(followed) == 1 else None

    def target_meant(self, action: str) -> Target | None:
        """The same; in the thread of a group's card, what changes or shows it means the group."""
        if action in ABOUT_A_PAUSE and self.group_of_thread is not None:
            return self.group_of_thread
        if action == "unfreeze" and self.thread is not None and self.thread.group is not None:
            # Nobody means the channel's queue here, also where the group isn't configured any more.
            return self.group_of_thread
        return self.queue_meant(action)

    def pull_request_meant(self, where: Target | None) -> KnownPullRequest | None:
        """The thread's, unless another repository is typed."""
        thread = self.thread
        if thread is None or thread.pull_request is None:
            return None
        if where not in {None, thread.repository}:
            return None
        return KnownPullRequest(thread.repository, thread.pull_request)


ABOUT_A_FREEZE = frozenset({"unfreeze", "extend"})
"""In the thread of a freeze they mean that one."""

CHANGES_A_PAUSE = frozenset({"resume", "extend", "takeover"})
"""In the thread of a pause they mean it as its card shows it."""

ABOUT_A_PAUSE = CHANGES_A_PAUSE | {"status", "notify"}
"""In the thread of a pause they need no name of a queue."""
