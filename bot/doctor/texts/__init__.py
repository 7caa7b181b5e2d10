"""What people read about why nothing merges."""
