"""Messages about groups of repositories."""
