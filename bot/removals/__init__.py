"""Taking pull requests out of a queue."""
