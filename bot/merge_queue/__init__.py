"""The adapter of the merge queue service's API: all 13 endpoints of the API document."""
