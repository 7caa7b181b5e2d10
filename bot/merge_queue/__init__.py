"""The adapter of the merge queue service's REST API."""
