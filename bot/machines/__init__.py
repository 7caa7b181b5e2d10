"""The HTTP interface for shell scripts and CI."""
