"""One file per intention of a person or of the schedule."""
