"""The picture of a live queue."""
