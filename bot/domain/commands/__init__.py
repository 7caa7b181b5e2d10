"""The command table: parsing, help, suggestions, rights and docs/commands.md come from it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from functools import partial

from bot.domain.commands import readers
from bot.domain.commands.readers import Read, Request
from bot.domain.commands.words import BRANCH, FROM, SHOW, Option, Words, since
from bot.domain.errors import CommandSyntaxError
from bot.domain.groups import Groups, Repositories
from bot.domain.permissions import Right

LAST_WEEK = since(timedelta(days=7))


@dataclass(slots=True)
class Command:
    """One row: `/mq oldest [owner/name]`, its purpose, and examples.

    `read`: reads the words; by default a repository and the `options`.
    `takes`: shown in its usage before the options.
    `right`: for any but READ, the use case checks the permission and audits the request.
    `offered_for`: words of the same meaning, which are no commands: the bot offers this one.
    """

    name: str
    task: str
    examples: tuple[str, ...]
    takes: str = "[owner/name]"
    options: Sequence[Option] = ()
    read: Read | None = None
    right: Right = Right.READ
    aliases: tuple[str, ...] = ()
    offered_for: tuple[str, ...] = ()
    needs_repository: bool = True
    usage: str = field(init=False)
    """The whole of it, as people type it."""

    def __post_init__(self) -> None:
        parts = [self.name, self.takes, *(one.usage for one in self.options)]
        self.usage = " ".join(filter(None, parts))

    def request(self, words: Words) -> Request:
        """Read the words; raises CommandSyntaxError, RepositoryNotAllowed and UnknownGroup."""
        if self.read is not None:
            return self.read(words)
        repository = words.repository_anywhere()
        return Request(self.name, repository, words.options(self.options), self.needs_repository)


def _read_help(words: Words) -> Request:
    verb = command_called(words.all[0], before="help ").name if words.all else None
    return Request("help", None, {"verb": verb}, needs_repository=False)


def _read_stats(words: Words) -> Request:
    """`checks` names a repository of that name only where it isn't first."""
    is_checks = words.take("checks")
    action, options = ("stats checks", []) if is_checks else ("stats", [BRANCH])
    return Request(action, words.repository_anywhere(), words.options([*options, LAST_WEEK]))


COMMANDS = (
    Command(
        "status",
        "See the live queue",
        ("status", "status acme/site branch:main"),
        "[owner/name|@group|all]",
        [BRANCH],
        readers.read_status,
        offered_for=("queue", "list", "show", "state"),
    ),
    Command(
        "why",
        "See where a pull request is, what it waits for or why it left, and the next step",
        ("why 41", "why #41 acme/site", "why https://code.example/acme/site/pull/41"),
        "PR [owner/name]",
        read=partial(readers.read_pull_request, action="why"),
    ),
    Command(
        "log",
        "Read the event log, newest first, page by page",
        ("log pr:41", "log acme/site branch:main type:action.queue.leave since:2h"),
        options=readers.LOG_OPTIONS,
        read=readers.read_log,
    ),
    Command(
        "rules",
        "See the queue rules, in the order they are tried",
        ("rules", "rules acme/site show:all"),
        options=[SHOW, FROM],
    ),
    Command(
        "branches",
        "See the active base branches: how many wait for each, and what merged last",
        ("branches", "branches acme/site since:24h"),
        options=[LAST_WEEK, FROM],
    ),
    Command(
        "stats",
        "See merges per day, time in the queue and failures, or what throws pull requests out",
        ("stats", "stats acme/site branch:main since:30d", "stats checks acme/site since:14d"),
        "[checks] [owner/name]",
        [BRANCH, LAST_WEEK],
        _read_stats,
    ),
    Command(
        "pause",
        "Pause the queue; without a reason a form asks for it",
        (
            "pause CI runners are down",
            "pause now CI runners are down",
            "pause acme/site 45m database migration",
            "pause until 15:00 release 4.2",
            "pause all CI runners are down",
        ),
        "[now] [owner/name|@group|all] [45m|until 15:00] [reason]",
        read=readers.read_pause,
        right=Right.PAUSE,
        offered_for=("stop", "lock", "hold", "halt", "block", "close", "wait"),
    ),
    Command(
        "resume",
        "Resume the queue",
        ("resume", "resume acme/site"),
        "[owner/name|@group|all]",
        read=readers.read_resume,
        right=Right.RESUME,
        aliases=("unpause",),
        offered_for=("start", "go", "unlock", "continue", "unblock", "open", "restart"),
    ),
    Command(
        "remove",
        "Remove a pull request from the queue, after a question that says what that stops",
        ("remove 41", "remove #41 acme/site"),
        "PR [owner/name]",
        read=partial(readers.read_pull_request, action="remove"),
        right=Right.REMOVE,
        offered_for=("dequeue", "kick", "eject", "drop", "cancel"),
    ),
    Command(
        "freeze",
        "Freeze merging while checks go on; without a reason a form asks for it",
        (
            "freeze 2h cutting the release",
            "freeze acme/site from fri 18:00 until mon 08:00 quiet weekend",
            "freeze all until 15:00 branch:main except:hotfix release 4.2",
        ),
        "[now] [owner/name|@group|all] [2h|from fri 18:00 until mon 08:00] [branch:NAME] "
        "[except:LABEL|@AUTHOR|#PR] [reason]",
        read=readers.read_freeze,
        right=Right.FREEZE,
    ),
    Command(
        "freezes",
        "See the freezes in force and to come",
        ("freezes", "freezes acme/site"),
    ),
    Command(
        "unfreeze",
        "End a freeze; without a reason a form asks for it",
        ("unfreeze released", "unfreeze acme/site released"),
        "[owner/name|@group|all] [reason]",
        read=readers.read_unfreeze,
        right=Right.FREEZE,
        offered_for=("thaw",),
    ),
    Command(
        "allow",
        "Let one pull request through a freeze",
        ("allow 41 fixes the outage", "allow #41 acme/site fixes the outage"),
        "PR [owner/name] reason",
        read=readers.read_allow,
        right=Right.FREEZE,
        offered_for=("except", "permit", "let"),
    ),
    Command(
        "audit",
        "See who did what, and the result",
        ("audit", "audit acme/site since:24h"),
        options=[since(timedelta(days=7), may_be_any=True)],
        needs_repository=False,
    ),
    Command(
        "subscribe",
        "Subscribe this channel to what happens in the queue",
        (
            "subscribe",
            "subscribe acme/site quiet",
            "subscribe acme/site merge failure branch:release/*",
            "subscribe acme/site all except:renovate style:feed",
            "subscribe acme/site digest:09:00 Europe/Paris",
            "subscribe @all failure",
        ),
        "[owner/name|@group|@all] [quiet|normal|everything] [topic …] [branch:GLOB] [except:LOGIN] "
        "[style:thread|feed|digest] [digest:09:00 ZONE]",
        read=readers.read_subscription,
        right=Right.SUBSCRIBE,
    ),
    Command(
        "unsubscribe",
        "End a subscription, or narrow it",
        ("unsubscribe", "unsubscribe acme/site enter", "unsubscribe acme/site except:renovate"),
        "[owner/name|@group|@all] [topic …] [branch:GLOB] [except:LOGIN]",
        read=readers.read_unsubscribe,
        right=Right.SUBSCRIBE,
    ),
    Command(
        "subscriptions",
        "See this channel's subscriptions, or who would be notified of a sample event",
        ("subscriptions", "subscriptions test acme/site branch:main"),
        "[test [owner/name] [branch:NAME]]",
        read=readers.read_subscriptions,
    ),
    Command(
        "default",
        "Set this channel's default repository for commands",
        ("default acme/site", "default off", "default"),
        "[owner/name|off]",
        read=readers.read_default,
    ),
    Command(
        "board",
        "Keep a live status message in this channel",
        ("board", "board acme/site", "board off"),
        "[owner/name] [off]",
        read=readers.read_board,
        right=Right.SUBSCRIBE,
    ),
    Command(
        "link",
        "Link your code host login, so that I know which pull requests are yours",
        ("link alice-m", "link off"),
        "LOGIN|off",
        read=readers.read_link,
    ),
    Command(
        "me",
        "See what I know about you, and choose when I mention or message you",
        ("me", "me mentions off", "me failures merges on"),
        "[mentions|failures|merges|reminders|replacements|confirmations|dm|all on|off]",
        read=readers.read_me,
    ),
    Command("help", "Show these commands", ("help", "help pause"), takes="[verb]", read=_read_help),
)

