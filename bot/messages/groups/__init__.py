"""What is said about groups of repositories."""
