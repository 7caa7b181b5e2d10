"""Posts about events of the queue."""
