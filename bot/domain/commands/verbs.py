"""The command table: one row for each verb, from which help and the documents are made."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    """One row of the command table: help is made from it."""

    name: str
    usage: str
    task: str
    examples: tuple[str, ...]
    aliases: tuple[str, ...] = ()


VERBS = (
    Verb(
        "status",
        "status [owner/name|@group|all] [branch:NAME]",
        "See the live queue",
        ("status", "status acme/site branch:main"),
    ),
    Verb(
        "why",
        "why PR [owner/name]",
        "See where a pull request is, what it waits for or why it left, and whose turn it is",
        ("why 41", "why #41 acme/site", "why https://code.example/acme/site/pull/41"),
    ),
    Verb(
        "log",
        "log [owner/name] [pr:N] [branch:NAME] [type:TYPE] [since:2h] [until:1h] [limit:N]",
        "Read the event log, newest first, page by page",
        ("log pr:41", "log acme/site branch:main type:action.queue.leave since:2h"),
    ),
    Verb(
        "rules",
        "rules [owner/name]",
        "See the queue rules, in the order in which they are tried",
        ("rules", "rules acme/site"),
    ),
    Verb(
        "branches",
        "branches [owner/name] [since:7d]",
        "See which base branches had something going on in the queue",
        ("branches", "branches acme/site since:24h"),
    ),
    Verb(
        "stats",
        "stats [owner/name] [branch:NAME] [since:7d]",
        "See merges a day, the time in the queue and how much fails, with a chart",
        ("stats", "stats acme/site branch:main since:30d"),
    ),
    Verb(
        "pause",
        "pause [owner/name|@group|all] [45m|until 15:00] [reason]",
        "Pause the queue; without a reason a form asks for it",
        (
            "pause CI runners are down",
            "pause acme/site 45m database migration",
            "pause until 15:00 release 4.2",
            "pause all CI runners are down",
        ),
    ),
    Verb(
        "unpause",
        "unpause [owner/name|@group|all]",
        "Let the queue go on",
        ("unpause", "unpause acme/site"),
        aliases=("resume",),
    ),
    Verb(
        "audit",
        "audit [owner/name] [since:7d]",
        "See who did what, and what came of it",
        ("audit", "audit acme/site since:24h"),
    ),
    Verb(
        "subscribe",
        "subscribe [owner/name|@group|@all] [topic …] [branch:GLOB] [except:LOGIN] "
        "[style:thread|feed|digest] [digest:09:00 ZONE]",
        "Have this channel hear about the queue",
        (
            "subscribe",
            "subscribe acme/site merge failure branch:release/*",
            "subscribe acme/site all except:renovate style:feed",
            "subscribe acme/site digest:09:00 Europe/Paris",
            "subscribe @all failure",
        ),
    ),
    Verb(
        "unsubscribe",
        "unsubscribe [owner/name|@group|@all] [topic …] [branch:GLOB] [except:LOGIN]",
        "Stop hearing about it, or about some of it",
        ("unsubscribe", "unsubscribe acme/site enter", "unsubscribe acme/site except:renovate"),
    ),
    Verb(
        "subscriptions",
        "subscriptions [test [owner/name] [branch:NAME]]",
        "See what this channel hears about, or who would hear about a sample event",
        ("subscriptions", "subscriptions test acme/site branch:main"),
    ),
    Verb(
        "default",
        "default [owner/name|off]",
        "Say which repository is meant in this channel when none is typed",
        ("default acme/site", "default off", "default"),
    ),
    Verb(
        "board",
        "board [owner/name] [off]",
        "Keep one message in this channel true of the queue",
        ("board", "board acme/site", "board off"),
    ),
    Verb(
        "link",
        "link LOGIN|off",
        "Tell me your login of the code host, so that I know which pull requests are yours",
        ("link alice-m", "link off"),
    ),
    Verb(
        "me",
        "me [mentions|failures|merges|reminders|replacements|dm|all on|off]",
        "See what I know of you and when I mention or message you, and switch that",
        ("me", "me mentions off", "me failures merges on"),
    ),
    Verb("help", "help [verb]", "Show these commands", ("help", "help pause")),
)
"""The command table."""

VERB_BY_WORD = {word: verb for verb in VERBS for word in (verb.name, *verb.aliases)}
