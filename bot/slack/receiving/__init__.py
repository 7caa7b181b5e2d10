"""The way of what Slack sends, from its connection to the listener it is for."""
