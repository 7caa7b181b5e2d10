"""What people read about freezes."""
