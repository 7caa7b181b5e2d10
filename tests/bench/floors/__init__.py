"""Small programs with the same libraries and none of our code."""
