"""Live status messages."""
