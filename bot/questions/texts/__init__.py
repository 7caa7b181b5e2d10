"""What people read in answer to questions."""
