"""Names of the buttons under a diagnosis."""

SUPPORT = "mq:support"
"""Shows it as plain text to copy; carries the repository."""