COMMAND_BY_WORD = {word: one for one in COMMANDS for word in (one.name, *one.aliases)}

OFFERED = 3
CLOSE = 0.6
VERY_CLOSE = 0.75
"""The spelling similarity from which a command is suggested."""

WORD_SHOWN = 60
"""The most characters shown of an unknown word."""


def parse_command(
    text: str, repositories: Repositories, groups: Groups | None = None
) -> tuple[Command, Request]:
    """Read the text after the slash command; empty text asks for the status.

    Raises CommandSyntaxError for an unknown verb or a malformed option, RepositoryNotAllowed for a
    repository that isn't configured, UnknownGroup for an unknown group. Without `groups` there is
    only the group of all repositories.
    """
    verb, *_ = text.split() or ["status"]
    command = command_called(verb, after=text.strip().removeprefix(verb))
    return command, command.request(Words(command.usage, text, repositories, groups))


def command_called(word: str, *, before: str = "", after: str = "") -> Command:
    """The command with that verb; raises CommandSyntaxError, with the nearest verbs if any.

    `before` and `after`: the rest of what was typed, for the command to run instead.
    """
    command = COMMAND_BY_WORD.get(word.lower())
    if command is not None:
        return command
    shown = word if len(word) <= WORD_SHOWN else f"{word[:WORD_SHOWN]}…"
    said = f"There is no command “{shown}”."
    nearest = _nearest(word.lower())
    if not nearest:
        names = ", ".join(one.name for one in COMMANDS)
        said += f" There are {names}."
        raise CommandSyntaxError(said, usage=COMMAND_BY_WORD["help"].usage)
    instead = tuple(f"{before}{one}{after}" for one in nearest)
    raise CommandSyntaxError(said, COMMAND_BY_WORD[nearest[0]].usage, nearest, instead)


def _nearest(word: str) -> tuple[str, ...]:
    """The verbs that were probably meant, at most OFFERED: by meaning, then by spelling."""
    # Swapping two letters is the commonest slip, and keeps the same set of letters.
    swapped = [one for one in COMMAND_BY_WORD if sorted(one) == sorted(word)]
    if swapped:
        return (swapped[0],)
    meant = [one.name for one in COMMANDS if word in one.offered_for]
    near = get_close_matches(word, COMMAND_BY_WORD, OFFERED, VERY_CLOSE if meant else CLOSE)
    if not near and not meant:
        # A slip in a word of the same meaning: `stopp`.
        meant = [
            one.name for one in COMMANDS if get_close_matches(word, one.offered_for, 1, VERY_CLOSE)
        ]
    found: dict[str, str] = {}
    for one in (*meant, *near):
        found.setdefault(COMMAND_BY_WORD[one].name, one)
    return tuple(found.values())[:OFFERED]
