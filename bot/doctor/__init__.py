"""Why nothing merges in a queue, or why it is slow: one verdict, the same everywhere."""
