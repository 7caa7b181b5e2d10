"""The command table: parsing, help, suggestions, rights and docs/commands.md come from it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from difflib import get_close_matches
from functools import partial

from bot.acts.permission import Right
from bot.desk.names import named_by, read_number, refuse_unknown
from bot.desk.options import BRANCH_OPTION, FROM_OPTION, SHOW, Option, since
from bot.desk.readers import acts, extensions, pull_requests, settings
from bot.desk.readers.typed_command import Read, TypedCommand
from bot.desk.situation import Situation
from bot.desk.words import POLITE, Words
from bot.kernel.errors import CommandSyntaxError
from bot.kernel.groups import Group, Groups
from bot.kernel.typed import Word, command_words

LAST_WEEK = since(timedelta(days=7))
ANY_TIME = since(timedelta(days=7), may_be_any=True)

NAMED_OR_GROUP = "[owner/name|@group|all]"


@dataclass(slots=True)
class Command:
    """One row: `/mq oldest [owner/name]`, its purpose, and examples."""

    name: str
    task: str
    examples: tuple[str, ...]
    takes: str = "[owner/name]"  #: shown in its usage before the options
    options: Sequence[Option] = ()
    #: the options where a group is named, of which every repository is meant
    group_options: Sequence[Option] = ()
    read: Read | None = None  #: reads the words; by default a repository and the `options`
    #: for any but READ, the use case checks the permission and audits the request
    right: Right = Right.READ
    aliases: tuple[str, ...] = ()
    #: words of the same meaning, which are no commands: the bot offers this one
    offered_for: tuple[str, ...] = ()
    needs_repository: bool = True
    takes_text: bool = False  #: whether a reason follows
    usage: str = field(init=False)
    """The whole of it, as people type it."""

    def __post_init__(self) -> None:
        parts = [self.name, self.takes, *(option.usage for option in self.options)]
        self.usage = " ".join(filter(None, parts))

    def request(self, words: Words) -> TypedCommand:
        """Read the words; raises CommandSyntaxError, RepositoryNotAllowed and UnknownGroup."""
        if self.read is not None:
            return self.read(words)
        where = words.target_anywhere()
        known = self.group_options if isinstance(where, Group) else self.options
        options = words.options(known, of_one=self.options)
        return TypedCommand(self.name, where, options, self.needs_repository)


def _read_help(words: Words) -> TypedCommand:
    if not words.all or words.all[0].bare in {"all", "commands"}:
        verb = None
        is_whole = bool(words.all)
    else:
        named = [word for word in words.all if word.bare in COMMAND_BY_WORD]
        verb = command_called((named or words.all)[0].plain, before="help ").name
        is_whole = False
    options = {"verb": verb, "is_whole": is_whole}
    return TypedCommand("help", None, options, needs_repository=False)


def _read_stats(words: Words) -> TypedCommand:
    """`checks` is a repository's name only where it stands twice."""
    is_checks = words.take("checks") or (
        len(words.rest) > 1 and words.rest[1].bare == "checks" and words.take_anywhere("checks")
    )
    where = words.target_anywhere()
    options = [LAST_WEEK] if is_checks else [BRANCH_OPTION, LAST_WEEK]
    if isinstance(where, Group):
        options.append(FROM_OPTION)
    return TypedCommand("stats checks" if is_checks else "stats", where, words.options(options))


