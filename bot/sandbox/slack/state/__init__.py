"""The content of the workspace."""
