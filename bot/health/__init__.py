"""Alerts about queues, and outages of what the bot depends on."""