COMMANDS = (
    Command(
        "status",
        "See the live queue",
        ("status", "status acme/site branch:main"),
        NAMED_OR_GROUP,
        [BRANCH_OPTION],
        read=pull_requests.read_status,
        offered_for=("queue", "list", "show", "state"),
    ),
    Command(
        "why",
        "See why nothing merges; or where a pull request is, why it left, and the next step",
        (
            "why 41",
            "why #41 acme/site",
            "why https://code.example/acme/site/pull/41",
            "why acme/site",
        ),
        "[PR] [owner/name]",
        read=pull_requests.read_why,
    ),
    Command(
        "log",
        "Read the event log, newest first, page by page",
        (
            "log pr:41",
            "log acme/site branch:main type:action.queue.leave since:2h",
            "log all pr:41",
        ),
        NAMED_OR_GROUP,
        pull_requests.LOG_OPTIONS,
        read=pull_requests.read_log,
        offered_for=("history", "events"),
    ),
    Command(
        "rules",
        "See the queue rules, in the order they are tried",
        ("rules", "rules acme/site show:all"),
        NAMED_OR_GROUP,
        [SHOW, FROM_OPTION],
        [FROM_OPTION],
    ),
    Command(
        "branches",
        "See the active base branches: how many wait for each, and what merged last",
        ("branches", "branches acme/site since:24h"),
        NAMED_OR_GROUP,
        [LAST_WEEK, FROM_OPTION],
        [LAST_WEEK, FROM_OPTION],
    ),
    Command(
        "stats",
        "See merges per day, time in the queue and failures, or what throws pull requests out",
        ("stats", "stats acme/site branch:main since:30d", "stats checks acme/site since:14d"),
        f"[checks] {NAMED_OR_GROUP}",
        [BRANCH_OPTION, LAST_WEEK],
        read=_read_stats,
        offered_for=("statistics", "metrics", "weekly", "report"),
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
        read=acts.read_pause,
        takes_text=True,
        right=Right.PAUSE,
        offered_for=("stop", "lock", "hold", "halt", "block", "close", "wait"),
    ),
    Command(
        "resume",
        "Resume the queue",
        ("resume", "resume acme/site", "resume CI is green again"),
        "[owner/name|@group|all] [reason]",
        read=acts.read_resume,
        right=Right.RESUME,
        aliases=("unpause", "un-pause"),
        offered_for=("start", "go", "unlock", "continue", "unblock", "open", "reopen", "restart"),
    ),
    Command(
        "extend",
        "Move the end of a pause",
        ("extend 30m", "extend until 18:00", "extend acme/site 1h", "extend forever"),
        "[owner/name|@group|all] [30m|until 18:00|forever]",
        read=extensions.read_extend,
        right=Right.PAUSE,
        offered_for=("prolong", "lengthen", "postpone", "longer", "move", "push", "shift"),
    ),
    Command(
        "takeover",
        "Make yourself responsible for a pause; its reminders go to you",
        ("takeover", "take over acme/site"),
        NAMED_OR_GROUP,
        read=extensions.read_takeover,
        right=Right.PAUSE,
    ),
    Command(
        "notify",
        "Get a direct message once a paused queue resumes",
        ("notify", "notify acme/site"),
        NAMED_OR_GROUP,
        read=extensions.read_notify,
    ),
    Command(
        "remove",
        "Remove a pull request from the queue, after a question that says what that stops",
        ("remove 41", "remove #41 acme/site"),
        "PR [owner/name]",
        read=partial(pull_requests.read_pull_request, action="remove"),
        right=Right.REMOVE,
        offered_for=("dequeue", "unqueue", "kick", "eject", "drop", "cancel"),
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
        read=acts.read_freeze,
        takes_text=True,
        right=Right.FREEZE,
        offered_for=("plan", "schedule"),
    ),
    Command(
        "freezes",
        "See the freezes in force and to come",
        ("freezes", "freezes acme/site", "freezes all"),
        NAMED_OR_GROUP,
        group_options=[FROM_OPTION],
        offered_for=("skip", "reschedule", "calendar"),
    ),
    Command(
        "unfreeze",
        "End a freeze; without a reason a form asks for it",
        ("unfreeze released", "unfreeze acme/site released"),
        "[owner/name|@group|all] [reason]",
        read=acts.read_unfreeze,
        takes_text=True,
        right=Right.FREEZE,
        aliases=("un-freeze",),
        offered_for=("thaw", "defrost"),
    ),
    Command(
        "allow",
        "Let one pull request through a freeze",
        ("allow 41 fixes the outage", "allow #41 acme/site fixes the outage"),
        "PR [owner/name] reason",
        read=pull_requests.read_allow,
        takes_text=True,
        right=Right.FREEZE,
        offered_for=("except", "permit", "let"),
    ),
    Command(
        "audit",
        "See who did what, and the result",
        ("audit", "audit acme/site since:24h"),
        NAMED_OR_GROUP,
        [ANY_TIME],
        [ANY_TIME],
        needs_repository=False,
    ),
    Command(
        "subscribe",
        "Subscribe this channel to what happens in the queue",
        (
            "subscribe",
            "subscribe acme/site quiet",
            "subscribe acme/site merge failure branch:release/*",
            "subscribe acme/site everything except:renovate style:feed",
            "subscribe acme/site digest:09:00 Europe/Paris",
            "subscribe acme/site only merge failure",
            "subscribe all failure",
        ),
        "[owner/name|@group|all] [only] [quiet|normal|everything] [topic …] [branch:GLOB] "
        "[except:LOGIN] [style:thread|feed|digest] [digest:09:00 ZONE]",
        read=settings.read_subscription,
        right=Right.SUBSCRIBE,
        offered_for=("follow", "watch"),
    ),
    Command(
        "unsubscribe",
        "End a subscription, or narrow it",
        ("unsubscribe", "unsubscribe acme/site enter", "unsubscribe acme/site except:renovate"),
        "[owner/name|@group|all] [topic …] [branch:GLOB] [except:LOGIN]",
        read=settings.read_unsubscribe,
        right=Right.SUBSCRIBE,
        offered_for=("unfollow", "unwatch"),
    ),
    Command(
        "subscriptions",
        "See this channel's subscriptions, or who would be notified of a sample event",
        ("subscriptions", "subscriptions test acme/site branch:main"),
        "[test [owner/name] [branch:NAME]]",
        read=settings.read_subscriptions,
    ),
    Command(
        "default",
        "Set this channel's default repository for commands",
        ("default acme/site", "default off", "default"),
        "[owner/name|off]",
        read=settings.read_default,
    ),
    Command(
        "board",
        "Keep a live status message in this channel",
        ("board", "board acme/site", "board off"),
        "[owner/name] [off]",
        read=settings.read_board,
        right=Right.SUBSCRIBE,
    ),
    Command(
        "link",
        "Link your code host login, so that I know which pull requests are yours",
        ("link alice-m", "link off"),
        "LOGIN|off",
        read=settings.read_link,
    ),
    Command(
        "me",
        "See what I know about you, and choose when I mention or message you",
        ("me", "me mentions off", "me failures merges on"),
        "[mentions|failures|merges|reminders|replacements|confirmations|dm|all on|off]",
        read=settings.read_me,
        offered_for=("settings", "preferences", "whoami"),
    ),
    Command(
        "mute",
        "Get no mentions and direct messages about one pull request, for 30 days",
        ("mute 41", "mute #41 acme/site"),
        "PR [owner/name]",
        read=partial(pull_requests.read_pull_request, action="mute"),
    ),
    Command(
        "unmute",
        "Get messages about a muted pull request again",
        ("unmute 41",),
        "PR [owner/name]",
        read=partial(pull_requests.read_pull_request, action="unmute"),
    ),
    Command(
        "help",
        "Show what I can do, all commands, or one in detail",
        ("help", "help all", "help pause"),
        takes="[verb|all]",
        read=_read_help,
    ),
)

