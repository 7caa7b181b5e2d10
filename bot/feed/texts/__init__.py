"""What channels read about pull requests."""
