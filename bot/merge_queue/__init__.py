"""The adapter of the merge queue service's API: all of the API document, and some beyond."""
