"""Slack's Web API, as the bot's ports need it."""
