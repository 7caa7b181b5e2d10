"""The bot, or a part of it, as a measured program."""
