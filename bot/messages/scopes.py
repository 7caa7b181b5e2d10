"""What each optional scope of the manifest is for."""

from collections.abc import Mapping

_MAY_BE_MISSING = "a post may be missing if Slack's answer to it was lost."

LOST_WITHOUT: Mapping[str, str] = {
    "app_mentions:read": "Commands in messages that mention the bot aren't answered.",
    "channels:history": f"In public channels, {_MAY_BE_MISSING}",
    "channels:join": "The bot has to be invited to public channels.",
    "chat:write.public": "Posts in a public channel wait until the bot is in it.",
    "groups:history": f"In private channels, {_MAY_BE_MISSING}",
    "groups:read": "Posts in private channels have no buttons.",
    "im:history": f"Commands in direct messages aren't answered. In those, {_MAY_BE_MISSING}",
    "im:read": "Answers in direct messages have no buttons.",
    "im:write": "Nobody gets reminders and notifications as direct messages.",
    "usergroups:read": "Members of user groups in MQBOT_WHO_MAY_PAUSE are refused.",
}
"""What the bot can't do without each optional scope of the manifest."""
