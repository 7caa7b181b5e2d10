"""Work on the rows of all subjects: pruning, forgetting people, renaming repositories."""
