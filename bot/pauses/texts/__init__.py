"""What people read about pauses."""
