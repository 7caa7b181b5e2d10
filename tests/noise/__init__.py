"""The messages of a busy week in each style."""