COMMAND_BY_WORD = {
    word: command for command in COMMANDS for word in (command.name, *command.aliases)
}

LONGEST_VERB = 2
"""Words as which people type one: "take over", "un pause"."""

OFFERED = 3
CLOSE = 0.6
VERY_CLOSE = 0.75
SYNONYM_CLOSE = 0.8
"""The spelling similarity from which a command is suggested."""

_LAYOUTS = (
    str.maketrans("yz", "zy"),
    str.maketrans("aqwz", "qazw"),
)
"""Letters that a German and a French keyboard have in each other's places."""

WORD_SHOWN = 60
"""The most characters shown of an unknown word."""


def parse_command(text: str, situation: Situation) -> tuple[Command, TypedCommand]:
    """Read the text after the slash command; empty text asks for the status.

    Raises CommandSyntaxError for an unknown verb or a malformed option, RepositoryNotAllowed for a
    repository that isn't configured, UnknownGroup for an unknown group, InvalidDuration and
    InvalidCondition, and TargetNotClear for words that may name another queue or none.
    """
    groups = situation.groups
    command, words, after = _split(text, groups, situation.called)
    if not command.takes_text:
        words = [word for word in words if not word.is_punctuation]
    if command.right is Right.READ:
        words = [word for word in words if not _means_nothing(word, groups)]
    read = Words(command.name, text, words, situation, after)
    return command, command.request(read)


def with_target(typed: str, target: str) -> str:
    """The typed command with the queue or group behind its verb."""
    words = command_words(typed)
    if not words:
        return f"status {target}"
    end = words[max(_verb_length(words), 1) - 1].end
    return f"{typed[:end]} {target}{typed[end:]}"


_MEAN_NOTHING = POLITE | {"the", "me", "queue", "queues", "of", "for", "our", "current"}
"""In a command that only reads."""


def _means_nothing(word: Word, groups: Groups) -> bool:
    return word.bare in _MEAN_NOTHING and named_by(word, groups) is None


