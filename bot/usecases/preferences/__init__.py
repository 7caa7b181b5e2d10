"""Choices of channels and people, and defaults from the configuration."""
