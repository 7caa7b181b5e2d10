"""What people read about subscriptions."""
