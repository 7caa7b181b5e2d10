"""What people read about acts."""
