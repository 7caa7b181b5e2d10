"""What people read about a live queue."""
