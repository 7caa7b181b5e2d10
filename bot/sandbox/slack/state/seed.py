"""The workspace that the sandbox starts with: a team, four people, four channels."""

from bot.sandbox.slack.state.workspace import SLACKBOT_ID, Channel, Team, User, Workspace

TEAM = Team("T0ACME", "Acme", "acme")
BOT_USER_ID = "U0MQBOT"
BOT_ID = "B0MQBOT"
APP_ID = "A0MQBOT"

# The id, the legacy username, which Slack shows nowhere, the display name and the full name.
_PEOPLE = (
    ("U0ALICE", "amartin82", "alice", "Alice Martin"),
    ("U0BOB", "bokafor", "bob", "Bob Okafor"),
    ("U0CAROL", "c.jensen", "carol", "Carol Jensen"),
    ("U0DAVE", "drossi", "dave", "Dave Rossi"),
)


def default_workspace(bot_name: str, bot_real_name: str) -> Workspace:
    """Build the Acme workspace with the app's bot user, who is in #merge-queue only."""
    people = [
        User(id_, username, real, TEAM.id, display_name=shown)
        for id_, username, shown, real in _PEOPLE
    ]
    bots = [
        User(BOT_USER_ID, bot_name, bot_real_name, TEAM.id, kind="bot"),
        User(SLACKBOT_ID, "slackbot", "Slackbot", TEAM.id, kind="bot"),
    ]
    everyone = {each.id for each in people}
    creator = people[0].id
    channels = [
        Channel(
            "C0MERGEQ",
            "merge-queue",
            "public",
            everyone | {BOT_USER_ID},
            topic="What enters, merges and fails",
            creator=creator,
        ),
        Channel("C0RELEASE", "releases", "public", set(everyone), creator=creator),
        Channel("C0GENERAL", "general", "public", set(everyone), creator=creator),
        Channel("C0INCIDENT", "incidents", "private", {"U0ALICE", "U0BOB"}, creator=creator),
    ]
    return Workspace(TEAM, people + bots, channels)