def _split(
    text: str, groups: Groups, called: Collection[str]
) -> tuple[Command, Sequence[Word], int]:
    """The command, its words, and where they begin.

    Raises CommandSyntaxError, and RepositoryNotAllowed for a lone address of another repository.
    """
    words = command_words(text, called)
    if not words:
        return COMMAND_BY_WORD["status"], (), 0
    count = _verb_length(words)
    if count:
        command = COMMAND_BY_WORD[_joined(words[:count])]
        return command, words[count:], words[count - 1].end
    implied = _implied(words, groups)
    if implied is not None:
        return implied, words, words[0].start
    if len(words) > 1 and words[1].bare in COMMAND_BY_WORD:
        # The repository in front of its verb.
        command = COMMAND_BY_WORD[words[1].bare]
        named = named_by(words[0], groups)
        if named is not None and (named.is_certain or not command.takes_text):
            return command, [words[0], *words[2:]], words[1].end
    if words[0].plain and set(words[0].plain) <= {"?", "!"}:
        return COMMAND_BY_WORD["help"], words[1:], words[0].end
    _refuse_number(words[0])
    if len(words) == 1 and "/" in words[0].folded.lstrip("/"):
        refuse_unknown(words[0], groups)
    after = text[words[0].end :].rstrip()
    return command_called(words[0].typed, after=after), words[1:], words[0].end


def _verb_length(words: Sequence[Word]) -> int:
    """How many words the verb takes that they begin with; 0 for other words."""
    for count in range(1, LONGEST_VERB + 1):
        if words[0].bare and _joined(words[:count]) in COMMAND_BY_WORD:
            return count
    return 0


def _joined(words: Sequence[Word]) -> str:
    return "".join(word.bare for word in words)


def _refuse_number(word: Word) -> None:
    """Raise CommandSyntaxError for a number that no pull request can have: 0, 3.14."""
    is_number = word.bare and not any(character.isalpha() for character in word.bare)
    if is_number and read_number(word.plain) is None:
        said = f"“{word.typed[:WORD_SHOWN]}” isn't the number of a pull request."
        raise CommandSyntaxError(said, "why")


def _implied(words: Sequence[Word], groups: Groups) -> Command | None:
    """The command of a lone pull request or repository; None for any other words."""
    if len(words) > len(("repository", "pull request")):
        return None
    named = [named_by(word, groups) for word in words]
    numbers = [
        read_number(word.plain) if name is None else name.pull_request
        for word, name in zip(words, named, strict=True)
    ]
    if any(name is None and number is None for name, number in zip(named, numbers, strict=True)):
        return None
    if any(number is not None for number in numbers):
        return COMMAND_BY_WORD["why"]
    return COMMAND_BY_WORD["status"] if len(words) == 1 else None


def command_called(word: str, *, before: str = "", after: str = "") -> Command:
    """The command with that verb; raises CommandSyntaxError, with the nearest verbs if any.

    `before` and `after`: the rest of what was typed, for the command to run instead.
    """
    command = COMMAND_BY_WORD.get(Word(word, 0).bare)
    if command is not None:
        return command
    shown = word if len(word) <= WORD_SHOWN else f"{word[:WORD_SHOWN]}…"
    said = f"There is no command “{shown}”."
    nearest = nearest_verbs(Word(word, 0).bare)
    instead = tuple(f"{before}{name}{after}" for name in nearest)
    raise CommandSyntaxError(said, instead=instead)


def nearest_verbs(word: str, close: float = CLOSE) -> tuple[str, ...]:
    """The verbs that were probably meant, at most OFFERED: by meaning, then by spelling."""
    # Swapping two letters is the commonest slip, and keeps the same set of letters.
    swapped = [known for known in COMMAND_BY_WORD if sorted(known) == sorted(word)]
    swapped += [
        known for layout in _LAYOUTS if (known := word.translate(layout)) in COMMAND_BY_WORD
    ]
    if swapped:
        return (swapped[0],)
    meant = [command.name for command in COMMANDS if word in command.offered_for]
    near = get_close_matches(word, COMMAND_BY_WORD, OFFERED, VERY_CLOSE if meant else close)
    if not near and not meant:
        # A slip in a word of the same meaning: `stopp`.
        meant = [
            command.name
            for command in COMMANDS
            if get_close_matches(word, command.offered_for, 1, SYNONYM_CLOSE)
        ]
    found: dict[str, str] = {}
    for known in (*meant, *near):
        found.setdefault(COMMAND_BY_WORD[known].name, known)
    return tuple(found.values())[:OFFERED]
