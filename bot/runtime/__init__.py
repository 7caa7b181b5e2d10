"""Builds the bot from the settings, and runs it."""
