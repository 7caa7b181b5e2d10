"""The settings, from the environment and from a file."""
