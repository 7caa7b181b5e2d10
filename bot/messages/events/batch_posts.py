"""One post for what one batch merged."""

from collections.abc import Sequence

from bot.domain.event_records import EventRecord, PullRequestRecord
from bot.domain.message import Message
from bot.messages import blocks
from bot.messages.events.event_posts import subject
from bot.messages.text import NAME_LIMIT, code, escape, listed, plural

MOST = 50
"""Pull requests of a batch; more are told as a summary."""

TITLES_SHOWN = 5
TEXT_LENGTH = 3500


def merged(members: Sequence[tuple[EventRecord, PullRequestRecord | None]]) -> Message:
    """The pull requests in the order of their merges: the first by title, all by number.

    `members` are of one repository, and there is at least one.
    """
    first, _ = members[0]
    count = plural(len(members), "pull request")
    repository = escape(first.repository)
    linked = [subject(record, seen)[0] for record, seen in members[:TITLES_SHOWN]]
    others = [f"#{record.pull_request}" for record, _ in members[TITLES_SHOWN:]]
    plain = [*(subject(record, seen)[1] for record, seen in members[:TITLES_SHOWN]), *others]
    rest = [f"and {', '.join(others)}"] if others else []
    lines = [f":white_check_mark: *Merged* {count} together", *linked, *rest]
    branch = code(first.base_ref, NAME_LIMIT) if first.base_ref else ""
    return Message(
        text=f"Merged {count} together: {listed(plain, length=TEXT_LENGTH)} ({repository})",
        blocks=(*blocks.lines(lines), blocks.context(repository, branch)),
        told=len(members),
    )
