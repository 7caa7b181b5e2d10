"""A local merge queue service that implements the API document."""
